"""A configuration file as it is written: values, and for each the line to point at when it is wrong.

The parsers are imported when there is a file to parse: most runs have none, and they cost more than it.
"""

from __future__ import annotations

__all__ = ["Value", "Written", "described", "find", "open_written"]

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from os.path import dirname, exists, isfile, join, relpath
from typing import Any, Final, NamedTuple

from everpath import __url__
from everpath.errors import ConfigError, UnreadableInput
from everpath.loaders.location import SourcePosition
from everpath.loaders.sources import MEBIBYTE, Sources
from everpath.model import Place

# Python refuses to print integers of thousands of digits, and nobody wants to read them.
_LARGE: Final = 10**20

_PAGE: Final = f"{__url__}/blob/main/docs/configuration.md"
_TABLE: Final = ("tool", "everpath")
_KINDS: Final = {dict: "a mapping", list: "a list", str: "text", bool: "a boolean", type(None): "nothing"}


def described(raw: object) -> str:
    """A value in words; a number as it is, if it is not too long to be shown."""
    return _KINDS.get(type(raw)) or (f"{raw!r}" if _is_short(raw) else "a very large number")


def _is_short(raw: object) -> bool:
    return not isinstance(raw, int) or abs(raw) < _LARGE


def find(start: str) -> str | None:
    """The configuration that governs a folder: its own, or that of a parent up to the repository's root.

    Outside of a repository only the folder itself is asked: a stranger's file further up must not count.
    A folder that may not be looked into holds none.
    """
    folders = list(_upwards(start))
    root = next((i for i, folder in enumerate(folders) if exists(join(folder, ".git"))), 0)
    for folder in folders[: root + 1]:
        if exists(own := join(folder, "everpath.yaml")):
            return own
        if _has_table(shared := join(folder, "pyproject.toml")):
            return shared
    return None


def _upwards(folder: str) -> Iterator[str]:
    """A folder, and all that it lies in."""
    yield folder
    while (parent := dirname(folder)) != folder:
        yield (folder := parent)


def _has_table(file: str) -> bool:
    """Whether a pyproject.toml speaks of everpath; a broken one does so only if the words are there."""
    if not isfile(file):
        return False
    try:
        with open(file, "rb") as stream:
            content = stream.read()
    except OSError:
        return False
    return re.search(rb"^\s*\[+\s*tool\s*\.\s*everpath\b", content, re.MULTILINE) is not None


def open_written(path: str) -> Written:
    """The file, read and parsed. Raises ConfigError."""
    file = relpath(path)
    sources = Sources()
    try:
        content = sources.read(file, MEBIBYTE)
    except UnreadableInput as error:
        hint = "name a file such as everpath.yaml, or leave --config out" if not exists(file) else error.hint
        raise ConfigError(error.message, hint=hint, file=file) from error
    written = Written(file, content, sources)
    written.parse()
    return written


class Written:
    """One configuration file. `problems` gathers what is wrong, so that one run tells all of it."""

    def __init__(self, file: str, content: bytes, sources: Sources) -> None:
        self.file = file
        self.content = content
        self.sources = sources
        self.problems: list[tuple[int, int, str]] = []
        self.tree: Any = None

    @property
    def is_toml(self) -> bool:
        return self.file.endswith(".toml")

    @property
    def top(self) -> Value:
        """What it says to everpath."""
        return Value(self, _TABLE if self.is_toml else (), self.tree)

    def parse(self) -> None:
        self.tree = self._toml() if self.is_toml else self._yaml()

    def _toml(self) -> Any:
        import tomllib  # noqa: PLC0415

        try:
            tree = tomllib.loads(self._text)
        except RecursionError as error:
            raise ConfigError(f"{self.file}: nested too deeply to be read", file=self.file) from error
        except ValueError as error:
            raise ConfigError(f"{self.file}: {_reason(error)}", file=self.file) from error
        return self._table(tree)

    def _table(self, tree: Any) -> Any:
        """What stands under [tool.everpath]; nothing there is an empty table."""
        for depth, step in enumerate(_TABLE):
            if not isinstance(tree, dict):
                above = _TABLE[:depth]
                message = f"{'.'.join(above)} should be a table, not {described(tree)}"
                line = self.locate(above).line
                raise ConfigError(f"{self.file}:{line}: {message}", file=self.file)
            tree = tree.get(step, {})
        return tree

    @cached_property
    def _text(self) -> str:
        try:
            return self.content.decode()
        except UnicodeDecodeError as error:
            raise ConfigError(f"{self.file} is not UTF-8: {error.reason}", file=self.file) from error

    def _yaml(self) -> Any:
        from everpath.parsing import yaml_parser  # noqa: PLC0415

        try:
            parsed = yaml_parser.parse(self.content)
        except yaml_parser.ParseError as error:
            at = f"{self.file}:{error.line}:{error.column}"
            raise ConfigError(f"{at}: {error.message}", file=self.file) from error
        for remark in parsed.warnings:
            self.problems.append((remark.line, remark.column, _REMARKS[remark.kind]))
        return parsed.value

    def locate(self, pointer: tuple[str | int, ...]) -> SourcePosition:
        if self.is_toml:
            from everpath.app import toml_positions  # noqa: PLC0415

            return toml_positions.location(self.file, self._text, pointer)
        from everpath.loaders import source_positions  # noqa: PLC0415

        return source_positions.locate(Place(self.file, pointer=pointer), self.sources)

    def verify(self) -> None:
        """Raise everything that was found wrong as one error, in the order it is written."""
        if self.problems:
            told = (
                f"{self.file}{f':{line}:{column}' if line else ''}: {m}"
                for line, column, m in sorted(self.problems)
            )
            raise ConfigError("\n".join(told), hint=f"{_PAGE} lists every key", file=self.file)


def _reason(error: ValueError) -> str:
    """tomllib's own words, but not those of Python about a number it does not want to turn into one."""
    if type(error) is not ValueError:
        return str(error)
    return "a number of thousands of digits: no key of everpath takes one"


_REMARKS: Final = {
    "duplicate-key": "the same key twice",
    "lossy-number": "a number too large to be kept exactly",
    "leftover": "a second document; only the first is read",
}


class Value(NamedTuple):
    """A value, the way down to it, and the file it complains to."""

    written: Written
    pointer: tuple[str | int, ...]
    raw: Any

    @property
    def place(self) -> Place:
        return Place(self.written.file, pointer=self.pointer)

    def wrong(self, message: str) -> None:
        """Put on record that this value is not what it should be."""
        at = self.written.locate(self.pointer)
        self.written.problems.append((at.line, at.column, message))

    def _expected(self, what: str) -> None:
        found = described(self.raw)
        self.wrong(f"{self._name} should be {what}, not {found}")

    @property
    def _name(self) -> str:
        return next((step for step in reversed(self.pointer) if isinstance(step, str)), "the file")

    def below(self, step: str | int, raw: Any) -> Value:
        return Value(self.written, (*self.pointer, step), raw)

    def mapping(self, keys: Sequence[str]) -> dict[str, Value]:
        """Its known keys; the others are complaints, with the key that was probably meant."""
        if self.raw is None and not self.pointer:
            return {}
        if not isinstance(self.raw, dict):
            self._expected("a mapping")
            return {}
        values = {key: self.below(key, raw) for key, raw in self.raw.items()}
        for unknown in values.keys() - set(keys):
            meant = _meant(unknown, keys) or f"; there are {', '.join(keys)}"
            values.pop(unknown).wrong(f"no such key: {unknown!r}{meant}")
        return values

    def items(self) -> Iterator[Value]:
        if not isinstance(self.raw, list):
            self._expected("a list")
            return
        for index, raw in enumerate(self.raw):
            yield self.below(index, raw)

    def text(self) -> str:
        """Its text; empty, with a complaint, when it is something else or blank."""
        if isinstance(self.raw, str) and self.raw.strip():
            return self.raw.strip()
        if isinstance(self.raw, str):
            self.wrong(f"{self._name} should not be empty")
        else:
            self._expected("text")
        return ""

    def texts(self) -> tuple[str, ...]:
        """A list of texts, or one text alone."""
        values = [self] if isinstance(self.raw, str) else list(self.items())
        return tuple(found for value in values if (found := value.text()))

    def choice(self, words: Sequence[str]) -> str | None:
        """One of some words, or None with a complaint."""
        found = self.text()
        if not found or found in words:
            return found or None
        meant = _meant(found, words)
        self.wrong(f"{self._name} should be one of {', '.join(words)}, not {found!r}{meant}")
        return None


def _meant(word: str, words: Sequence[str]) -> str:
    """A question for the word that was probably meant; empty if none is near."""
    from difflib import get_close_matches  # noqa: PLC0415 - only who mistypes pays for it

    near = get_close_matches(word, words, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
