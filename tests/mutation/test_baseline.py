"""measure_baseline records the lines that each test executes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutation.baseline import measure_baseline

MODULE = """
from functools import lru_cache

@lru_cache
def double(number):
    return 2 * number
"""
TESTS = """
from cached_module import double

def test_one():
    assert double(1) == 2

def test_the_same_again():
    assert double(1) == 2
"""


def test_caches_are_cleared_between_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module, tests = tmp_path / "cached_module.py", tmp_path / "test_cached.py"
    module.write_text(MODULE)
    tests.write_text(TESTS)
    monkeypatch.syspath_prepend(tmp_path)
    baseline = measure_baseline((str(tests),), {"cached_module": str(module)})
    assert [(str(module), 6) in reached for reached in baseline.lines.values()] == [True, True]
