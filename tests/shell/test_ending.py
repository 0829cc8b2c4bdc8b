"""The end of an operator: what is waited for, what is not, and who has the lease afterwards."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from operators_at_work import asked_for
from searchkeeper.embedded.world import World
from searchkeeper.shell.lease import Lease
from shells import CutCable, Facing, SilentEngine, facing, started, until


def holder(face: Facing) -> str:
    found = face.kube.get(Lease.named("search"))
    assert found is not None
    return str(found["spec"]["holderIdentity"])


def test_a_look_at_a_silent_engine_keeps_neither_the_lease_nor_the_process() -> None:
    engine = SilentEngine()
    with facing(asked_for()) as face, started(face, driver=engine) as shell:
        until(face.api, lambda: engine.looks > 0)
        shell.stop()

        assert not engine.let_go.is_set()
        assert holder(face) == ""
        engine.let_go.set()


def test_a_write_under_way_is_finished_before_the_lease_is_given_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    began, let_go, over = threading.Event(), threading.Event(), threading.Event()
    with facing(asked_for()) as face:
        cable = CutCable(face.kube)
        plain = cable.patch_status

        def slowly(*arguments: Any) -> Any:
            began.set()
            assert let_go.wait(120)
            try:
                return plain(*arguments)
            finally:
                assert holder(face) == "one"
                over.set()

        monkeypatch.setattr(cable, "patch_status", slowly)
        with started(face, kube=cable) as shell:
            until(face.api, began.is_set)
            shell.operator.stop()
            assert holder(face) == "one"
            let_go.set()
        assert over.is_set()
        assert holder(face) == ""


def test_a_write_without_an_end_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("searchkeeper.shell.operator._LAST_WRITE", 0.2)
    began, let_go = threading.Event(), threading.Event()
    with facing(asked_for()) as face:
        cable = CutCable(face.kube)

        def hang(*_: Any) -> Any:
            began.set()
            let_go.wait(120)

        monkeypatch.setattr(cable, "patch_status", hang)
        with started(face, kube=cable) as shell:
            until(face.api, began.is_set)
        assert not shell.thread.is_alive()
        assert holder(face) == "one"
        let_go.set()


def test_who_has_nothing_to_do_ends_as_well() -> None:
    with facing(World()) as face, started(face) as shell:
        until(face.api, lambda: shell.operator.lease.is_ours)
        shell.stop()

        assert holder(face) == ""
