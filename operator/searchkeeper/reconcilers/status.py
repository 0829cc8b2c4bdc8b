"""What a status says after a cycle. Pure, and nothing in it moves while nothing happens: no heartbeat."""

from __future__ import annotations

__all__ = ["cluster_status", "deletion_status", "pool_status", "refusal_status"]

from collections.abc import Iterator, Mapping
from typing import Any, Final

from searchkeeper.api.codec import encode_conditions, encode_ledger, format_timestamp
from searchkeeper.opensearch.view import EngineView
from searchkeeper.planner import Plan
from searchkeeper.reconcilers.context import ReconcileContext
from searchkeeper.snapshot import ClusterSnapshot, PoolView
from searchkeeper.upgrade.ledger import UpgradeLedger
from searchkeeper.versions import parse

# Upgrades that are remembered: enough for a year of releases, small enough for a status.
_HISTORY: Final = 10


def cluster_status(ctx: ReconcileContext, made: Plan, before: Mapping[str, Any]) -> dict[str, Any]:
    """Of a SearchCluster. A version is there only when everybody has it."""
    snapshot = ctx.snapshot
    status = {
        **_told(made, snapshot.cluster.generation, before),
        "phase": _phase(ctx, made),
        "ready": _ready(snapshot),
        "upgrade": _upgrade(ctx, made, before.get("upgrade") or {}),
    }
    if _has_arrived(ctx):
        status["engineVersion"] = ctx.target
    if made.converged and all(_has_converged(pool, ctx.version) for pool in ctx.pools):
        status["currentVersion"] = ctx.version
    return status


def deletion_status(snapshot: ClusterSnapshot, made: Plan, before: Mapping[str, Any]) -> dict[str, Any]:
    return {**_told(made, snapshot.cluster.generation, before), "phase": "Deleting"}


def refusal_status(snapshot: ClusterSnapshot, made: Plan, before: Mapping[str, Any]) -> dict[str, Any]:
    return {**_told(made, snapshot.cluster.generation, before), "phase": "Refused"}


def pool_status(
    snapshot: ClusterSnapshot, pool: PoolView, made: Plan, version: int, before: Mapping[str, Any]
) -> dict[str, Any]:
    """Of a SearchPool. Its engine version is the lowest that any of its nodes runs."""
    status = {
        **_told(made, pool.generation, before),
        "replicas": len(pool.pods),
        "readyReplicas": sum(pod.is_ready for pod in pool.pods),
    }
    lowest = _lowest_version(snapshot, pool)
    if lowest is not None:
        status["engineVersion"] = lowest
    if made.converged:
        status["currentVersion"] = version
    return status


def _told(made: Plan, generation: int, before: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **before,
        "conditions": encode_conditions(made.conditions),
        "ledger": encode_ledger(made.ledger),
        "observedGeneration": generation,
    }


def _phase(ctx: ReconcileContext, made: Plan) -> str:
    ledger = UpgradeLedger.of(made.ledger)
    if made.stalls:
        return "Stalled"
    if ledger.rollback_to is not None:
        return "RollingBack"
    if ledger.upgrade is not None:
        return "Upgrading"
    if ledger.refused_generation is not None:
        return "Refused"
    return "Running" if ctx.snapshot.cluster.current_version is not None else "Pending"


def _ready(snapshot: ClusterSnapshot) -> str:
    """Of those that are to stay."""
    staying = (pod for pool in snapshot.pools for pod in pool.retained_pods)
    return f"{sum(pod.is_ready for pod in staying)}/{sum(pool.replicas for pool in snapshot.pools)}"


def _has_arrived(ctx: ReconcileContext) -> bool:
    """Every pod runs the target, and so says the engine."""
    engine = ctx.snapshot.engine
    if ctx.active_pool is not None or not isinstance(engine, EngineView):
        return False
    nodes = [engine.node(pod.name) for pod in ctx.snapshot.pods]
    return all(node is not None and node.version == ctx.target for node in nodes)


def _has_converged(pool: PoolView, version: int) -> bool:
    return pool.current_version == version and pool.observed_generation == pool.generation


def _lowest_version(snapshot: ClusterSnapshot, pool: PoolView) -> str | None:
    if not isinstance(snapshot.engine, EngineView):
        return None
    nodes = (snapshot.engine.node(pod.name) for pod in pool.pods)
    texts = {node.version for node in nodes if node is not None}
    versions = (parse(text) for text in texts)
    lowest = min((each for each in versions if each is not None), default=None)
    return None if lowest is None else str(lowest)


def _upgrade(ctx: ReconcileContext, made: Plan, before: Mapping[str, Any]) -> dict[str, Any]:
    """The upgrade under way, its steps, and those that are over."""
    now = format_timestamp(ctx.snapshot.now)
    was, under_way = ctx.ledger.upgrade, UpgradeLedger.of(made.ledger).upgrade
    history = before.get("history") or []
    if under_way is None:
        over = [*history, _past(ctx, before, now)] if was is not None else history
        return {"history": over[-_HISTORY:]} if over else {}
    told = {
        "from": under_way[0],
        "target": under_way[1],
        "startedAt": now if was is None else before.get("startedAt", now),
        "steps": list(_steps(ctx, before, now)),
        "history": history,
    }
    return told if was is None or ctx.active_pool is None else {**told, "pool": ctx.active_pool}


def _past(ctx: ReconcileContext, before: Mapping[str, Any], now: str) -> dict[str, Any]:
    result = "Finished" if ctx.ledger.rollback_to is None else "RolledBack"
    kept = {name: before[name] for name in ("from", "target", "startedAt") if name in before}
    # Not before it began, whatever has become of the clock.
    return {**kept, "finishedAt": max(now, kept.get("startedAt", now)), "result": result}


def _steps(ctx: ReconcileContext, before: Mapping[str, Any], now: str) -> Iterator[dict[str, Any]]:
    """One for each pool, in the order they go. The moment is that of the last change of its state."""
    known = {each["name"]: each for each in before.get("steps") or ()}
    state = "Done" if ctx.ledger.upgrade is not None else "Pending"
    for pool in ctx.pools:
        name = pool.spec.name
        if state == "Running":
            state = "Pending"
        if name == ctx.active_pool and ctx.ledger.upgrade is not None:
            state = "Running"
        same = name in known and known[name]["state"] == state
        yield known[name] if same else {"name": name, "state": state, "at": now}
