"""Functions of a module that is imported already, and other code for them."""

from __future__ import annotations

__all__ = ["Functions"]

import gc
import inspect
from collections import defaultdict
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Final

#: What a function is for good: `__code__` may say what it does, not whether it is a generator.
_KIND: Final = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class Functions:
    """All functions that stand in a file, wherever they are kept: in classes, in caches, in registries."""

    def __init__(self, file: str) -> None:
        self._found: dict[tuple[str, int], list[FunctionType]] = defaultdict(list)
        for each in gc.get_objects():
            if isinstance(each, FunctionType) and each.__code__.co_filename == file:
                self._found[_key(each.__code__)].append(each)

    def swap(self, module: CodeType) -> bool:
        """Give them the code that they have in another version of the module; False where that cannot be."""
        pairs = [
            (f, code) for code in _functions(module) for f in self._found[_key(code)] if f.__code__ != code
        ]
        if not all(_fits(function, code) for function, code in pairs):
            return False
        for function, code in pairs:
            function.__code__ = code
        return bool(pairs)


def _key(code: CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno


def _fits(function: FunctionType, code: CodeType) -> bool:
    old = function.__code__
    return old.co_freevars == code.co_freevars and old.co_flags & _KIND == code.co_flags & _KIND


def _functions(code: CodeType) -> Iterator[CodeType]:
    """The functions of a module, of its classes, and those within them: some live on as closures."""
    for each in code.co_consts:
        if isinstance(each, CodeType):
            if each.co_flags & inspect.CO_OPTIMIZED:
                yield each
            yield from _functions(each)
