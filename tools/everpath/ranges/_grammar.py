"""Reads a range the way blang's ParseRange does, and remembers where everything was written.

Tokens end at plain spaces, except behind `>`, `<` or `=`; a token of one byte is thrown away; `||` stands
alone and separates arms; each other token is an operator, then a version from the first digit on.
"""

from __future__ import annotations

__all__ = ["Arm", "Comparator", "Expression", "GrammarError", "Term", "Token", "parse_expression"]

import operator as python
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from everpath.ranges._digits import first_digit
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

_GLUED: Final = "|| needs a space on either side"
_SINGLE_BAR: Final = "alternatives are separated by ||, with a space on either side"

# Words of other range languages, in lower case.
_FOREIGN_WORDS: Final[Mapping[str, str]] = {
    "and": "comparisons are joined by a space alone, without a word",
    "&&": "comparisons are joined by a space alone",
    "or": "alternatives are separated by ||, not by a word",
}

# What a reader of other range languages tends to write inside a version.
_FOREIGN_IN_VERSION: Final[Mapping[str, str]] = {
    "|": _SINGLE_BAR,
    ",": "comparisons are separated by a space, not by a comma",
    "&": "comparisons are joined by a space alone",
    "X": "the wildcard is a small x",
    "*": "the wildcard is a small x",
    **dict.fromkeys("<>=!", "a space is missing before the operator"),
    **dict.fromkeys(GO_SPACES, "only a plain space separates comparisons"),
}

_FOREIGN_OPERATOR: Final[Mapping[str, str]] = {
    "~": "there is no ~ in OLM's ranges: write both bounds",
    "~>": "there is no ~> in OLM's ranges: write both bounds",
    "^": "there is no ^ in OLM's ranges: write both bounds",
    "=>": "the operator is written >=",
    "=<": "the operator is written <=",
    "<>": "the operator is written !=",
}


class GrammarError(Exception):
    """The range does not parse: from where to where in its text, and why."""

    def __init__(self, start: int, end: int, reason: str) -> None:
        super().__init__(start, end, reason)
        self.span = (start, end)
        self.reason = reason


class Token(NamedTuple):
    """A piece of the range between separating spaces; `text` is it without the spaces inside."""

    source: str
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.source[self.start : self.end].replace(" ", "")

    @property
    def is_dropped(self) -> bool:
        """blang keeps what is longer than one byte, and ignores the rest without a word."""
        return self.end - self.start == 1 and self.text.isascii()

    def position(self, index: int) -> int:
        """Where in the source the character text[index] stands; the token's end for an index behind it."""
        places = [i for i in range(self.start, self.end) if self.source[i] != " "]
        return places[index] if index < len(places) else self.end


class Comparator(NamedTuple):
    """One comparison as it is evaluated; the operator is one of = != > >= < <=."""

    operator: str
    version: Version

    def __str__(self) -> str:
        return f"{self.operator}{self.version}"

    def holds(self, version: Version) -> bool:
        return _COMPARE[self.operator](version, self.version)


class Term(NamedTuple):
    """One comparison as it is written, and what it is read as (a wildcard may be two comparators)."""

    token: Token
    operator: str
    version: str
    comparators: tuple[Comparator, ...]

    @property
    def is_wildcard(self) -> bool:
        return "x" in self.token.text

    @property
    def reading(self) -> str:
        return " ".join(map(str, self.comparators))


class Arm(NamedTuple):
    """What stands between two `||`: all its terms must hold. One without any is a nil function in blang."""

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
        """The versions it matches; a nil arm matches none, it crashes."""
        if self.is_nil:
            return IntervalSet()
        return IntervalSet.intersection(
            IntervalSet.from_comparison(c.operator, c.version) for c in self.comparators
        )


class Expression(NamedTuple):
    """A range as read: its arms in order, and the tokens nobody looks at."""

    arms: tuple[Arm, ...]
    dropped: tuple[Token, ...]


def parse_expression(text: str) -> Expression:
    """The whole range, or GrammarError at the leftmost fault. Cost: linear in the text."""
    tokens = list(_tokens(text))
    kept = [token for token in tokens if not token.is_dropped]
    dropped = tuple(token for token in tokens if token.is_dropped)
    if not kept:
        raise GrammarError(0, len(text), _why_nothing(dropped))
    if kept[0].text == "||":
        raise GrammarError(kept[0].start, kept[0].end, "nothing stands before the first ||")
    if kept[-1].text == "||":
        raise GrammarError(kept[-1].start, kept[-1].end, "nothing stands after the last ||")
    return Expression(tuple(_arms(kept)), dropped)


def _why_nothing(dropped: tuple[Token, ...]) -> str:
    if not dropped:
        return "it is empty"
    if all(token.text in "*xX" for token in dropped):
        return "a wildcard needs a number before it; every version is >=0.0.0-0"
    return "a single character is not a comparison"


def _tokens(text: str) -> Iterator[Token]:
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


def _arms(tokens: list[Token]) -> Iterator[Arm]:
    start = 0
    terms: list[Term] = []
    for token in tokens:
        if token.text == "||":
            yield _arm(terms, start, token.end)
            start, terms = token.start, []
        else:
            terms.append(_term(token))
    yield _arm(terms, start, start)


def _arm(terms: list[Term], start: int, end: int) -> Arm:
    """Spans its terms, or, without any, the two `||` around nothing."""
    if not terms:
        return Arm((), start, end)
    return Arm(tuple(terms), terms[0].token.start, terms[-1].token.end)


def _term(token: Token) -> Term:
    digit = first_digit(token.text)
    if digit is None:
        reason = _FOREIGN_WORDS.get(token.text.lower(), "there is no version in this comparison")
        raise GrammarError(token.start, token.end, reason)
    operator, version = token.text[:digit].strip(GO_SPACES), token.text[digit:]
    if "x" in token.text:
        comparators = tuple(_wildcard(token, operator, version))
    else:
        comparators = (_plain(token, operator, version, digit),)
    return Term(token, operator, version, comparators)


def _plain(token: Token, operator: str, version: str, digit: int) -> Comparator:
    meaning = OPERATORS.get(operator)
    if meaning is None:
        raise _foreign_operator(token, operator, digit)
    try:
        return Comparator(meaning, parse(version))
    except VersionError as error:
        start = token.position(digit + error.position)
        rest = version[error.position :]
        reason = _GLUED if rest.startswith("||") else _FOREIGN_IN_VERSION.get(rest[:1], error.reason)
        raise GrammarError(start, start + 1, reason) from None


def _foreign_operator(token: Token, operator: str, digit: int) -> GrammarError:
    if operator[-1] in "vV":
        start = token.position(token.text.rindex(operator[-1], 0, digit))
        return GrammarError(start, start + 1, "a version starts with a digit, not with a v")
    if "||" in operator:
        reason = _GLUED
    else:
        reason = _FOREIGN_OPERATOR.get(operator, f"{operator!r} is not an operator: use = != > >= < or <=")
    return GrammarError(token.start, token.position(digit), reason)


def _wildcard(token: Token, operator: str, version: str) -> Iterator[Comparator]:
    for meaning, plain in expand_wildcard(operator, version):
        if not plain:
            reason = f"the x makes this a wildcard, and after {operator or '='} only N.x and N.N.x can be one"
            raise GrammarError(token.start, token.end, reason)
        try:
            yield Comparator(meaning, parse(plain))
        except VersionError as error:
            reason = f"the x makes this a wildcard, read as {plain}: {error.reason}"
            raise GrammarError(token.start, token.end, _GLUED if "||" in version else reason) from None
