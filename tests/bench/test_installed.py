"""Which Python the benchmark takes, and what it does where there is no choice."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bench import installed as choosing
from bench.installed import Interpreter, installed, interpreters, quickest
from bench.measure import Cost

OLD, NEW = Interpreter("/old/python", "3.11.0"), Interpreter("/new/python", "3.12.0")


def test_every_python_is_found_once_and_what_is_none_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "python3").symlink_to(Path(sys.executable).resolve())
    for name, text in (("python3.12", "exit 127"), ("python3.13", "echo [1]")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
    (tmp_path / "python3.12").chmod(0o755)
    [own] = interpreters([str(tmp_path)])
    assert own == (str(Path(sys.executable).resolve()), sys.version.split()[0])


@pytest.mark.parametrize("told", ['["/x", "pypy", "3.11.0", true]', '["/x", "cpython", "3.9.0", false]'])
def test_a_python_that_everpath_does_not_run_on_does_not_count(tmp_path: Path, told: str) -> None:
    (tmp_path / "python3").write_text(f"#!/bin/sh\necho '{told}'\n")
    (tmp_path / "python3").chmod(0o755)
    assert "/x" not in {one.path for one in interpreters([str(tmp_path)])}


def test_the_quickest_is_the_one_whose_best_run_is(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = {OLD.path: [0.3, 0.1], NEW.path: [0.2, 0.2]}

    def run(_times: int, command: tuple[str, ...]) -> Cost:
        return Cost(9.0, runs[command[0]].pop(0), 1.0, 0)

    monkeypatch.setattr(choosing, "best_of", run)
    assert quickest([NEW, OLD], rounds=2) == [(0.1, OLD), (0.2, NEW)]


def installing(*suitable: Interpreter) -> Callable[[Interpreter, Path, str], bool]:
    return lambda one, _folder, _what: one in suitable


def test_a_python_without_an_environment_leaves_it_to_the_next(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(choosing, "_install", installing(NEW))
    found = installed(tmp_path, [(0.1, OLD), (0.2, NEW)])
    assert found.command == (str(tmp_path / "bin/everpath"),)
    assert found.chosen.startswith("Python 3.12.0, ")
    assert installed(tmp_path, [(0.2, NEW)]).chosen.startswith("Python 3.12.0, the only one here")


def test_without_any_the_environment_of_the_checkout_is_measured_and_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(choosing, "_install", installing())
    found = installed(tmp_path, [(0.1, OLD)])
    assert found.command == (sys.executable, "-m", "everpath")
    assert "this checkout" in found.chosen
