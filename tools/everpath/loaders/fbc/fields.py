"""One mapping of a document, read the way Go's decoder fills a struct.

Keys match whatever their case, null is as good as nothing, and a key that is not known is dropped without
a word. What Go would refuse or drop becomes a `Problem`; the rest of the document is read on.
"""

from __future__ import annotations

__all__ = ["Fields", "Report", "described", "nearest"]

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from everpath.errors import UnreadableInput
from everpath.loaders.sources import Sources
from everpath.model import Place, Problem

_NOTHING: Final[Mapping[str, Any]] = {}


class Report:
    """The problems of one file, and the document they are about."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self.problems: list[Problem] = []
        self.package: str | None = None
        self.entry: str | None = None

    def add(self, kind: str, place: Place, message: str, fix: str | None = None) -> None:
        self.problems.append(Problem(kind, place, message, fix, self.package, self.entry))

    def about(self, document: object) -> None:
        """Whom the problems from here on concern, as far as a document says so; None if it does not."""
        values = document if type(document) is dict else _NOTHING
        schema, name = values.get("schema"), _named(values, "name")
        self.package = name if schema == "olm.package" else _named(values, "package")
        self.entry = name if schema == "olm.bundle" else None

    def written(self, place: Place, value: object) -> str:
        """A value as its author wrote it: 1.10 is no longer that once it is a number."""
        from everpath.loaders.source_positions import locate  # noqa: PLC0415 - only for findings

        try:
            found = locate(place, self.sources)
        except UnreadableInput:
            return str(value)
        return found.source_line[found.column - 1 : found.end_column - 1].strip() or str(value)


class Fields(NamedTuple):
    """A mapping whose keys are those of a struct."""

    values: Mapping[str, Any]
    place: Place
    report: Report

    @classmethod
    def of(cls, value: Any, known: frozenset[str], place: Place, report: Report) -> Fields:
        """The fields of a value; none of null, and none of what is no mapping, which is a problem."""
        if type(value) is dict:
            values = value if value.keys() <= known else _matched(value, known, place, report)
            return cls(values, place, report)
        if value is not None:
            report.add("wrong-type", place, f"{described(value)} where a mapping is needed")
        return cls(_NOTHING, place, report)

    def text(self, key: str) -> str:
        """A string, empty if there is none."""
        value = self.values.get(key)
        return value if type(value) is str else self._as_text(value, key, key)

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of strings."""
        value = self.values.get(key)
        items = self.items(key, f"write a list: [{value.strip('[]')}]" if type(value) is str else None)
        return tuple(
            item if type(item) is str else self._as_text(item, f"{key}[{i}]", key, i)
            for i, item in enumerate(items)
        )

    def items(self, key: str, fix: str | None = None) -> list[Any]:
        """A list of anything."""
        value = self.values.get(key)
        if type(value) is list:
            return value
        if value is not None:
            self.report.add("wrong-type", self.place.at(key), f"{key} is {described(value)}, not a list", fix)
        return []

    def below(self, key: str, known: frozenset[str]) -> Fields:
        """The mapping at a key."""
        return Fields.of(self.values.get(key), known, self.place.at(key), self.report)

    def _as_text(self, value: Any, name: str, *steps: str | int) -> str:
        if value is None:
            return ""
        place = self.place.at(*steps)
        if isinstance(value, list | dict):
            self.report.add("wrong-type", place, f"{name} is {described(value)}, not text")
            return ""
        written = self.report.written(place, value)
        message = f"{name} is {described(value)}, not text"
        self.report.add("non-string-name", place, message, f'quote it: "{written}"')
        return written


def _named(values: Mapping[str, Any], key: str) -> str | None:
    value = values.get(key)
    return value if type(value) is str and value else None


def described(value: object) -> str:
    """A value in words, for a message."""
    match value:
        case None:
            return "null"
        case bool():
            return "a truth value"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case list():
            return "a list"
        case _:
            return "a mapping"


def nearest(word: str, known: frozenset[str]) -> str | None:
    """The known word that was meant, if one is near."""
    from difflib import get_close_matches  # noqa: PLC0415 - only for findings

    folded = _by_folded_name(known)
    found = get_close_matches(word.casefold(), sorted(folded), n=1, cutoff=0.75)
    return folded[found[0]] if found else None


@lru_cache(maxsize=32)
def _by_folded_name(known: frozenset[str]) -> dict[str, str]:
    return {name.casefold(): name for name in sorted(known)}


def _matched(
    value: Mapping[str, Any], known: frozenset[str], place: Place, report: Report
) -> Mapping[str, Any]:
    """The mapping with its keys as the struct spells them. Go's later key wins, and its keys are sorted.

    Two spellings of one key make opm refuse a document, which whoever reads its root reports; further down
    it takes the last.
    """
    by_name = _by_folded_name(known)
    matched: dict[str, Any] = {}
    spellings: dict[str, str] = {}
    for key in sorted(value):
        name = by_name.get(key.casefold())
        if name is None:
            _report_unknown(key, known, place, report)
            continue
        if name in matched and place.pointer:
            message = f"{spellings[name]} and {key} are one key to opm, which takes {key}"
            report.add("duplicate-key", place.at(spellings[name]), message, f"keep one, called {name}")
        matched[name], spellings[name] = value[key], key
    return matched


def _report_unknown(key: str, known: frozenset[str], place: Place, report: Report) -> None:
    meant = nearest(key, known)
    if meant is not None:
        report.add("misspelled-key", place.key(key), f"{key} is no key opm knows", f"write {meant}")
