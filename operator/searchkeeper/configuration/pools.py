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

from dataclasses import dataclass

from searchkeeper.configuration.applying import apply
from searchkeeper.configuration.manifests import search_pool, stateful_set
from searchkeeper.configuration.objects import applied
from searchkeeper.configuration.scene import Scene
from searchkeeper.kernel import Answer, action, done, waiting, working
from searchkeeper.observed import PoolView
from searchkeeper.upgrade.rolling import Roll, roll
from searchkeeper.writes import Key


@dataclass(frozen=True)
class PoolScene:
    """A scene with one pool in the middle."""

    scene: Scene
    pool: PoolView


@action()
def pools_exist(scene: Scene) -> Answer:
    """Every pool has a SearchPool, which permits the old version until its turn has come."""
    wanted = [search_pool(scene.deployed, pool.spec, _permitted(scene, pool)) for pool in scene.pools]
    return applied(scene, wanted, "PermittingPool")


def _permitted(scene: Scene, pool: PoolView) -> str:
    if pool.permitted is None or scene.turn == pool.spec.name:
        return scene.target
    return pool.permitted


@action()
def pods_are_current(scene: Scene) -> Answer:
    """True when no pod is of an older template, and nothing that was set for its sake is left."""
    return roll(Roll(scene.seen, scene.journal, scene.pools))


@action(requires=[pools_exist, pods_are_current])
def pools_are_settled(scene: Scene) -> Answer:
    """Every pool has what its version and its engine version want, and all its pods are made from that."""
    if scene.turn is None:
        return done()
    return waiting("InTurn", f"{scene.turn} is not there yet", patience=scene.spec.upgrade.health_deadline)


@action()
def stateful_set_is_applied(this: PoolScene) -> Answer:
    """The pool's StatefulSet is what its version wants. Its template waits for the pool's turn."""
    scene, pool = this.scene, this.pool
    if pool.permitted is None:
        return waiting("NotPermitted", "its SearchPool does not exist yet", patience=300)
    wanted = stateful_set(scene.deployed, pool.spec, pool.permitted, None)
    if pool.stateful_set is not None and scene.turn != pool.spec.name:
        wanted = {**wanted, "spec": {"replicas": pool.spec.replicas}}
        return done() if pool.stateful_set.replicas == pool.spec.replicas else _scaled(this)
    write = apply(wanted, scene.live(wanted))
    return done() if write is None else working("ApplyingStatefulSet", f"{Key.of(wanted)} changes", write)


def _scaled(this: PoolScene) -> Answer:
    return waiting("NotItsTurn", f"{this.scene.turn} is at it", patience=24 * 3600)


@action(requires=[stateful_set_is_applied])
def pods_are_ready(this: PoolScene) -> Answer:
    unready = [pod.name for pod in this.pool.pods if not pod.is_ready or pod.is_terminating]
    missing = this.pool.spec.replicas - len(this.pool.pods)
    if not unready and missing <= 0:
        return done()
    patience = this.scene.spec.upgrade.health_deadline
    return waiting("PodsNotReady", f"{len(unready)} not ready, {max(0, missing)} missing", patience=patience)
