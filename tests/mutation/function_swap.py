"""Replace the code of functions of an imported module."""

from __future__ import annotations

__all__ = ["Functions"]

import gc
import inspect
from collections import defaultdict
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Final

#: New code of a function must have the same flags: a generator must stay one.
_KIND_FLAGS: Final = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class Functions:
    """All functions that are defined in a file, including those in classes, caches and registries."""

    def __init__(self, file: str) -> None:
        self._found: dict[tuple[str, int], list[FunctionType]] = defaultdict(list)
        for each in gc.get_objects():
            if isinstance(each, FunctionType) and each.__code__.co_filename == file:
                self._found[_key(each.__code__)].append(each)

    def swap(self, module: CodeType) -> bool:
        """Replace their code by that of another version of the module; return False if that is impossible."""
        pairs = [
            (f, code) for code in _functions(module) for f in self._found[_key(code)] if f.__code__ != code
        ]
        if not all(_is_compatible(function, code) for function, code in pairs):
            return False
        for function, code in pairs:
            function.__code__ = code
        return bool(pairs)


def _key(code: CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno


def _is_compatible(function: FunctionType, code: CodeType) -> bool:
    old = function.__code__
    return old.co_freevars == code.co_freevars and old.co_flags & _KIND_FLAGS == code.co_flags & _KIND_FLAGS


def _functions(code: CodeType) -> Iterator[CodeType]:
    """Yield the functions of a module, of its classes, and nested functions, which may exist as closures."""
    for each in code.co_consts:
        if isinstance(each, CodeType):
            if each.co_flags & inspect.CO_OPTIMIZED:
                yield each
            yield from _functions(each)
