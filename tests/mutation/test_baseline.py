"""What is noted of each test where nothing is mutated."""

from __future__ import annotations

from pathlib import Path

import pytest

from mutation.baseline import baseline

REMEMBERING = """
from functools import lru_cache

@lru_cache
def doubled(number):
    return 2 * number
"""
TESTS = """
from remembering_module import doubled

def test_one():
    assert doubled(1) == 2

def test_the_same_again():
    assert doubled(1) == 2
"""


def test_a_test_reaches_what_an_earlier_one_has_had_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, tests = tmp_path / "remembering_module.py", tmp_path / "test_remembering.py"
    module.write_text(REMEMBERING)
    tests.write_text(TESTS)
    monkeypatch.syspath_prepend(tmp_path)
    known = baseline((str(tests),), {"remembering_module": str(module)})
    assert [(str(module), 6) in reached for reached in known.lines.values()] == [True, True]
