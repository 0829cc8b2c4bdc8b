"""Other code for functions that somebody holds already."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType
from typing import Any

from mutation.swapping import Functions

_SOURCE = """
from functools import cache

@cache
def kept():
    return "old"

class Release:
    @property
    def name(self):
        return "old"

def made():
    def within():
        return "old"
    return within

closure = made()

def told():
    yield "old"
"""


def imported(file: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": file}
    exec(code(_SOURCE, file), names)
    return names


def code(source: str, file: str) -> CodeType:
    return compile(source, file, "exec")


def test_whoever_holds_a_function_finds_the_new_code_in_it() -> None:
    names = imported("held.py")
    assert Functions("held.py").swap(code(_SOURCE.replace('"old"', '"new"'), "held.py"))
    found: list[Callable[[], str]] = [names["kept"], lambda: names["Release"]().name, names["made"]()]
    assert [each() for each in found] == ["new"] * 3
    assert [*names["told"]()] == ["new"]


def test_a_function_that_was_made_before_has_the_new_code_too() -> None:
    names = imported("closures.py")
    assert Functions("closures.py").swap(code(_SOURCE.replace('"old"', '"new"'), "closures.py"))
    assert names["closure"]() == "new"


def test_what_was_no_generator_does_not_become_one() -> None:
    names = imported("generators.py")
    changed = code(_SOURCE.replace('yield "old"', "return []"), "generators.py")
    assert not Functions("generators.py").swap(changed)
    assert [*names["told"]()] == ["old"]


def test_the_same_code_is_no_swap() -> None:
    _ = imported("same.py")
    assert not Functions("same.py").swap(code(_SOURCE, "same.py"))
