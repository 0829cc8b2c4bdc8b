"""Observe, describe, and again, until it is done or the time is up. Says only what has changed."""

from __future__ import annotations

__all__ = ["PATIENCE", "PAUSE", "UNPACKING", "Clock", "Followed", "Outcome", "Rest", "follow", "news"]

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from everpath.errors import Unreachable
from everpath.olm.chain import Chain, chain
from everpath.olm.objects import CSV, Refused
from everpath.olm.snapshot import Observed
from everpath.olm.status import Link, Wait

#: How often a cluster is asked, in seconds.
PAUSE: Final = 1.0

#: How long something that seems final is given to prove it: OLM takes a moment to notice a change.
PATIENCE: Final = 20.0


#: How long OLM may say that it reads the image of a bundle, with all else at rest.
UNPACKING: Final = 60.0

#: How long OLM is given to notice by itself that what it said is overtaken.
_A_MOMENT: Final = 3.0


class Outcome(StrEnum):
    """How following ended. The words are part of the JSON contract."""

    DONE = "done"
    APPROVAL = "approval"  # an InstallPlan waits for somebody's yes
    STUCK = "stuck"  # somebody has to change something
    DEADLINE = "deadline"


@dataclass(frozen=True, slots=True)
class Clock:
    """Time, passed in: seconds that only grow, and a way to let them pass."""

    now: Callable[[], float]
    sleep: Callable[[float], None]
    timeout: float

    def deadline(self) -> float:
        return self.now() + self.timeout


class Rest:
    """Since when things are as they are: OLM takes a moment to notice a change, and is silent until then."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._since: float | None = None

    def lasts(self, seconds: float, is_at_rest: bool) -> bool:
        """Whether it has been so for that long; to be told at each look."""
        if not is_at_rest:
            self._since = None
            return False
        if self._since is None:
            self._since = self._now()
        return self._now() - self._since >= seconds


@dataclass(frozen=True, slots=True)
class Followed:
    """How it ended, and the last look."""

    outcome: Outcome
    observed: Observed
    chain: Chain


def follow(
    look: Callable[[], Observed],
    judge: Callable[[Observed, Chain], Outcome | None],
    clock: Clock,
    say: Callable[[str], None],
    nudge: Callable[[Observed], bool] = lambda _: False,
    before: Chain | None = None,
) -> Followed:
    """Look until the judge names an outcome, nothing can move any more, or the time is up.

    A cluster that does not answer for a while is asked again. Raises Unreachable where it never answered,
    or not when the time is up, and at once what it refuses. `nudge` is called once for whatever keeps it from
    moving for good, with half of the patience left, and tells whether it did something about it. `before` is
    what was seen, and said, already.
    """
    watch = _Watch(clock, say, before)
    while True:
        observed = watch.look(look)
        if observed is not None:
            seen = watch.heed(observed)
            outcome = judge(observed, seen) or watch.outcome(lambda: nudge(observed))  # noqa: B023 - called now
            if outcome is not None:
                return Followed(outcome, observed, seen)
        clock.sleep(PAUSE)


class _Watch:
    """What was seen so far, and since when nothing moves."""

    def __init__(self, clock: Clock, say: Callable[[str], None], before: Chain | None) -> None:
        self._clock = clock
        self._say = say
        self._deadline = clock.deadline()
        self._seen = before
        self._stuck: tuple[tuple[Wait, ...], float] | None = None
        self._is_silent = False
        self._nudged: tuple[Wait, ...] = ()

    def look(self, look: Callable[[], Observed]) -> Observed | None:
        """One look, or None while the cluster does not answer."""
        try:
            observed = look()
        except Refused:
            raise
        except Unreachable as error:
            if self._seen is None or self._is_late:
                raise
            if not self._is_silent:
                self._say(f"{error.message}; asking again")
            self._is_silent = True
            return None
        self._is_silent = False
        return observed

    def heed(self, observed: Observed) -> Chain:
        """Say what is new, and remember it."""
        seen = chain(observed)
        for line in news(self._seen, seen):
            self._say(line)
        self._seen = seen
        self._stuck = _stuck(self._stuck, seen, self._clock.now())
        return seen

    def outcome(self, nudge: Callable[[], bool]) -> Outcome | None:
        """Whether it is time to give up."""
        if self._stuck is not None:
            final, since = self._stuck
            due = _A_MOMENT if any(wait.is_stale for wait in final) else PATIENCE / 2
            if final != self._nudged and self._clock.now() - since >= due:
                self._nudged = final
                if nudge():
                    self._stuck = final, self._clock.now()
            elif self._clock.now() - since >= PATIENCE:
                return Outcome.STUCK
        return Outcome.DEADLINE if self._is_late else None

    @property
    def _is_late(self) -> bool:
        return self._clock.now() >= self._deadline


def _stuck(
    before: tuple[tuple[Wait, ...], float] | None, seen: Chain, now: float
) -> tuple[tuple[Wait, ...], float] | None:
    """Since when the same things keep it from moving for good."""
    final = tuple(wait for wait in seen.waits if wait.is_final)
    if not final:
        return None
    return before if before is not None and before[0] == final else (final, now)


def news(before: Chain | None, now: Chain) -> Iterator[str]:
    """A line for each link that is new or other than before."""
    known = {(link.kind, link.name): link for link in before.links} if before is not None else {}
    for link in now.links:
        was = known.get((link.kind, link.name))
        if was is None or was.summary != link.summary:
            yield _told(link)
        elif was.waits != link.waits and link.waits:
            yield f"Waits for {link.waits[0].sentence}"


def _told(link: Link) -> str:
    """In the words that users of operator-sdk know, where it has any."""
    if link.kind == CSV.name:
        return f'Found {CSV.name} "{link.namespace}/{link.name}" phase: {link.summary}'
    return f"Found {link.kind} {link.name}: {link.summary}"
