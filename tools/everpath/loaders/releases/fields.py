"""Typed access to the values of a YAML file, with their places for error messages.

A value of a wrong type is reported to the `ProblemLog` and counts as absent, so that all problems of a file
are reported together.
"""

from __future__ import annotations

__all__ = ["Field", "ProblemLog", "describe_value"]

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Final, NamedTuple

from everpath.model import Place

_KINDS: Final = {dict: "a mapping", list: "a list", str: "text", bool: "a boolean", type(None): "nothing"}
_MAX_DIGITS: Final = 20


@dataclass(slots=True)
class ProblemLog:
    """The problems of a file."""

    problems: list[tuple[Place, str]] = field(default_factory=list)

    def add(self, place: Place, message: str) -> None:
        self.problems.append((place, message))


class Field(NamedTuple):
    """A value, its place, and the log for its problems."""

    raw: Any
    place: Place
    log: ProblemLog

    def report(self, message: str) -> None:
        self.log.add(self.place, message)

    def report_type(self, expected: str) -> None:
        self.report(f"{self.name} must be {expected}, not {describe_value(self.raw)}")

    @property
    def name(self) -> str:
        """The key of the value."""
        return next((step for step in reversed(self.place.pointer) if isinstance(step, str)), "the file")

    def below(self, step: str | int, raw: Any) -> Field:
        return Field(raw, self.place.at(step), self.log)

    def mapping(self, keys: Sequence[str], *, prefix: str | None = None) -> dict[str, Field]:
        """The values of the known keys and of those with the prefix. Other keys are reported."""
        found = self.fields()
        for key in [key for key in found if key not in keys and not (prefix and key.startswith(prefix))]:
            near = get_close_matches(key, keys, n=1)
            meant = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(keys)}"
            self.log.add(self.place.key(key), f"unknown key {key!r}; {meant}")
            del found[key]
        return found

    def fields(self) -> dict[str, Field]:
        """The values of all keys of a mapping."""
        if not isinstance(self.raw, dict):
            self.report_type("a mapping")
            return {}
        return {key: self.below(key, raw) for key, raw in self.raw.items()}

    def items(self) -> Iterator[Field]:
        if not isinstance(self.raw, list):
            self.report_type("a list")
            return
        for index, raw in enumerate(self.raw):
            yield self.below(index, raw)

    def text(self, example: str = "") -> str:
        """The stripped text. A blank or another value is reported and counts as empty."""
        if isinstance(self.raw, str):
            if not self.raw.strip():
                self.report(f"{self.name} must not be empty")
            return self.raw.strip()
        self.report_type(f"text{f' such as {example}' if example else ''}")
        return ""

    def texts(self) -> tuple[str, ...]:
        """A list of texts; a single text counts as a list."""
        fields = [self] if isinstance(self.raw, str) else self.items()
        return tuple(found for value in fields if (found := value.text()))

    def numbers(self) -> tuple[int, ...]:
        """A list of whole numbers."""
        found = list(self.items())
        for value in found:
            if not isinstance(value.raw, int) or isinstance(value.raw, bool):
                value.report_type("a whole number")
        return tuple(value.raw for value in found if type(value.raw) is int)

    def flag(self) -> bool:
        if not isinstance(self.raw, bool):
            self.report_type("true or false")
        return self.raw is True


def describe_value(raw: object) -> str:
    """Describe a value for a message: its type, or the number itself unless it is too long."""
    if (words := _KINDS.get(type(raw))) is not None:
        return words
    return f"{raw!r}" if not isinstance(raw, int) or abs(raw) < 10**_MAX_DIGITS else "a very large number"
