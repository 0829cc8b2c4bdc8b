"""Journeys that are under way at the same time, and what has become of each."""

from __future__ import annotations

__all__ = ["Convoy", "Resolutions", "Travelled"]

import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from e2e.olm.journal import Journal
from e2e.olm.journeys import Journey, Roads, begin, end, switch
from e2e.servers.olm_v0 import OlmV0
from e2e.servers.polling import WaitTimeoutError, wait_until

# All install the same cluster-wide definitions, and OLM's attempts to change these get in each other's way.
_AT_ONCE: Final = 10
# Seconds where nobody else wants the machine; but somebody may.
_DEADLINE: Final = 900.0
_RESOLUTION: Final = re.compile(
    r'msg="(?P<what>resolving sources|no subscriptions were updated)" '
    r"id=(?P<id>\S+) namespace=(?P<namespace>\S+)"
)


@dataclass(frozen=True, slots=True)
class Travelled:
    """What OLM has installed, one after the other; its InstallPlans; those that were approved."""

    road: list[str]
    plans: list[list[str]]
    approved: list[str]
    hasty: list[str]


@dataclass(slots=True)
class _Away:
    journey: Journey
    legs: deque[list[str]] = field(default_factory=deque)
    asked: int | None = None
    """How long the log was when OLM was asked to look again."""


class Resolutions:
    """What `catalog` says of its resolutions: when the last one began that found nothing to do."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._place = 0
        self._begun: dict[str, int] = {}
        self._idle: dict[str, int] = {}

    @property
    def length(self) -> int:
        return self._log.stat().st_size

    def has_found_nothing(self, namespace: str, since: int) -> bool:
        """Whether one that began after the log was so long has ended, with nothing to be done."""
        with self._log.open("rb") as file:
            file.seek(self._place)
            for line in file:
                if not line.endswith(b"\n"):
                    break
                self._read(line.decode(errors="replace"))
                self._place += len(line)
        return self._idle.get(namespace, -1) >= since

    def _read(self, line: str) -> None:
        found = _RESOLUTION.search(line)
        if found is None:
            return
        if found["what"] == "resolving sources":
            self._begun[found["id"]] = self._place
        else:
            self._idle[found["namespace"]] = self._begun.get(found["id"], -1)


class Convoy:
    """A few at a time: the next begins when one is at its end.

    That is where OLM finds nothing more to do, in a resolution that begins after it has arrived. Then the
    namespace is deleted: OLM's work for a definition grows with those that have it installed.
    """

    def __init__(self, olm: OlmV0, book: Journal, roads: Roads, journeys: Iterable[Journey]) -> None:
        self._olm = olm
        self._book = book
        self._roads = roads
        self._resolutions = Resolutions(olm.catalog.log)
        self._waiting = deque(journeys)
        self._away: dict[str, _Away] = {}
        self._arrived: dict[str, Travelled] = {}

    def arrive(self, journey: Journey) -> Travelled:
        """What became of it, when OLM has gone the road that is predicted; an error if it has left it."""

        def look() -> Travelled | None:
            self._book.check_running()
            self._go_on()
            assert not self._has_strayed(journey), self._book.story(journey.namespace)
            return self._arrived.get(journey.namespace)

        road = self._roads.of(journey)
        try:
            found = wait_until(f"OLM has gone {road} in {journey.namespace}", look, _DEADLINE)
        except WaitTimeoutError as late:
            raise WaitTimeoutError(f"{late}; {self._book.story(journey.namespace)}") from None
        assert found is not None
        return found

    def _go_on(self) -> None:
        self._book.tend(self._olm.api)
        while self._waiting and len(self._away) < _AT_ONCE:
            self._begin(self._waiting.popleft())
        for away in list(self._away.values()):
            self._accompany(away)

    def _begin(self, journey: Journey) -> None:
        self._away[journey.namespace] = _Away(journey, deque(self._roads.legs(journey)))
        self._book.known.add(journey.namespace)
        begin(self._olm.api, journey)

    def _accompany(self, away: _Away) -> None:
        namespace = away.journey.namespace
        if self._has_strayed(away.journey):
            del self._away[namespace]
            return
        if not self._book.has_gone(namespace, away.legs[0]):
            return
        if away.asked is None:
            away.asked = self._resolutions.length
            self._book.nudge(self._olm.api, namespace)
        elif self._resolutions.has_found_nothing(namespace, away.asked):
            away.asked = None
            away.legs.popleft()
            if away.legs:
                switch(self._olm.api, away.journey)
            else:
                self._arrive(away)

    def _has_strayed(self, journey: Journey) -> bool:
        road, gone = self._roads.of(journey), self._book.installed[journey.namespace]
        return gone != road[: len(gone)]

    def _arrive(self, away: _Away) -> None:
        namespace, book = away.journey.namespace, self._book
        self._arrived[namespace] = Travelled(
            list(book.installed[namespace]),
            list(book.planned[namespace].values()),
            list(book.approved[namespace]),
            list(book.hasty[namespace]),
        )
        del self._away[namespace]
        end(self._olm.api, away.journey)
