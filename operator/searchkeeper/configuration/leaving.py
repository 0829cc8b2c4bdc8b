"""Nodes that are one too many: they give away their shards and their votes before they go, one by one."""

from __future__ import annotations

__all__ = ["exclusions_are_undone", "nodes_have_left"]

from dataclasses import dataclass, replace

from searchkeeper.configuration import names
from searchkeeper.configuration.applying import apply
from searchkeeper.configuration.manifests import search_pool
from searchkeeper.configuration.objects import gone
from searchkeeper.configuration.pools import pools_are_settled
from searchkeeper.configuration.scene import Scene
from searchkeeper.engine.calls import Exclude, ExcludeFromVoting
from searchkeeper.engine.view import Color, EngineView, Unreachable
from searchkeeper.kernel import Answer, action, done, waiting, working
from searchkeeper.observed import Pod, PoolView
from searchkeeper.upgrade.copies import why_nobody_takes
from searchkeeper.upgrade.draining import borrowed
from searchkeeper.upgrade.failing import was_given_up
from searchkeeper.upgrade.gates import FOR_EVER, Candidate, first_closed, is_lost_for_good
from searchkeeper.upgrade.journal import LEAVING, LEAVING_VOTES
from searchkeeper.upgrade.losing import heirs, is_going_to_lose
from searchkeeper.upgrade.settings import forgiven, to_be_undone
from searchkeeper.writes import Patch, Tell


@dataclass(frozen=True, slots=True)
class _Leave:
    """What leaving works on: the scene, an engine that answered, and who goes, the last one first."""

    scene: Scene
    engine: EngineView
    departing: tuple[tuple[Pod, PoolView], ...]

    @property
    def names(self) -> frozenset[str]:
        return frozenset(pod.name for pod, _ in self.departing)

    @property
    def patience(self) -> int:
        return self.scene.spec.upgrade.health_deadline


@action()
def exclusions_are_undone(scene: Scene) -> Answer:
    """True when nothing is set in the engine for the sake of nodes that have left, or may stay after all.

    Or that have to stay until somebody else is replaced.
    """
    departing = [pod.name for pool in scene.pools for pod in pool.departing]
    lent = borrowed(scene.seen, scene.journal)
    return forgiven(scene.seen, scene.journal, departing, lent) or done()


@action(requires=[pools_are_settled, exclusions_are_undone])
def nodes_have_left(scene: Scene) -> Answer:
    """True when no pool has more nodes than it should."""
    departing = tuple((pod, pool) for pool in scene.pools for pod in reversed(pool.departing))
    if departing:
        return _after_upgrade(scene, departing) or _parting(scene, departing)
    for pool in scene.pools:
        if pool.allotted is not None and pool.allotted > pool.replicas:
            return _allotted(scene, pool, pool.replicas)
    return _removed(scene)


def _after_upgrade(scene: Scene, departing: tuple[tuple[Pod, PoolView], ...]) -> Answer | None:
    """An upgrade that was asked for together with fewer nodes begins with the nodes that there are.

    Where one of those is down for good it does not begin before they have left.
    """
    cluster = scene.seen.cluster
    is_wanted = cluster.engine_version is not None and cluster.engine_version != cluster.spec.version
    if not is_wanted or scene.refusal is not None or was_given_up(scene.seen, scene.journal):
        return None
    if any(is_lost_for_good(Candidate(pod, pool), scene.seen) for pod, pool in departing):
        return None
    return waiting("UpgradeFirst", f"the upgrade to {cluster.spec.version} comes first", patience=FOR_EVER)


def _parting(scene: Scene, departing: tuple[tuple[Pod, PoolView], ...]) -> Answer:
    engine = scene.seen.engine
    if isinstance(engine, Unreachable):
        return waiting("EngineReachable", engine.cause, patience=scene.spec.upgrade.health_deadline)
    this = _Leave(scene, engine, departing)
    pod, pool = departing[0]
    vote = _vote_given(this, pod) if pool.spec.votes or pod.name in engine.voters else None
    return _objection(this) or _drained(this) or vote or _let_go(this, pod, pool)


def _objection(this: _Leave) -> Answer | None:
    """Nothing moves while a person says so, nor while something is lost: it may be on one who goes."""
    if this.scene.spec.upgrade.paused:
        return waiting("NotPaused", "spec.upgrade.paused is set", patience=FOR_EVER)
    if this.engine.color is Color.RED:
        return waiting("Healthy", "the cluster is red: a primary is missing", patience=this.patience)
    return None


def _drained(this: _Leave) -> Answer | None:
    """All of them together, so that no shard moves to one that goes next. Users may exclude others, or these.

    Only what we have excluded ourselves is in the journal, and undone.
    """
    holders = {pod.name for pod, pool in this.departing if _holds_data(this.engine, pod, pool)}
    if holders and not heirs("data", this.scene.seen, this.engine):
        message = (
            f"{', '.join(sorted(holders))} would leave no data node: put one back, or add a pool of them"
        )
        return waiting("LastDataNode", message, patience=this.patience)
    excluded, ours = this.engine.excluded, this.scene.journal.leaving
    unlisted = {name for name in holders if not this.engine.excludes(name)}
    if unlisted:
        staying = heirs("data", this.scene.seen, this.engine)
        if all(map(this.engine.excludes, staying)):
            message = f"nobody is left for shards: {', '.join(sorted(staying))} excluded by somebody else"
            return waiting("LastDataNode", message, patience=this.patience)
        ours |= unlisted
        message = f"shards leave {', '.join(sorted(holders))}"
        notes = to_be_undone(LEAVING, tuple(sorted(ours)))
        return working("Draining", message, Tell(Exclude(excluded | ours)), notes=notes)
    for name in sorted(holders):
        cause = why_nobody_takes(this.engine, this.engine.copies_on(name), this.names)
        if cause is not None:
            return waiting("NobodyTakesShards", cause, patience=this.patience)
    left = sum(len(this.engine.copies_on(name)) for name in holders)
    if not left:
        return None
    return waiting("Drains", f"{left} shards are still on nodes that leave", patience=this.patience)


def _holds_data(engine: EngineView, pod: Pod, pool: PoolView) -> bool:
    return pool.spec.holds_data or is_going_to_lose("data", engine, pod.name, pool)


def _vote_given(this: _Leave, pod: Pod) -> Answer | None:
    """One at a time: a manager that goes has no vote any more, and another one has it instead."""
    nodes = this.engine.nodes
    heirs = [n.name for n in nodes if "cluster_manager" in n.roles and n.name not in this.names]
    if not heirs:
        return waiting("LastManager", f"{pod.name} has no manager to leave the cluster to", patience=FOR_EVER)
    if this.engine.node(pod.name) is not None:
        return _taken(this, pod, pod.name)
    away = _managers_away(this)
    if away and this.engine.absent_voters:
        message = f"whose vote is that of {pod.name} is known when {', '.join(away)} is back"
        return waiting("VoteMoves", message, patience=this.patience)
    votes = (_taken(this, pod, vote) for vote in sorted(this.engine.absent_voters))
    return next(filter(None, votes), None)


def _taken(this: _Leave, pod: Pod, vote: str) -> Answer | None:
    """The next step towards a cluster that does not count on this vote; None when there is none any more."""
    if vote not in this.engine.voting_exclusions:
        notes = to_be_undone(LEAVING_VOTES, tuple(sorted(this.scene.journal.leaving_votes | {vote})))
        call = Tell(ExcludeFromVoting(vote))
        return working("MovingVote", f"{pod.name} gives its vote away", call, notes=notes)
    if vote in this.engine.voters:
        return waiting("VoteMoves", f"{pod.name} still has a vote", patience=this.patience)
    return None


def _managers_away(this: _Leave) -> list[str]:
    """Managers that stay, and are not there: a vote of somebody absent may be one of theirs."""
    cluster, found = this.scene.deployed.name, []
    for pool in this.scene.pools:
        numbers = range(pool.replicas) if pool.spec.votes else ()
        wanted = (f"{names.pool_name(cluster, pool.spec.name)}-{number}" for number in numbers)
        found += [name for name in wanted if this.engine.node(name) is None]
    return found


def _let_go(this: _Leave, pod: Pod, pool: PoolView) -> Answer:
    """The gates of a roll decide: a node that is gone for good is away like any other."""
    if pod.is_terminating or (pool.allotted or 0) <= pod.ordinal:
        return waiting("Leaves", f"{pod.name} is on its way out", patience=this.patience)
    closed = first_closed(Candidate(pod, pool), this.scene.seen)
    if closed is not None:
        return waiting(closed.gate, closed.sentence, patience=closed.patience)
    return _allotted(this.scene, pool, pod.ordinal)


def _allotted(scene: Scene, pool: PoolView, replicas: int) -> Answer:
    """The SearchPool is allotted fewer nodes; its StatefulSet follows."""
    spec = replace(pool.spec, replicas=replicas)
    wanted = search_pool(scene.deployed, spec, pool.permitted or scene.target)
    write = apply(wanted, scene.live(wanted))
    if not isinstance(write, Patch):
        return waiting("Leaves", f"pool {pool.spec.name} shrinks", patience=300)
    message = f"pool {pool.spec.name} is left with {replicas} nodes"
    return working("LettingGo", message, replace(write, is_destructive=True))


def _removed(scene: Scene) -> Answer:
    """Of a pool that is not wanted any more nothing stays but its volumes; its SearchPool goes last."""
    for pool in scene.pools:
        found = pool.stateful_set
        if pool.is_wanted:
            continue
        if found is not None and found.replicas:
            return waiting("Leaves", f"pool {pool.spec.name} shrinks", patience=300)
        name = names.pool_name(scene.deployed.name, pool.spec.name)
        kinds = (("apps/v1", "StatefulSet"), (f"{names.GROUP}/v1alpha1", "SearchPool"))
        removing = gone(scene, [scene.key(api, kind, name) for api, kind in kinds])
        if not removing.is_true:
            return removing
    return done()
