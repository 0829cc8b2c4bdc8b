"""A configuration file: its values, and the line of each for errors.

The parsers are imported when there is a file to parse; most runs have none.
"""

from __future__ import annotations

__all__ = ["ConfigFile", "load_config_file"]

from functools import cached_property
from os.path import exists, relpath
from typing import Any, Final

from everpath import __url__
from everpath.errors import ConfigError, UnreadableInput
from everpath.loaders.fields import Field, describe_value
from everpath.loaders.sources import MEBIBYTE, Sources
from everpath.manifest_access import Pointer
from everpath.model import Place, SourcePosition

_PAGE: Final = f"{__url__}/blob/main/docs/configuration.md"
_TABLE: Final = ("tool", "everpath")


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
    """One configuration file. Problems are collected, so that one run reports all of them."""

    def __init__(self, file: str, content: bytes, sources: Sources) -> None:
        self.file = file
        self.content = content
        self.sources = sources
        self.tree: Any = None
        self._problems: list[tuple[Place, str]] = []
        self._warnings: list[tuple[int, int, str]] = []

    @property
    def is_toml(self) -> bool:
        return self.file.endswith(".toml")

    @property
    def top(self) -> Field:
        """The whole configuration."""
        place = Place(self.file, pointer=_TABLE if self.is_toml else ())
        return Field(self.tree, place, self._problems)

    def parse(self) -> None:
        self.tree = self._toml() if self.is_toml else self._yaml()

    def _toml(self) -> Any:
        import tomllib  # noqa: PLC0415

        try:
            tree = tomllib.loads(self._text)
        except RecursionError as error:
            raise ConfigError(f"{self.file}: nested too deeply", file=self.file) from error
        except ValueError as error:
            # A plain ValueError is Python's limit on the digits of a number.
            message = str(error) if type(error) is not ValueError else "a number has thousands of digits"
            raise ConfigError(f"{self.file}: {message}", file=self.file) from error
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
            self._warnings.append((remark.line, remark.column, _YAML_PROBLEMS[remark.kind]))
        return {} if parsed.value is None else parsed.value

    def locate(self, pointer: Pointer) -> SourcePosition:
        if self.is_toml:
            from everpath.app.config import toml_positions  # noqa: PLC0415

            return toml_positions.location(self.file, self._text, pointer)
        from everpath.loaders import source_positions  # noqa: PLC0415

        return source_positions.locate(Place(self.file, pointer=pointer), self.sources)

    def raise_problems(self) -> None:
        """Raise one ConfigError with all problems, ordered by position, if there are any."""
        problems = list(self._warnings)
        for place, message in self._problems:
            at = self.locate(place.pointer)
            problems.append((at.line, at.column, message))
        if problems:
            lines = (
                f"{self.file}{f':{line}:{column}' if line else ''}: {m}"
                for line, column, m in sorted(problems)
            )
            raise ConfigError("\n".join(lines), hint=f"{_PAGE} lists all keys", file=self.file)


_YAML_PROBLEMS: Final = {
    "duplicate-key": "duplicate key",
    "lossy-number": "a number too large to be represented exactly",
    "leftover": "a second document; only the first is used",
}
