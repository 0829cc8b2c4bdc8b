"""Decode one mapping as Go decodes it into a struct.

Keys match in any case, null counts as absent, and unknown keys are ignored. What Go would reject or ignore
becomes a `Problem`, and decoding continues.
"""

from __future__ import annotations

__all__ = ["ProblemCollector", "StructFields", "closest_name", "type_description"]

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from everpath.errors import UnreadableInput
from everpath.loaders.sources import Sources
from everpath.model import Place, Problem, ProblemKind

_EMPTY: Final[Mapping[str, Any]] = {}


class ProblemCollector:
    """Collects the problems of one file, with the package and entry that they are about."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self.problems: list[Problem] = []
        self.package: str | None = None
        self.entry: str | None = None

    def add(self, kind: ProblemKind, place: Place, message: str, fix: str | None = None) -> None:
        self.problems.append(Problem(kind, place, message, fix, self.package, self.entry))

    def set_subject(self, document: object) -> None:
        """Set package and entry of the following problems from a document; None if it names none."""
        values = document if type(document) is dict else _EMPTY
        schema, name = values.get("schema"), _name(values, "name")
        self.package = name if schema == "olm.package" else _name(values, "package")
        self.entry = name if schema == "olm.bundle" else None

    def source_text(self, place: Place, value: object) -> str:
        """Return a value as it is written in the file: 1.10 is 1.1 once it is a number."""
        from everpath.loaders.source_positions import locate  # noqa: PLC0415 - only problems need it

        try:
            position = locate(place, self.sources)
        except UnreadableInput:
            return str(value)
        return position.source_line[position.column - 1 : position.end_column - 1].strip() or str(value)


class StructFields(NamedTuple):
    """The fields of a struct, by the names that Go gives them."""

    values: Mapping[str, Any]
    place: Place
    collector: ProblemCollector

    @classmethod
    def of(cls, value: Any, known: frozenset[str], place: Place, collector: ProblemCollector) -> StructFields:
        """Decode a value. Null has no fields; neither has a value of another type, which is a problem."""
        if type(value) is dict:
            values = value if value.keys() <= known else _match_keys(value, known, place, collector)
            return cls(values, place, collector)
        if value is not None:
            collector.add(
                ProblemKind.WRONG_TYPE, place, f"{type_description(value)} where a mapping is needed"
            )
        return cls(_EMPTY, place, collector)

    def text(self, key: str) -> str:
        """Return a string, empty if it is absent."""
        value = self.values.get(key)
        return value if type(value) is str else self._convert_to_text(value, key, key)

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of strings."""
        value = self.values.get(key)
        items = self.items(key, f"write a list: [{value.strip('[]')}]" if type(value) is str else None)
        return tuple(
            item if type(item) is str else self._convert_to_text(item, f"{key}[{i}]", key, i)
            for i, item in enumerate(items)
        )

    def items(self, key: str, fix: str | None = None) -> list[Any]:
        """Return a list with items of any type."""
        value = self.values.get(key)
        if type(value) is list:
            return value
        if value is not None:
            message = f"{key} is {type_description(value)}, not a list"
            self.collector.add(ProblemKind.WRONG_TYPE, self.place.at(key), message, fix)
        return []

    def struct(self, key: str, known: frozenset[str]) -> StructFields:
        """Return the fields of the mapping at a key."""
        return StructFields.of(self.values.get(key), known, self.place.at(key), self.collector)

    def _convert_to_text(self, value: Any, name: str, *steps: str | int) -> str:
        if value is None:
            return ""
        place = self.place.at(*steps)
        message = f"{name} is {type_description(value)}, not text"
        if isinstance(value, list | dict):
            self.collector.add(ProblemKind.WRONG_TYPE, place, message)
            return ""
        text = self.collector.source_text(place, value)
        self.collector.add(ProblemKind.NON_STRING_NAME, place, message, f'quote it: "{text}"')
        return text


def _name(values: Mapping[str, Any], key: str) -> str | None:
    value = values.get(key)
    return value if type(value) is str and value else None


def type_description(value: object) -> str:
    """Return the type of a value in words, for a message."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case list():
            return "a list"
        case _:
            return "a mapping"


def closest_name(word: str, known: frozenset[str]) -> str | None:
    """Return the known name that a misspelled word is closest to, or None if none is close."""
    from difflib import get_close_matches  # noqa: PLC0415 - only problems need it

    folded = _by_folded_name(known)
    matches = get_close_matches(word.casefold(), sorted(folded), n=1, cutoff=0.75)
    return folded[matches[0]] if matches else None


@lru_cache(maxsize=32)
def _by_folded_name(known: frozenset[str]) -> dict[str, str]:
    return {name.casefold(): name for name in sorted(known)}


def _match_keys(
    value: Mapping[str, Any], known: frozenset[str], place: Place, collector: ProblemCollector
) -> Mapping[str, Any]:
    """Return the mapping with its keys as the struct spells them.

    Of two spellings of one key, opm takes the last in sorted order. At the root of a document it rejects
    them, which `schemas` reports.
    """
    by_name = _by_folded_name(known)
    matched: dict[str, Any] = {}
    spellings: dict[str, str] = {}
    for key in sorted(value):
        name = by_name.get(key.casefold())
        if name is None:
            if (meant := closest_name(key, known)) is not None:
                collector.add(
                    ProblemKind.MISSPELLED_KEY,
                    place.key(key),
                    f"opm does not know the key {key}",
                    f"write {meant}",
                )
            continue
        if name in matched and place.pointer:
            message = f"{spellings[name]} and {key} are one key to opm, which takes {key}"
            collector.add(
                ProblemKind.DUPLICATE_KEY, place.at(spellings[name]), message, f"keep one, called {name}"
            )
        matched[name], spellings[name] = value[key], key
    return matched
