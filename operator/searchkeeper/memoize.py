"""Answers that are kept for as long as they are asked for the very same values.

Manifests are never changed in place, and states of a world share the ones that stayed the same. So whoever
tries a thousand orders of events asks the same question of the same object again and again.
"""

from __future__ import annotations

__all__ = ["memoize_by_identity"]

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def memoize_by_identity(size: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A pure function that remembers its answers by the identity of its positional arguments.

    Law: the answers are those of the function, as long as nobody changes an argument in place. What is
    remembered keeps its arguments alive, so that no other object can take their place; beyond `size` answers
    all are forgotten.
    """

    def remembering(function: Callable[P, R]) -> Callable[P, R]:
        memory: dict[tuple[int, ...], tuple[Any, R]] = {}

        @wraps(function)
        def answer(*values: P.args, **others: P.kwargs) -> R:
            place = tuple(map(id, values))
            found = memory.get(place)
            if found is not None and not others:
                return found[1]
            given = function(*values, **others)
            if not others:
                if len(memory) >= size:
                    memory.clear()
                memory[place] = (values, given)
            return given

        return answer

    return remembering
