"""The command line beside a cluster in memory, with a clock that jumps."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from clusters import Kept, Time
from commandline import Answer
from everpath.cli import clusters
from everpath.cli.app import run
from everpath.olm import kube

Call = Callable[..., Answer]


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "KUBECONFIG", "EVERPATH_TRACEBACK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("EVERPATH_CACHE", "off")


@pytest.fixture
def everpath(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    """`everpath ARGS…` beside `cluster`; `steps` happen one by one when it sleeps.

    `typed` is what somebody at the terminal answers; None: there is nobody.
    """

    def call(
        cluster: Kept,
        *arguments: str,
        steps: tuple[Callable[[], object], ...] = (),
        typed: str | None = None,
    ) -> Answer:
        time = Time(*steps)
        monkeypatch.setattr(kube, "connect", lambda *_: cluster)
        monkeypatch.setattr(clusters, "time", SimpleNamespace(monotonic=time.monotonic, sleep=time.sleep))
        monkeypatch.setattr(sys, "stdin", _Terminal(typed) if typed is not None else io.StringIO())
        capsys.readouterr()
        code = run(arguments)
        said = capsys.readouterr()
        return Answer(int(code), said.out, said.err)

    return call
