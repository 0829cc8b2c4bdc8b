"""The action that tells people, in events, what goes wrong with an upgrade, and how that ends."""

from __future__ import annotations

__all__ = ["ROLLED_BACK", "ROLLING_BACK", "STALL", "people_are_told"]

from collections.abc import Iterator
from typing import Final

from searchkeeper.configuration.scene import Scene
from searchkeeper.kernel import STALLED, Answer, Note, action, done, working
from searchkeeper.upgrade.failing import how_to_turn_back, order_in
from searchkeeper.upgrade.journal import TOLD
from searchkeeper.writes import Event, EventType

# The reasons of events.
STALL: Final = "Stalled"
ROLLING_BACK: Final = "RollingBack"
ROLLED_BACK: Final = "RolledBack"


@action()
def people_are_told(scene: Scene) -> Answer:
    """Every stall and every way back is an event when it begins, the way back also when it ends.

    The ledger has what was told for as long as it lasts: so it is told once, and again when it comes again.
    """
    told, begun = scene.journal.told, {event.reason: event for event in _begun(scene)}
    news = {reason: event for reason, event in begun.items() if reason not in told}
    if ROLLING_BACK in news:
        # The stall that has turned the upgrade is what the way back tells of.
        news.pop(STALL, None)
    if ROLLING_BACK in told and ROLLING_BACK not in begun:
        words = _said(scene, "UpgradeIsFinished")
        news[ROLLED_BACK] = _event(scene, ROLLED_BACK, words, EventType.NORMAL)
    notes = () if set(begun) == told else (Note(TOLD, tuple(sorted(begun)) or None),)
    return working("Telling", ", ".join(news), *news.values(), notes=notes) if news else done(notes=notes)


def _begun(scene: Scene) -> Iterator[Event]:
    if scene.journal.returns_to is not None:
        yield _turned(scene, scene.journal.returns_to)
    stalls = [each for each in scene.seen.cluster.records.conditions if each.message.startswith(STALLED)]
    if stalls:
        words = "; ".join(f"{each.type}: {each.message.removeprefix(STALLED)}" for each in stalls)
        yield _event(scene, STALL, "; ".join((words, *_advice(scene))), EventType.WARNING)


def _turned(scene: Scene, before: str) -> Event:
    """A warning, unless somebody has asked for it."""
    words = _said(scene, "UpgradeIsBegun", "TurningBack") or f"back to {before}"
    if before in (scene.spec.version, order_in(scene.seen)):
        return _event(scene, ROLLING_BACK, words, EventType.NORMAL)
    _, target = scene.journal.under_way or ("", "the upgrade")
    return _event(scene, ROLLING_BACK, f"{target} has failed: {words}", EventType.WARNING)


def _advice(scene: Scene) -> Iterator[str]:
    before, _ = scene.journal.under_way or (None, None)
    hint = None if before is None else how_to_turn_back(scene.seen, scene.journal, before)
    if hint is not None:
        yield hint


def _said(scene: Scene, action: str, reason: str | None = None) -> str:
    """What an action has just said of it."""
    found = (each for each in scene.seen.cluster.records.conditions if each.type == action)
    return next((each.message for each in found if reason in (None, each.reason)), "")


def _event(scene: Scene, reason: str, message: str, weight: EventType) -> Event:
    return Event(scene.seen.cluster.key, reason, message, weight)
