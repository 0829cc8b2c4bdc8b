"""Drains: shards leave a node before it goes, those that would be missed and those that can."""

from __future__ import annotations

__all__ = ["drain", "drained", "has_single_copies", "is_drained_whole", "stopped"]

from collections.abc import Iterator

from searchkeeper.engine.calls import Exclude
from searchkeeper.engine.view import EngineView, ShardCopy, ShardState, Unreachable
from searchkeeper.kernel import Answer, waiting, working
from searchkeeper.observed import Observed
from searchkeeper.upgrade.copies import only_here, why_nobody_takes
from searchkeeper.upgrade.emptying import is_as_empty_as_can_be, must_be_emptied
from searchkeeper.upgrade.gates import Candidate, Verdict, first_closed, is_lost_already
from searchkeeper.upgrade.journal import EXCLUDED, Journal
from searchkeeper.upgrade.losing import heirs, is_going_to_lose
from searchkeeper.upgrade.settings import restored, to_be_undone
from searchkeeper.writes import Tell


def drain(seen: Observed, journal: Journal, candidate: Candidate) -> Answer | None:
    """Goes on with a drain that has begun, and begins one for whoever must not go with what it has.

    The shards that move are why other gates are closed meanwhile. Nothing moves while a person says so.
    """
    engine = seen.engine
    if isinstance(engine, Unreachable) or is_lost_already(candidate, seen):
        return None
    closed = first_closed(candidate, seen)
    if closed is not None and closed.gate == "NotPaused":
        return None
    is_due = closed is not None and closed.gate == "LastCopySafe" and _may_be_emptied(seen, engine, candidate)
    if candidate.pod.name in journal.excluded or is_due:
        return next(drained(seen, journal, candidate, engine), None)
    return None


def drained(seen: Observed, journal: Journal, candidate: Candidate, engine: EngineView) -> Iterator[Answer]:
    """Whom somebody else has excluded is not in the journal: that is not for us to undo."""
    name, patience = candidate.pod.name, seen.cluster.spec.upgrade.health_deadline
    if name not in engine.excluded:
        ours = journal.excluded | {name}
        call, notes = Tell(Exclude(engine.excluded | ours)), to_be_undone(EXCLUDED, tuple(sorted(ours)))
        yield working("Draining", f"shards leave {name}", call, notes=notes)
    elif not _is_over(seen, journal, candidate, engine):
        cause = why_nobody_takes(engine, _missed(seen, engine, candidate), frozenset({name}))
        if cause is not None:
            yield waiting("NobodyTakesShards", cause, patience=patience)
        left = len(engine.copies_on(name))
        yield waiting("Drains", f"{left} shards are still on {name}", patience=patience)


def stopped(seen: Observed, journal: Journal, candidate: Candidate, closed: Verdict) -> Answer:
    """What was set for a pod is taken back while a gate is closed, but for its drain, unless it is paused.

    Shards would come back to it, only to leave again when the gate opens.
    """
    keeps = () if closed.gate == "NotPaused" else (candidate.pod.name,)
    undoing = restored(seen, journal, keeps)
    return undoing or waiting(closed.gate, closed.sentence, patience=closed.patience)


def is_drained_whole(seen: Observed, journal: Journal, candidate: Candidate) -> bool:
    """Its disk goes with it, so that all that can leave it does."""
    return candidate.pool.spec.storage.ephemeral or must_be_emptied(seen, journal, candidate.pod)


def has_single_copies(seen: Observed, candidate: Candidate, engine: EngineView) -> bool:
    """It has a copy that is to have no second one, and there is another data node that could take it."""
    others = [n for n in engine.nodes if "data" in n.roles and n.name != candidate.pod.name]
    single = {index.name for index in engine.indices if index.replicas == 0}
    return bool(others) and any(copy.index in single for copy in only_here(seen, engine, candidate.pod.name))


def _may_be_emptied(seen: Observed, engine: EngineView, candidate: Candidate) -> bool:
    if is_going_to_lose("data", engine, candidate.pod.name, candidate.pool):
        return bool(heirs("data", seen, engine))
    return has_single_copies(seen, candidate, engine)


def _missed(seen: Observed, engine: EngineView, candidate: Candidate) -> tuple[ShardCopy, ...]:
    """The copies without which it may go nowhere: a node without the role does not start with any."""
    name = candidate.pod.name
    if is_going_to_lose("data", engine, name, candidate.pool):
        return engine.copies_on(name)
    return only_here(seen, engine, name)


def _is_over(seen: Observed, journal: Journal, candidate: Candidate, engine: EngineView) -> bool:
    """A copy whose only other home has one already never leaves: nobody waits for it who need not."""
    here = engine.copies_on(candidate.pod.name)
    if not here or _missed(seen, engine, candidate):
        return not here
    if is_drained_whole(seen, journal, candidate):
        return is_as_empty_as_can_be(seen, journal, candidate.pod, engine)
    return all(copy.state is ShardState.STARTED for copy in here)
