"""Run the command line in this process or in a new one."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from everpath.cli.entry_point import run
from tests.support.commandline import ROOT, Answer, Everpath

# Environment variables that change the output; a test sets those that it needs.
_SPEAKING = (
    "GITHUB_ACTIONS",
    "GITHUB_STEP_SUMMARY",
    "GITHUB_WORKSPACE",
    "NO_COLOR",
    "FORCE_COLOR",
    "EVERPATH_TRACEBACK",
)


@pytest.fixture
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the variables that change the output, and switch the cache off."""
    for name in _SPEAKING:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("EVERPATH_CACHE", "off")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder, which is the current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def everpath(
    plain_environment: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Everpath:
    """Return a function that runs `everpath ARGS…` in this process, with `stdin` as input."""

    def call(*arguments: str, stdin: str = "") -> Answer:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        capsys.readouterr()
        code = run(arguments)
        said = capsys.readouterr()
        return Answer(int(code), said.out, said.err)

    return call


@pytest.fixture
def process(plain_environment: None) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return a function that runs `python -m everpath ARGS…`."""

    def call(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "everpath", *arguments],
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=60,
            env={**os.environ, "PYTHONPATH": str(ROOT / "tools"), **environment},
        )

    return call
