"""Answers that are kept for the very same values."""

from __future__ import annotations

from collections.abc import Callable

from searchkeeper.memoize import memoize_by_identity


def counting(size: int) -> tuple[Callable[[list[int]], int], list[list[int]]]:
    """A function that remembers, and what it was really asked."""
    asked: list[list[int]] = []

    @memoize_by_identity(size)
    def length(value: list[int]) -> int:
        asked.append(value)
        return len(value)

    return length, asked


def test_a_question_about_the_same_object_is_answered_once() -> None:
    length, asked = counting(8)
    value = [1, 2]
    assert [length(value), length(value)] == [2, 2]
    assert len(asked) == 1


def test_an_equal_object_is_another_one() -> None:
    length, asked = counting(8)
    assert [length([1]), length([1])] == [1, 1]
    assert len(asked) == 2


def test_what_is_remembered_is_bounded() -> None:
    length, asked = counting(2)
    values = [[0], [1], [2]]
    for value in [*values, values[0]]:
        length(value)
    assert len(asked) == 4


def test_no_other_object_takes_the_place_of_one_that_is_remembered() -> None:
    @memoize_by_identity(64)
    def first(value: list[int]) -> int:
        return value[0]

    for number in range(50):
        assert first([number]) == number
