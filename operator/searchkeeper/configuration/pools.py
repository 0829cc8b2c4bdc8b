"""Actions about pools: the parent's, which permits and replaces, and each pool's own, which deploys."""

from __future__ import annotations

__all__ = [
    "PoolScene",
    "pods_are_current",
    "pods_are_ready",
    "pools_are_settled",
    "pools_exist",
    "stateful_set_is_applied",
]

from dataclasses import dataclass, replace

from searchkeeper.configuration.applying import apply
from searchkeeper.configuration.manifests import search_pool, stateful_set
from searchkeeper.configuration.objects import applied
from searchkeeper.configuration.scene import Scene
from searchkeeper.kernel import Answer, action, done, waiting, working
from searchkeeper.observed import PoolView
from searchkeeper.resources.specs import PoolSpec
from searchkeeper.upgrade.copies import is_empty
from searchkeeper.upgrade.failing import course
from searchkeeper.upgrade.gates import FOR_EVER
from searchkeeper.upgrade.handing import partition
from searchkeeper.upgrade.rolling import Roll, roll
from searchkeeper.writes import Key, Patch


@dataclass(frozen=True)
class PoolScene:
    """A scene with one pool in the middle."""

    scene: Scene
    pool: PoolView


@action()
def pools_exist(scene: Scene) -> Answer:
    """Every pool has a SearchPool, which permits the old version until its turn has come.

    More nodes are allotted at once; fewer only by whoever has seen them off.
    """
    if scene.refusal is not None and scene.seen.cluster.engine_version is None:
        return waiting("VersionRefused", scene.refusal.sentence, patience=FOR_EVER)
    wanted = [search_pool(scene.deployed, _allotted(pool), _permitted(scene, pool)) for pool in scene.pools]
    return applied(scene, wanted, "PermittingPool")


def _allotted(pool: PoolView) -> PoolSpec:
    return replace(pool.spec, replicas=max(pool.replicas, pool.allotted or 0))


def _permitted(scene: Scene, pool: PoolView) -> str:
    if pool.permitted is None or scene.turn == pool.spec.name:
        return scene.target
    return pool.permitted


@action()
def pods_are_current(scene: Scene) -> Answer:
    """True when no pod is of an older template, and nothing that was set for its sake is left."""
    if scene.journal.under_way is not None and course(scene.seen, scene.journal).notes:
        patience = scene.spec.upgrade.health_deadline
        return waiting("CourseChanges", "no step before it is known where to", patience=patience)
    return roll(Roll(scene.seen, scene.journal, tuple(p for p in scene.pools if _deploys_target(scene, p))))


def _deploys_target(scene: Scene, pool: PoolView) -> bool:
    """No pod is replaced by one of a version that is not, or no longer, where this cluster goes."""
    return pool.stateful_set is None or pool.stateful_set.engine_version == scene.target


@action(requires=[pools_exist, pods_are_current])
def pools_are_settled(scene: Scene) -> Answer:
    """Every pool has what its version and its engine version want, and all its pods are made from that."""
    if scene.turn is None:
        return done()
    return waiting("InTurn", f"{scene.turn} is not there yet", patience=scene.spec.upgrade.health_deadline)


@action()
def stateful_set_is_applied(this: PoolScene) -> Answer:
    """The pool's StatefulSet is what its version wants. Its template waits for the pool's turn.

    How many nodes it has does not: new ones are made from the template that it has.
    """
    scene, pool = this.scene, this.pool
    if pool.permitted is None or pool.allotted is None:
        return waiting("NotPermitted", "its SearchPool does not exist yet", patience=300)
    found = pool.stateful_set
    if found is None and not pool.is_wanted:
        return done()
    replicas = pool.allotted if found is None or _may_shrink(this) else max(pool.allotted, found.replicas)
    lowest = partition(pool, scene.template(pool), scene.journal)
    wanted = stateful_set(scene.deployed, replace(pool.spec, replicas=replicas), pool.permitted, lowest)
    if found is not None and scene.turn != pool.spec.name:
        return _scaled(this, Key.of(wanted), replicas)
    write = apply(wanted, scene.live(wanted))
    return done() if write is None else working("ApplyingStatefulSet", f"{Key.of(wanted)} changes", write)


def _may_shrink(this: PoolScene) -> bool:
    """Whoever would go has neither shards nor a vote: seen now, whatever anybody has written."""
    left = this.pool.allotted or 0
    return is_empty(this.scene.seen.engine, [pod.name for pod in this.pool.pods if pod.ordinal >= left])


def _scaled(this: PoolScene, key: Key, replicas: int) -> Answer:
    found = this.pool.stateful_set
    if found is None or found.replicas == replicas:
        return done()
    patch = Patch(key, {"spec": {"replicas": replicas}}, found.resource_version, replicas < found.replicas)
    return working("Scaling", f"{key} gets {replicas} nodes", patch)


@action(requires=[stateful_set_is_applied])
def pods_are_ready(this: PoolScene) -> Answer:
    unready = [pod.name for pod in this.pool.pods if not pod.is_ready or pod.is_terminating]
    missing = this.pool.replicas - len(this.pool.pods)
    if not unready and missing <= 0:
        return done()
    patience = this.scene.spec.upgrade.health_deadline
    return waiting("PodsNotReady", f"{len(unready)} not ready, {max(0, missing)} missing", patience=patience)
