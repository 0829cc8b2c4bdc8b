"""The status after a reconcile. Pure. Nothing in it changes while nothing happens: there is no heartbeat."""

from __future__ import annotations

__all__ = ["cluster_status", "deletion_status", "pool_status", "refusal_status"]

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from searchkeeper.api.codec import (
    decode_summary,
    encode_conditions,
    encode_ledger,
    format_timestamp,
)
from searchkeeper.api.reasons import Reason
from searchkeeper.api.status import SummaryType
from searchkeeper.opensearch.view import EngineView
from searchkeeper.planner import Plan, Status
from searchkeeper.reconcilers.context import ReconcileContext
from searchkeeper.reconcilers.pools import PoolContext
from searchkeeper.reconcilers.summary import (
    Summary,
    cluster_phase,
    deletion_summary,
    ordinary_summary,
    pool_summary,
    refusal_summary,
)
from searchkeeper.snapshot import ClusterSnapshot, PoolView
from searchkeeper.upgrade.ledger import UpgradeLedger
from searchkeeper.versions import parse

# Enough upgrades for a year of releases, and few enough for a status.
_MAX_HISTORY: Final = 10


def cluster_status(ctx: ReconcileContext, plan: Plan, before: Mapping[str, Any]) -> dict[str, Any]:
    """The status of a SearchCluster. A version is in it when every node, or every pool, has it."""
    snapshot = ctx.snapshot
    retained = [pod for pool in snapshot.pools for pod in pool.retained_pods]
    changes: dict[str, Any] = {
        "ready": f"{sum(pod.is_ready for pod in retained)}/{sum(pool.replicas for pool in snapshot.pools)}",
        "upgrade": _upgrade(ctx, plan, before.get("upgrade") or {}),
    }
    if _runs_target(ctx):
        changes["engineVersion"] = ctx.target
    current_version = snapshot.cluster.current_version
    if plan.converged and all(_has_converged(pool, ctx.version) for pool in ctx.pools):
        changes["currentVersion"] = current_version = ctx.version
    summaries = ordinary_summary(
        ctx, plan, current_version=current_version, was_progressing=_was_progressing(before)
    )
    changes["phase"] = str(cluster_phase(summaries, plan))
    return _status(plan, summaries, changes, before, snapshot.cluster.generation, snapshot.now)


def deletion_status(snapshot: ClusterSnapshot, plan: Plan, before: Mapping[str, Any]) -> dict[str, Any]:
    summaries = deletion_summary(plan)
    changes = {"phase": str(cluster_phase(summaries, plan))}
    return _status(plan, summaries, changes, before, snapshot.cluster.generation, snapshot.now)


def refusal_status(snapshot: ClusterSnapshot, plan: Plan, before: Mapping[str, Any]) -> dict[str, Any]:
    """The status of a cluster with an invalid spec or an unsupported configuration."""
    is_invalid = snapshot.cluster.has_no_usable_spec
    reason = Reason.INVALID_SPEC if is_invalid else Reason.UNSUPPORTED_CONFIGURATION
    summaries = refusal_summary(snapshot, plan, reason)
    changes = {"phase": str(cluster_phase(summaries, plan))}
    return _status(plan, summaries, changes, before, snapshot.cluster.generation, snapshot.now)


def pool_status(ctx: PoolContext, plan: Plan, before: Mapping[str, Any]) -> dict[str, Any]:
    """The status of a SearchPool. Its engine version is the lowest of its nodes."""
    snapshot, pool, version = ctx.cluster.snapshot, ctx.pool, ctx.cluster.version
    changes: dict[str, Any] = {
        "replicas": len(pool.pods),
        "readyReplicas": sum(pod.is_ready for pod in pool.pods),
    }
    if isinstance(snapshot.engine, EngineView):
        nodes = (snapshot.engine.node(pod.name) for pod in pool.pods)
        versions = (parse(node.version) for node in nodes if node is not None)
        lowest = min((version for version in versions if version is not None), default=None)
        if lowest is not None:
            changes["engineVersion"] = str(lowest)
    current_version = pool.current_version
    if plan.converged:
        changes["currentVersion"] = current_version = version
    summaries = pool_summary(
        ctx, plan, current_version=current_version, was_progressing=_was_progressing(before)
    )
    return _status(plan, summaries, changes, before, pool.generation, snapshot.now)


def _status(
    plan: Plan,
    summaries: Iterable[Summary],
    changes: Mapping[str, Any],
    before: Mapping[str, Any],
    generation: int,
    now: int,
) -> dict[str, Any]:
    """The stored status with these changes, and with the conditions and the ledger of the plan.

    A summary whose message or reason alone differs is kept as it is stored while nothing else changes: counts
    in messages are no reason for a write.
    """
    stored = decode_summary(before)
    new = {
        summary.type: summary.condition(stored.get(summary.type), now=now, generation=generation)
        for summary in summaries
    }
    status = {
        **before,
        **changes,
        "ledger": encode_ledger(plan.ledger),
        "observedGeneration": generation,
    }
    actions = encode_conditions(plan.conditions)
    if all(name in stored and stored[name].status is condition.status for name, condition in new.items()):
        unchanged = [stored[name] for name in new]
        kept = {**status, "conditions": [*encode_conditions(unchanged), *actions]}
        if kept == before:
            return kept
    return {**status, "conditions": [*encode_conditions(tuple(new.values())), *actions]}


def _was_progressing(before: Mapping[str, Any]) -> bool:
    stored = decode_summary(before).get(SummaryType.PROGRESSING)
    return stored is not None and stored.status is Status.TRUE


def _runs_target(ctx: ReconcileContext) -> bool:
    """Whether every pod has joined the engine with the target."""
    engine = ctx.snapshot.engine
    if ctx.active_pool is not None or not isinstance(engine, EngineView):
        return False
    nodes = [engine.node(pod.name) for pod in ctx.snapshot.pods]
    return all(node is not None and node.version == ctx.target for node in nodes)


def _has_converged(pool: PoolView, version: int) -> bool:
    return pool.current_version == version and pool.observed_generation == pool.generation


def _upgrade(ctx: ReconcileContext, plan: Plan, before: Mapping[str, Any]) -> dict[str, Any]:
    """The upgrade in progress with a step for each pool, and the last upgrades."""
    now = format_timestamp(ctx.snapshot.now)
    previous, current = ctx.ledger.upgrade, UpgradeLedger.of(plan.ledger).upgrade
    history = before.get("history") or []
    if current is None:
        past = [*history, _past_upgrade(ctx, before, now)] if previous is not None else history
        return {"history": past[-_MAX_HISTORY:]} if past else {}
    upgrade = {
        "from": current[0],
        "target": current[1],
        "startedAt": now if previous is None else before.get("startedAt", now),
        "steps": list(_steps(ctx, before, now)),
        "history": history,
    }
    taken = UpgradeLedger.of(plan.ledger).snapshot
    if taken is not None:
        upgrade["snapshot"] = str(taken)
    if previous is not None and ctx.active_pool is not None:
        upgrade["pool"] = ctx.active_pool
    return upgrade


def _past_upgrade(ctx: ReconcileContext, before: Mapping[str, Any], now: str) -> dict[str, Any]:
    result = "Finished" if ctx.ledger.rollback_to is None else "RolledBack"
    stored = {name: before[name] for name in ("from", "target", "startedAt", "snapshot") if name in before}
    # A clock that was set back must not let an upgrade end before its start.
    return {**stored, "finishedAt": max(now, stored.get("startedAt", now)), "result": result}


def _steps(ctx: ReconcileContext, before: Mapping[str, Any], now: str) -> Iterator[dict[str, Any]]:
    """One step for each pool in the order of the rollout, with the time of its last change."""
    stored = {step["name"]: step for step in before.get("steps") or ()}
    has_started = ctx.ledger.upgrade is not None
    state = "Done" if has_started else "Pending"
    for pool in ctx.pools:
        name = pool.spec.name
        if state == "Running":
            state = "Pending"
        if has_started and name == ctx.active_pool:
            state = "Running"
        is_same = name in stored and stored[name]["state"] == state
        yield stored[name] if is_same else {"name": name, "state": state, "at": now}
