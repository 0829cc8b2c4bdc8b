"""Range: a parsed version range."""

from __future__ import annotations

__all__ = ["Range", "RangeError", "RangePanic"]

from functools import cached_property, lru_cache
from itertools import takewhile
from typing import Final

from everpath.ranges._grammar import Expression, GrammarError, parse_expression
from everpath.ranges._hazards import Hazard, find_hazards
from everpath.ranges._intervals import IntervalSet
from everpath.versions import Version, parse, underline

# OperatorHub has far fewer distinct ranges.
_CACHE_SIZE: Final = 2**15


class RangeError(ValueError):
    """A text that OLM cannot parse as a range: span and reason of the error, and a fix if it is clear."""

    def __init__(self, text: str, span: tuple[int, int], reason: str, fix: str | None = None) -> None:
        super().__init__(text, span, reason, fix)
        self.text = text
        self.span = span
        self.reason = reason
        self.fix = fix

    @property
    def hint(self) -> str | None:
        """The fix as a sentence."""
        return None if self.fix is None else f"write '{self.fix}'"

    def __str__(self) -> str:
        return f"{self.text!r} is not a range: {self.reason}"

    def pretty(self) -> str:
        """Return the text, carets under the error with the reason, and the hint, each on a line."""
        shown = underline(self.text, *self.span, self.reason)
        return shown if self.hint is None else f"{shown}\n{self.hint}"


class RangePanic(RuntimeError):
    """The range makes OLM's resolver crash for this version: blang calls a nil function."""

    def __init__(self, text: str, span: tuple[int, int], version: Version) -> None:
        super().__init__(text, span, version)
        self.text = text
        self.span = span
        self.version = version

    def __str__(self) -> str:
        return f"{self.text!r} crashes OLM for version {self.version}: there is nothing between two ||"


class Range:
    """A version range as in `skipRange` and `versionRange`. Ranges with the same text are equal.

    Arms are evaluated from left to right. A nil arm panics only for versions that no earlier arm matches.
    """

    def __init__(self, text: str, expression: Expression) -> None:
        self.text: Final = text
        self.expression: Final = expression

    @staticmethod
    def parse(text: str) -> Range:
        """Parse a range as blang's ParseRange does. Results are cached. Raises RangeError."""
        result = _parse_cached(text)
        if isinstance(result, Range):
            return result
        raise RangeError(text, *result)

    @staticmethod
    def parse_or_none(text: str) -> Range | None:
        """Parse a range; return None if it does not parse."""
        result = _parse_cached(text)
        return result if isinstance(result, Range) else None

    def __eq__(self, other: object) -> bool:
        return self.text == other.text if isinstance(other, Range) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Range({self.text!r})"

    def __str__(self) -> str:
        return self.text

    def contains(self, version: Version | str) -> bool:
        """Return whether blang matches a version. Raises RangePanic where blang panics, and VersionError."""
        version = parse(version) if isinstance(version, str) else version
        for arm in self.expression.arms:
            if arm.is_nil:
                raise RangePanic(self.text, (arm.start, arm.end), version)
            if all(comparator.holds(version) for comparator in arm.comparators):
                return True
        return False

    @cached_property
    def intervals(self) -> IntervalSet:
        """The versions that blang matches. Arms after a nil one are never evaluated."""
        arms = takewhile(lambda arm: not arm.is_nil, self.expression.arms)
        return IntervalSet.union(arm.intervals for arm in arms)

    @cached_property
    def hazards(self) -> tuple[Hazard, ...]:
        """Parts of the range that do not mean what they seem to, from left to right."""
        return find_hazards(self.text, self.expression)

    @cached_property
    def can_panic(self) -> bool:
        """Whether the range crashes OLM's resolver for some versions, because an arm is empty."""
        return any(arm.is_nil for arm in self.expression.arms)

    def panics_on(self, version: Version) -> bool:
        """Return whether the range crashes OLM's resolver for this version."""
        return self.can_panic and version not in self.intervals


@lru_cache(maxsize=_CACHE_SIZE)
def _parse_cached(text: str) -> Range | tuple[tuple[int, int], str, str | None]:
    """Return a range, or the arguments of RangeError: a cached exception would collect tracebacks."""
    try:
        return Range(text, parse_expression(text))
    except GrammarError as error:
        from everpath.ranges._suggest import suggest_range  # noqa: PLC0415 - rarely needed

        return error.span, error.reason, suggest_range(text)
