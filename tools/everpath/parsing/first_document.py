"""The first document of a manifest, parsed. opm reads no other one.

libyaml costs 20 ms to load, and a repository whose index is fresh needs none of it: so it is loaded here,
when a file must really be parsed.
"""

from __future__ import annotations

__all__ = ["Broken", "FirstDocument", "check_text", "first_document"]

from typing import Any, Final, NamedTuple

from everpath.parsing.parse_result import TextProblem, byte_offset

# OperatorHub.io has no CSV with more than 1,100, examples included.
_MANY_BRACKETS: Final = 5_000


class Broken(Exception):
    """Text that does not parse; `offset` is the byte where it shows, `fix` what mends it if not syntax."""

    def __init__(self, message: str, offset: int, fix: str | None = None) -> None:
        super().__init__(message, offset, fix)
        self.message = message
        self.offset = offset
        self.fix = fix


class FirstDocument(NamedTuple):
    """A value as JSON would hold it, and the pointers of keys that are written more than once."""

    value: Any
    repeated: tuple[tuple[str | int, ...], ...] = ()


def first_document(data: bytes) -> FirstDocument:
    """Raises `Broken`. Cost: linear in the text."""
    from everpath.parsing import yaml_parser  # noqa: PLC0415

    try:
        parsed = yaml_parser.parse(data)
    except TextProblem as problem:
        raise _broken(data, problem) from problem
    repeated = tuple(remark.pointer for remark in parsed.remarks if remark.kind == "duplicate-key")
    return FirstDocument(parsed.value, repeated)


def check_text(data: bytes) -> None:
    """Raise `Broken` if any of a text does not parse. Five times the speed of parsing it."""
    from everpath.parsing import yaml_parser  # noqa: PLC0415

    # libyaml takes quadratic time over brackets in brackets; the parse stops at a certain depth.
    if data.count(b"[") + data.count(b"{") > _MANY_BRACKETS:
        first_document(data)
        return
    try:
        yaml_parser.check(data)
    except TextProblem as problem:
        raise _broken(data, problem) from problem


def _broken(data: bytes, problem: TextProblem) -> Broken:
    return Broken(problem.message, min(byte_offset(data, problem.index), len(data)), problem.fix)
