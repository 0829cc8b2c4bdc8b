"""Describe a cluster: its state, what it waits for, and the plan of the next reconcile."""

from __future__ import annotations

__all__ = [
    "SUMMARY_CONDITIONS",
    "ActionSummary",
    "ClusterDescription",
    "ConditionSummary",
    "GateSummary",
    "NextPod",
    "PoolSummary",
    "StepState",
    "UpgradeStep",
    "describe",
    "describe_from_status",
    "describe_without_engine",
]

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from searchkeeper.inventory import (
    Component,
    StepState,
    UpgradeStep,
    dashboards_components,
    missing_components,
    present_components,
)
from searchkeeper.opensearch.view import EngineView
from searchkeeper.planner import (
    ACTION_ERROR,
    NO_DEADLINE,
    OPERATION_DENIED,
    Condition,
    Ledger,
    Status,
    UnsupportedVersion,
    choose_reconciler,
    waiting_for,
)
from searchkeeper.reconcile import ResourcePlan, resource_plans
from searchkeeper.reconcilers.context import ReconcileContext
from searchkeeper.reconcilers.headline import headline_rank
from searchkeeper.reconcilers.invalid_spec import spec_valid
from searchkeeper.reconcilers.rollback import rollback_possible
from searchkeeper.reconcilers.unsupported_version import configuration_supported
from searchkeeper.reconcilers.upgrade import version_accepted
from searchkeeper.reconcilers.versions import CLUSTER_RECONCILERS, deployed_version, shipped_with
from searchkeeper.snapshot import ClusterSnapshot, Pod, PoolView
from searchkeeper.upgrade.gates import Candidate, gate_results
from searchkeeper.upgrade.rollback import was_abandoned
from searchkeeper.upgrade.rollout import Rollout

# Conditions that summarise a resource. They are no actions.
SUMMARY_CONDITIONS: Final = ("Ready", "Progressing", "Degraded")
# The only action of a reconciler that leaves the cluster alone; its message is the reason.
_REFUSING_ACTIONS: Final = (configuration_supported.name, spec_valid.name)


@dataclass(frozen=True, slots=True)
class ConditionSummary:
    """A summary condition of the SearchCluster."""

    type: str
    status: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class ActionSummary:
    """The result of one action.

    `waiting_seconds` is how long it has given the same reason, None if it does not wait.
    """

    resource: str
    action: str
    status: str
    reason: str
    message: str
    waiting_seconds: int | None = None
    is_stalled: bool = False

    @property
    def text(self) -> str:
        """The message, marked if the wait has passed its deadline."""
        return f"stalled: {self.message}" if self.is_stalled else self.message

    @property
    def is_waiting(self) -> bool:
        """True if the action waits or has failed, and not just for another action."""
        return self.status == Status.FALSE or self.reason == ACTION_ERROR


@dataclass(frozen=True, slots=True)
class GateSummary:
    """The result of one gate for the next pod."""

    gate: str
    is_open: bool
    message: str


@dataclass(frozen=True, slots=True)
class PoolSummary:
    """A pool in rollout order. `pods` are (name, engine version, is ready)."""

    name: str
    roles: tuple[str, ...]
    permitted_version: str | None
    replicas: int
    pods: tuple[tuple[str, str, bool], ...]


@dataclass(frozen=True, slots=True)
class NextPod:
    """The pod that the rollout replaces next, with the results of its gates."""

    pod: str
    pool: str
    gates: tuple[GateSummary, ...]

    @property
    def is_free(self) -> bool:
        return all(gate.is_open for gate in self.gates)


@dataclass(frozen=True, slots=True)
class ClusterDescription:
    """One cluster, as the commands print it.

    `conditions` are the summary conditions, empty if the operator does not write them. `unsupported` is why
    this release does not reconcile the cluster. `is_abandoned`: the upgrade to the version of the spec has
    failed, and it starts again only after an edit. `deadline` is when the first wait becomes a stall, in
    seconds since the epoch.
    """

    cluster: str
    release: str
    phase: str
    ready: str
    engine: str | None
    target: str
    configuration: int | None
    target_configuration: int | None
    unsupported: str | None
    upgrade: tuple[str, str] | None
    is_abandoned: bool
    conditions: tuple[ConditionSummary, ...]
    pools: tuple[PoolSummary, ...]
    actions: tuple[ActionSummary, ...]
    operations: tuple[str, ...]
    next_pod: NextPod | None
    rollback: str
    steps: tuple[UpgradeStep, ...]
    components: tuple[Component, ...]
    history: tuple[str, ...]
    deadline: int | None
    now: int

    @property
    def steps_done(self) -> int:
        return sum(step.state is StepState.DONE for step in self.steps)

    @property
    def progress(self) -> float:
        return self.steps_done / len(self.steps) if self.steps else 1.0

    @property
    def headline(self) -> str | None:
        """The message of the waiting action that is closest to the cause. Stalled actions come first."""
        waiting = [a for a in self.actions if a.is_waiting and a.action != rollback_possible.name]
        cause = min(waiting, key=lambda a: (not a.is_stalled, headline_rank(a.action)), default=None)
        return None if cause is None else cause.text

    @property
    def refusal(self) -> str | None:
        """Why the operator refuses the engine version of the spec, None if it accepts it."""
        return next(
            (
                a.message
                for a in self.actions
                if a.action == version_accepted.name and a.status == Status.FALSE
            ),
            None,
        )

    @property
    def needs_attention(self) -> bool:
        """True if the cluster is stalled or refused, by its status or by the next reconcile."""
        is_refused = self.refusal is not None or self.unsupported is not None
        is_stalled = any(action.is_stalled for action in self.actions)
        return is_refused or is_stalled or self.phase in ("Stalled", "Refused")


def describe(snapshot: ClusterSnapshot) -> ClusterDescription:
    """Plan the next reconcile and describe it, together with the cluster. Pure."""
    cluster, release = snapshot.cluster, snapshot.release
    chosen = choose_reconciler(shipped_with(CLUSTER_RECONCILERS, release), deployed_version(snapshot))
    is_unsupported = isinstance(chosen, UnsupportedVersion)
    version = max(release.configurations) if isinstance(chosen, UnsupportedVersion) else chosen.version
    is_left_alone = (is_unsupported or cluster.has_no_usable_spec) and not cluster.is_deleting
    ctx = ReconcileContext(snapshot, version)
    plans = tuple(resource_plans(snapshot))
    actions = tuple(
        action
        for each in plans
        for action in _action_summaries(each.plan.conditions, str(each.key), each.plan.ledger, snapshot.now)
    )
    target = _target(ctx)
    next_pod = None if cluster.is_deleting else _next_pod(ctx, target)
    description = ClusterDescription(
        cluster=f"{cluster.key.namespace}/{cluster.key.name}",
        release=release.version,
        phase=_phase(plans[0]),
        ready=f"{sum(pod.is_ready for pod in snapshot.pods)}/{sum(pool.replicas for pool in snapshot.pools)}",
        engine=cluster.engine_version,
        target=target,
        configuration=cluster.current_version,
        target_configuration=None if is_left_alone else version,
        unsupported=next(a.message for a in actions if a.action in _REFUSING_ACTIONS)
        if is_left_alone
        else None,
        upgrade=ctx.ledger.upgrade,
        is_abandoned=cluster.engine_version != cluster.spec.version and was_abandoned(snapshot, ctx.ledger),
        conditions=_summary_conditions(plans[0].status),
        pools=tuple(
            PoolSummary(
                pool.spec.name,
                tuple(sorted(pool.spec.roles)),
                pool.permitted_version,
                pool.replicas,
                tuple((pod.name, pod.engine_version, pod.is_ready) for pod in pool.pods),
            )
            for pool in ctx.pools
        ),
        actions=actions,
        operations=tuple(_operations(plans)),
        next_pod=next_pod,
        rollback=_rollback_message(actions),
        steps=tuple(_upgrade_steps(ctx, target, next_pod)),
        components=(*present_components(ctx, target), *missing_components(ctx, target)),
        history=tuple(_upgrade_history(plans[0].before)),
        deadline=_first_deadline(plans, snapshot.now),
        now=snapshot.now,
    )
    return _without_spec(description, snapshot) if cluster.has_no_usable_spec else description


def describe_from_status(snapshot: ClusterSnapshot) -> ClusterDescription:
    """Describe the cluster by its stored conditions, for clients that cannot reach the engine."""
    status = snapshot.objects[snapshot.cluster.key].get("status") or {}
    actions = _status_actions(snapshot)
    return replace(
        describe(snapshot),
        actions=actions,
        conditions=_summary_conditions(status),
        rollback=_rollback_message(actions),
        deadline=None,
    )


def describe_without_engine(snapshot: ClusterSnapshot) -> ClusterDescription:
    """Describe the next reconcile as if the engine were unreachable, except for the rollback.

    The rollback is the operator's last message. There is no deadline: the wait for the engine is the
    client's, not the operator's.
    """
    description, stored = describe(snapshot), _rollback_message(_status_actions(snapshot))
    if description.upgrade is None:
        return replace(description, deadline=None)
    message = "unknown without the engine" + (f"; last reported by the operator: {stored}" if stored else "")
    actions = tuple(
        replace(action, message=message) if action.action == rollback_possible.name else action
        for action in description.actions
    )
    return replace(description, actions=actions, rollback=message, deadline=None)


def _without_spec(description: ClusterDescription, snapshot: ClusterSnapshot) -> ClusterDescription:
    """Leave out what follows from the spec, except for a version that can be read."""
    manifest = snapshot.objects[snapshot.cluster.key]
    match manifest.get("spec"):
        case {"version": str(version)}:
            target = version
        case _:
            target = "-"
    ready = str((manifest.get("status") or {}).get("ready") or "-")
    return replace(description, target=target, ready=ready, pools=(), next_pod=None, steps=(), components=())


def _status_actions(snapshot: ClusterSnapshot) -> tuple[ActionSummary, ...]:
    records, resource = snapshot.cluster.records, str(snapshot.cluster.key)
    return tuple(_action_summaries(records.conditions, resource, records.ledger, snapshot.now))


def _action_summaries(
    conditions: Iterable[Condition], resource: str, ledger: Ledger, now: int
) -> Iterator[ActionSummary]:
    for condition in conditions:
        if condition.type in SUMMARY_CONDITIONS:
            continue
        wait = waiting_for(ledger, condition.type, now)
        yield ActionSummary(
            resource,
            condition.type,
            str(condition.status),
            condition.reason,
            condition.message,
            waiting_seconds=wait[1] if wait is not None and wait[0] == condition.reason else None,
            is_stalled=condition.is_stalled,
        )


def _summary_conditions(status: Mapping[str, Any]) -> tuple[ConditionSummary, ...]:
    """In the order of SUMMARY_CONDITIONS."""
    found = {each["type"]: each for each in status.get("conditions") or ()}
    return tuple(
        ConditionSummary(name, found[name]["status"], found[name]["reason"], found[name].get("message", ""))
        for name in SUMMARY_CONDITIONS
        if name in found
    )


def _rollback_message(actions: Iterable[ActionSummary]) -> str:
    return next((a.message for a in actions if a.action == rollback_possible.name), "")


def _phase(cluster_plan: ResourcePlan) -> str:
    """The stored phase; but a refusal shows before the operator has stored it."""
    if cluster_plan.status.get("phase") == "Refused":
        return "Refused"
    return str(cluster_plan.before.get("phase") or "Pending")


def _operations(plans: Sequence[ResourcePlan]) -> Iterator[str]:
    """The operations of the next reconcile, in their order. The status is always patched first.

    A reconcile executes the operations of the first resource that has any. Cosmetic status changes and
    denied operations do not end it.
    """
    for each in plans:
        if each.has_changed:
            yield f"patch status of {each.key}"
        yield from map(str, each.plan.operations)
        denied = {c.type for c in each.plan.conditions if c.reason == OPERATION_DENIED}
        if not each.is_cosmetic or any(a.action not in denied for a in each.plan.action_operations):
            return


def _upgrade_history(status: Mapping[str, Any]) -> Iterator[str]:
    """Oldest first."""
    for each in (status.get("upgrade") or {}).get("history") or ():
        yield f"{each.get('from')} → {each.get('target')}: {each.get('result')} at {each.get('finishedAt')}"


def _first_deadline(plans: Sequence[ResourcePlan], now: int) -> int | None:
    """The first moment at which a wait becomes a stall. Waits without a deadline wake up in years."""
    moments = (each.plan.wake_at for each in plans if each.plan.wake_at is not None)
    return min((moment for moment in moments if moment - now < NO_DEADLINE // 2), default=None)


def _target(ctx: ReconcileContext) -> str:
    """The engine version that the cluster goes to, also before its upgrade has started."""
    if ctx.ledger.upgrade is None and ctx.refusal is None:
        return ctx.snapshot.cluster.spec.version
    return ctx.target


def _next_pod(ctx: ReconcileContext, target: str) -> NextPod | None:
    """The pod that the rollout replaces next; before it has started, the first pod that it would replace."""
    replaced = frozenset(ctx.ledger.replaced_pods)
    for pool in ctx.pools:
        candidates = Rollout(ctx.snapshot, ctx.ledger, ctx.pools).candidates(_with_new_template(pool, target))
        pod = next((each for each in candidates if each.name not in replaced), None)
        if pod is not None:
            results = gate_results(Candidate(pod, pool, replaced), ctx.snapshot)
            gates = tuple(GateSummary(each.gate, each.is_open, each.message) for each in results)
            return NextPod(pod.name, pool.spec.name, gates)
    return None


def _with_new_template(pool: PoolView, target: str) -> PoolView:
    """The pool as it is when its upgrade has started: its pods on other versions are outdated.

    Until then its StatefulSet has the old template, and no pod counts as outdated.
    """
    stateful_set = pool.stateful_set
    behind = tuple(pod for pod in pool.pods if pod.engine_version != target)
    if stateful_set is None or not behind or pool.outdated_pods:
        return pool
    template = f"{stateful_set.template} of {target}"
    return replace(pool, stateful_set=replace(stateful_set, template=template), pods=behind)


def _upgrade_steps(ctx: ReconcileContext, target: str, next_pod: NextPod | None) -> Iterator[UpgradeStep]:
    """Every pod in rollout order, then Dashboards. Empty if there is nothing to upgrade."""
    is_new = ctx.snapshot.cluster.engine_version is None
    is_up_to_date = all(c.is_up_to_date for c in present_components(ctx, target))
    if ctx.ledger.upgrade is None and (is_new or is_up_to_date):
        return
    engine = ctx.snapshot.engine
    elected = engine.elected.name if isinstance(engine, EngineView) and engine.elected else None
    remaining = False
    for pool in ctx.pools:
        for pod in sorted(pool.pods, key=lambda p: (p.engine_version != target, p.name == elected)):
            state = _step_state(pod, target, ctx, is_next=next_pod is not None and next_pod.pod == pod.name)
            remaining |= state in (StepState.NEXT, StepState.WAITING)
            yield UpgradeStep(pod.name, state, pod.engine_version, pod.problem)
    pending = StepState.WAITING if remaining else StepState.NEXT
    for each in dashboards_components(ctx, target):
        yield UpgradeStep(each.name, StepState.DONE if each.is_up_to_date else pending, each.version)


def _step_state(pod: Pod, target: str, ctx: ReconcileContext, *, is_next: bool) -> StepState:
    if pod.name in ctx.ledger.replaced_pods or pod.is_terminating:
        return StepState.CURRENT
    if pod.engine_version == target and pod.is_ready:
        return StepState.DONE
    return StepState.NEXT if is_next else StepState.WAITING
