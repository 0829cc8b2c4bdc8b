"""What blang does to a range without telling anybody.

Each function looks for one thing in a range that parsed; nothing here changes what the range matches.
"""

from __future__ import annotations

__all__ = ["Hazard", "HazardKind", "find_hazards"]

import re
from bisect import bisect
from collections.abc import Iterator
from enum import StrEnum
from typing import Final, NamedTuple

from everpath.ranges._grammar import Arm, Expression, GrammarError, Term, Token, parse_expression
from everpath.ranges._wildcards import OPERATORS

# A mended range is read again for each hazard, which a text made of nothing but hazards must not pay for.
_LONGEST_MENDED: Final = 2000

_WILDCARD: Final = re.compile(r"(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*))?\.x")


class HazardKind(StrEnum):
    """The ways in which a range that parses may not say what it seems to."""

    EMPTY_ARM = "empty-arm"  #: nothing between two ||: evaluating it crashes the resolver
    DROPPED_TOKEN = "dropped-token"  #: a single character, ignored
    LOST_NEGATION = "lost-negation"  #: `! 1.0.0` is read as `1.0.0`
    HYPHEN_RANGE = "hyphen-range"  #: `1.0.0 - 2.0.0` asks for both versions at once
    SWALLOWED_OPERATOR = "swallowed-operator"  #: an unknown operator before a wildcard, as in `~1.x`
    NEGATED_WILDCARD = "negated-wildcard"  #: `!=1.2.x` asks for what lies below and above at once
    NARROW_WILDCARD = "narrow-wildcard"  #: `1.x.x` is `1.0.x`
    LENIENT_NUMBER = "lenient-number"  #: a sign or leading zero that only a wildcard forgives
    X_AS_ZERO = "x-as-zero"  #: an x that is no wildcard, read as 0
    X_IN_WORD = "x-in-word"  #: an x in a pre-release or build; the meaning survives, other operators fail
    IGNORED_BUILD = "ignored-build"  #: build metadata takes no part in comparison
    NEVER = "never"  #: no version satisfies the range, or one arm of it


class Hazard(NamedTuple):
    """One such thing: where it stands, what happens, and the range with it mended where that is plain."""

    span: tuple[int, int]
    kind: HazardKind
    message: str
    fix: str | None = None

    @property
    def changes_meaning(self) -> bool:
        """Whether the range matches something else than it seems to, rather than only inviting it."""
        return self.kind is not HazardKind.X_IN_WORD


def find_hazards(text: str, expression: Expression) -> tuple[Hazard, ...]:
    """All of them, in the order of the text."""
    return tuple(sorted(_all(text, expression), key=lambda hazard: hazard.span))


def _all(text: str, expression: Expression) -> Iterator[Hazard]:
    terms = [term for arm in expression.arms for term in arm.terms]
    starts = [term.token.start for term in terms]
    for token in expression.dropped:
        place = bisect(starts, token.start)
        yield _of_dropped(text, token, terms[place - 1 : place], terms[place : place + 1])
    for arm in expression.arms:
        for term in arm.terms:
            yield from _of_term(text, term, arm)
    yield from _of_arms(text, expression)


def _of_dropped(text: str, token: Token, before: list[Term], after: list[Term]) -> Hazard:
    if _is_lost_negation(text, token, after):
        span = (token.start, after[0].token.end)
        message = f"the ! stands alone and is ignored: this is read as {after[0].reading}"
        return Hazard(span, HazardKind.LOST_NEGATION, message, _edited(text, span, f"!={after[0].version}"))
    if _is_hyphen(text, token, before, after):
        span = (before[0].token.start, after[0].token.end)
        low, high = before[0].version, after[0].version
        message = f"the - is ignored: this asks for {low} and {high} at once"
        return Hazard(span, HazardKind.HYPHEN_RANGE, message, _edited(text, span, f">={low} <={high}"))
    span = (token.start, token.end)
    # At either end a | parts nothing; amid comparisons || may have been meant, or nothing at all.
    is_needless = token.text in ("&", ",") or (token.text == "|" and not (before and after))
    fix = _edited(text, span, "") if is_needless else None
    message = f"a single {token.text!r} is ignored, as if it were not there"
    if token.text == "|":
        message += "; || separates alternatives"
    return Hazard(span, HazardKind.DROPPED_TOKEN, message, fix)


def _is_lost_negation(text: str, token: Token, after: list[Term]) -> bool:
    if token.text != "!" or not after or OPERATORS.get(after[0].operator) != "=":
        return False
    return _touch(text, token, after[0].token)


def _is_hyphen(text: str, token: Token, before: list[Term], after: list[Term]) -> bool:
    if token.text != "-" or not before or not after or before[0].operator or after[0].operator:
        return False
    return _touch(text, before[0].token, token) and _touch(text, token, after[0].token)


def _touch(text: str, left: Token, right: Token) -> bool:
    """Only spaces stand between the two."""
    return not text[left.end : right.start].strip(" ")


def _of_term(text: str, term: Term, arm: Arm) -> Iterator[Hazard]:
    if term.is_wildcard:
        yield from _of_operator(text, term, arm)
        yield from _of_wildcard(text, term)
    if any(comparator.version.build for comparator in term.comparators):
        message = f"build metadata is ignored: this is read as {term.reading.partition('+')[0]}"
        plain = term.version.partition("+")[0]
        yield _at(text, term, HazardKind.IGNORED_BUILD, message, term.operator + plain)


def _of_operator(text: str, term: Term, arm: Arm) -> Iterator[Hazard]:
    if term.operator not in OPERATORS:
        message = f"{term.operator!r} is no operator and is ignored: this is read as {term.reading}"
        from everpath.ranges._repair import suggest_term  # noqa: PLC0415 - few ranges need mending

        yield _at(text, term, HazardKind.SWALLOWED_OPERATOR, message, suggest_term(term.token.text))
    elif OPERATORS[term.operator] == "!=":
        low, high = map(str, term.comparators)
        message = f"this asks for {low} and {high} at once: it is never true"
        fix = _two_arms(text, arm, term.token, low, high)
        yield Hazard((term.token.start, term.token.end), HazardKind.NEGATED_WILDCARD, message, fix)


def _two_arms(text: str, arm: Arm, token: Token, low: str, high: str) -> str | None:
    """The arm twice, once with each half of what a negated wildcard leaves."""
    if len(text) > _LONGEST_MENDED:
        return None
    before, after = text[arm.start : token.start], text[token.end : arm.end]
    return _edited(text, (arm.start, arm.end), f"{before}{low}{after} || {before}{high}{after}")


def _of_wildcard(text: str, term: Term) -> Iterator[Hazard]:
    """An x elsewhere than in N.x and N.N.x; `>=` and `<` do without the number that would show it."""
    if "x" not in term.version or _WILDCARD.fullmatch(term.version):
        return
    is_raised = OPERATORS.get(term.operator, ">=") not in (">=", "<")
    if term.version.endswith(".x.x"):
        if is_raised:
            message = f"the first x is read as 0: {term.token.text} is {term.reading}"
            meant = term.operator + term.version.removesuffix(".x")
            yield _at(text, term, HazardKind.NARROW_WILDCARD, message, meant)
    elif is_raised:
        message = f"a number no version may have is accepted before an x: this is read as {term.reading}"
        yield _at(text, term, HazardKind.LENIENT_NUMBER, message, term.reading)
    elif term.comparators[-1].version.text != term.version:
        message = f"the x is read as 0: this is {term.reading}"
        yield _at(text, term, HazardKind.X_AS_ZERO, message, term.reading)
    else:
        message = "the x is taken for a wildcard: with >, <= or = this version would not be read at all"
        yield _at(text, term, HazardKind.X_IN_WORD, message, None)


def _of_arms(text: str, expression: Expression) -> Iterator[Hazard]:
    nil = [arm for arm in expression.arms if arm.is_nil]
    mended = _without(text, nil)
    for arm in nil:
        message = "nothing between two ||: the resolver crashes on a version that no earlier arm matches"
        yield Hazard((arm.start, arm.end), HazardKind.EMPTY_ARM, message, mended)
    for arm in expression.arms:
        if not arm.is_nil and arm.intervals.is_empty:
            message = "no version satisfies this: comparisons side by side must all hold at once"
            yield Hazard((arm.start, arm.end), HazardKind.NEVER, message)


def _without(text: str, nil: list[Arm]) -> str | None:
    """The range with one `||` for each run of them."""
    if len(text) > _LONGEST_MENDED:
        return None
    # From the right, because neighbouring nil arms share the || between them.
    for arm in reversed(nil):
        text = f"{text[: arm.start]}||{text[arm.end :]}"
    return _tidy(text)


def _at(text: str, term: Term, kind: HazardKind, message: str, meant: str | None) -> Hazard:
    span = (term.token.start, term.token.end)
    return Hazard(span, kind, message, None if meant is None else _edited(text, span, meant))


def _edited(text: str, span: tuple[int, int], replacement: str) -> str | None:
    if len(text) > _LONGEST_MENDED:
        return None
    return _tidy(f"{text[: span[0]]}{replacement}{text[span[1] :]}")


def _tidy(text: str) -> str | None:
    """Without needless spaces; nothing at all where the result would not parse."""
    tidy = re.sub(" {2,}", " ", text).strip(" ")
    try:
        parse_expression(tidy)
    except GrammarError:
        return None
    return tidy
