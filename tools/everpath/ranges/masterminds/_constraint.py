"""A constraint on versions: parsed once, asked often."""

from __future__ import annotations

__all__ = ["Constraint", "ConstraintError"]

from dataclasses import dataclass, field

from everpath.ranges.masterminds._reading import ConstraintSyntaxError, parse_constraint
from everpath.ranges.masterminds._terms import Term
from everpath.versions import Version, underline


class ConstraintError(ValueError):
    """A text that OLM v1 cannot read as a constraint: which, where in it, why, and its own words for it."""

    def __init__(self, text: str, span: tuple[int, int], reason: str, words: str) -> None:
        super().__init__(text, span, reason, words)
        self.text = text
        self.span = span
        self.reason = reason
        self.words = words

    def __str__(self) -> str:
        return f"{self.text!r} is not a version constraint: {self.reason}"

    def pretty(self) -> str:
        """The text, and carets under the fault with the reason."""
        return underline(self.text, *self.span, self.reason)


@dataclass(frozen=True, slots=True)
class Constraint:
    """What a ClusterExtension may ask for. Two are equal when they are written alike.

    An empty text is none: OLM v1 takes it as no constraint, and never reads it.
    """

    text: str
    arms: tuple[tuple[Term, ...], ...] = field(repr=False, compare=False)

    @staticmethod
    def parse(text: str) -> Constraint:
        """The constraint, exactly where Masterminds accepts it; else ConstraintError.

        Cost: linear, but for the search for hyphen ranges, whose worst case is quadratic.
        """
        try:
            return Constraint(text, parse_constraint(text))
        except ConstraintSyntaxError as fault:
            raise ConstraintError(text, fault.span, fault.reason, fault.words) from None

    def __str__(self) -> str:
        return self.text

    def contains(self, version: Version) -> bool:
        """Whether all terms of some arm hold."""
        return any(all(term.holds(version) for term in arm) for arm in self.arms)

    @property
    def names_prereleases(self) -> bool:
        """Whether a pre-release can be in it at all, but for one that only `!=` speaks of."""
        return any(term.is_prerelease for arm in self.arms for term in arm)
