"""The roll: stale pods are replaced one after the other, or a few at a time, without losing anything.

Every step is one cycle. What must survive a crash is noted before it is done; what was done is seen in the
world, never remembered. The same road serves a new engine version and a new configuration.
"""

from __future__ import annotations

__all__ = ["Roll", "roll"]

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from searchkeeper.engine.calls import Flush, SetAllocation
from searchkeeper.engine.view import Allocation, EngineView, Unreachable
from searchkeeper.kernel import Answer, Note, done, waiting, working
from searchkeeper.observed import Observed, Pod, PoolView
from searchkeeper.upgrade.batches import allowed, doubled, halved, sized, trouble
from searchkeeper.upgrade.draining import drain, drained, has_single_copies, is_drained_whole, stopped
from searchkeeper.upgrade.emptying import emptied, on_empty_disk
from searchkeeper.upgrade.failing import NO_WAY_BACK, failure, how_to_go_on
from searchkeeper.upgrade.gates import Candidate, first_closed, is_lost_already
from searchkeeper.upgrade.handing import handed_over, is_handed
from searchkeeper.upgrade.journal import (
    AIMED,
    ALLOCATION,
    AWAY,
    FLUSHED,
    PARTITION,
    SIZE,
    TROUBLE,
    WIPED,
    Journal,
)
from searchkeeper.upgrade.mending import awaits_cure, given_up
from searchkeeper.upgrade.order import candidates
from searchkeeper.upgrade.returning import obstacles
from searchkeeper.upgrade.settings import restored, to_be_undone
from searchkeeper.upgrade.sparing import aimed_at, spared
from searchkeeper.upgrade.volumes import claim_of, needs_empty_disk
from searchkeeper.upgrade.voting import vote_moved
from searchkeeper.writes import Delete, Key, Tell

# What is of no use to anybody when no pod is stale and nobody is away.
_OF_THE_ROLL: Final = (SIZE, PARTITION, FLUSHED, TROUBLE, WIPED, AIMED)


@dataclass(frozen=True, slots=True)
class Roll:
    """What a roll works on: the world, its journal, and the pools in the order they go.

    `ahead` are those whose turn has not come: of them only whoever cannot wait for it is replaced.
    """

    seen: Observed
    journal: Journal
    pools: tuple[PoolView, ...]
    ahead: frozenset[str] = frozenset()

    @property
    def patience(self) -> int:
        return self.seen.cluster.spec.upgrade.health_deadline

    @property
    def pool(self) -> PoolView | None:
        """The first pool that has anything to replace, or somebody away.

        Before all others one that is ahead, with somebody who awaits a cure: everybody would wait for it.
        """
        ailing = (pool for pool in self.pools if pool.spec.name in self.ahead and self.candidates(pool))
        due = (pool for pool in self.pools if pool.spec.name not in self.ahead and self._is_left(pool))
        return next(chain(ailing, due), None)

    @property
    def goes_back(self) -> bool:
        return self.journal.returns_to is not None

    def candidates(self, pool: PoolView) -> tuple[Pod, ...]:
        found = candidates(pool, self.seen.engine, backwards=self.goes_back)
        if pool.spec.name not in self.ahead:
            return found
        return tuple(pod for pod in found if awaits_cure(self.seen, self.journal, Candidate(pod, pool)))

    def _is_left(self, pool: PoolView) -> bool:
        return bool(pool.stale_pods) or any(pod.name in self.journal.away for pod in pool.pods)


def roll(this: Roll) -> Answer:
    """True when no pod is stale, nobody is away, and nothing that was set for it is left."""
    rethought = _once_more(this) or spared(this.seen, this.journal) or given_up(this.seen, this.journal)
    mending = rethought or _emptied(this) or _mended(this)
    if mending is not None:
        return mending
    missing = _missing(this)
    pool = this.pool
    if missing:
        return (None if pool is None else _next_of_batch(this, pool)) or _patient(this, pool, missing)
    if this.journal.away:
        return _welcome(this)
    if pool is None:
        over = tuple(Note(line, None) for line in _OF_THE_ROLL if line in this.journal.ledger)
        return restored(this.seen, this.journal) or done("every pod is of the newest template", notes=over)
    if is_handed(pool):
        return handed_over(this.seen, this.journal, pool)
    return _take(this, Candidate(this.candidates(pool)[0], pool))


def _once_more(this: Roll) -> Answer | None:
    """A deletion that was noted and not made, where it would be decided again word for word.

    So whoever is refused it for days asks for it and for nothing else: nobody is touched for that, and no
    line of the ledger changes. Decided otherwise, the pod is spared first.
    """
    pod = aimed_at(this.seen, this.journal)
    if pod is None:
        return None
    away = tuple(sorted((name, uid) for name, uid in this.journal.away.items() if name != pod.name))
    anew = roll(replace(this, journal=Journal(this.journal.ledger.noted({AWAY: away, AIMED: None}))))
    return anew if any(isinstance(each, Delete) and each.uid == pod.uid for each in anew.writes) else None


def _emptied(this: Roll) -> Answer | None:
    """On the way back: whoever cannot start on what a newer version has written begins anew.

    Only when waiting did not help; a node that neither holds data nor votes has nothing to lose by it.
    """
    if this.seen.cluster.spec.upgrade.paused:
        return None
    has_failed = failure(this.seen, this.journal) is not None
    for pool in this.pools:
        for pod in pool.pods:
            claim = claim_of(this.seen, pod.name)
            is_due = has_failed or is_handed(pool)
            if claim is None or not needs_empty_disk(this.seen, this.journal, pod):
                continue
            if claim.is_leaving:
                return _deleted(this, Candidate(pod, pool))
            if is_due:
                return emptied(claim, pod)
    return None


def _mended(this: Roll) -> Answer | None:
    """A pod that nobody would miss, of a template that is not wanted any more, waits for nobody else.

    Otherwise the pod that did not come back would be waited for until the end of days.
    """
    if not this.journal.away:
        return None
    for pool in this.pools:
        for pod in () if is_handed(pool) else this.candidates(pool):
            candidate = Candidate(pod, pool)
            lost = is_lost_already(candidate, this.seen) and not pod.is_terminating
            if lost and first_closed(candidate, this.seen) is None:
                return _deleted(this, candidate, *trouble(this.journal, pool.spec.name))
    return None


def _patient(this: Roll, pool: PoolView | None, missing: list[str]) -> Answer:
    """Whoever takes too long makes the next batch smaller."""
    has_failed = failure(this.seen, this.journal) is not None
    notes = trouble(this.journal, pool.spec.name) if has_failed and pool is not None else ()
    message = f"{', '.join(missing)} not back yet"
    return waiting("PodsComeBack", message, patience=this.patience, notes=notes)


def _missing(this: Roll) -> list[str]:
    """Those who are away and not back: another pod, ready, joined, of the newest template.

    Nobody waits for a pod of a template that is not wanted any more.
    """
    pods = {pod.name: (pod, pool) for pool in this.seen.pools for pod in pool.pods}
    outdated = _outdated(this)
    return [
        name
        for name, uid in this.journal.away.items()
        if name not in outdated and not _is_back(pods.get(name), uid, this.seen)
    ]


def _outdated(this: Roll) -> set[str]:
    """Those who came back, and are to go again."""
    stale = (pod for pool in this.pools for pod in pool.stale_pods if not pod.is_terminating)
    return {pod.name for pod in stale if this.journal.away.get(pod.name, pod.uid) != pod.uid}


def _is_back(found: tuple[Pod, PoolView] | None, uid: str, seen: Observed) -> bool:
    if found is None or found[0].uid == uid or found[0].is_terminating or not found[0].is_ready:
        return False
    pod, pool = found
    if isinstance(seen.engine, Unreachable) or pool.stateful_set is None:
        return False
    node = seen.engine.node(pod.name)
    return node is not None and node.version == pod.engine_version


def _next_of_batch(this: Roll, pool: PoolView) -> Answer | None:
    """Another pod for the batch, if it may be larger and nothing stands against this one."""
    batch = frozenset(this.journal.away)
    is_full = len(batch) >= allowed(this.seen, this.journal, pool.spec.name)
    if _goes_alone(this, pool) or is_full:
        return None
    left = [pod for pod in this.candidates(pool) if pod.name not in batch and not pod.is_terminating]
    for pod in left:
        candidate = Candidate(pod, pool, batch)
        if first_closed(candidate, this.seen) is None and not _preparation(this, candidate):
            return _deleted(this, candidate)
    return None


def _goes_alone(this: Roll, pool: PoolView) -> bool:
    """Of voters one is missed at a time, and of what is left of the older version on the way back to it."""
    return pool.spec.votes or this.goes_back


def _welcome(this: Roll) -> Answer:
    """Everybody is back: what was set for them is undone, then the next batch may be twice as large.

    After a failure it stays as small as that has made it.
    """
    undoing = restored(this.seen, this.journal)
    if undoing is not None:
        return undoing
    over = tuple(Note(each, None) for each in (AWAY, AIMED, FLUSHED, TROUBLE, WIPED))
    return working("PodsAreBack", f"{', '.join(this.journal.away)} back", notes=(*over, *_next_size(this)))


def _next_size(this: Roll) -> tuple[Note, ...]:
    names = {pod.name: pool.spec.name for pool in this.pools for pod in pool.pods}
    pool = next((names[name] for name in this.journal.away if name in names), None)
    if pool is None or this.journal.has_trouble:
        return ()
    if _outdated(this):
        return halved(this.journal, pool)
    return (sized(pool, doubled(this.seen, this.journal, pool)),)


def _take(this: Roll, candidate: Candidate) -> Answer:
    """The next step towards taking this pod away, as long as there is no reason to stop."""
    if candidate.pod.is_terminating:
        return _on_its_way_out(this, candidate.pod)
    draining = _dead_end(this, candidate) or drain(this.seen, this.journal, candidate)
    if draining is not None:
        return draining
    closed = first_closed(candidate, this.seen)
    if closed is not None:
        return stopped(this.seen, this.journal, candidate, closed)
    return (
        next(_preparations(this, candidate), None)
        or on_empty_disk(this.seen, this.journal, candidate.pod)
        or _deleted(this, candidate)
    )


def _on_its_way_out(this: Roll, pod: Pod) -> Answer:
    """Whoever sent it away, it is waited for like any other, and not sent away twice."""
    away = tuple(sorted({**this.journal.away, pod.name: pod.uid}.items()))
    return working("PodLeaves", f"{pod.name} is on its way out", notes=(Note(AWAY, away),))


def _dead_end(this: Roll, candidate: Candidate) -> Answer | None:
    """No step back is taken where the way back has closed meanwhile; broken pods are no loss."""
    back, paused = this.journal.returns_to, this.seen.cluster.spec.upgrade.paused
    if back is None or paused or is_lost_already(candidate, this.seen):
        return None
    objections = obstacles(this.seen, this.journal, back)
    if not objections or isinstance(this.seen.engine, Unreachable):
        return None
    message = f"cannot go back to {back}: {objections[0]}; {how_to_go_on(this.seen, this.journal)}"
    undoing = restored(this.seen, this.journal)
    return undoing or waiting(NO_WAY_BACK, message, patience=this.patience)


def _preparation(this: Roll, candidate: Candidate) -> bool:
    return next(_preparations(this, candidate), None) is not None


def _preparations(this: Roll, candidate: Candidate) -> Iterator[Answer]:
    """What is still to be done before the pod goes; nothing for a pod that nobody would miss."""
    engine = this.seen.engine
    if isinstance(engine, Unreachable) or is_lost_already(candidate, this.seen):
        return
    moving = vote_moved(this.seen, this.journal, candidate.pod.name, candidate.pool)
    if moving is not None:
        yield moving
    if not candidate.pool.spec.holds_data:
        return
    if is_drained_whole(this.seen, this.journal, candidate) or has_single_copies(
        this.seen, candidate, engine
    ):
        yield from drained(this.seen, this.journal, candidate, engine)
    else:
        yield from _held(this, candidate, engine)


def _held(this: Roll, candidate: Candidate, engine: EngineView) -> Iterator[Answer]:
    """Replicas are not built elsewhere for a node that will be back in a minute. A batch is flushed once."""
    before = this.journal.allocation_before
    if before is None or engine.allocation is not Allocation.PRIMARIES:
        yield _holding(this, candidate, before or str(engine.allocation))
    elif this.journal.flushed_for not in (candidate.pod.uid, *this.journal.away.values()):
        notes = (Note(FLUSHED, candidate.pod.uid),)
        message = "what is in memory goes to disk"
        yield working("Flushing", message, Tell(Flush()), notes=notes, patience=this.patience)


def _holding(this: Roll, candidate: Candidate, before: str) -> Answer:
    call, notes = Tell(SetAllocation(Allocation.PRIMARIES)), to_be_undone(ALLOCATION, before)
    message = f"shards are kept where they are before {candidate.pod.name} goes"
    return working("HoldingShards", message, call, notes=notes, patience=this.patience)


def _deleted(this: Roll, candidate: Candidate, *others: Note) -> Answer:
    pod, namespace = candidate.pod, this.seen.cluster.key.namespace
    away = tuple(sorted({**this.journal.away, pod.name: pod.uid}.items()))
    delete = Delete(Key("v1", "Pod", namespace, pod.name), pod.uid, pod.resource_version)
    notes = (Note(AWAY, away), Note(AIMED, pod.resource_version), *others)
    return working("ReplacingPod", f"{pod.name} is replaced", delete, notes=notes)
