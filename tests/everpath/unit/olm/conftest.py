"""Runs commands against a fake cluster and a fake clock."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from everpath.app.cluster import connection
from everpath.cli.entry_point import run
from everpath.olm import kube
from tests.support.commandline import Answer
from tests.support.everpath.fake_cluster import FakeClock, FakeCluster

Call = Callable[..., Answer]


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "KUBECONFIG", "EVERPATH_TRACEBACK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("EVERPATH_CACHE", "off")


@pytest.fixture
def everpath(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    """Runs `everpath ARGUMENTS` against a cluster; each sleep runs the next of `steps`.

    `typed` is the input of a terminal; None means that standard input is no terminal.
    """

    def call(
        cluster: FakeCluster,
        *arguments: str,
        steps: tuple[Callable[[], object], ...] = (),
        typed: str | None = None,
    ) -> Answer:
        clock = FakeClock(*steps)
        default_namespace = cluster.namespace
        monkeypatch.setattr(kube, "connect", lambda *_: cluster)
        monkeypatch.setattr(connection, "time", SimpleNamespace(monotonic=clock.monotonic, sleep=clock.sleep))
        monkeypatch.setattr(sys, "stdin", _Terminal(typed) if typed is not None else io.StringIO())
        capsys.readouterr()
        code = run(arguments)
        cluster.namespace = default_namespace
        output = capsys.readouterr()
        return Answer(int(code), output.out, output.err)

    return call
