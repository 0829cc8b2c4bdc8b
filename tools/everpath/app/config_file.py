"""A configuration file: its values, and the line of each for errors.

The parsers are imported when there is a file to parse; most runs have none.
"""

from __future__ import annotations

__all__ = ["ConfigFile", "ConfigValue", "describe_value", "load_config_file"]

from collections.abc import Iterator, Sequence
from functools import cached_property
from os.path import exists, relpath
from typing import Any, Final, NamedTuple

from everpath import __url__
from everpath.errors import ConfigError, UnreadableInput
from everpath.loaders.location import SourcePosition
from everpath.loaders.sources import MEBIBYTE, Sources
from everpath.model import Place

# Python does not print integers of thousands of digits.
_LARGE: Final = 10**20

_PAGE: Final = f"{__url__}/blob/main/docs/configuration.md"
_TABLE: Final = ("tool", "everpath")
_KINDS: Final = {dict: "a mapping", list: "a list", str: "text", bool: "a boolean", type(None): "nothing"}


def describe_value(raw: object) -> str:
    """Return the type of a value in words, or a number as it is."""
    if kind := _KINDS.get(type(raw)):
        return kind
    return "a very large number" if isinstance(raw, int) and abs(raw) >= _LARGE else repr(raw)


def load_config_file(path: str) -> ConfigFile:
    """Read and parse a configuration file. Raises ConfigError."""
    file = relpath(path)
    sources = Sources()
    try:
        content = sources.read(file, MEBIBYTE)
    except UnreadableInput as error:
        hint = "name a file such as everpath.yaml, or omit --config" if not exists(file) else error.hint
        raise ConfigError(error.message, hint=hint, file=file) from error
    config_file = ConfigFile(file, content, sources)
    config_file.parse()
    return config_file


class ConfigFile:
    """One configuration file. `problems` are collected, so that one run reports all of them."""

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
    def top(self) -> ConfigValue:
        """The whole configuration."""
        return ConfigValue(self, _TABLE if self.is_toml else (), self.tree)

    def parse(self) -> None:
        self.tree = self._toml() if self.is_toml else self._yaml()

    def _toml(self) -> Any:
        import tomllib  # noqa: PLC0415

        try:
            tree = tomllib.loads(self._text)
        except RecursionError as error:
            raise ConfigError(f"{self.file}: nested too deeply", file=self.file) from error
        except ValueError as error:
            raise ConfigError(f"{self.file}: {_toml_error(error)}", file=self.file) from error
        return self._table(tree)

    def _table(self, tree: Any) -> Any:
        """Return the table [tool.everpath], empty if there is none."""
        for depth, step in enumerate(_TABLE):
            if not isinstance(tree, dict):
                above = _TABLE[:depth]
                message = f"{'.'.join(above)} must be a table, not {describe_value(tree)}"
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
            self.problems.append((remark.line, remark.column, _YAML_PROBLEMS[remark.kind]))
        return parsed.value

    def locate(self, pointer: tuple[str | int, ...]) -> SourcePosition:
        if self.is_toml:
            from everpath.app import toml_positions  # noqa: PLC0415

            return toml_positions.location(self.file, self._text, pointer)
        from everpath.loaders import source_positions  # noqa: PLC0415

        return source_positions.locate(Place(self.file, pointer=pointer), self.sources)

    def raise_problems(self) -> None:
        """Raise one ConfigError with all problems, ordered by position, if there are any."""
        if self.problems:
            lines = (
                f"{self.file}{f':{line}:{column}' if line else ''}: {m}"
                for line, column, m in sorted(self.problems)
            )
            raise ConfigError("\n".join(lines), hint=f"{_PAGE} lists all keys", file=self.file)


def _toml_error(error: ValueError) -> str:
    """Return the message of tomllib. A plain ValueError is Python's limit on the digits of a number."""
    return str(error) if type(error) is not ValueError else "a number has thousands of digits"


_YAML_PROBLEMS: Final = {
    "duplicate-key": "duplicate key",
    "lossy-number": "a number too large to be represented exactly",
    "leftover": "a second document; only the first is used",
}


class ConfigValue(NamedTuple):
    """A value of a configuration file and its keys. Methods that convert it record a problem and go on."""

    file: ConfigFile
    pointer: tuple[str | int, ...]
    raw: Any

    @property
    def place(self) -> Place:
        return Place(self.file.file, pointer=self.pointer)

    def add_problem(self, message: str) -> None:
        """Record a problem at the position of this value."""
        at = self.file.locate(self.pointer)
        self.file.problems.append((at.line, at.column, message))

    def _add_type_problem(self, expected: str) -> None:
        self.add_problem(f"{self._name} must be {expected}, not {describe_value(self.raw)}")

    @property
    def _name(self) -> str:
        return next((step for step in reversed(self.pointer) if isinstance(step, str)), "the file")

    def child(self, step: str | int, raw: Any) -> ConfigValue:
        return ConfigValue(self.file, (*self.pointer, step), raw)

    def mapping(self, keys: Sequence[str]) -> dict[str, ConfigValue]:
        """Return the values of known keys; an unknown key is a problem, with the most similar key."""
        if self.raw is None and not self.pointer:
            return {}
        if not isinstance(self.raw, dict):
            self._add_type_problem("a mapping")
            return {}
        values = {key: self.child(key, raw) for key, raw in self.raw.items()}
        for unknown in values.keys() - set(keys):
            suggestion = _suggestion(unknown, keys) or f"; the keys are {', '.join(keys)}"
            values.pop(unknown).add_problem(f"unknown key {unknown!r}{suggestion}")
        return values

    def items(self) -> Iterator[ConfigValue]:
        if not isinstance(self.raw, list):
            self._add_type_problem("a list")
            return
        for index, raw in enumerate(self.raw):
            yield self.child(index, raw)

    def text(self) -> str:
        """Return the text; empty, with a problem, if it is blank or of another type."""
        if isinstance(self.raw, str) and self.raw.strip():
            return self.raw.strip()
        if isinstance(self.raw, str):
            self.add_problem(f"{self._name} must not be empty")
        else:
            self._add_type_problem("text")
        return ""

    def texts(self) -> tuple[str, ...]:
        """Return a list of texts; one text counts as a list."""
        values = [self] if isinstance(self.raw, str) else list(self.items())
        return tuple(text for value in values if (text := value.text()))

    def choice(self, words: Sequence[str]) -> str | None:
        """Return one of some words; None, with a problem, for another one."""
        word = self.text()
        if not word or word in words:
            return word or None
        self.add_problem(
            f"{self._name} must be one of {', '.join(words)}, not {word!r}{_suggestion(word, words)}"
        )
        return None


def _suggestion(word: str, words: Sequence[str]) -> str:
    """Return the most similar word as a question; empty if none is similar."""
    from difflib import get_close_matches  # noqa: PLC0415 - only for an error

    near = get_close_matches(word, words, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
