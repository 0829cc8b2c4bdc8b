"""What a status says after a cycle. Pure, and nothing in it moves while nothing happens: no heartbeat."""

from __future__ import annotations

__all__ = ["cluster_status", "deletion_status", "pool_status", "refusal_status"]

from collections.abc import Iterator, Mapping
from typing import Any, Final

from searchkeeper.configuration.scene import Scene
from searchkeeper.engine.view import EngineView
from searchkeeper.kernel import Plan
from searchkeeper.observed import Observed, PoolView
from searchkeeper.resources.codec import conditions_json, ledger_json, moment
from searchkeeper.upgrade.journal import Journal
from searchkeeper.versions import parse

# Upgrades that are remembered: enough for a year of releases, small enough for a status.
_HISTORY: Final = 10


def cluster_status(scene: Scene, made: Plan, before: Mapping[str, Any]) -> dict[str, Any]:
    """Of a SearchCluster. A version is there only when everybody has it."""
    seen = scene.seen
    status = {
        **_told(made, seen.cluster.generation, before),
        "phase": _phase(scene, made),
        "ready": _ready(seen),
        "upgrade": _upgrade(scene, made, before.get("upgrade") or {}),
    }
    if _has_arrived(scene):
        status["engineVersion"] = scene.target
    if made.converged and all(_has_converged(pool, scene.version) for pool in scene.pools):
        status["currentVersion"] = scene.version
    return status


def deletion_status(seen: Observed, made: Plan, before: Mapping[str, Any]) -> dict[str, Any]:
    return {**_told(made, seen.cluster.generation, before), "phase": "Deleting"}


def refusal_status(seen: Observed, made: Plan, before: Mapping[str, Any]) -> dict[str, Any]:
    return {**_told(made, seen.cluster.generation, before), "phase": "Refused"}


def pool_status(
    seen: Observed, pool: PoolView, made: Plan, version: int, before: Mapping[str, Any]
) -> dict[str, Any]:
    """Of a SearchPool. Its engine version is the lowest that any of its nodes runs."""
    status = {
        **_told(made, pool.generation, before),
        "replicas": len(pool.pods),
        "readyReplicas": sum(pod.is_ready for pod in pool.pods),
    }
    lowest = _lowest_version(seen, pool)
    if lowest is not None:
        status["engineVersion"] = lowest
    if made.converged:
        status["currentVersion"] = version
    return status


def _told(made: Plan, generation: int, before: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **before,
        "conditions": conditions_json(made.conditions),
        "ledger": ledger_json(made.ledger),
        "observedGeneration": generation,
    }


def _phase(scene: Scene, made: Plan) -> str:
    journal = Journal(made.ledger)
    if made.stalls:
        return "Stalled"
    if journal.returns_to is not None:
        return "RollingBack"
    if journal.under_way is not None:
        return "Upgrading"
    if journal.refused_generation is not None:
        return "Refused"
    return "Running" if scene.seen.cluster.current_version is not None else "Pending"


def _ready(seen: Observed) -> str:
    """Of those that are to stay."""
    staying = (pod for pool in seen.pools for pod in pool.staying)
    return f"{sum(pod.is_ready for pod in staying)}/{sum(pool.replicas for pool in seen.pools)}"


def _has_arrived(scene: Scene) -> bool:
    """Every pod runs the target, and so says the engine."""
    engine = scene.seen.engine
    if scene.turn is not None or not isinstance(engine, EngineView):
        return False
    nodes = [engine.node(pod.name) for pod in scene.seen.pods]
    return all(node is not None and node.version == scene.target for node in nodes)


def _has_converged(pool: PoolView, version: int) -> bool:
    return pool.current_version == version and pool.observed_generation == pool.generation


def _lowest_version(seen: Observed, pool: PoolView) -> str | None:
    if not isinstance(seen.engine, EngineView):
        return None
    nodes = (seen.engine.node(pod.name) for pod in pool.pods)
    texts = {node.version for node in nodes if node is not None}
    versions = (parse(text) for text in texts)
    lowest = min((each for each in versions if each is not None), default=None)
    return None if lowest is None else str(lowest)


def _upgrade(scene: Scene, made: Plan, before: Mapping[str, Any]) -> dict[str, Any]:
    """The upgrade under way, its steps, and those that are over."""
    now = moment(scene.seen.now)
    was, under_way = scene.journal.under_way, Journal(made.ledger).under_way
    history = before.get("history") or []
    if under_way is None:
        over = [*history, _past(scene, before, now)] if was is not None else history
        return {"history": over[-_HISTORY:]} if over else {}
    told = {
        "from": under_way[0],
        "target": under_way[1],
        "startedAt": now if was is None else before.get("startedAt", now),
        "steps": list(_steps(scene, before, now)),
        "history": history,
    }
    return told if was is None or scene.turn is None else {**told, "pool": scene.turn}


def _past(scene: Scene, before: Mapping[str, Any], now: str) -> dict[str, Any]:
    result = "Finished" if scene.journal.returns_to is None else "RolledBack"
    kept = {name: before[name] for name in ("from", "target", "startedAt") if name in before}
    # Not before it began, whatever has become of the clock.
    return {**kept, "finishedAt": max(now, kept.get("startedAt", now)), "result": result}


def _steps(scene: Scene, before: Mapping[str, Any], now: str) -> Iterator[dict[str, Any]]:
    """One for each pool, in the order they go. The moment is that of the last change of its state."""
    known = {each["name"]: each for each in before.get("steps") or ()}
    state = "Done" if scene.journal.under_way is not None else "Pending"
    for pool in scene.pools:
        name = pool.spec.name
        if state == "Running":
            state = "Pending"
        if name == scene.turn and scene.journal.under_way is not None:
            state = "Running"
        same = name in known and known[name]["state"] == state
        yield known[name] if same else {"name": name, "state": state, "at": now}
