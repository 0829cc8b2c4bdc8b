"""Results as Kubernetes conditions."""

from __future__ import annotations

__all__ = ["Condition", "merge_conditions"]

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass

from searchkeeper.planner.results import Result, Status


@dataclass(frozen=True, slots=True)
class Condition:
    """One entry of `status.conditions`. `last_transition` is in seconds since the epoch.

    `is_stalled` is stored in the ledger: a Kubernetes condition has no such field.
    """

    type: str
    status: Status
    reason: str
    message: str
    last_transition: int
    observed_generation: int
    is_stalled: bool = False


def merge_conditions(
    before: Iterable[Condition],
    results: Mapping[str, Result],
    stalled: Container[str],
    *,
    now: int,
    generation: int,
) -> tuple[Condition, ...]:
    """Return the results as conditions, sorted by type.

    `last_transition` changes only with the status: a reconcile that changes nothing writes no status.
    """
    since = {(condition.type, condition.status): condition.last_transition for condition in before}
    return tuple(
        Condition(
            name,
            result.status,
            result.reason,
            result.message,
            since.get((name, result.status), now),
            generation,
            name in stalled,
        )
        for name, result in sorted(results.items())
    )
