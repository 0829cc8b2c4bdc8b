"""Parses a constraint as NewConstraint of Masterminds/semver v3.3.1 does.

Hyphen ranges are rewritten first, then `||` splits the text into arms, and an arm has terms separated by
spaces or commas. The rewriting ignores `||`: in `1||2 - 3` the low end of the hyphen range is `1||2`, so the
constraint means `>=1 || 2 <=3`.
"""

from __future__ import annotations

__all__ = ["ConstraintSyntaxError", "parse_constraint"]

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from everpath.ranges.masterminds._terms import OPERATORS, ConstraintTerm
from everpath.versions import UINT64_MAX

# Go's \s; Python's matches more.
_SPACE_CHARACTERS: Final = "\t\n\f\r "
_SPACE: Final = rf"[{_SPACE_CHARACTERS}]"
# Upstream's pattern allows a | in a number; parsing the number then fails.
_NUMBER: Final = r"[0-9|xX*]+"
_IDENTIFIERS: Final = r"[0-9A-Za-z\-]+(?:\.[0-9A-Za-z\-]+)*"
_VERSION: Final = rf"v?{_NUMBER}(?:\.{_NUMBER}){{0,2}}(?:-{_IDENTIFIERS})?(?:\+{_IDENTIFIERS})?"

_HYPHEN_RANGE: Final = re.compile(
    rf"{_SPACE}*(?P<low>{_VERSION}){_SPACE}+-{_SPACE}+(?P<high>{_VERSION}){_SPACE}*"
)
_SPACES: Final = re.compile(rf"{_SPACE}*")
_OPERATOR: Final = re.compile("|".join(map(re.escape, sorted(OPERATORS, key=len, reverse=True))))
_OPERAND: Final = re.compile(
    rf"v?(?P<numbers>{_NUMBER}(?:\.{_NUMBER}){{0,2}})(?:-(?P<pre>{_IDENTIFIERS}))?(?:\+{_IDENTIFIERS})?"
)

_WILDCARDS: Final = ("x", "X", "*")
_NAMES: Final = ("major", "minor", "patch")
_PARSER_ERROR: Final = "constraint Parser Error"

_REASONS: Final[Mapping[str, str]] = {
    "=": "equality is written = or without an operator",
    "!": "inequality is written !=",
    "&": "separate comparisons with a comma or a space",
    "|": "separate alternatives with ||",
    "-": "a hyphen range has two versions, and a space on either side of the -",
    ".": "a version has at most three numbers",
    ",": "write only one comma between two comparisons",
    "V": "the v before a version is a lower-case v",
}


class ConstraintSyntaxError(Exception):
    """A constraint that does not parse: the span of the error, the reason, and upstream's message."""

    def __init__(self, span: tuple[int, int], reason: str, upstream_message: str) -> None:
        super().__init__(span, reason, upstream_message)
        self.span = span
        self.reason = reason
        self.upstream_message = upstream_message


class _Source(NamedTuple):
    """A text after rewriting, and the original position of each character.

    Characters that the rewriting inserts have the position of the hyphen.
    """

    text: str
    positions: tuple[int, ...]

    def part(self, start: int, end: int) -> _Source:
        return _Source(self.text[start:end], self.positions[start:end])

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the original span of a part, at least one character long."""
        after_last = self.positions[-1] + 1 if self.positions else 0
        first = self.positions[start] if start < len(self.positions) else after_last
        last = self.positions[end - 1] + 1 if 0 < end <= len(self.positions) else first
        return first, max(first + 1, last)


def parse_constraint(text: str) -> tuple[tuple[ConstraintTerm, ...], ...]:
    """Return the terms of each arm. Raises ConstraintSyntaxError for the error that Masterminds reports."""
    arms = []
    for arm in _split_arms(_rewrite_hyphen_ranges(text)):
        # Upstream splits the whole arm before it parses the first term.
        terms = list(_split_terms(arm))
        arms.append(tuple(_parse_term(arm, operator, operand) for operator, operand in terms))
    return tuple(arms)


def _rewrite_hyphen_ranges(text: str) -> _Source:
    """Replace `1 - 2` by `>= 1, <= 2 `. Like upstream, replace the first text that equals the match."""
    source = _Source(text, tuple(range(len(text))))
    for match in _HYPHEN_RANGE.finditer(text):
        start = source.text.index(match[0])
        shift = start - match.start()
        hyphen = source.positions[source.text.index("-", match.end("low") + shift)]
        parts = [
            source.part(0, start),
            _Source(">= ", (hyphen,) * 3),
            source.part(match.start("low") + shift, match.end("low") + shift),
            _Source(", <= ", (hyphen,) * 5),
            source.part(match.start("high") + shift, match.end("high") + shift),
            _Source(" ", (hyphen,)),
            source.part(start + len(match[0]), len(source.text)),
        ]
        source = _Source("".join(p.text for p in parts), tuple(i for p in parts for i in p.positions))
    return source


def _split_arms(source: _Source) -> Iterator[_Source]:
    start = 0
    for arm in source.text.split("||"):
        end = start + len(arm)
        if not arm.strip(_SPACE_CHARACTERS):
            is_alone = "||" not in source.text
            reason = "it is empty" if is_alone else "a comparison is missing before or after ||"
            raise ConstraintSyntaxError(source.span(start, end), reason, f"improper constraint: {arm}")
        yield source.part(start, end)
        start = end + len("||")


def _split_terms(arm: _Source) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield operators and operands. Terms must be separated by a comma or a space."""
    at, end = 0, len(arm.text)
    while True:
        operator = _match_at(_OPERATOR, arm.text, _match_at(_SPACES, arm.text, at).end())
        start = _match_at(_SPACES, arm.text, operator.end()).end()
        operand = _OPERAND.match(arm.text, start)
        if operand is None:
            raise _improper_constraint(arm, start)
        yield operator[0], operand
        at = _match_at(_SPACES, arm.text, operand.end()).end()
        if at == end:
            return
        if arm.text[at] == ",":
            at += 1
        elif at == operand.end():
            raise _improper_constraint(arm, at)


def _match_at(pattern: re.Pattern[str], text: str, at: int) -> re.Match[str]:
    """Return the match of a pattern that matches an empty text too."""
    match = pattern.match(text, at)
    assert match is not None
    return match


def _improper_constraint(arm: _Source, at: int) -> ConstraintSyntaxError:
    upstream_message = f"improper constraint: {arm.text}"
    if at == len(arm.text):
        return ConstraintSyntaxError(arm.span(at, at), "a version is missing at the end", upstream_message)
    character = arm.text[at]
    if arm.positions.count(arm.positions[at]) > 1:
        # The character was inserted in place of a hyphen.
        reason = "separate a hyphen range from other comparisons, and write no operator in it"
    else:
        reason = _REASONS.get(character, f"{character!r} is not part of an operator or a version")
    return ConstraintSyntaxError(arm.span(at, at + 1), reason, upstream_message)


def _parse_term(arm: _Source, operator: str, operand: re.Match[str]) -> ConstraintTerm:
    numbers = operand["numbers"].split(".")
    given = next((i for i, number in enumerate(numbers) if number in _WILDCARDS), len(numbers))
    start, values = operand.start("numbers"), list[int]()
    for name, number in zip(_NAMES[:given], numbers, strict=False):
        values.append(_parse_number(arm, number, start, f"the {name} number"))
        start += len(number) + 1
    prerelease = tuple(_parse_prerelease(arm, operand))
    major, minor, patch = (*values, 0, 0, 0)[:3]
    key = (major, minor, patch, 0, *prerelease) if prerelease else (major, minor, patch, 1)
    return ConstraintTerm(operator, operand[0], given, key)


def _parse_number(arm: _Source, number: str, start: int, what: str) -> int:
    if not number.isdecimal():
        reason = f"{what} is neither a number nor one of x, X and *"
    elif number[0] == "0" and len(number) > 1:
        reason = f"{what} has a leading zero"
    elif len(number) > len(str(UINT64_MAX)) or int(number) > UINT64_MAX:
        reason = f"{what} does not fit into 64 bits"
    else:
        return int(number)
    raise ConstraintSyntaxError(arm.span(start, start + len(number)), reason, _PARSER_ERROR)


def _parse_prerelease(arm: _Source, operand: re.Match[str]) -> Iterator[tuple[int, int] | tuple[int, str]]:
    """Yield the keys of the identifiers: numbers sort before words.

    A number of more than 64 bits is a word, because no version can have it.
    """
    start = operand.start("pre")
    for identifier in operand["pre"].split(".") if operand["pre"] else ():
        if not identifier.isdecimal():
            yield (1, identifier)
        elif identifier[0] == "0" and len(identifier) > 1:
            span = arm.span(start, start + len(identifier))
            reason = "a number in the pre-release has a leading zero"
            raise ConstraintSyntaxError(span, reason, _PARSER_ERROR)
        elif len(identifier) > len(str(UINT64_MAX)) or int(identifier) > UINT64_MAX:
            yield (1, identifier)
        else:
            yield (0, int(identifier))
        start += len(identifier) + 1
