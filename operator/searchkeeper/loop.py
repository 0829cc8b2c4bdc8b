"""One cycle over the two ports: observe, plan, write down, carry out. Nothing here waits."""

from __future__ import annotations

__all__ = ["Cycle", "cycle"]

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from searchkeeper.configuration import names
from searchkeeper.configuration.pools import PoolScene
from searchkeeper.configuration.procedures import CLUSTER, POOL, deployed_version, shipped
from searchkeeper.configuration.scene import Scene
from searchkeeper.engine.driver import Driver
from searchkeeper.engine.view import EngineView
from searchkeeper.kernel import Plan, Procedure, Unfit, Write, choose, plan
from searchkeeper.kube import Kube
from searchkeeper.observed import Observed, PoolView
from searchkeeper.observing import observe
from searchkeeper.resources.codec import conditions_json, ledger_json
from searchkeeper.versions import Release
from searchkeeper.writes import Create, Delete, Event, Key, Patch, Tell


@dataclass(frozen=True, slots=True)
class Cycle:
    """What a cycle came to: whether anything was written, whether all is done, and when to look again."""

    wrote: bool
    converged: bool
    wake_at: int | None = None


@dataclass(frozen=True, slots=True)
class _Step:
    """One resource's plan, and the status that follows from it."""

    key: Key
    resource_version: str
    before: Mapping[str, Any]
    status: Mapping[str, Any]
    plan: Plan


def cycle(kube: Kube, driver: Driver, key: Key, release: Release, now: int) -> Cycle:
    """At most one destructive write. Raises KubeError, CallFailed: look again, nothing is lost.

    The status is stored before any write of the same plan: what is about to be done is known to whoever
    comes after a crash.
    """
    seen = observe(kube, driver, key, release, now)
    if seen is None:
        return Cycle(wrote=False, converged=True)
    wake_at: list[int] = []
    converged = True
    for step in _steps(kube, seen):
        if _carried_out(kube, driver, step):
            return Cycle(wrote=True, converged=False)
        converged &= step.plan.converged
        wake_at += [step.plan.wake_at] if step.plan.wake_at is not None else []
    return Cycle(False, converged, min(wake_at, default=None))


def _steps(kube: Kube, seen: Observed) -> Iterator[_Step]:
    """The parent first, then each pool by the parent's version."""
    chosen = choose(shipped(CLUSTER, seen.release), deployed_version(seen))
    if isinstance(chosen, Unfit):
        return
    scene = Scene(seen, chosen.version)
    cluster = seen.cluster
    made = plan(chosen, scene, cluster.records, now=seen.now, generation=cluster.generation)
    before = (kube.get(cluster.key) or {}).get("status") or {}
    yield _Step(cluster.key, cluster.resource_version, before, _cluster_status(scene, made, before), made)
    children = choose(shipped(POOL, seen.release), deployed_version(seen))
    if isinstance(children, Unfit):
        return
    for pool in sorted(scene.pools, key=lambda pool: pool.spec.name):
        if pool.uid is not None:
            yield _pool_step(scene, pool, children)


def _pool_step(scene: Scene, pool: PoolView, procedure: Procedure[PoolScene]) -> _Step:
    key = scene.key(
        f"{names.GROUP}/v1alpha1", "SearchPool", names.pool_name(scene.deployed.name, pool.spec.name)
    )
    made = plan(
        procedure, PoolScene(scene, pool), pool.records, now=scene.seen.now, generation=pool.generation
    )
    before = scene.seen.objects[key].get("status") or {}
    status = {
        **before,
        "conditions": conditions_json(made.conditions),
        "ledger": ledger_json(made.ledger),
        "observedGeneration": pool.generation,
        "replicas": len(pool.pods),
        "readyReplicas": sum(pod.is_ready for pod in pool.pods),
    }
    if made.converged:
        status["currentVersion"] = procedure.version
    return _Step(key, pool.resource_version, before, status, made)


def _cluster_status(scene: Scene, made: Plan, before: Mapping[str, Any]) -> dict[str, Any]:
    seen = scene.seen
    pods = seen.pods
    status = {
        **before,
        "conditions": conditions_json(made.conditions),
        "ledger": ledger_json(made.ledger),
        "observedGeneration": seen.cluster.generation,
        "ready": f"{sum(pod.is_ready for pod in pods)}/{sum(pool.spec.replicas for pool in scene.pools)}",
        "phase": _phase(scene, made),
    }
    if _has_arrived(scene):
        status["engineVersion"] = scene.target
    if made.converged and all(_has_converged(pool, scene.version) for pool in scene.pools):
        status["currentVersion"] = scene.version
    return status


def _phase(scene: Scene, made: Plan) -> str:
    if made.stalls:
        return "Stalled"
    if scene.journal.returns_to is not None:
        return "RollingBack"
    if scene.journal.under_way is not None:
        return "Upgrading"
    return "Running" if scene.seen.cluster.current_version is not None else "Pending"


def _has_arrived(scene: Scene) -> bool:
    """Every pod runs the target, and so says the engine."""
    engine = scene.seen.engine
    if scene.turn is not None or not isinstance(engine, EngineView):
        return False
    nodes = [engine.node(pod.name) for pod in scene.seen.pods]
    return all(node is not None and node.version == scene.target for node in nodes)


def _has_converged(pool: PoolView, version: int) -> bool:
    return pool.current_version == version and pool.observed_generation == pool.generation


def _carried_out(kube: Kube, driver: Driver, step: _Step) -> bool:
    """Stores the status if it changed, then carries out the writes. Whether there was anything to do."""
    changed = step.status != step.before
    resource_version = step.resource_version
    if changed:
        patch = Patch(step.key, {"status": _replacing(step.before, step.status)}, resource_version)
        stored = kube.patch_status(patch)
        resource_version = stored["metadata"]["resourceVersion"]
    for write in step.plan.writes:
        _execute(kube, driver, _on(write, step.key, step.resource_version, resource_version))
    return changed or bool(step.plan.writes)


def _replacing(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """A merge patch that leaves nothing of the old ledger behind."""
    ledger = {**dict.fromkeys(before.get("ledger") or ()), **after["ledger"]}
    return {**after, "ledger": ledger}


def _on(write: Write, key: Key, seen: str, stored: str) -> Write:
    """The resource's own version moved when its status was stored."""
    if isinstance(write, Patch) and write.key == key and write.resource_version == seen:
        return Patch(write.key, write.changes, stored)
    return write


def _execute(kube: Kube, driver: Driver, write: Write) -> None:
    match write:
        case Create(manifest):
            kube.create(manifest)
        case Patch():
            kube.patch(write)
        case Delete():
            kube.delete(write)
        case Tell(call):
            driver.tell(call)
        case Event():
            kube.record(write)
        case _:
            raise TypeError(f"nobody carries out {write!r}")
