"""Follow an operator: poll its status and log changes until it is final or the timeout expires."""

from __future__ import annotations

__all__ = [
    "GRACE_PERIOD",
    "POLL_INTERVAL",
    "UNPACK_TIMEOUT",
    "Clock",
    "FollowResult",
    "Outcome",
    "StableTimer",
    "StopCondition",
    "follow",
    "status_changes",
]

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from everpath.errors import Unreachable
from everpath.olm.chain import operator_status
from everpath.olm.objects import CSV, RequestDenied
from everpath.olm.snapshot import OperatorSnapshot
from everpath.olm.status import OperatorStatus, Wait

#: Seconds between two requests for the status.
POLL_INTERVAL: Final = 1.0

#: Seconds until a final wait counts as stuck: OLM does not react to a change immediately.
GRACE_PERIOD: Final = 20.0

#: Seconds for which OLM may unpack a bundle while nothing else changes.
UNPACK_TIMEOUT: Final = 60.0

#: Seconds in which OLM may find out by itself that a reported failure is stale.
_STALE_GRACE_PERIOD: Final = 3.0


class Outcome(StrEnum):
    """How following ended. The values are part of the JSON contract."""

    DONE = "done"
    APPROVAL = "approval"  # an InstallPlan requires approval
    STUCK = "stuck"  # user action is needed
    DEADLINE = "deadline"


StopCondition: TypeAlias = Callable[[OperatorSnapshot, OperatorStatus], Outcome | None]


@dataclass(frozen=True, slots=True)
class Clock:
    """A monotonic clock in seconds, a function that sleeps, and the timeout."""

    now: Callable[[], float]
    sleep: Callable[[float], None]
    timeout: float

    def deadline(self) -> float:
        return self.now() + self.timeout


class StableTimer:
    """Measures for how long a state has been stable."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._since: float | None = None

    def has_lasted(self, seconds: float, is_stable: bool) -> bool:
        """Whether the state has been stable for so long. Must be called at every poll."""
        if not is_stable:
            self._since = None
            return False
        if self._since is None:
            self._since = self._now()
        return self._now() - self._since >= seconds


@dataclass(frozen=True, slots=True)
class FollowResult:
    """How following ended, with the last snapshot and its status."""

    outcome: Outcome
    snapshot: OperatorSnapshot
    status: OperatorStatus


def follow(
    read_snapshot: Callable[[], OperatorSnapshot],
    stop_condition: StopCondition,
    clock: Clock,
    log: Callable[[str], None],
    unblock: Callable[[OperatorSnapshot], bool] = lambda _: False,
    previous: OperatorStatus | None = None,
) -> FollowResult:
    """Poll until the stop condition returns an outcome, the operator is stuck, or the timeout expires.

    `unblock` is called once for each set of final waits, before the grace period ends, and returns whether
    it did something; then the grace period starts again. `previous` is the status that was logged last.

    Retries if the cluster does not respond. Raises Unreachable if it has never responded or the timeout has
    expired, and RequestDenied immediately.
    """
    limits = _Limits(clock, unblock)
    status = previous
    is_unreachable = False
    while True:
        try:
            snapshot = read_snapshot()
        except RequestDenied:
            raise
        except Unreachable as error:
            if status is None or limits.is_timed_out:
                raise
            if not is_unreachable:
                log(f"{error.message}; retrying")
            is_unreachable = True
        else:
            is_unreachable = False
            before, status = status, operator_status(snapshot)
            for line in status_changes(before, status):
                log(line)
            outcome = stop_condition(snapshot, status) or limits.outcome(snapshot, status)
            if outcome is not None:
                return FollowResult(outcome, snapshot, status)
        clock.sleep(POLL_INTERVAL)


class _Limits:
    """Ends following at the deadline, or when the same final waits have lasted for the grace period."""

    def __init__(self, clock: Clock, unblock: Callable[[OperatorSnapshot], bool]) -> None:
        self._now = clock.now
        self._deadline = clock.deadline()
        self._unblock = unblock
        self._waits: tuple[Wait, ...] = ()
        self._since = 0.0
        self._unblocked: tuple[Wait, ...] = ()

    @property
    def is_timed_out(self) -> bool:
        return self._now() >= self._deadline

    def outcome(self, snapshot: OperatorSnapshot, status: OperatorStatus) -> Outcome | None:
        """Return the outcome if a limit is reached. Must be called at every poll."""
        waits = tuple(wait for wait in status.waits if wait.is_final)
        if waits != self._waits:
            self._waits, self._since = waits, self._now()
        if waits and self._is_stuck(snapshot):
            return Outcome.STUCK
        return Outcome.DEADLINE if self.is_timed_out else None

    def _is_stuck(self, snapshot: OperatorSnapshot) -> bool:
        """Whether the grace period is over; tries to unblock the operator before."""
        elapsed = self._now() - self._since
        is_stale = any(wait.is_stale for wait in self._waits)
        delay = _STALE_GRACE_PERIOD if is_stale else GRACE_PERIOD / 2
        if self._waits != self._unblocked and elapsed >= delay:
            self._unblocked = self._waits
            if self._unblock(snapshot):
                self._since = self._now()
            return False
        return elapsed >= GRACE_PERIOD


def status_changes(before: OperatorStatus | None, now: OperatorStatus) -> Iterator[str]:
    """Yield a line for each object that is new or whose summary or waits have changed."""
    known = {(obj.kind, obj.name): obj for obj in before.chain} if before is not None else {}
    for obj in now.chain:
        old = known.get((obj.kind, obj.name))
        if old is None or old.summary != obj.summary:
            if obj.kind == CSV.name:
                # The format of operator-sdk.
                yield f'Found {CSV.name} "{obj.namespace}/{obj.name}" phase: {obj.summary}'
            else:
                yield f"Found {obj.kind} {obj.name}: {obj.summary}"
        elif old.waits != obj.waits and obj.waits:
            yield f"Waiting for {obj.waits[0].message}"
