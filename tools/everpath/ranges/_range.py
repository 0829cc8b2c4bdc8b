"""A range of versions: parsed once, asked often."""

from __future__ import annotations

__all__ = ["Range", "RangeError", "RangePanic"]

from functools import cached_property, lru_cache
from itertools import takewhile
from typing import Final

from everpath.ranges._grammar import Arm, Expression, GrammarError, parse_expression
from everpath.ranges._hazards import Hazard, find_hazards
from everpath.ranges._intervals import IntervalSet
from everpath.versions import Version, underline

# Enough for every distinct range of a catalog many times the size of OperatorHub's.
_REMEMBERED: Final = 2**15


class RangeError(ValueError):
    """A text that OLM cannot read as a range: which, where in it, why, and what was probably meant."""

    def __init__(self, text: str, span: tuple[int, int], reason: str, fix: str | None = None) -> None:
        super().__init__(text, span, reason, fix)
        self.text = text
        self.span = span
        self.reason = reason
        self.fix = fix

    @property
    def hint(self) -> str | None:
        """What to type instead, as a sentence."""
        return None if self.fix is None else f"write '{self.fix}'"

    def __str__(self) -> str:
        return f"{self.text!r} is not a range: {self.reason}"

    def pretty(self) -> str:
        """The text, carets under the fault with the reason, and the fix if there is one."""
        shown = underline(self.text, *self.span, self.reason)
        return shown if self.hint is None else f"{shown}\n{self.hint}"


class RangePanic(RuntimeError):
    """The range was asked about a version for which blang calls a nil function: the resolver crashes."""

    def __init__(self, text: str, span: tuple[int, int], version: Version) -> None:
        super().__init__(text, span, version)
        self.text = text
        self.span = span
        self.version = version

    def __str__(self) -> str:
        return f"{self.text!r} crashes OLM when asked about {self.version}: nothing stands between two ||"


class Range:
    """What `skipRange` and `versionRange` hold. Two ranges are equal when they are written alike.

    Arms are tried from left to right and each of an arm's comparators must hold, so that a nil arm is only
    met by a version that no arm before it matched.
    """

    def __init__(self, text: str, expression: Expression) -> None:
        self.text: Final = text
        self.expression: Final = expression

    def __eq__(self, other: object) -> bool:
        return self.text == other.text if isinstance(other, Range) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Range({self.text!r})"

    @staticmethod
    def parse(text: str) -> Range:
        """The range, exactly where blang's ParseRange accepts it; else RangeError. Each text is read once."""
        found = _read_once(text)
        if isinstance(found, Range):
            return found
        raise RangeError(text, *found)

    @staticmethod
    def parse_or_none(text: str) -> Range | None:
        """The range, or None where there is none to read."""
        found = _read_once(text)
        return found if isinstance(found, Range) else None

    def __str__(self) -> str:
        return self.text

    def contains(self, version: Version) -> bool:
        """What blang answers for this version; RangePanic where it gives no answer."""
        for arm in self.expression.arms:
            if arm.is_nil:
                raise RangePanic(self.text, (arm.start, arm.end), version)
            if all(comparator.holds(version) for comparator in arm.comparators):
                return True
        return False

    @cached_property
    def intervals(self) -> IntervalSet:
        """The versions for which blang answers yes. Arms behind a nil one are never reached."""
        return IntervalSet.union(arm.intervals for arm in takewhile(_is_reached, self.expression.arms))

    @cached_property
    def hazards(self) -> tuple[Hazard, ...]:
        """What the text does silently and may not mean, from left to right."""
        return find_hazards(self.text, self.expression)

    @cached_property
    def can_panic(self) -> bool:
        """Whether some arm is empty."""
        return any(arm.is_nil for arm in self.expression.arms)

    def panics_on(self, version: Version) -> bool:
        """Whether asking about this version crashes the resolver."""
        return self.can_panic and version not in self.intervals


def _is_reached(arm: Arm) -> bool:
    return not arm.is_nil


@lru_cache(maxsize=_REMEMBERED)
def _read_once(text: str) -> Range | tuple[tuple[int, int], str, str | None]:
    """A range, or the particulars of its error: an exception kept and raised again collects tracebacks."""
    try:
        return Range(text, parse_expression(text))
    except GrammarError as fault:
        from everpath.ranges._repair import suggest_range  # noqa: PLC0415 - few ranges need mending

        return fault.span, fault.reason, suggest_range(text)
