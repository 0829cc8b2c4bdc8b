"""Memoization by the identity of arguments."""

from __future__ import annotations

from collections.abc import Callable

from searchkeeper.memoize import memoize_by_identity


def counting(size: int) -> tuple[Callable[[list[int]], int], list[list[int]]]:
    """Return a memoized function, and the arguments of its real calls."""
    calls: list[list[int]] = []

    @memoize_by_identity(size)
    def length(value: list[int]) -> int:
        calls.append(value)
        return len(value)

    return length, calls


def test_same_object_is_computed_once() -> None:
    length, calls = counting(8)
    value = [1, 2]
    assert [length(value), length(value)] == [2, 2]
    assert len(calls) == 1


def test_equal_object_is_computed_again() -> None:
    length, calls = counting(8)
    assert [length([1]), length([1])] == [1, 1]
    assert len(calls) == 2


def test_cache_is_bounded() -> None:
    length, calls = counting(2)
    values = [[0], [1], [2]]
    for value in [*values, values[0]]:
        length(value)
    assert len(calls) == 4


def test_reused_object_id_does_not_return_an_old_result() -> None:
    @memoize_by_identity(64)
    def first(value: list[int]) -> int:
        return value[0]

    for number in range(50):
        assert first([number]) == number
