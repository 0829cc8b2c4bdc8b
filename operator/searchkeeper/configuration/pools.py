"""Actions about pools: the parent's, which permits and replaces, and each pool's own, which deploys."""

from __future__ import annotations

__all__ = [
    "PoolScene",
    "pods_are_current",
    "pods_are_ready",
    "pools_are_settled",
    "pools_exist",
    "standing",
    "stateful_set_is_applied",
    "storage_is_unchanged",
]

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from searchkeeper.configuration import names
from searchkeeper.configuration.applying import apply, wanted_in
from searchkeeper.configuration.manifests import search_pool, stateful_set
from searchkeeper.configuration.objects import applied, name_taken
from searchkeeper.configuration.scene import Scene
from searchkeeper.engine.view import Color, EngineView
from searchkeeper.kernel import FAULT_PATIENCE, NOBODYS, STALLED, Answer, action, done, waiting, working
from searchkeeper.observed import PoolView
from searchkeeper.remembering import of_the_same
from searchkeeper.resources.specs import PoolSpec
from searchkeeper.upgrade.copies import is_empty
from searchkeeper.upgrade.failing import course
from searchkeeper.upgrade.gates import FOR_EVER
from searchkeeper.upgrade.handing import partition
from searchkeeper.upgrade.mending import survivors
from searchkeeper.upgrade.rolling import Roll, roll
from searchkeeper.writes import Key, Manifest, Patch

# Waiting changes nothing: a person has to.
_STORAGE_PATIENCE: Final = 60


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
    if scene.missing_secret is not None and not scene.has_credentials:
        return waiting("CredentialsMissing", f"{scene.missing_secret} comes first", patience=FOR_EVER)
    pools = [(_allotted(scene, pool), _permitted(scene, pool)) for pool in scene.pools]
    wanted = [search_pool(scene.deployed, spec, permitted) for spec, permitted in pools]
    return applied(scene, wanted, "PermittingPool")


def _allotted(scene: Scene, pool: PoolView) -> PoolSpec:
    """Nobody sees those off who are down for good, once nobody expects them back.

    Where somebody has deleted the SearchPool, its nodes have what they had: they leave as any others do.
    """
    had = _standing(pool) if pool.allotted is None else pool.allotted
    left = survivors(scene.seen, pool, had, pool.replicas)
    expected = {pod.name for pod in pool.departing if pod.ordinal >= left} & scene.journal.away.keys()
    count = had if expected else left
    return replace(pool.spec, replicas=max(pool.replicas, count))


def _standing(pool: PoolView) -> int:
    """How many nodes there are, or are about to be, whatever a SearchPool allots."""
    asked = 0 if pool.stateful_set is None else pool.stateful_set.replicas
    return max([asked, *(pod.ordinal + 1 for pod in pool.pods)])


def _permitted(scene: Scene, pool: PoolView) -> str:
    if pool.permitted is None or scene.is_due(pool):
        return scene.target
    return pool.permitted


@action()
def pods_are_current(scene: Scene) -> Answer:
    """True when no pod is of an older template, and nothing that was set for its sake is left."""
    if scene.journal.under_way is not None and course(scene.seen, scene.journal).notes:
        # Another course is another wait: nobody is late for the one that was left.
        return waiting("CourseChanges", "no step before it is known where to", patience=FOR_EVER)
    deploying = tuple(pool for pool in scene.pools if _deploys_target(scene, pool))
    return roll(Roll(scene.seen, scene.journal, deploying, scene.ahead))


def _deploys_target(scene: Scene, pool: PoolView) -> bool:
    """No pod is replaced by one of a version, or of roles, that are not, or no longer, what is wanted."""
    found = pool.stateful_set
    if found is None:
        return True
    return found.engine_version == scene.target and found.template == scene.template(pool)


@action(requires=[pools_exist, pods_are_current])
def pools_are_settled(scene: Scene) -> Answer:
    """Every pool has what its version and its engine version want, and all its pods are made from that."""
    fault = next(_faults(scene), None)
    if fault is not None:
        return fault
    if scene.turn is None:
        return done()
    if any(pool.spec.name == scene.turn and scene.is_held_back(pool) for pool in scene.pools):
        return waiting("NotPaused", "spec.upgrade.paused is set", patience=FOR_EVER)
    waits = waiting("InTurn", f"{scene.turn} is not there yet", patience=scene.spec.upgrade.health_deadline)
    name = names.pool_name(scene.deployed.name, scene.turn)
    return name_taken(scene, scene.key("apps/v1", "StatefulSet", name)) or waits


def _faults(scene: Scene) -> Iterator[Answer]:
    """What could not be done for a pool in the last cycle: people look at the cluster first."""
    for pool in scene.pools:
        for each in pool.records.conditions:
            if each.reason in NOBODYS:
                message = f"{each.type} of {pool.spec.name}: {each.message.removeprefix(STALLED)}"
                yield waiting(each.reason, message, patience=FAULT_PATIENCE)


@action()
def storage_is_unchanged(scene: Scene) -> Answer:
    """Whoever takes a pool away and puts it back before its nodes have left gets the same nodes again.

    The claims of a StatefulSet cannot be changed, and what nodes keep on ephemeral storage would be lost.
    """
    asked = {pool.name: pool.storage for pool in scene.spec.pools}
    for pool in scene.pools:
        name, storage = pool.spec.name, pool.spec.storage
        if pool.is_wanted and asked[name] != storage:
            kind = f" of class {storage.storage_class}" if storage.storage_class else ""
            made = "ephemeral storage" if storage.ephemeral else f"volumes of {storage.size}{kind}"
            message = (
                f"the nodes of {name} have {made}, which cannot be changed:"
                " ask for that again, or add another pool and take this one away"
            )
            return waiting("StorageIsSettled", message, patience=_STORAGE_PATIENCE)
    return done()


@action()
def stateful_set_is_applied(this: PoolScene) -> Answer:
    """The pool's StatefulSet is what its version wants. Its template waits for the pool's turn.

    How many nodes it has does not: new ones are made from the template that it has. Until then it is kept as
    it was last asked for, whoever edits it.
    """
    scene, pool = this.scene, this.pool
    if pool.permitted is None or pool.allotted is None:
        return waiting("NotPermitted", "its SearchPool does not exist yet", patience=300)
    if pool.stateful_set is None and pool.is_over:
        return done()
    lowest = partition(pool, scene.template(pool), scene.journal)
    spec = replace(pool.spec, replicas=_replicas(this))
    wanted = stateful_set(scene.deployed, spec, pool.permitted, lowest)
    live = scene.live(wanted)
    if live is not None and not scene.is_due(pool):
        wanted = _as_it_stands(live, spec.replicas) or wanted
    return name_taken(scene, Key.of(wanted)) or _changed(this, wanted, live)


def standing(this: PoolScene, live: Manifest) -> Answer:
    """The StatefulSet that is there is as it was last asked for, and has as many nodes as it may."""
    wanted = None if this.pool.allotted is None else _as_it_stands(live, _replicas(this))
    return done() if wanted is None else _changed(this, wanted, live)


def _changed(this: PoolScene, wanted: Manifest, live: Manifest | None) -> Answer:
    found, write = this.pool.stateful_set, apply(wanted, live)
    if isinstance(write, Patch) and found is not None and wanted["spec"]["replicas"] < found.replicas:
        write = replace(write, is_destructive=True)
    return done() if write is None else working("ApplyingStatefulSet", f"{Key.of(wanted)} changes", write)


def _replicas(this: PoolScene) -> int:
    found, allotted = this.pool.stateful_set, this.pool.allotted or 0
    return allotted if found is None or _may_shrink(this) else max(allotted, found.replicas)


@of_the_same(4096)
def _as_it_stands(live: Manifest, replicas: int) -> Manifest | None:
    """What was last asked for, but for how many nodes; None where nobody knows any more."""
    last = wanted_in(live)
    return {**last, "spec": {**last["spec"], "replicas": replicas}} if "spec" in last else None


def _may_shrink(this: PoolScene) -> bool:
    """Whoever would go has neither shards nor a vote: seen now, whatever anybody has written.

    Of one that is away nobody sees what it has: what is missing may be on its volume.
    """
    engine, found, left = this.scene.seen.engine, this.pool.stateful_set, this.pool.allotted or 0
    here = {pod.name for pod in this.pool.pods if pod.ordinal >= left}
    name = names.pool_name(this.scene.deployed.name, this.pool.spec.name)
    asked = {f"{name}-{each}" for each in range(left, 0 if found is None else found.replicas)}
    is_missed = not asked <= here and isinstance(engine, EngineView) and engine.color is Color.RED
    return is_empty(engine, asked | here) and not is_missed


@action(requires=[stateful_set_is_applied])
def pods_are_ready(this: PoolScene) -> Answer:
    unready = [pod.name for pod in this.pool.pods if not pod.is_ready or pod.is_terminating]
    missing = this.pool.replicas - len(this.pool.pods)
    if not unready and missing <= 0:
        return done()
    patience = this.scene.spec.upgrade.health_deadline
    return waiting("PodsNotReady", f"{len(unready)} not ready, {max(0, missing)} missing", patience=patience)
