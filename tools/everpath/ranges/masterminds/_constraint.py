"""Constraint: a parsed version constraint."""

from __future__ import annotations

__all__ = ["Constraint", "ConstraintError"]

from dataclasses import dataclass, field

from everpath.ranges.masterminds._parser import ConstraintSyntaxError, parse_constraint
from everpath.ranges.masterminds._terms import ConstraintTerm
from everpath.versions import Version, underline


class ConstraintError(ValueError):
    """A text that OLM v1 cannot parse as a constraint, with the span of the error and the reason.

    `upstream_message` is the error message of Masterminds/semver.
    """

    def __init__(self, text: str, span: tuple[int, int], reason: str, upstream_message: str) -> None:
        super().__init__(text, span, reason, upstream_message)
        self.text = text
        self.span = span
        self.reason = reason
        self.upstream_message = upstream_message

    def __str__(self) -> str:
        return f"{self.text!r} is not a version constraint: {self.reason}"

    def pretty(self) -> str:
        """Return two lines: the text, and carets under the error with the reason."""
        return underline(self.text, *self.span, self.reason)


@dataclass(frozen=True, slots=True)
class Constraint:
    """A version constraint of a ClusterExtension. Constraints with the same text are equal.

    It matches a version if all terms of at least one arm do. An empty text does not parse; OLM v1 does not
    parse it either, but treats it as no constraint.
    """

    text: str
    arms: tuple[tuple[ConstraintTerm, ...], ...] = field(repr=False, compare=False)

    @staticmethod
    def parse(text: str) -> Constraint:
        """Parse a constraint as NewConstraint of Masterminds/semver does. Raises ConstraintError.

        Cost: linear, but the search for hyphen ranges is quadratic in the worst case.
        """
        try:
            return Constraint(text, parse_constraint(text))
        except ConstraintSyntaxError as error:
            raise ConstraintError(text, error.span, error.reason, error.upstream_message) from None

    def __str__(self) -> str:
        return self.text

    def contains(self, version: Version) -> bool:
        return any(all(term.holds(version) for term in arm) for arm in self.arms)

    @property
    def names_prereleases(self) -> bool:
        """Whether a term has a pre-release. Without one, only `!=` matches pre-releases."""
        return any(term.is_prerelease for arm in self.arms for term in arm)
