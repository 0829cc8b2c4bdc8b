"""A cache by object identity, for pure functions of manifests.

Manifests are never changed in place, and states that the prover explores share unchanged manifests. Hashing
one would cost more than the function.
"""

from __future__ import annotations

__all__ = ["memoize_by_identity"]

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def memoize_by_identity(size: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Cache a pure function by the identity of its positional arguments.

    The cache keeps the arguments alive, so that no other object gets the same id. It is cleared when it has
    `size` entries. Calls with keyword arguments are not cached.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        cache: dict[tuple[int, ...], tuple[Any, R]] = {}

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            if kwargs:
                return function(*args, **kwargs)
            ids = tuple(map(id, args))
            cached = cache.get(ids)
            if cached is not None:
                return cached[1]
            value = function(*args, **kwargs)
            if len(cache) >= size:
                cache.clear()
            cache[ids] = (args, value)
            return value

        return call

    return decorate
