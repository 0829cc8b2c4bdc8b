"""Which Python the benchmark uses, and what happens if none can be installed for."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bench import installed as choosing
from tests.bench.installed import Interpreter, installed, interpreters, quickest
from tests.bench.measure import Cost

OLD, NEW = Interpreter("/old/python", "3.11.0"), Interpreter("/new/python", "3.12.0")


def test_every_python_is_found_once_and_other_programs_are_not(tmp_path: Path) -> None:
    (tmp_path / "python3").symlink_to(Path(sys.executable).resolve())
    for name, text in (("python3.12", "exit 127"), ("python3.13", "echo [1]")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
    (tmp_path / "python3.12").chmod(0o755)
    [own] = interpreters([str(tmp_path)])
    assert own == (str(Path(sys.executable).resolve()), sys.version.split()[0])


@pytest.mark.parametrize(
    "description", ['["/x", "pypy", "3.11.0", true]', '["/x", "cpython", "3.9.0", false]']
)
def test_unsupported_python_is_ignored(tmp_path: Path, description: str) -> None:
    (tmp_path / "python3").write_text(f"#!/bin/sh\necho '{description}'\n")
    (tmp_path / "python3").chmod(0o755)
    assert "/x" not in {one.path for one in interpreters([str(tmp_path)])}


def test_fastest_python_has_the_fastest_run(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = {OLD.path: [0.3, 0.1], NEW.path: [0.2, 0.2]}

    def run(_times: int, command: tuple[str, ...]) -> Cost:
        return Cost(9.0, runs[command[0]].pop(0), 1.0, 0)

    monkeypatch.setattr(choosing, "best_of", run)
    assert quickest([NEW, OLD], rounds=2) == [(0.1, OLD), (0.2, NEW)]


def installing(*suitable: Interpreter) -> Callable[[Interpreter, Path, str], bool]:
    return lambda one, _folder, _what: one in suitable


def test_next_python_is_used_if_an_environment_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(choosing, "_install", installing(NEW))
    found = installed(tmp_path, [(0.1, OLD), (0.2, NEW)])
    assert found.command == (str(tmp_path / "bin/everpath"),)
    assert found.chosen.startswith("Python 3.12.0, ")
    assert installed(tmp_path, [(0.2, NEW)]).chosen.startswith("Python 3.12.0, the only one of this machine")


def test_environment_of_the_checkout_is_the_fallback(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(choosing, "_install", installing())
    found = installed(tmp_path, [(0.1, OLD)])
    assert found.command == (sys.executable, "-m", "everpath")
    assert "this checkout" in found.chosen
