"""Values of parsed documents, asked for by type: what has another one is noted and counts as absent."""

from __future__ import annotations

__all__ = ["Typed", "repetitions", "type_name"]

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from everpath.loaders.bundle.summaries import Note

Pointer = tuple[str | int, ...]


def type_name(value: object) -> str:
    """What a value is, in the words of YAML."""
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


class Typed:
    """Reads one document; the last step of each pointer is the key asked for. Null counts as absent."""

    def __init__(self) -> None:
        self.notes: list[Note] = []

    def mapping(self, parent: Mapping[str, Any], *pointer: str | int) -> Mapping[str, Any]:
        value = parent.get(str(pointer[-1]))
        return value if isinstance(value, dict) else self.refuse(value, "a mapping", pointer, {})

    def items(self, parent: Mapping[str, Any], *pointer: str | int) -> list[Any]:
        value = parent.get(str(pointer[-1]))
        return value if isinstance(value, list) else self.refuse(value, "a list", pointer, [])

    def text(self, parent: Mapping[str, Any], *pointer: str | int, numbers: bool = False) -> str | None:
        value = parent.get(str(pointer[-1]))
        if numbers and isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        return value if isinstance(value, str) else self.refuse(value, "a string", pointer, None)

    def texts(self, parent: Mapping[str, Any], *pointer: str | int) -> tuple[str, ...]:
        found = []
        for index, item in enumerate(self.items(parent, *pointer)):
            if isinstance(item, str):
                found.append(item)
            else:
                self.refuse(item, "a string", (*pointer, index), None)
        return tuple(found)

    def refuse(self, value: object, wanted: str, pointer: Pointer, instead: Any = None) -> Any:
        """Note a value of a wrong type; the answer is what counts instead."""
        if value is not None:
            path = ".".join(map(str, pointer))
            note = Note("wrong-type", f"{path} is {type_name(value)}, not {wanted}", pointer=pointer)
            self.notes.append(note)
        return instead


def repetitions(repeated: Iterable[Pointer], noticed: Collection[Pointer]) -> list[Note]:
    """Notes on keys that are written twice in one of the mappings `noticed`."""
    return [
        Note(
            "duplicate-key",
            f"{'.'.join(map(str, pointer))} is written more than once: the last value counts",
            pointer=pointer,
            fix="keep the one that is meant",
        )
        for pointer in dict.fromkeys(repeated)
        if pointer[:-1] in noticed
    ]
