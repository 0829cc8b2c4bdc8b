"""The summary conditions Ready, Progressing and Degraded, and the phase that follows from them.

Pure. Ready follows kstatus: True when the spec is deployed, the cluster serves, and nothing is left to do.
"""

from __future__ import annotations

__all__ = [
    "Summary",
    "cluster_phase",
    "deletion_summary",
    "ordinary_summary",
    "pool_summary",
    "refusal_summary",
]

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from searchkeeper.api.messages import join, shorten
from searchkeeper.api.reasons import Reason
from searchkeeper.api.status import Phase, SummaryType
from searchkeeper.desired import names
from searchkeeper.kubernetes.operations import EmitEvent
from searchkeeper.opensearch.view import Color, EngineView, Unreachable
from searchkeeper.planner import OPERATION_DENIED, Condition, Plan, Status
from searchkeeper.reconcilers.context import ReconcileContext
from searchkeeper.reconcilers.pools import PoolContext
from searchkeeper.snapshot import ClusterSnapshot, PoolView
from searchkeeper.upgrade.ledger import UpgradeLedger
from searchkeeper.upgrade.rollback import rollback_hint

# They change nothing themselves, or wait for a user or for health: none of them shows progress.
_NO_PROGRESS_ACTIONS: Final = frozenset(
    {
        "EngineHealthy",
        "EventsEmitted",
        "RollbackPossible",
        "StorageUnchanged",
        "UpgradeFinished",
        "UpgradeStarted",
        "VersionAccepted",
    }
)
_USER_REASONS: Final = frozenset(
    {
        Reason.CREDENTIALS_MISSING,
        Reason.NAME_CONFLICT,
        Reason.SECRET_MISSING,
        Reason.UPGRADE_PAUSED,
        Reason.VERSION_REFUSED,
    }
)
_UPGRADE_REASONS: Final = frozenset(
    {Reason.ROLLBACK_IN_PROGRESS, Reason.UPGRADE_IN_PROGRESS, Reason.UPGRADE_PAUSED}
)
_REFUSED_REASONS: Final = frozenset(
    {Reason.INVALID_SPEC, Reason.UNSUPPORTED_CONFIGURATION, Reason.VERSION_REFUSED}
)
# The stalled action that explains most is named first: the others wait for it.
_STALL_ORDER: Final = ("PodsCurrent", "UpgradeStarted", "EngineHealthy")


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary condition without its times."""

    type: SummaryType
    status: Status
    reason: str
    message: str

    def condition(self, before: Condition | None, *, now: int, generation: int) -> Condition:
        """With the time of its last transition: it changes only with the status."""
        since = now if before is None or before.status is not self.status else before.last_transition
        return Condition(self.type, self.status, self.reason, shorten(self.message), since, generation)


def _ready(reason: str, message: str, *, is_true: bool = False) -> Summary:
    return Summary(SummaryType.READY, Status.TRUE if is_true else Status.FALSE, reason, message)


def _progressing(reason: str, message: str) -> Summary:
    return Summary(SummaryType.PROGRESSING, Status.TRUE, reason, message)


def _degraded(reason: str, message: str) -> Summary:
    return Summary(SummaryType.DEGRADED, Status.TRUE, reason, message)


_NOT_PROGRESSING: Final = Summary(
    SummaryType.PROGRESSING, Status.FALSE, Reason.AS_EXPECTED, "no change is in progress"
)
_NOT_DEGRADED: Final = Summary(SummaryType.DEGRADED, Status.FALSE, Reason.AS_EXPECTED, "nothing is blocked")


def cluster_phase(summaries: Iterable[Summary], plan: Plan) -> Phase:  # noqa: PLR0911 - one a phase
    """One word for the printer column."""
    reasons = {summary.type: summary.reason for summary in summaries}
    progressing, degraded = reasons[SummaryType.PROGRESSING], reasons[SummaryType.DEGRADED]
    if progressing == Reason.DELETING:
        return Phase.DELETING
    is_unusable = degraded in (Reason.INVALID_SPEC, Reason.UNSUPPORTED_CONFIGURATION)
    if is_unusable and progressing == Reason.AS_EXPECTED:
        return Phase.REFUSED
    if any(condition.is_stalled for condition in plan.conditions):
        return Phase.STALLED
    if progressing == Reason.ROLLBACK_IN_PROGRESS:
        return Phase.ROLLING_BACK
    if progressing in (Reason.UPGRADE_IN_PROGRESS, Reason.UPGRADE_PAUSED):
        return Phase.UPGRADING
    if degraded in _REFUSED_REASONS:
        return Phase.REFUSED
    return Phase.PENDING if progressing == Reason.CREATING_CLUSTER else Phase.RUNNING


def deletion_summary(plan: Plan) -> tuple[Summary, ...]:
    left = [condition.message for condition in plan.conditions if condition.status is Status.FALSE]
    message = "the cluster is being deleted; volumes stay"
    progress = f"{message}; {join(left, '; ')}" if left else message
    return (
        _ready(Reason.DELETING, message),
        _progressing(Reason.DELETING, progress),
        next(_action_problems(plan), _NOT_DEGRADED),
    )


def refusal_summary(snapshot: ClusterSnapshot, plan: Plan, reason: Reason) -> tuple[Summary, ...]:
    """Of a cluster that the operator leaves alone: its spec is invalid, or its configuration unsupported."""
    causes = [condition.message for condition in plan.conditions if condition.reason == reason]
    message = f"{join(causes, '; ')}; the operator changes nothing"
    return (
        _ready(reason, f"{message}; {_engine_state(snapshot)}"),
        _NOT_PROGRESSING,
        _degraded(reason, message),
    )


def ordinary_summary(
    ctx: ReconcileContext, plan: Plan, *, current_version: int | None, was_progressing: bool
) -> tuple[Summary, ...]:
    """Of a cluster that is reconciled. `current_version` is the configuration version of its new status."""
    cluster = _Cluster(ctx, plan, current_version)
    progressing = next(_progress(cluster, was_progressing=was_progressing), _NOT_PROGRESSING)
    engine_problem = _engine_problem(ctx.snapshot)
    degraded = next(_cluster_problems(cluster, engine_problem), _NOT_DEGRADED)
    ready = next(
        _obstacles(cluster, progressing, engine_problem),
        _ready(
            Reason.CLUSTER_READY,
            f"{cluster.wanted} of {cluster.wanted} nodes run {ctx.target}; {_engine_state(ctx.snapshot)}",
            is_true=True,
        ),
    )
    return ready, progressing, degraded


@dataclass(frozen=True, slots=True)
class _Cluster:
    """A cluster after this reconcile: the snapshot, the plan and the new configuration version."""

    ctx: ReconcileContext
    plan: Plan
    current_version: int | None

    @property
    def ledger(self) -> UpgradeLedger:
        return UpgradeLedger.of(self.plan.ledger)

    @property
    def conditions(self) -> Mapping[str, Condition]:
        return {condition.type: condition for condition in self.plan.conditions}

    @property
    def wanted(self) -> int:
        return sum(pool.replicas for pool in self.ctx.pools)

    def nodes_with(self, version: str) -> int:
        pods = (pod for pool in self.ctx.pools for pod in pool.retained_pods)
        return sum(pod.is_ready and pod.engine_version == version for pod in pods)


def _progress(cluster: _Cluster, *, was_progressing: bool) -> Iterator[Summary]:
    ctx, ledger = cluster.ctx, cluster.ledger
    if ledger.upgrade is not None:
        yield _upgrade_progress(cluster, *ledger.upgrade)
    if cluster.current_version is None and ctx.refusal is None:
        ready = sum(pod.is_ready for pod in ctx.snapshot.pods)
        yield _progressing(Reason.CREATING_CLUSTER, f"{ready} of {cluster.wanted} nodes are ready")
    started = cluster.conditions["UpgradeStarted"]
    if started.reason == Reason.TAKING_SNAPSHOT:
        yield _progressing(Reason.TAKING_SNAPSHOT, started.message)
    surplus = [pod.name for pool in ctx.pools for pod in pool.surplus_pods]
    scale_in = cluster.conditions["ScaleInComplete"]
    if surplus and scale_in.reason not in (Reason.WAITING_FOR_UPGRADE, Reason.UPGRADE_PAUSED):
        yield _progressing(Reason.SCALING_IN, f"removing {join(surplus)}: {scale_in.message}")
    waiting = [
        condition
        for condition in cluster.plan.conditions
        if condition.status is Status.FALSE
        and condition.type not in _NO_PROGRESS_ACTIONS
        and condition.reason not in _USER_REASONS
        and condition.reason != OPERATION_DENIED
    ]
    is_migrating = ctx.refusal is None and cluster.current_version != ctx.version
    if _has_operations(cluster.plan) or any(_needs_change(ctx, pool) for pool in ctx.pools) or is_migrating:
        yield _progressing(Reason.APPLYING_CHANGES, _messages(waiting) or "a change is applied")
    elif was_progressing and waiting:
        yield _progressing(Reason.APPLYING_CHANGES, _messages(waiting))


def _upgrade_progress(cluster: _Cluster, before: str, target: str) -> Summary:
    is_paused = cluster.ctx.spec.upgrade.paused
    pause = " is paused by spec.upgrade.paused" if is_paused else ""
    if cluster.ledger.rollback_to is not None:
        nodes = f"{cluster.nodes_with(before)} of {cluster.wanted} nodes done"
        return _progressing(Reason.ROLLBACK_IN_PROGRESS, f"rollback {target} → {before}{pause}; {nodes}")
    nodes = f"{cluster.nodes_with(target)} of {cluster.wanted} nodes done"
    reason = Reason.UPGRADE_PAUSED if is_paused else Reason.UPGRADE_IN_PROGRESS
    return _progressing(reason, f"upgrade {before} → {target}{pause}; {nodes}")


def _has_operations(plan: Plan) -> bool:
    """Whether the plan changes anything. An event is no change, a denied operation is none either."""
    denied = {condition.type for condition in plan.conditions if condition.reason == OPERATION_DENIED}
    return any(
        not isinstance(operation, EmitEvent)
        for operations in plan.action_operations
        if operations.action not in denied
        for operation in operations.operations
    )


def _needs_change(ctx: ReconcileContext, pool: PoolView) -> bool:
    """Whether the StatefulSet or the pods of a pool are about to change."""
    deployed = pool.stateful_set
    if deployed is None or ctx.is_paused(pool):
        return False
    return deployed.template != ctx.template(pool) or bool(pool.outdated_pods)


def _cluster_problems(cluster: _Cluster, engine_problem: tuple[Reason, str] | None) -> Iterator[Summary]:
    refusal = cluster.ctx.refusal
    if refusal is not None and refusal.reason == Reason.INVALID_SPEC:
        yield _degraded(Reason.INVALID_SPEC, refusal.message)
    if refusal is not None:
        yield _degraded(Reason.VERSION_REFUSED, f"{refusal.reason}: {refusal.message}")
    upgrade = cluster.ledger.upgrade
    hint = None if upgrade is None else rollback_hint(cluster.ctx.snapshot, cluster.ctx.ledger, upgrade[0])
    yield from _action_problems(cluster.plan, hint)
    if engine_problem is not None:
        yield _degraded(*engine_problem)
    yield from _unknown_zones(cluster.ctx)


def _unknown_zones(ctx: ReconcileContext) -> Iterator[Summary]:
    """Pods that run with the operator's own value of the label, because nothing has overwritten it."""
    label = ctx.desired.zone_label
    if label is None:
        return
    manifests = ((pod, ctx.snapshot.objects[ctx.key("v1", "Pod", pod.name)]) for pod in ctx.snapshot.pods)
    unknown = [
        pod.name
        for pod, manifest in manifests
        if pod.has_started and (manifest["metadata"].get("labels") or {}).get(label) == names.UNKNOWN_ZONE
    ]
    if unknown:
        yield _degraded(
            Reason.ZONE_UNKNOWN,
            f"the zone of {join(unknown)} is unknown: Kubernetes has not set their label {label}; since 1.35 "
            "it copies topology.kubernetes.io/zone and topology.kubernetes.io/region from nodes that have "
            "them; for other versions and labels make one pool for each zone, with the label in its "
            "podTemplate",
        )


def _action_problems(plan: Plan, hint: str | None = None) -> Iterator[Summary]:
    """Stalled actions, with the hint how to end the stall; then denied operations."""
    stalled = [condition for condition in plan.conditions if condition.is_stalled]
    if stalled:
        order = [*_STALL_ORDER, *(condition.type for condition in stalled)]
        stalled.sort(key=lambda condition: order.index(condition.type))
        message = _messages(stalled)
        yield _degraded(stalled[0].reason, f"{message}; {hint}" if hint and hint not in message else message)
    denied = [condition for condition in plan.conditions if condition.reason == OPERATION_DENIED]
    if denied:
        yield _degraded(OPERATION_DENIED, _messages(denied))


def _engine_problem(snapshot: ClusterSnapshot) -> tuple[Reason, str] | None:
    """Why a cluster that was complete before does not serve."""
    if snapshot.cluster.engine_version is None or not snapshot.pods:
        return None
    if isinstance(snapshot.engine, Unreachable):
        return Reason.ENGINE_UNREACHABLE, _engine_state(snapshot)
    return (Reason.ENGINE_RED, _engine_state(snapshot)) if snapshot.engine.color is Color.RED else None


def _engine_state(snapshot: ClusterSnapshot) -> str:
    if isinstance(snapshot.engine, Unreachable):
        return f"the engine does not answer: {snapshot.engine.cause}"
    missing = ": a primary is missing" if snapshot.engine.color is Color.RED else ""
    return f"engine is {snapshot.engine.color}{missing}"


def _obstacles(
    cluster: _Cluster, progressing: Summary, engine_problem: tuple[Reason, str] | None
) -> Iterator[Summary]:
    """Why the cluster is not ready, the most important reason first."""
    ctx, refusal, state = cluster.ctx, cluster.ctx.refusal, _engine_state(cluster.ctx.snapshot)
    if refusal is not None and refusal.reason == Reason.INVALID_SPEC:
        yield _ready(Reason.INVALID_SPEC, f"{refusal.message}; {state}")
    if progressing.reason in _UPGRADE_REASONS:
        replaced = join(sorted(cluster.ledger.replaced_pods))
        replacing = f"; being replaced: {replaced}" if replaced else ""
        reason, _ = engine_problem or (progressing.reason, "")
        yield _ready(reason, f"{progressing.message}{replacing}; {state}")
    if engine_problem is not None:
        yield _ready(*engine_problem)
    if refusal is not None:
        yield _ready(Reason.VERSION_REFUSED, f"{refusal.reason}: {refusal.message}; {state}")
    if progressing.reason == Reason.CREATING_CLUSTER:
        yield _ready(progressing.reason, f"{progressing.message}; {state}")
    started = cluster.conditions["UpgradeStarted"]
    if started.status is Status.FALSE:
        version = f"{ctx.snapshot.cluster.engine_version} → {ctx.spec.version}"
        yield _ready(started.reason, f"upgrade {version} has not started: {started.message}; {state}")
    yield from _missing_nodes(cluster, state)
    if progressing.status is Status.TRUE:
        yield _ready(progressing.reason, f"{progressing.message}; {state}")
    blocking = [
        condition
        for condition in cluster.plan.conditions
        if condition.status is not Status.TRUE and condition.type != "EventsEmitted"
    ]
    # An action that waits for another one says nothing by itself.
    blocking.sort(key=lambda condition: (condition.status is Status.UNKNOWN, not condition.is_stalled))
    if blocking:
        yield _ready(blocking[0].reason, f"{_messages(blocking[:1])}; {state}")


def _missing_nodes(cluster: _Cluster, state: str) -> Iterator[Summary]:
    ctx, engine = cluster.ctx, cluster.ctx.snapshot.engine
    pods = {pod.name: pod for pod in ctx.snapshot.pods}
    expected = [
        f"{names.pool_name(ctx.desired.name, pool.spec.name)}-{ordinal}"
        for pool in ctx.pools
        for ordinal in range(pool.replicas)
    ]
    ready = {name for name, pod in pods.items() if pod.is_ready and not pod.is_terminating}
    unready = [name for name in expected if name not in ready]
    if unready:
        message = f"{len(unready)} of {cluster.wanted} pods are not ready: {join(unready)}; {state}"
        yield _ready(Reason.WAITING_FOR_PODS, message)
    if isinstance(engine, EngineView):
        absent = [name for name in expected if engine.node(name) is None]
        if absent:
            message = f"{len(absent)} of {cluster.wanted} nodes have not joined: {join(absent)}; {state}"
            yield _ready(Reason.NODES_NOT_JOINED, message)


def pool_summary(
    ctx: PoolContext, plan: Plan, *, current_version: int | None, was_progressing: bool
) -> tuple[Summary, ...]:
    """Of a SearchPool: whether the version and the replicas that it may have now are deployed."""
    degraded = next(_action_problems(plan), _NOT_DEGRADED)
    progressing = next(
        _pool_progress(ctx, plan, current_version, was_progressing=was_progressing), _NOT_PROGRESSING
    )
    waiting = [condition for condition in plan.conditions if condition.status is not Status.TRUE]
    if waiting:
        waiting.sort(key=lambda condition: condition.status is Status.UNKNOWN)
        ready = _ready(waiting[0].reason, _messages(waiting[:1]))
    elif progressing.status is Status.TRUE:
        ready = _ready(progressing.reason, progressing.message)
    else:
        ready = _ready(Reason.POOL_READY, f"{len(ctx.pool.pods)} pods are ready", is_true=True)
    return ready, progressing, degraded


def _pool_progress(
    ctx: PoolContext, plan: Plan, current_version: int | None, *, was_progressing: bool
) -> Iterator[Summary]:
    cluster, pool = ctx.cluster, ctx.pool
    outdated = [pod.name for pod in pool.outdated_pods]
    if outdated and cluster.ledger.upgrade is not None:
        is_rollback, is_paused = cluster.ledger.rollback_to is not None, cluster.spec.upgrade.paused
        reason = Reason.UPGRADE_PAUSED if is_paused else Reason.UPGRADE_IN_PROGRESS
        yield _progressing(
            Reason.ROLLBACK_IN_PROGRESS if is_rollback else reason, f"{len(outdated)} pods are outdated"
        )
    if current_version is None:
        yield _progressing(Reason.CREATING_POOL, f"{len(pool.pods)} of {pool.replicas} pods exist")
    surplus = [pod.name for pod in pool.pods if pod.ordinal >= (pool.allotted_replicas or 0)]
    if surplus:
        yield _progressing(Reason.SCALING_IN, f"pods are removed: {join(surplus)}")
    waiting = [condition for condition in plan.conditions if condition.status is Status.FALSE]
    if _has_operations(plan) or outdated or (was_progressing and waiting):
        yield _progressing(Reason.APPLYING_CHANGES, _messages(waiting) or f"outdated pods: {join(outdated)}")


def _messages(conditions: Iterable[Condition]) -> str:
    """The messages of actions. Actions that wait for the same thing have the same one."""
    messages = dict.fromkeys(condition.message or condition.type for condition in conditions)
    return join(list(messages), "; ")
