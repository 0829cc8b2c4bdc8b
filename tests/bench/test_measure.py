"""Measuring the cost of commands."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.bench.measure import Run, best_in_turns, best_of


def noting(file: Path, name: str, *, more: str = "") -> Run:
    """Return a command that records its name and does something else."""
    work = f"open({str(file)!r}, 'a').write({name!r}); {more}"
    return Run((sys.executable, "-I", "-S", "-c", work))


def test_two_commands_run_in_turns(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    assert len(best_in_turns(3, noting(notes, "a"), noting(notes, "b"))) == 2
    assert notes.read_text(encoding="utf-8") == "ababab"


def test_each_has_its_own_cost(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    large = noting(notes, "large", more="bytearray(b'x' * 200_000_000); raise SystemExit(3)")
    small, big = best_in_turns(1, noting(notes, "small"), large)
    assert (small.exit_code, big.exit_code) == (0, 3)
    assert big.megabytes > small.megabytes + 100


def test_the_environment_is_that_of_the_run() -> None:
    command = (sys.executable, "-I", "-c", "import os; raise SystemExit(int(os.environ['CODE']))")
    assert best_of(1, command, {"CODE": "7"}).exit_code == 7
