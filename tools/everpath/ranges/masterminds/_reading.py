"""Reads a constraint the way NewConstraint of Masterminds/semver v3.3.1 does.

Hyphen ranges are rewritten first, wherever they stand, then `||` splits the text into arms, and each arm is
terms between spaces or commas. The rewriting knows nothing of the rest: in `1||2 - 3` the left end of the
range is `1||2`, so that it means `>=1`, or 2.x and `<=3`.
"""

from __future__ import annotations

__all__ = ["ConstraintSyntaxError", "parse_constraint"]

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from everpath.ranges.masterminds._terms import OPERATORS, Term
from everpath.versions import UINT64_MAX, Key

# Go's \s; Python's would take more.
_SPACE: Final = r"[\t\n\f\r ]"
# A | may stand in a number as far as this goes; it is refused when the number is read.
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

_FOREIGN: Final[Mapping[str, str]] = {
    "=": "equality is written with one =, or with none",
    "!": "'not' is written !=",
    "&": "comparisons are joined by a comma or a space",
    "|": "alternatives are separated by ||",
    "-": "a range has two ends, and a space on either side of its -",
    ".": "a version has at most three numbers",
    ",": "one comma separates two comparisons",
    "V": "the v before a version is a small one",
}


class ConstraintSyntaxError(Exception):
    """The constraint does not parse: from where to where, why, and in the words of Masterminds."""

    def __init__(self, span: tuple[int, int], reason: str, words: str) -> None:
        super().__init__(span, reason, words)
        self.span = span
        self.reason = reason
        self.words = words


class _Text(NamedTuple):
    """A text after rewriting, and for each character where it was written.

    What the rewriting puts in was written nowhere: it has the place of the hyphen, and is not the hyphen.
    """

    text: str
    places: tuple[int, ...]

    def part(self, start: int, end: int) -> _Text:
        return _Text(self.text[start:end], self.places[start:end])

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where a part was written; behind the last character is the end."""
        behind = self.places[-1] + 1 if self.places else 0
        first = self.places[start] if start < len(self.places) else behind
        return first, max(first + 1, self.places[end - 1] + 1 if 0 < end <= len(self.places) else first)


def parse_constraint(text: str) -> tuple[tuple[Term, ...], ...]:
    """The arms with their terms; else Fault, about the arm at which Masterminds gives up."""
    return tuple(tuple(_terms(arm)) for arm in _arms(_without_hyphens(text)))


def _without_hyphens(text: str) -> _Text:
    """`1 - 2` becomes `>= 1, <= 2 `, at the first place that reads like the range that was found."""
    made = _Text(text, tuple(range(len(text))))
    for found in _HYPHEN_RANGE.finditer(text):
        made = _spliced(made, made.text.index(found[0]), found)
    return made


def _spliced(made: _Text, start: int, found: re.Match[str]) -> _Text:
    shift = start - found.start()
    low, high = (made.part(found.start(end) + shift, found.end(end) + shift) for end in ("low", "high"))
    dash = made.places[made.text.index("-", start + found.end("low") - found.start())]
    pieces = [
        made.part(0, start),
        _Text(">= ", (dash,) * 3),
        low,
        _Text(", <= ", (dash,) * 5),
        high,
        _Text(" ", (dash,)),
        made.part(start + len(found[0]), len(made.text)),
    ]
    return _Text("".join(p.text for p in pieces), tuple(place for p in pieces for place in p.places))


def _arms(text: _Text) -> Iterator[_Text]:
    start = 0
    for arm in text.text.split("||"):
        end = start + len(arm)
        if not arm.strip("\t\n\f\r "):
            raise ConstraintSyntaxError(
                text.span(start, end), _why_nothing(text), f"improper constraint: {arm}"
            )
        yield text.part(start, end)
        start = end + len("||")


def _why_nothing(text: _Text) -> str:
    return "a comparison is missing beside the ||" if "||" in text.text else "it is empty"


def _terms(arm: _Text) -> list[Term]:
    """All of them are found before the first is read, because that is the order of the complaints."""
    return [_term(arm, operator, operand) for operator, operand in list(_pairs(arm))]


def _pairs(arm: _Text) -> Iterator[tuple[str, re.Match[str]]]:
    """Operators with what they are applied to. Only a comma or a space may stand between two pairs."""
    at, end = 0, len(arm.text)
    while True:
        operator = _always(_OPERATOR, arm.text, _always(_SPACES, arm.text, at).end())
        start = _always(_SPACES, arm.text, operator.end()).end()
        operand = _OPERAND.match(arm.text, start)
        if operand is None:
            raise _improper(arm, start)
        yield operator[0], operand
        at = _always(_SPACES, arm.text, operand.end()).end()
        if at == end:
            return
        if arm.text[at] == ",":
            at += 1
        elif at == operand.end():
            raise _improper(arm, at)


def _always(pattern: re.Pattern[str], text: str, at: int) -> re.Match[str]:
    found = pattern.match(text, at)
    assert found is not None  # both patterns match the empty text
    return found


def _improper(arm: _Text, at: int) -> ConstraintSyntaxError:
    words = f"improper constraint: {arm.text}"
    if at == len(arm.text):
        return ConstraintSyntaxError(arm.span(at, at), "a version is missing at the end", words)
    character = arm.text[at]
    if arm.places.count(arm.places[at]) > 1:
        reason = "what stands beside a range must be separated from it, and its ends take no operator"
    else:
        reason = _FOREIGN.get(character, f"{character!r} can stand neither in an operator nor in a version")
    return ConstraintSyntaxError(arm.span(at, at + 1), reason, words)


def _term(arm: _Text, operator: str, operand: re.Match[str]) -> Term:
    numbers = operand["numbers"].split(".")
    given = next((i for i, number in enumerate(numbers) if number in _WILDCARDS), len(numbers))
    start, values = operand.start("numbers"), list[int]()
    for name, number in zip(_NAMES[:given], numbers, strict=False):
        values.append(_number(arm, number, start, f"the {name} number"))
        start += len(number) + 1
    return Term(operator, operand[0], given, _key(values, _identifiers(arm, operand)))


def _number(arm: _Text, number: str, start: int, what: str) -> int:
    """Its value. Masterminds calls whatever is wrong here by one name."""
    if not number.isdecimal():
        reason = f"{what} is neither a number nor one of x, X and *"
    elif number[0] == "0" and len(number) > 1:
        reason = f"{what} has a leading zero"
    elif len(number) > len(str(UINT64_MAX)) or int(number) > UINT64_MAX:
        reason = f"{what} does not fit into 64 bits"
    else:
        return int(number)
    raise ConstraintSyntaxError(arm.span(start, start + len(number)), reason, "constraint Parser Error")


def _identifiers(arm: _Text, operand: re.Match[str]) -> Iterator[tuple[int, int] | tuple[int, str]]:
    start = operand.start("pre")
    for identifier in operand["pre"].split(".") if operand["pre"] else ():
        if identifier.isdecimal() and identifier[0] == "0" and len(identifier) > 1:
            span = arm.span(start, start + len(identifier))
            raise ConstraintSyntaxError(
                span, "a number in the pre-release has a leading zero", "constraint Parser Error"
            )
        yield _ranked(identifier)
        start += len(identifier) + 1


def _ranked(identifier: str) -> tuple[int, int] | tuple[int, str]:
    """Numbers before words; a number of more than 64 bits is a word, as no version can have it."""
    if identifier.isdecimal() and len(identifier) <= len(str(UINT64_MAX)) and int(identifier) <= UINT64_MAX:
        return (0, int(identifier))
    return (1, identifier)


def _key(values: list[int], prerelease: Iterator[tuple[int, int] | tuple[int, str]]) -> Key:
    numbers = (*values, 0, 0, 0)[:3]
    identifiers = tuple(prerelease)
    return (*numbers, 0, *identifiers) if identifiers else (*numbers, 1)
