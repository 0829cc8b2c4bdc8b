"""Values of a YAML file with the way down to each, so that what is wrong is told with its line.

Nothing here raises: a value that is not what it should be is put on record and read as nothing, and all
records are told together.
"""

from __future__ import annotations

__all__ = ["Field", "ProblemLog", "describe_value"]

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Final, NamedTuple

from everpath.model import Place

_KINDS: Final = {dict: "a mapping", list: "a list", str: "text", bool: "a boolean", type(None): "nothing"}
_LONGEST: Final = 20


@dataclass(slots=True)
class ProblemLog:
    """What is wrong with a file, as it is found."""

    problems: list[tuple[Place, str]] = field(default_factory=list)

    def add(self, place: Place, message: str) -> None:
        self.problems.append((place, message))


class Field(NamedTuple):
    """A value, where it stands, and who hears of it if it is wrong."""

    raw: Any
    place: Place
    record: ProblemLog

    def wrong(self, message: str) -> None:
        self.record.add(self.place, message)

    def expected(self, what: str) -> None:
        self.wrong(f"{self.name} should be {what}, not {describe_value(self.raw)}")

    @property
    def name(self) -> str:
        """The key it stands behind."""
        return next((step for step in reversed(self.place.pointer) if isinstance(step, str)), "the file")

    def below(self, step: str | int, raw: Any) -> Field:
        return Field(raw, self.place.at(step), self.record)

    def mapping(self, keys: Sequence[str], *, own: str | None = None) -> dict[str, Field]:
        """Its known keys, and those with the prefix `own`; each other is a complaint with what was meant."""
        found = self.fields()
        for key in [key for key in found if key not in keys and not (own and key.startswith(own))]:
            near = get_close_matches(key, keys, n=1)
            meant = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(keys)}"
            self.record.add(self.place.key(key), f"no such key: {key!r}; {meant}")
            del found[key]
        return found

    def fields(self) -> dict[str, Field]:
        """All its keys."""
        if not isinstance(self.raw, dict):
            self.expected("a mapping")
            return {}
        return {key: self.below(key, raw) for key, raw in self.raw.items()}

    def items(self) -> Iterator[Field]:
        if not isinstance(self.raw, list):
            self.expected("a list")
            return
        for index, raw in enumerate(self.raw):
            yield self.below(index, raw)

    def text(self, such_as: str = "") -> str:
        """Its text; empty, with a complaint, when it is something else or blank."""
        if isinstance(self.raw, str):
            if not self.raw.strip():
                self.wrong(f"{self.name} should not be empty")
            return self.raw.strip()
        self.expected(f"text{f' such as {such_as}' if such_as else ''}")
        return ""

    def texts(self) -> tuple[str, ...]:
        """A list of texts, or one text alone."""
        fields = [self] if isinstance(self.raw, str) else self.items()
        return tuple(found for value in fields if (found := value.text()))

    def numbers(self) -> tuple[int, ...]:
        """A list of whole numbers."""
        found = list(self.items())
        for value in found:
            if not isinstance(value.raw, int) or isinstance(value.raw, bool):
                value.expected("a whole number")
        return tuple(value.raw for value in found if type(value.raw) is int)

    def flag(self) -> bool:
        if not isinstance(self.raw, bool):
            self.expected("true or false")
        return self.raw is True


def describe_value(raw: object) -> str:
    """A value in words; a number as it is, if it is not too long to be shown."""
    if (words := _KINDS.get(type(raw))) is not None:
        return words
    return f"{raw!r}" if not isinstance(raw, int) or abs(raw) < 10**_LONGEST else "a very large number"
