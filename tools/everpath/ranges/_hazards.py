"""Hazards: parts of a range that parse, but that blang reads in another way than a user expects.

Finding hazards does not change what a range matches.
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

# A fixed range is parsed again for each hazard. Without a limit, a text full of hazards takes quadratic time.
_MAX_FIXED_LENGTH: Final = 2000

_WILDCARD: Final = re.compile(r"(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*))?\.x")


class HazardKind(StrEnum):
    """The kinds of hazards. The values are part of the JSON output."""

    EMPTY_ARM = "empty-arm"  #: nothing between two ||: evaluating it crashes the resolver
    DROPPED_TOKEN = "dropped-token"  #: a single character, which is ignored
    LOST_NEGATION = "lost-negation"  #: `! 1.0.0` is read as `1.0.0`
    HYPHEN_RANGE = "hyphen-range"  #: `1.0.0 - 2.0.0` is read as `1.0.0 2.0.0`
    SWALLOWED_OPERATOR = "swallowed-operator"  #: an unknown operator before a wildcard, as in `~1.x`
    NEGATED_WILDCARD = "negated-wildcard"  #: `!=1.2.x` is read as `<1.2.0 >=1.3.0`
    NARROW_WILDCARD = "narrow-wildcard"  #: `1.x.x` is read as `1.0.x`
    LENIENT_NUMBER = "lenient-number"  #: a sign or a leading zero, accepted only in a wildcard
    X_AS_ZERO = "x-as-zero"  #: an x that is not a wildcard and is read as 0
    X_IN_WORD = "x-in-word"  #: an x in a pre-release or build; the range would not parse with other operators
    IGNORED_BUILD = "ignored-build"  #: build metadata, which is not compared
    NEVER = "never"  #: an arm that matches no version


class Hazard(NamedTuple):
    """A hazard: its span in the range, its effect, and the fixed range where the intent is clear."""

    span: tuple[int, int]
    kind: HazardKind
    message: str
    fix: str | None = None

    @property
    def changes_meaning(self) -> bool:
        """Whether the range matches other versions than it seems to."""
        return self.kind is not HazardKind.X_IN_WORD


def find_hazards(text: str, expression: Expression) -> tuple[Hazard, ...]:
    """Return the hazards of a parsed range in the order of their spans."""
    found: list[Hazard] = []
    terms = [term for arm in expression.arms for term in arm.terms]
    starts = [term.token.start for term in terms]
    for token in expression.dropped:
        index = bisect(starts, token.start)
        previous = terms[index - 1] if index else None
        following = terms[index] if index < len(terms) else None
        found.append(_dropped_token_hazard(text, token, previous, following))
    for arm in expression.arms:
        for term in arm.terms:
            found.extend(_term_hazards(text, term, arm))
    found.extend(_arm_hazards(text, expression))
    return tuple(sorted(found, key=lambda hazard: hazard.span))


def _dropped_token_hazard(text: str, token: Token, previous: Term | None, following: Term | None) -> Hazard:
    special = _lost_negation(text, token, following) or _hyphen_range(text, token, previous, following)
    if special is not None:
        return special
    span = (token.start, token.end)
    # A | at either end separates nothing. Between comparisons, the user may have meant || or a space.
    is_needless = token.text in ("&", ",") or (token.text == "|" and not (previous and following))
    message = f"a single {token.text!r} is ignored"
    if token.text == "|":
        message += "; || separates alternatives"
    return Hazard(span, HazardKind.DROPPED_TOKEN, message, _fix(text, span, "") if is_needless else None)


def _lost_negation(text: str, token: Token, following: Term | None) -> Hazard | None:
    if token.text != "!" or following is None or OPERATORS.get(following.operator) != "=":
        return None
    if not _are_adjacent(text, token, following.token):
        return None
    span = (token.start, following.token.end)
    message = f"the ! is separated from the version and ignored: this is read as {following.meaning}"
    return Hazard(span, HazardKind.LOST_NEGATION, message, _fix(text, span, f"!={following.version}"))


def _hyphen_range(text: str, token: Token, previous: Term | None, following: Term | None) -> Hazard | None:
    if token.text != "-" or previous is None or following is None or previous.operator or following.operator:
        return None
    if not _are_adjacent(text, previous.token, token) or not _are_adjacent(text, token, following.token):
        return None
    span = (previous.token.start, following.token.end)
    low, high = previous.version, following.version
    message = f"the - is ignored: this requires {low} and {high} at the same time"
    return Hazard(span, HazardKind.HYPHEN_RANGE, message, _fix(text, span, f">={low} <={high}"))


def _are_adjacent(text: str, left: Token, right: Token) -> bool:
    """Return whether there are only spaces between two tokens."""
    return not text[left.end : right.start].strip(" ")


def _term_hazards(text: str, term: Term, arm: Arm) -> Iterator[Hazard]:
    if term.is_wildcard:
        yield from _operator_hazards(text, term, arm)
        yield from _wildcard_hazards(text, term)
    if any(comparator.version.build for comparator in term.comparators):
        message = f"build metadata is ignored: this is read as {term.meaning.partition('+')[0]}"
        without_build = term.operator + term.version.partition("+")[0]
        yield _term_hazard(text, term, HazardKind.IGNORED_BUILD, message, without_build)


def _operator_hazards(text: str, term: Term, arm: Arm) -> Iterator[Hazard]:
    if term.operator not in OPERATORS:
        from everpath.ranges._suggest import suggest_term  # noqa: PLC0415 - rarely needed

        message = f"{term.operator!r} is not an operator and is ignored: this is read as {term.meaning}"
        fix = suggest_term(term.token.text)
        yield _term_hazard(text, term, HazardKind.SWALLOWED_OPERATOR, message, fix)
    elif OPERATORS[term.operator] == "!=":
        low, high = map(str, term.comparators)
        message = f"this requires {low} and {high} at the same time, which is never true"
        fix = _fix_negated_wildcard(text, arm, term.token, low, high)
        yield Hazard((term.token.start, term.token.end), HazardKind.NEGATED_WILDCARD, message, fix)


def _fix_negated_wildcard(text: str, arm: Arm, token: Token, low: str, high: str) -> str | None:
    """Return the range with two arms in place of one, for the versions below and above the wildcard."""
    if len(text) > _MAX_FIXED_LENGTH:
        return None
    before, after = text[arm.start : token.start], text[token.end : arm.end]
    return _fix(text, (arm.start, arm.end), f"{before}{low}{after} || {before}{high}{after}")


def _wildcard_hazards(text: str, term: Term) -> Iterator[Hazard]:
    """Yield hazards of an x that is not in N.x or N.N.x.

    `>=` and `<` need no upper bound and accept an x anywhere; the other operators do not parse with most.
    """
    if "x" not in term.version or _WILDCARD.fullmatch(term.version):
        return
    has_upper_bound = OPERATORS.get(term.operator, ">=") not in (">=", "<")
    if term.version.endswith(".x.x"):
        if has_upper_bound:
            message = f"the first x is read as 0: {term.token.text} means {term.meaning}"
            fix = term.operator + term.version.removesuffix(".x")
            yield _term_hazard(text, term, HazardKind.NARROW_WILDCARD, message, fix)
    elif has_upper_bound:
        message = f"this number is accepted only in a wildcard: this is read as {term.meaning}"
        yield _term_hazard(text, term, HazardKind.LENIENT_NUMBER, message, term.meaning)
    elif term.comparators[-1].version.text != term.version:
        message = f"the x is read as 0: this means {term.meaning}"
        yield _term_hazard(text, term, HazardKind.X_AS_ZERO, message, term.meaning)
    else:
        message = "the x is read as a wildcard: with >, <= or = this version would not parse"
        yield _term_hazard(text, term, HazardKind.X_IN_WORD, message, None)


def _term_hazard(text: str, term: Term, kind: HazardKind, message: str, fix: str | None) -> Hazard:
    span = (term.token.start, term.token.end)
    return Hazard(span, kind, message, None if fix is None else _fix(text, span, fix))


def _arm_hazards(text: str, expression: Expression) -> Iterator[Hazard]:
    nil = [arm for arm in expression.arms if arm.is_nil]
    fix = _fix_nil_arms(text, nil)
    for arm in nil:
        message = "nothing between two ||: OLM crashes on a version that no earlier alternative matches"
        yield Hazard((arm.start, arm.end), HazardKind.EMPTY_ARM, message, fix)
    for arm in expression.arms:
        if not arm.is_nil and arm.intervals.is_empty:
            message = "no version satisfies this: comparisons separated by a space must all be true"
            yield Hazard((arm.start, arm.end), HazardKind.NEVER, message)


def _fix_nil_arms(text: str, nil: list[Arm]) -> str | None:
    """Return the range with one `||` in place of several in a row."""
    if len(text) > _MAX_FIXED_LENGTH:
        return None
    # From right to left, because neighbouring nil arms share the || between them.
    for arm in reversed(nil):
        text = f"{text[: arm.start]}||{text[arm.end :]}"
    return _normalize(text)


def _fix(text: str, span: tuple[int, int], replacement: str) -> str | None:
    """Return the range with a span replaced, or None if it is too long or would not parse."""
    if len(text) > _MAX_FIXED_LENGTH:
        return None
    return _normalize(f"{text[: span[0]]}{replacement}{text[span[1] :]}")


def _normalize(text: str) -> str | None:
    """Remove redundant spaces; return None if the result does not parse."""
    normalized = re.sub(" {2,}", " ", text).strip(" ")
    try:
        parse_expression(normalized)
    except GrammarError:
        return None
    return normalized
