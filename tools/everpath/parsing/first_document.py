"""Parse the first document of a manifest. opm ignores the others.

libyaml takes 20 ms to import. It is imported by the first call, because a repository with an up-to-date
index parses no manifest.
"""

from __future__ import annotations

__all__ = ["ParseError", "ParsedDocument", "check_syntax", "first_document"]

from typing import Final

from everpath.parsing.parse_result import ParsedDocument, ParseError

# No CSV on OperatorHub.io has more than 1,100 brackets, examples included.
_MANY_BRACKETS: Final = 5_000


def first_document(data: bytes) -> ParsedDocument:
    """Parse the first document of a text. Raises `ParseError`."""
    from everpath.parsing import yaml_parser  # noqa: PLC0415

    return yaml_parser.parse(data)


def check_syntax(data: bytes) -> None:
    """Raise `ParseError` if any document of a text is invalid. Five times faster than parsing it."""
    from everpath.parsing import yaml_parser  # noqa: PLC0415

    # libyaml takes quadratic time for nested brackets. `parse` stops at MAX_DEPTH.
    if data.count(b"[") + data.count(b"{") > _MANY_BRACKETS:
        yaml_parser.parse(data)
    else:
        yaml_parser.check(data)
