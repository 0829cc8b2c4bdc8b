"""A spec that cannot be read, since an older definition has let it in: left alone, with a word about it."""

from __future__ import annotations

__all__ = ["ILLEGIBLE"]

from typing import Final

from searchkeeper.kernel import Answer, Note, Procedure, action, waiting, working
from searchkeeper.observed import ClusterView
from searchkeeper.upgrade.gates import FOR_EVER
from searchkeeper.upgrade.journal import REFUSED, Journal
from searchkeeper.writes import Event

_REASON: Final = "SpecNotReadable"


@action()
def spec_is_readable(cluster: ClusterView) -> Answer:
    """False until somebody edits the spec, which is told once a generation. Nothing is touched meanwhile."""
    flaw = cluster.flaw or ""
    if Journal(cluster.records.ledger).refused_generation == cluster.generation:
        return waiting(_REASON, flaw, patience=FOR_EVER)
    event = Event(cluster.key, _REASON, flaw)
    return working(_REASON, flaw, event, notes=(Note(REFUSED, cluster.generation),))


ILLEGIBLE: Final = Procedure(0, 0, (spec_is_readable,))
