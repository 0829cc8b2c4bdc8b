"""What the operator would do at this moment, and why: a cycle that is told instead of carried out."""

from __future__ import annotations

__all__ = [
    "ActionSummary",
    "ClusterDescription",
    "GateSummary",
    "NextPod",
    "PoolSummary",
    "StepState",
    "UpgradeStep",
    "describe",
    "describe_from_status",
    "describe_without_engine",
]

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from searchkeeper.inventory import (
    Component,
    StepState,
    UpgradeStep,
    dashboards,
    missing_components,
    present_components,
)
from searchkeeper.opensearch.view import EngineView
from searchkeeper.planner import (
    ACTION_ERROR,
    OPERATION_DENIED,
    Condition,
    Ledger,
    Plan,
    Status,
    UnsupportedVersion,
    choose_reconciler,
    waiting_for,
)
from searchkeeper.reconcile import ResourcePlan, resource_plans
from searchkeeper.reconcilers.context import ReconcileContext
from searchkeeper.reconcilers.versions import CLUSTER_RECONCILERS, deployed_version, shipped_with
from searchkeeper.snapshot import ClusterSnapshot, Pod, PoolView
from searchkeeper.upgrade.gates import NO_DEADLINE, Candidate, gate_results
from searchkeeper.upgrade.rollout import Rollout

# Who knows best what a cluster waits for: the actions that tell first, and those that only follow others.
_TELLING: Final = ("VersionAccepted", "PodsCurrent", "UpgradeStarted")
_FOLLOWING: Final = ("EngineHealthy", "DashboardsCurrent")
_BACK: Final = "RollbackPossible"
# Who says why a release does nothing at all for a cluster.
_REFUSING: Final = ("ConfigurationSupported", "SpecValid")


@dataclass(frozen=True, slots=True)
class ActionSummary:
    """One action's answer. `waits` is for how many seconds it has been waiting for the same thing."""

    resource: str
    action: str
    status: str
    reason: str
    message: str
    waits: int | None = None
    is_stalled: bool = False

    @property
    def holds_up(self) -> bool:
        """Whether it waits by itself, or has failed, and not just for another action."""
        return self.status == Status.FALSE or self.reason == ACTION_ERROR


@dataclass(frozen=True, slots=True)
class GateSummary:
    """One gate's verdict about the pod that is next."""

    gate: str
    is_open: bool
    message: str


@dataclass(frozen=True, slots=True)
class PoolSummary:
    """A pool in the order of the roll: its roles, what it may run, how many pods it should have, its pods."""

    name: str
    roles: tuple[str, ...]
    permitted_version: str | None
    replicas: int
    pods: tuple[tuple[str, str, bool], ...]


@dataclass(frozen=True, slots=True)
class NextPod:
    """The pod that is taken next, and what every gate says to that."""

    pod: str
    pool: str
    gates: tuple[GateSummary, ...]

    @property
    def is_free(self) -> bool:
        return all(gate.is_open for gate in self.gates)


@dataclass(frozen=True, slots=True)
class ClusterDescription:
    """Everything people ask about one cluster.

    `deadline` is the moment, in seconds since the epoch, when the first of the waits counts as a stall.
    """

    cluster: str
    release: str
    phase: str
    ready: str
    engine: str | None
    target: str
    configuration: int | None
    follows: int | None
    unfit: str | None
    upgrade: tuple[str, str] | None
    pools: tuple[PoolSummary, ...]
    actions: tuple[ActionSummary, ...]
    operations: tuple[str, ...]
    next: NextPod | None
    rollback: str
    steps: tuple[UpgradeStep, ...]
    components: tuple[Component, ...]
    history: tuple[str, ...]
    deadline: int | None
    now: int

    @property
    def progress(self) -> float:
        done = sum(step.state is StepState.DONE for step in self.steps)
        return done / len(self.steps) if self.steps else 1.0

    @property
    def cause(self) -> str | None:
        """What is waited for, in the words of the action that knows best; what has stalled comes first."""
        waits = [a for a in self.actions if a.holds_up and a.action != _BACK]
        if not waits:
            return None
        first = min(waits, key=_rank)
        return f"stalled: {first.message}" if first.is_stalled else first.message

    @property
    def refusal(self) -> str | None:
        """Why the engine version that is asked for is not brought about, if it is not."""
        told = (a for a in self.actions if a.action == "VersionAccepted" and a.status == Status.FALSE)
        return next((each.message for each in told), None)

    @property
    def is_in_trouble(self) -> bool:
        """Stalled or refused, by what the status says or by what the next one would."""
        stalled = any(a.is_stalled for a in self.actions)
        is_refused = self.refusal is not None or self.unfit is not None
        return is_refused or stalled or self.phase in ("Stalled", "Refused")


def describe(snapshot: ClusterSnapshot) -> ClusterDescription:
    """Pure. The writes are those of the first resource that has any: a cycle carries out no others.

    Other words in a status, and writes that were refused, keep no other resource from its turn.
    """
    chosen = choose_reconciler(
        shipped_with(CLUSTER_RECONCILERS, snapshot.release), deployed_version(snapshot)
    )
    version = (
        max(snapshot.release.configurations) if isinstance(chosen, UnsupportedVersion) else chosen.version
    )
    has_no_usable_spec = snapshot.cluster.has_no_usable_spec
    unfit = (
        isinstance(chosen, UnsupportedVersion) or has_no_usable_spec
    ) and not snapshot.cluster.is_deleting
    told = _explanation(ReconcileContext(snapshot, version), tuple(resource_plans(snapshot)), is_unfit=unfit)
    return _without_a_spec(told, snapshot) if has_no_usable_spec else told


def _without_a_spec(told: ClusterDescription, snapshot: ClusterSnapshot) -> ClusterDescription:
    """Nobody knows what is wanted: only what was said last, and what is asked for in so many words."""
    raw = snapshot.objects[snapshot.cluster.key]
    match raw.get("spec"):
        case {"version": str(version)}:
            target = version
        case _:
            target = "-"
    ready = str((raw.get("status") or {}).get("ready") or "-")
    return replace(told, target=target, ready=ready, pools=(), next=None, steps=(), components=())


def describe_from_status(snapshot: ClusterSnapshot) -> ClusterDescription:
    """As the operator itself told it last: for whoever cannot reach the engine that it reaches."""
    actions = _said_last(snapshot)
    return replace(describe(snapshot), actions=actions, rollback=_way_back(actions), deadline=None)


def describe_without_engine(snapshot: ClusterSnapshot) -> ClusterDescription:
    """What would be done without the engine, for whoever cannot reach the engine that the operator reaches.

    Nobody knows the way back from here, nor does any wait that only begins here end in a stall.
    """
    told, said = describe(snapshot), _way_back(_said_last(snapshot))
    if told.upgrade is None:
        return replace(told, deadline=None)
    words = "not known from here" + (f"; the operator said: {said}" if said else "")
    actions = (replace(a, message=words) if a.action == _BACK else a for a in told.actions)
    return replace(told, actions=tuple(actions), rollback=words, deadline=None)


def _said_last(snapshot: ClusterSnapshot) -> tuple[ActionSummary, ...]:
    records, name = snapshot.cluster.records, str(snapshot.cluster.key)
    return tuple(_line(each, name, records.ledger, snapshot.now) for each in records.conditions)


def _way_back(actions: Sequence[ActionSummary]) -> str:
    return next((each.message for each in actions if each.action == _BACK), "")


def _rank(line: ActionSummary) -> tuple[bool, int]:
    order = (*_TELLING, "", *_FOLLOWING)
    place = order.index(line.action if line.action in order else "")
    return not line.is_stalled, place


def _lines(step: ResourcePlan, now: int) -> Iterator[ActionSummary]:
    for each in step.plan.conditions:
        yield _line(each, str(step.key), step.plan.ledger, now)


def _line(told: Condition, resource: str, ledger: Ledger, now: int) -> ActionSummary:
    waits = waiting_for(ledger, told.type, now)
    seconds = None if waits is None or waits[0] != told.reason else waits[1]
    return ActionSummary(
        resource, told.type, str(told.status), told.reason, told.message, seconds, told.is_stalled
    )


def _explanation(
    ctx: ReconcileContext, cycle: Sequence[ResourcePlan], *, is_unfit: bool
) -> ClusterDescription:
    snapshot, cluster = ctx.snapshot, ctx.snapshot.cluster
    status = cycle[0].before
    actions = tuple(line for step in cycle for line in _lines(step, snapshot.now))
    ready = sum(pod.is_ready for pod in snapshot.pods)
    taken = None if cluster.is_deleting else _next(ctx)
    return ClusterDescription(
        cluster=f"{cluster.key.namespace}/{cluster.key.name}",
        release=snapshot.release.version,
        phase=_phase(cycle[0]),
        ready=f"{ready}/{sum(pool.replicas for pool in snapshot.pools)}",
        engine=cluster.engine_version,
        target=_target(ctx),
        configuration=cluster.current_version,
        follows=None if is_unfit else ctx.version,
        unfit=next(a.message for a in actions if a.action in _REFUSING) if is_unfit else None,
        upgrade=ctx.ledger.upgrade,
        pools=tuple(map(_pool_line, ctx.pools)),
        actions=actions,
        operations=tuple(_writes(cycle)),
        next=taken,
        rollback=_way_back(actions),
        steps=tuple(_steps(ctx, taken)),
        components=(*present_components(ctx, _target(ctx)), *missing_components(ctx, _target(ctx))),
        history=tuple(_history(status.get("upgrade") or {})),
        deadline=_deadline([step.plan for step in cycle], snapshot.now),
        now=snapshot.now,
    )


def _phase(step: ResourcePlan) -> str:
    """As it was told last; but a refusal is known before it is told."""
    told = "Refused" if step.status.get("phase") == "Refused" else step.before.get("phase")
    return str(told or "Pending")


def _writes(cycle: Sequence[ResourcePlan]) -> Iterator[str]:
    """In the order they are carried out: what is about to be done is stored first."""
    for step in cycle:
        if step.has_changed:
            yield f"store the status of {step.key}"
        yield from map(str, step.plan.operations)
        denied = {each.type for each in step.plan.conditions if each.reason == OPERATION_DENIED}
        if not step.is_cosmetic or any(deed.action not in denied for deed in step.plan.action_operations):
            return


def _history(upgrade: Mapping[str, Any]) -> Iterator[str]:
    """Upgrades that are over, oldest first."""
    for each in upgrade.get("history") or ():
        yield f"{each.get('from')} → {each.get('target')}: {each.get('result')} at {each.get('finishedAt')}"


def _deadline(plans: Sequence[Plan], now: int) -> int | None:
    """Of the waits that have an end at all."""
    moments = (made.wake_at for made in plans if made.wake_at is not None)
    return min((moment for moment in moments if moment - now < NO_DEADLINE // 2), default=None)


def _target(ctx: ReconcileContext) -> str:
    """Where the engine goes: also before the upgrade that was asked for has begun."""
    if ctx.ledger.upgrade is None and ctx.refusal is None:
        return ctx.snapshot.cluster.spec.version
    return ctx.target


def _pool_line(pool: PoolView) -> PoolSummary:
    pods = tuple((pod.name, pod.engine_version, pod.is_ready) for pod in pool.pods)
    return PoolSummary(
        pool.spec.name, tuple(sorted(pool.spec.roles)), pool.permitted_version, pool.replicas, pods
    )


def _next(ctx: ReconcileContext) -> NextPod | None:
    """The pod that the roll takes next; before it has begun, the one that it would begin with."""
    for pool in _pools_to_roll(ctx):
        order = Rollout(ctx.snapshot, ctx.ledger, ctx.pools).candidates(pool)
        left = [pod for pod in order if pod.name not in ctx.ledger.replaced_pods]
        if left:
            itself = next(each for each in ctx.pools if each.spec.name == pool.spec.name)
            candidate = Candidate(left[0], itself, frozenset(ctx.ledger.replaced_pods))
            gates = tuple(
                GateSummary(v.gate, v.is_open, v.message) for v in gate_results(candidate, ctx.snapshot)
            )
            return NextPod(left[0].name, pool.spec.name, gates)
    return None


def _pools_to_roll(ctx: ReconcileContext) -> Iterator[PoolView]:
    """As they will be when their turn has come: with a template that is not the one of their old pods."""
    target = _target(ctx)
    for pool in ctx.pools:
        found = pool.stateful_set
        behind = [pod for pod in pool.pods if pod.engine_version != target]
        if found is not None and behind and not pool.outdated_pods:
            fresh = replace(found, template=f"{found.template} of {target}")
            yield replace(pool, stateful_set=fresh, pods=tuple(behind))
        else:
            yield pool


def _steps(ctx: ReconcileContext, taken: NextPod | None) -> Iterator[UpgradeStep]:
    """Every pod in the order it goes, then Dashboards. Nothing while there is nothing to upgrade."""
    target = _target(ctx)
    is_new, is_done = (
        ctx.snapshot.cluster.engine_version is None,
        all(c.is_done for c in present_components(ctx, target)),
    )
    if ctx.ledger.upgrade is None and (is_new or is_done):
        return
    is_left = False
    for pool in ctx.pools:
        for pod in _in_order(pool.pods, ctx):
            state = _state(pod, target, ctx, is_next=taken is not None and taken.pod == pod.name)
            is_left |= state in (StepState.NEXT, StepState.WAITING)
            yield UpgradeStep(pod.name, state, pod.engine_version, pod.problem)
    ahead = StepState.WAITING if is_left else StepState.NEXT
    for each in dashboards(ctx, target):
        yield UpgradeStep(each.name, StepState.DONE if each.is_done else ahead, each.version)


def _in_order(pods: tuple[Pod, ...], ctx: ReconcileContext) -> list[Pod]:
    elected = ctx.snapshot.engine.elected if isinstance(ctx.snapshot.engine, EngineView) else None
    last = None if elected is None else elected.name
    target = _target(ctx)
    return sorted(pods, key=lambda pod: (pod.engine_version != target, pod.name == last))


def _state(pod: Pod, target: str, ctx: ReconcileContext, *, is_next: bool) -> StepState:
    if pod.name in ctx.ledger.replaced_pods or pod.is_terminating:
        return StepState.CURRENT
    if pod.engine_version == target and pod.is_ready:
        return StepState.DONE
    return StepState.NEXT if is_next else StepState.WAITING
