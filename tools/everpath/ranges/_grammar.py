"""Parses a range as blang's ParseRange does, and keeps the position of each part.

Spaces separate tokens, except after `>`, `<` or `=`. A token of one byte is ignored. The token `||`
separates arms. Every other token is a comparison: an operator, then a version from the first digit on.
"""

from __future__ import annotations

__all__ = ["Arm", "Comparator", "Expression", "GrammarError", "Term", "Token", "parse_expression"]

import operator as python
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Final, NamedTuple

from everpath.ranges._intervals import IntervalSet
from everpath.ranges._wildcards import OPERATORS, expand_wildcard
from everpath.versions import GO_SPACES, Version, VersionError, parse

_COMPARE: Final[Mapping[str, Callable[[Version, Version], bool]]] = {
    "=": python.eq,
    "!=": python.ne,
    ">": python.gt,
    ">=": python.ge,
    "<": python.lt,
    "<=": python.le,
}

_MISSING_SPACES: Final = "|| needs a space on either side"
_SINGLE_BAR: Final = "separate alternatives with ||, with a space on either side"

# Words of other range grammars, in lower case.
_FOREIGN_WORDS: Final[Mapping[str, str]] = {
    "and": "separate comparisons with a space, without a word",
    "&&": "separate comparisons with a space only",
    "or": "separate alternatives with ||, not with a word",
}

# Characters of other range grammars at the end of a version.
_FOREIGN_IN_VERSION: Final[Mapping[str, str]] = {
    "|": _SINGLE_BAR,
    ",": "separate comparisons with a space, not with a comma",
    "&": "separate comparisons with a space only",
    "X": "the wildcard is a lower-case x",
    "*": "the wildcard is a lower-case x",
    **dict.fromkeys("<>=!", "a space is missing before the operator"),
    **dict.fromkeys(GO_SPACES, "separate comparisons with a plain space"),
}

_FOREIGN_OPERATOR: Final[Mapping[str, str]] = {
    "~": "OLM's ranges have no operator ~: write both bounds",
    "~>": "OLM's ranges have no operator ~>: write both bounds",
    "^": "OLM's ranges have no operator ^: write both bounds",
    "=>": "the operator is written >=",
    "=<": "the operator is written <=",
    "<>": "the operator is written !=",
}

# Go's unicode.IsDigit: the zero of each block of ten digits, for Unicode 15, which Go 1.21 to 1.26 have.
# Python's table differs by release: 3.11 has Unicode 14, 3.14 has Unicode 16. The difference matters before
# a wildcard, where blang takes what is not a digit for an unknown operator and ignores it.
_ZEROS: Final = """
    30 660 6f0 7c0 966 9e6 a66 ae6 b66 be6 c66 ce6 d66 de6 e50 ed0 f20 1040 1090 17e0 1810 1946 19d0 1a80 1a90
    1b50 1bb0 1c40 1c50 a620 a8d0 a900 a9d0 a9f0 aa50 abf0 ff10 104a0 10d30 11066 110f0 11136 111d0 112f0
    11450 114d0 11650 116c0 11730 118e0 11950 11c50 11d50 11da0 11f50 16a60 16ac0 16b50 1d7ce 1d7d8 1d7e2
    1d7ec 1d7f6 1e140 1e2f0 1e4f0 1e950 1fbf0
"""
_ASCII_DIGIT: Final = re.compile("[0-9]")


class GrammarError(Exception):
    """A range that does not parse, with the span of the error and the reason."""

    def __init__(self, start: int, end: int, reason: str) -> None:
        super().__init__(start, end, reason)
        self.span = (start, end)
        self.reason = reason


class Token(NamedTuple):
    """A token of a range. `text` is its text without the spaces in it."""

    source: str
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.source[self.start : self.end].replace(" ", "")

    @property
    def is_dropped(self) -> bool:
        """Whether blang ignores the token, because it has only one byte."""
        return self.end - self.start == 1 and self.text.isascii()

    def position(self, index: int) -> int:
        """Return the position of text[index] in the range, or the end of the token."""
        positions = [i for i in range(self.start, self.end) if self.source[i] != " "]
        return positions[index] if index < len(positions) else self.end


class Comparator(NamedTuple):
    """A comparison as blang evaluates it. The operator is one of = != > >= < <=."""

    operator: str
    version: Version

    def __str__(self) -> str:
        return f"{self.operator}{self.version}"

    def holds(self, version: Version) -> bool:
        return _COMPARE[self.operator](version, self.version)


class Term(NamedTuple):
    """A comparison as written, and its comparators. A wildcard may have two."""

    token: Token
    operator: str
    version: str
    comparators: tuple[Comparator, ...]

    @property
    def is_wildcard(self) -> bool:
        return "x" in self.token.text

    @property
    def meaning(self) -> str:
        return " ".join(map(str, self.comparators))


class Arm(NamedTuple):
    """An alternative of a range, between two `||`. It matches a version if all its terms do.

    An arm without terms is a nil function in blang, and evaluating it panics.
    """

    terms: tuple[Term, ...]
    start: int
    end: int

    @property
    def is_nil(self) -> bool:
        return not self.terms

    @property
    def comparators(self) -> Iterator[Comparator]:
        return (comparator for term in self.terms for comparator in term.comparators)

    @property
    def intervals(self) -> IntervalSet:
        """The versions that the arm matches; none if it is nil."""
        if self.is_nil:
            return IntervalSet()
        sets = (IntervalSet.from_comparison(c.operator, c.version) for c in self.comparators)
        return IntervalSet.intersection(sets)


class Expression(NamedTuple):
    """A parsed range: its arms, and the tokens that blang ignores."""

    arms: tuple[Arm, ...]
    dropped: tuple[Token, ...]


def parse_expression(text: str) -> Expression:
    """Parse a range, in linear time. Raises GrammarError for the leftmost error."""
    tokens = list(_tokenize(text))
    kept = [token for token in tokens if not token.is_dropped]
    dropped = tuple(token for token in tokens if token.is_dropped)
    if not kept:
        if not dropped:
            reason = "it is empty"
        elif all(token.text in "*xX" for token in dropped):
            reason = "a wildcard needs a number before it; >=0.0.0-0 matches every version"
        else:
            reason = "a single character is not a comparison"
        raise GrammarError(0, len(text), reason)
    if kept[0].text == "||":
        raise GrammarError(kept[0].start, kept[0].end, "there is no comparison before the first ||")
    if kept[-1].text == "||":
        raise GrammarError(kept[-1].start, kept[-1].end, "there is no comparison after the last ||")
    return Expression(tuple(_parse_arms(kept)), dropped)


def _tokenize(text: str) -> Iterator[Token]:
    start = 0
    before = ""
    for i, character in enumerate(text):
        if character != " ":
            before = character
        elif before not in (">", "<", "="):
            if start < i:
                yield Token(text, start, i)
            start = i + 1
    if start < len(text):
        yield Token(text, start, len(text))


def _parse_arms(tokens: list[Token]) -> Iterator[Arm]:
    start = 0
    terms: list[Term] = []
    for token in tokens:
        if token.text == "||":
            # A nil arm has the span of the two `||`, any other that of its terms.
            yield _arm(terms) if terms else Arm((), start, token.end)
            start, terms = token.start, []
        else:
            terms.append(_parse_term(token))
    yield _arm(terms)


def _arm(terms: list[Term]) -> Arm:
    return Arm(tuple(terms), terms[0].token.start, terms[-1].token.end)


def _parse_term(token: Token) -> Term:
    found = (_ASCII_DIGIT if token.text.isascii() else _go_digit()).search(token.text)
    if found is None:
        reason = _FOREIGN_WORDS.get(token.text.lower(), "this comparison has no version")
        raise GrammarError(token.start, token.end, reason)
    digit = found.start()
    operator, version = token.text[:digit].strip(GO_SPACES), token.text[digit:]
    if "x" in token.text:
        comparators = tuple(_parse_wildcard(token, operator, version))
    else:
        comparators = (_parse_comparator(token, operator, version, digit),)
    return Term(token, operator, version, comparators)


@cache
def _go_digit() -> re.Pattern[str]:
    """Compile the pattern on first use: this takes as long as parsing a hundred ranges."""
    zeros = (int(zero, 16) for zero in _ZEROS.split())
    return re.compile("[" + "".join(f"{chr(zero)}-{chr(zero + 9)}" for zero in zeros) + "]")


def _parse_comparator(token: Token, operator: str, version: str, digit: int) -> Comparator:
    meaning = OPERATORS.get(operator)
    if meaning is None:
        if operator[-1] in "vV":
            start = token.position(token.text.rindex(operator[-1], 0, digit))
            raise GrammarError(start, start + 1, "a version starts with a digit, not with a v")
        reason = _FOREIGN_OPERATOR.get(operator, f"{operator!r} is not an operator: use = != > >= < or <=")
        if "||" in operator:
            reason = _MISSING_SPACES
        raise GrammarError(token.start, token.position(digit), reason)
    try:
        return Comparator(meaning, parse(version))
    except VersionError as error:
        start = token.position(digit + error.position)
        rest = version[error.position :]
        reason = _FOREIGN_IN_VERSION.get(rest[:1], error.reason)
        if rest.startswith("||"):
            reason = _MISSING_SPACES
        raise GrammarError(start, start + 1, reason) from None


def _parse_wildcard(token: Token, operator: str, version: str) -> Iterator[Comparator]:
    for meaning, expanded in expand_wildcard(operator, version):
        if not expanded:
            reason = f"the x makes this a wildcard, and {operator or '='} accepts only N.x and N.N.x"
            raise GrammarError(token.start, token.end, reason)
        try:
            yield Comparator(meaning, parse(expanded))
        except VersionError as error:
            reason = f"the x makes this a wildcard, read as {expanded}: {error.reason}"
            if "||" in version:
                reason = _MISSING_SPACES
            raise GrammarError(token.start, token.end, reason) from None
