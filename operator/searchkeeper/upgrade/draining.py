"""Drains: shards leave a node before it goes, those that would be missed and those that can."""

from __future__ import annotations

__all__ = ["borrowed", "drain", "drained", "has_single_copies", "is_drained_whole", "stopped"]

from collections.abc import Iterator

from searchkeeper.engine.calls import Exclude
from searchkeeper.engine.view import EngineView, ShardCopy, ShardState, Unreachable
from searchkeeper.kernel import Answer, waiting, working
from searchkeeper.observed import Observed
from searchkeeper.upgrade.copies import is_taken_by_nobody, only_here, takers, why_nobody_takes
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
    is_needed = closed is not None and closed.gate == "LastCopySafe"
    has_begun = candidate.pod.name in journal.excluded
    if not takers(seen, engine, candidate.pod.name):
        undoing = restored(seen, journal) if has_begun else None
        return undoing or (_told_why(seen, candidate, engine) if is_needed else None)
    if has_begun or (is_needed and _may_be_emptied(seen, engine, candidate)):
        return next(drained(seen, journal, candidate, engine), None)
    return None


def _told_why(seen: Observed, candidate: Candidate, engine: EngineView) -> Answer | None:
    """Last copies that nobody takes, and the way out where there is one: nothing is set in the engine."""
    name, patience = candidate.pod.name, seen.cluster.spec.upgrade.health_deadline
    cause = why_nobody_takes(engine, only_here(seen, engine, name), frozenset({name}))
    if cause is None or is_going_to_lose("data", engine, name, candidate.pool):
        return None
    message = f"{cause}; to go on all the same, set spec.upgrade.acceptSingleCopyLoss"
    return waiting("NobodyTakesShards", message, patience=patience)


def borrowed(seen: Observed, journal: Journal) -> frozenset[str]:
    """Nodes that leave, and have to take shards once more: a stale one has nobody else to leave its own to.

    Nobody leaves before that one is replaced, and with both of them excluded neither would ever be empty.
    """
    engine, policy = seen.engine, seen.cluster.spec.upgrade
    if isinstance(engine, Unreachable) or policy.paused or policy.accept_single_copy_loss:
        return frozenset()
    stale = (pod.name for pool in seen.pools for pod in pool.stale_pods)
    needy = (name for name in stale if only_here(seen, engine, name) and not takers(seen, engine, name))
    return journal.leaving if any(needy) else frozenset()


def drained(seen: Observed, journal: Journal, candidate: Candidate, engine: EngineView) -> Iterator[Answer]:
    """Whom somebody else has excluded is not in the journal: that is not for us to undo."""
    name, patience = candidate.pod.name, seen.cluster.spec.upgrade.health_deadline
    if not engine.excludes(name) and takers(seen, engine, name):
        ours = journal.excluded | {name}
        call, notes = Tell(Exclude(engine.excluded | ours)), to_be_undone(EXCLUDED, tuple(sorted(ours)))
        yield working("Draining", f"shards leave {name}", call, notes=notes, patience=patience)
    elif not _is_over(seen, journal, candidate, engine):
        cause = why_nobody_takes(engine, _missed(seen, journal, candidate, engine), frozenset({name}))
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
    others = takers(seen, engine, candidate.pod.name)
    single = {index.name for index in engine.indices if index.replicas == 0}
    return bool(others) and any(copy.index in single for copy in only_here(seen, engine, candidate.pod.name))


def _may_be_emptied(seen: Observed, engine: EngineView, candidate: Candidate) -> bool:
    if is_going_to_lose("data", engine, candidate.pod.name, candidate.pool):
        return bool(heirs("data", seen, engine))
    return has_single_copies(seen, candidate, engine)


def _missed(
    seen: Observed, journal: Journal, candidate: Candidate, engine: EngineView
) -> tuple[ShardCopy, ...]:
    """The copies without which it may go nowhere: a node without the role does not start with any.

    Where their loss is accepted nobody waits for those that have nowhere to go, unless the disk goes too.
    """
    name = candidate.pod.name
    if is_going_to_lose("data", engine, name, candidate.pool):
        return engine.copies_on(name)
    alone = only_here(seen, engine, name)
    accepts = seen.cluster.spec.upgrade.accept_single_copy_loss
    if not accepts or must_be_emptied(seen, journal, candidate.pod):
        return alone
    return tuple(copy for copy in alone if not is_taken_by_nobody(engine, copy, frozenset({name})))


def _is_over(seen: Observed, journal: Journal, candidate: Candidate, engine: EngineView) -> bool:
    """A copy whose only other home has one already never leaves: nobody waits for it who need not."""
    here = engine.copies_on(candidate.pod.name)
    if not here or _missed(seen, journal, candidate, engine):
        return not here
    if is_drained_whole(seen, journal, candidate):
        return is_as_empty_as_can_be(seen, journal, candidate.pod, engine)
    return all(copy.state is ShardState.STARTED for copy in here)
