"""The end of an operator: what is waited for, what is not, and who has the lease afterwards."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from commandline import ROOT
from operators_at_work import CLUSTER, asked_for
from searchkeeper.cli import operate
from searchkeeper.manager.fencing import ShuttingDown
from searchkeeper.manager.leader_election import LeaderLease
from searchkeeper.manager.shutdown import EXIT_DEADLINE
from searchkeeper.testing.fake_cluster import FakeCluster
from shells import CutCable, Facing, SilentEngine, facing, kubeconfig_of, started, until

# An operator of which something never ends.
HANGING = """
import time
from searchkeeper.cli import main
from searchkeeper.manager import shutdown
from searchkeeper.manager.manager import Manager

shutdown._TIDYING = 0.5
run = Manager.run

async def for_ever(operator):
    await run(operator)
    time.sleep(1000)

Manager.run = for_ever
main()
"""


def holder(face: Facing) -> str:
    found = face.kube.get(LeaderLease.named("search"))
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
    monkeypatch.setattr("searchkeeper.manager.shutdown._LAST_WRITE", 0.2)
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
    with facing(FakeCluster()) as face, started(face) as shell:
        until(face.api, lambda: shell.operator.lease.is_ours)
        shell.stop()

        assert holder(face) == ""


def test_an_event_loop_that_hangs_keeps_no_lease() -> None:
    let_go = threading.Event()
    with facing(asked_for()) as face, started(face) as shell:
        until(face.api, lambda: CLUSTER in shell.operator._loops)
        shell.operator._loops[CLUSTER].task.get_loop().call_soon_threadsafe(let_go.wait, 120)
        shell.operator.stop()

        until(face.api, lambda: holder(face) == "", what="the lease given back")
        assert shell.thread.is_alive()
        let_go.set()


def test_a_login_that_hangs_is_not_waited_for() -> None:
    began, let_go = threading.Event(), threading.Event()

    def hang() -> Any:
        began.set()
        let_go.wait(240)

    with facing(FakeCluster()) as face, started(face, login=hang) as shell:
        until(face.api, began.is_set)
        shell.stop()

        assert not let_go.is_set()
        let_go.set()


def test_nobody_looks_any_further_when_the_end_was_asked_for() -> None:
    """A hundred cycles that go on would leave no time to those who end."""
    with facing(asked_for()) as face:
        cable = CutCable(face.kube)
        with started(face, kube=cable) as shell:
            until(face.api, lambda: CLUSTER in shell.operator._loops)
            telling = shell.operator._loops[CLUSTER]._telling
            shell.stop()
            with pytest.raises(ShuttingDown):
                telling.get(CLUSTER)
            with pytest.raises(ShuttingDown):
                telling.list(CLUSTER.api, CLUSTER.kind, CLUSTER.namespace, {})


def command(*options: str) -> list[str]:
    """An operator that listens nowhere that others might."""
    addresses = ("--health-address", "127.0.0.1:0", "--metrics-address", "127.0.0.1:0")
    return [
        "run",
        "--engine",
        "embedded",
        "-n",
        "search",
        "--lease-namespace",
        "search",
        *addresses,
        *options,
    ]


def test_a_process_that_does_not_end_by_itself_is_ended_and_says_so(tmp_path: Path) -> None:
    with facing(FakeCluster()) as face:
        where = ("--kubeconfig", str(kubeconfig_of(face, tmp_path)))
        program = [sys.executable, "-c", HANGING, *command(*where)]
        with subprocess.Popen(program, stderr=subprocess.PIPE, text=True, cwd=ROOT / "operator") as process:
            try:
                until(
                    face.api, lambda: face.kube.get(LeaderLease.named("search")) is not None, what="the lease"
                )
                process.send_signal(signal.SIGTERM)
                _, logged = process.communicate(timeout=120)
            finally:
                process.kill()
        assert holder(face) == ""
    told = [json.loads(line) for line in logged.splitlines()]
    [said] = [each for each in told if each["message"] == "it does not end by itself: leaving"]
    assert process.returncode == 1
    assert any(each.startswith("operator: ") for each in said["waiting"])


def test_a_signal_that_wakes_somebody_else_is_heard() -> None:
    """As one does that comes in the moment before a wait begins."""
    heard, over, bystanding = threading.Event(), threading.Event(), threading.Event()
    bystander = threading.Thread(target=bystanding.wait, daemon=True)
    bystander.start()
    before = signal.signal(signal.SIGUSR1, lambda *_: heard.set())
    masked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})

    def work() -> None:
        # Whoever waits for this has begun to by then.
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGUSR1)
        if heard.wait(20):
            over.set()

    try:
        assert operate._in_thread(work) == []
        assert over.is_set()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, masked)
        signal.signal(signal.SIGUSR1, before)
        bystanding.set()


def test_every_end_comes_before_a_pod_is_killed() -> None:
    file = ROOT / "operator/config/manager/deployment.yaml"
    pod = yaml.safe_load(file.read_text(encoding="utf-8"))["spec"]["template"]["spec"]
    assert pod["terminationGracePeriodSeconds"] > EXIT_DEADLINE
