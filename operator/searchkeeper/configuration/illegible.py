"""A spec that nobody can follow, let in by an older definition: left alone, with a word about it."""

from __future__ import annotations

__all__ = ["ILLEGIBLE"]

from typing import Final

from searchkeeper.configuration.scene import UNREADABLE
from searchkeeper.kernel import Answer, Note, Procedure, action, done, waiting, working
from searchkeeper.observed import Observed
from searchkeeper.upgrade.gates import FOR_EVER
from searchkeeper.upgrade.journal import REFUSED, Journal
from searchkeeper.upgrade.settings import undone
from searchkeeper.writes import Event


@action()
def spec_is_readable(seen: Observed) -> Answer:
    """False until somebody edits the spec, which is told once a generation. Nothing is touched meanwhile."""
    cluster, flaw = seen.cluster, seen.cluster.flaw or ""
    if Journal(cluster.records.ledger).refused_generation == cluster.generation:
        return waiting(UNREADABLE, flaw, patience=FOR_EVER)
    event = Event(cluster.key, UNREADABLE, flaw)
    return working(UNREADABLE, flaw, event, notes=(Note(REFUSED, cluster.generation),))


@action()
def engine_is_tidied(seen: Observed) -> Answer:
    """What was set in the engine is undone: it was meant for a moment, and a spec may be wrong for a year."""
    return undone(seen, Journal(seen.cluster.records.ledger)) or done()


ILLEGIBLE: Final = Procedure(0, 0, (spec_is_readable, engine_is_tidied))
