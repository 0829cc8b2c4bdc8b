"""What the YAML and JSON parsers return and raise."""

from __future__ import annotations

__all__ = [
    "MAX_DEPTH",
    "MAX_EXACT_INTEGER",
    "TOO_DEEP_FIX",
    "UTF_8_FIX",
    "ParseError",
    "ParseWarning",
    "ParseWarningKind",
    "ParsedDocument",
]

from typing import Any, Final, Literal, NamedTuple

from everpath.manifest_access import Pointer

ParseWarningKind = Literal["duplicate-key", "lossy-number", "leftover"]

# Objects of OLM nest less than forty levels deep. The limit keeps recursive functions below Python's own.
MAX_DEPTH: Final = 500

# opm converts every number to a float64, which represents integers exactly up to this one.
MAX_EXACT_INTEGER: Final = 2**53

#: Suggested fixes that both parsers use.
TOO_DEEP_FIX: Final = "no part of a catalog is nested that deep: generate the file again"
UTF_8_FIX: Final = "save the file as UTF-8"


class ParseError(Exception):
    """Text that opm cannot parse.

    Line and column count from 1; `offset` is a byte of the text. `fix` is None where the fix is to correct
    the syntax.
    """

    def __init__(
        self, line: int, column: int, message: str, offset: int = 0, *, fix: str | None = None
    ) -> None:
        super().__init__(f"line {line}, column {column}: {message}")
        self.line = line
        self.column = column
        self.message = message
        self.offset = offset
        self.fix = fix


class ParseWarning(NamedTuple):
    """Something that opm accepts silently and that is probably a mistake.

    `offset` is the byte at which text starts that is never read; it is 0 for other warnings, which have a
    pointer.
    """

    kind: ParseWarningKind
    pointer: Pointer
    line: int
    column: int
    offset: int = 0


class ParsedDocument(NamedTuple):
    """The first document of a text. `is_blank` if it has only comments and white space."""

    value: Any
    warnings: tuple[ParseWarning, ...] = ()
    is_blank: bool = False

    @property
    def duplicate_keys(self) -> tuple[Pointer, ...]:
        """The pointers of keys that are written more than once."""
        return tuple(warning.pointer for warning in self.warnings if warning.kind == "duplicate-key")
