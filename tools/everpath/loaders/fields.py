"""Typed access to the values of a file that users write: releases.yaml, or the configuration.

A value of a wrong type is a problem and counts as absent, so that all problems of a file are reported
together.
"""

from __future__ import annotations

__all__ = ["Field", "describe_value", "suggestion"]

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from everpath.model import Place

_KINDS: Final = {dict: "a mapping", list: "a list", str: "text", bool: "a boolean", type(None): "nothing"}

# Python does not print integers of thousands of digits.
_LARGE: Final = 10**20


class Field(NamedTuple):
    """A value, its place, and the list to which problems of the file are added."""

    raw: Any
    place: Place
    problems: list[tuple[Place, str]]

    def add_problem(self, message: str) -> None:
        self.problems.append((self.place, message))

    def add_type_problem(self, expected: str) -> None:
        self.add_problem(f"{self.name} must be {expected}, not {describe_value(self.raw)}")

    @property
    def name(self) -> str:
        """The key of the value."""
        return next((step for step in reversed(self.place.pointer) if isinstance(step, str)), "the file")

    def child(self, step: str | int, raw: Any) -> Field:
        return Field(raw, self.place.at(step), self.problems)

    def mapping(self, keys: Sequence[str], *, prefix: str | None = None) -> dict[str, Field]:
        """Return the values of the known keys and of those with the prefix. Other keys are problems."""
        found = self.fields()
        for key in [key for key in found if key not in keys and not (prefix and key.startswith(prefix))]:
            hint = suggestion(key, keys) or f"; known keys: {', '.join(keys)}"
            self.problems.append((self.place.key(key), f"unknown key {key!r}{hint}"))
            del found[key]
        return found

    def fields(self) -> dict[str, Field]:
        """Return the values of all keys of a mapping."""
        if not isinstance(self.raw, dict):
            self.add_type_problem("a mapping")
            return {}
        return {key: self.child(key, raw) for key, raw in self.raw.items()}

    def items(self) -> Iterator[Field]:
        if not isinstance(self.raw, list):
            self.add_type_problem("a list")
            return
        for index, raw in enumerate(self.raw):
            yield self.child(index, raw)

    def text(self, example: str = "") -> str:
        """Return the stripped text. A blank or another value is a problem and counts as empty."""
        if isinstance(self.raw, str):
            if not self.raw.strip():
                self.add_problem(f"{self.name} must not be empty")
            return self.raw.strip()
        self.add_type_problem(f"text{f' such as {example}' if example else ''}")
        return ""

    def texts(self) -> tuple[str, ...]:
        """Return a list of texts; a single text counts as a list."""
        fields = [self] if isinstance(self.raw, str) else self.items()
        return tuple(found for value in fields if (found := value.text()))

    def choice(self, words: Sequence[str]) -> str | None:
        """Return one of some words; None, with a problem, for another one."""
        word = self.text()
        if not word or word in words:
            return word or None
        hint = suggestion(word, words)
        self.add_problem(f"{self.name} must be one of {', '.join(words)}, not {word!r}{hint}")
        return None

    def numbers(self) -> tuple[int, ...]:
        """Return a list of whole numbers."""
        found = list(self.items())
        for value in found:
            if not isinstance(value.raw, int) or isinstance(value.raw, bool):
                value.add_type_problem("a whole number")
        return tuple(value.raw for value in found if type(value.raw) is int)

    def flag(self) -> bool:
        if not isinstance(self.raw, bool):
            self.add_type_problem("true or false")
        return self.raw is True


def suggestion(word: str, words: Sequence[str]) -> str:
    """Return `; did you mean X?` with the most similar word, or nothing if none is similar."""
    from difflib import get_close_matches  # noqa: PLC0415 - only for an error

    near = get_close_matches(word, words, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def describe_value(raw: object) -> str:
    """Describe a value for a message: its type, or the number itself unless it is too long."""
    if (words := _KINDS.get(type(raw))) is not None:
        return words
    return "a very large number" if isinstance(raw, int) and abs(raw) >= _LARGE else repr(raw)
