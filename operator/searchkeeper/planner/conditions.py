"""Answers as Kubernetes conditions."""

from __future__ import annotations

__all__ = ["Condition", "merge_conditions"]

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from searchkeeper.planner.results import Result, Status


@dataclass(frozen=True, slots=True)
class Condition:
    """One entry of `status.conditions`. The moment is in seconds since the epoch."""

    type: str
    status: Status
    reason: str
    message: str
    last_transition: int
    observed_generation: int


def merge_conditions(
    before: Iterable[Condition], answers: Mapping[str, Result], *, now: int, generation: int
) -> tuple[Condition, ...]:
    """The answers as conditions, by type. A moment changes only with its status: no heartbeat, no write."""
    known = {condition.type: condition for condition in before}
    return tuple(
        Condition(
            name,
            answer.status,
            answer.reason,
            answer.message,
            _transition(known.get(name), answer, now),
            generation,
        )
        for name, answer in sorted(answers.items())
    )


def _transition(before: Condition | None, answer: Result, now: int) -> int:
    return now if before is None or before.status is not answer.status else before.last_transition
