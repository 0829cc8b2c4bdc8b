"""Read the fields of a manifest by type. A field of another type is a problem and counts as absent."""

from __future__ import annotations

__all__ = ["FieldReader", "repeated_key_problems", "type_name"]

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from everpath.loaders.bundle.summaries import FileProblem
from everpath.manifest_access import Pointer
from everpath.model import ProblemKind


def type_name(value: object) -> str:
    """Return the type of a value in the words of YAML."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "a list"
        case _:
            return "a mapping"


class FieldReader:
    """Reads the fields of one document, and collects the problems of those that have a wrong type.

    The last step of each pointer is the key in `parent`. Null counts as absent.
    """

    def __init__(self) -> None:
        self.problems: list[FileProblem] = []

    def mapping(self, parent: Mapping[str, Any], *pointer: str | int) -> Mapping[str, Any]:
        value = parent.get(str(pointer[-1]))
        if isinstance(value, dict):
            return value
        self.add_wrong_type(value, "a mapping", pointer)
        return {}

    def items(self, parent: Mapping[str, Any], *pointer: str | int) -> list[Any]:
        value = parent.get(str(pointer[-1]))
        if isinstance(value, list):
            return value
        self.add_wrong_type(value, "a list", pointer)
        return []

    def text(self, parent: Mapping[str, Any], *pointer: str | int, numbers: bool = False) -> str | None:
        """Return a string. With `numbers`, a number counts as its text."""
        value = parent.get(str(pointer[-1]))
        if numbers and isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        if isinstance(value, str):
            return value
        self.add_wrong_type(value, "a string", pointer)
        return None

    def texts(self, parent: Mapping[str, Any], *pointer: str | int) -> tuple[str, ...]:
        """Return the strings of a list."""
        found = []
        for index, item in enumerate(self.items(parent, *pointer)):
            if isinstance(item, str):
                found.append(item)
            else:
                self.add_wrong_type(item, "a string", (*pointer, index))
        return tuple(found)

    def add_wrong_type(self, value: object, expected: str, pointer: Pointer) -> None:
        """Add the problem of a value of a wrong type, unless it is null."""
        if value is not None:
            message = f"{'.'.join(map(str, pointer))} is {type_name(value)}, not {expected}"
            self.problems.append(FileProblem(ProblemKind.WRONG_TYPE, message, pointer=pointer))


def repeated_key_problems(repeated: Iterable[Pointer], mappings: Collection[Pointer]) -> list[FileProblem]:
    """Return a problem for each key that is written more than once in one of some mappings."""
    return [
        FileProblem(
            ProblemKind.DUPLICATE_KEY,
            f"{'.'.join(map(str, pointer))} is written more than once: the last value counts",
            pointer=pointer,
            fix="keep the one that is meant",
        )
        for pointer in dict.fromkeys(repeated)
        if pointer[:-1] in mappings
    ]
