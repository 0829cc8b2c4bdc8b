"""Functions.swap replaces the code of functions that other objects refer to."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType
from typing import Any

from tests.mutation.function_swap import Functions

_SOURCE = """
from functools import cache

@cache
def cached():
    return "old"

class Release:
    @property
    def name(self):
        return "old"

def factory():
    def inner():
        return "old"
    return inner

closure = factory()

def generator():
    yield "old"
"""


def run_source(file: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": file}
    exec(code(_SOURCE, file), names)
    return names


def code(source: str, file: str) -> CodeType:
    return compile(source, file, "exec")


def test_existing_functions_get_the_new_code() -> None:
    names = run_source("functions.py")
    assert Functions("functions.py").swap(code(_SOURCE.replace('"old"', '"new"'), "functions.py"))
    found: list[Callable[[], str]] = [names["cached"], lambda: names["Release"]().name, names["factory"]()]
    assert [each() for each in found] == ["new"] * 3
    assert [*names["generator"]()] == ["new"]


def test_existing_closure_gets_the_new_code() -> None:
    names = run_source("closures.py")
    assert Functions("closures.py").swap(code(_SOURCE.replace('"old"', '"new"'), "closures.py"))
    assert names["closure"]() == "new"


def test_generator_is_not_replaced_by_a_function() -> None:
    names = run_source("generators.py")
    changed = code(_SOURCE.replace('yield "old"', "return []"), "generators.py")
    assert not Functions("generators.py").swap(changed)
    assert [*names["generator"]()] == ["old"]


def test_identical_code_is_not_swapped() -> None:
    _ = run_source("same.py")
    assert not Functions("same.py").swap(code(_SOURCE, "same.py"))
