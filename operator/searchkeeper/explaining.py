"""What the operator would do at this moment, and why: a cycle that is told instead of carried out."""

from __future__ import annotations

__all__ = [
    "ActionLine",
    "Explanation",
    "GateLine",
    "Next",
    "PoolLine",
    "Step",
    "StepState",
    "explain",
    "from_outside",
    "recalled",
]

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from searchkeeper.components import Component, Step, StepState, dashboards, missing, there
from searchkeeper.configuration.procedures import CLUSTER, deployed_version, shipped
from searchkeeper.configuration.scene import Scene
from searchkeeper.engine.view import EngineView
from searchkeeper.kernel import DENIED, FAULT, STALLED, Condition, Ledger, Plan, Status, Unfit, choose, waited
from searchkeeper.loop import Step as LoopStep
from searchkeeper.loop import steps
from searchkeeper.observed import Observed, Pod, PoolView
from searchkeeper.upgrade.gates import FOR_EVER, Candidate, verdicts
from searchkeeper.upgrade.rolling import Roll

# Who knows best what a cluster waits for: the actions that tell first, and those that only follow others.
_TELLING: Final = ("VersionIsAccepted", "PodsAreCurrent", "UpgradeIsBegun")
_FOLLOWING: Final = ("EngineIsHealthy", "DashboardsAreCurrent")
_BACK: Final = "RollbackIsPossible"
# Who says why a release does nothing at all for a cluster.
_REFUSING: Final = ("ConfigurationIsKnown", "SpecIsReadable")


@dataclass(frozen=True, slots=True)
class ActionLine:
    """One action's answer. `waits` is for how many seconds it has been waiting for the same thing."""

    resource: str
    action: str
    status: str
    reason: str
    message: str
    waits: int | None = None

    @property
    def holds_up(self) -> bool:
        """Whether it waits by itself, or has failed, and not just for another action."""
        return self.status == Status.FALSE or self.reason == FAULT


@dataclass(frozen=True, slots=True)
class GateLine:
    """One gate's verdict about the pod that is next."""

    gate: str
    is_open: bool
    sentence: str


@dataclass(frozen=True, slots=True)
class PoolLine:
    """A pool in the order of the roll: its roles, what it may run, how many pods it should have, its pods."""

    name: str
    roles: tuple[str, ...]
    permitted: str | None
    replicas: int
    pods: tuple[tuple[str, str, bool], ...]


@dataclass(frozen=True, slots=True)
class Next:
    """The pod that is taken next, and what every gate says to that."""

    pod: str
    pool: str
    gates: tuple[GateLine, ...]

    @property
    def is_free(self) -> bool:
        return all(gate.is_open for gate in self.gates)


@dataclass(frozen=True, slots=True)
class Explanation:
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
    under_way: tuple[str, str] | None
    pools: tuple[PoolLine, ...]
    actions: tuple[ActionLine, ...]
    writes: tuple[str, ...]
    next: Next | None
    way_back: str
    steps: tuple[Step, ...]
    components: tuple[Component, ...]
    history: tuple[str, ...]
    deadline: int | None
    now: int

    @property
    def share_done(self) -> float:
        done = sum(step.state is StepState.DONE for step in self.steps)
        return done / len(self.steps) if self.steps else 1.0

    @property
    def cause(self) -> str | None:
        """What is waited for, in the words of the action that knows best; what has stalled comes first."""
        waits = [a for a in self.actions if a.holds_up and a.action != _BACK]
        return min(waits, key=_rank).message if waits else None

    @property
    def refusal(self) -> str | None:
        """Why the engine version that is asked for is not brought about, if it is not."""
        told = (a for a in self.actions if a.action == "VersionIsAccepted" and a.status == Status.FALSE)
        return next((each.message for each in told), None)

    @property
    def is_in_trouble(self) -> bool:
        """Stalled or refused, by what the status says or by what the next one would."""
        stalled = any(a.message.startswith(STALLED) for a in self.actions)
        is_refused = self.refusal is not None or self.unfit is not None
        return is_refused or stalled or self.phase in ("Stalled", "Refused")


def explain(seen: Observed) -> Explanation:
    """Pure. The writes are those of the first resource that has any: a cycle carries out no others.

    Other words in a status, and writes that were refused, keep no other resource from its turn.
    """
    chosen = choose(shipped(CLUSTER, seen.release), deployed_version(seen))
    version = max(seen.release.procedures) if isinstance(chosen, Unfit) else chosen.version
    is_adrift = seen.cluster.is_adrift
    unfit = (isinstance(chosen, Unfit) or is_adrift) and not seen.cluster.is_deleting
    told = _explanation(Scene(seen, version), tuple(steps(seen)), is_unfit=unfit)
    return _without_a_spec(told, seen) if is_adrift else told


def _without_a_spec(told: Explanation, seen: Observed) -> Explanation:
    """Nobody knows what is wanted: only what was said last, and what is asked for in so many words."""
    raw = seen.objects[seen.cluster.key]
    match raw.get("spec"):
        case {"version": str(version)}:
            target = version
        case _:
            target = "-"
    ready = str((raw.get("status") or {}).get("ready") or "-")
    return replace(told, target=target, ready=ready, pools=(), next=None, steps=(), components=())


def recalled(seen: Observed) -> Explanation:
    """As the operator itself told it last: for whoever cannot reach the engine that it reaches."""
    actions = _said_last(seen)
    return replace(explain(seen), actions=actions, way_back=_way_back(actions), deadline=None)


def from_outside(seen: Observed) -> Explanation:
    """What would be done without the engine, for whoever cannot reach the engine that the operator reaches.

    Nobody knows the way back from here, nor does any wait that only begins here end in a stall.
    """
    told, said = explain(seen), _way_back(_said_last(seen))
    if told.under_way is None:
        return replace(told, deadline=None)
    words = "not known from here" + (f"; the operator said: {said}" if said else "")
    actions = (replace(a, message=words) if a.action == _BACK else a for a in told.actions)
    return replace(told, actions=tuple(actions), way_back=words, deadline=None)


def _said_last(seen: Observed) -> tuple[ActionLine, ...]:
    records, name = seen.cluster.records, str(seen.cluster.key)
    return tuple(_line(each, name, records.ledger, seen.now) for each in records.conditions)


def _way_back(actions: Sequence[ActionLine]) -> str:
    return next((each.message for each in actions if each.action == _BACK), "")


def _rank(line: ActionLine) -> tuple[bool, int]:
    order = (*_TELLING, "", *_FOLLOWING)
    place = order.index(line.action if line.action in order else "")
    return not line.message.startswith(STALLED), place


def _lines(step: LoopStep, now: int) -> Iterator[ActionLine]:
    for each in step.plan.conditions:
        yield _line(each, str(step.key), step.plan.ledger, now)


def _line(told: Condition, resource: str, ledger: Ledger, now: int) -> ActionLine:
    waits = waited(ledger, told.type, now)
    seconds = None if waits is None or waits[0] != told.reason else waits[1]
    return ActionLine(resource, told.type, str(told.status), told.reason, told.message, seconds)


def _explanation(scene: Scene, cycle: Sequence[LoopStep], *, is_unfit: bool) -> Explanation:
    seen, cluster = scene.seen, scene.seen.cluster
    status = cycle[0].before
    actions = tuple(line for step in cycle for line in _lines(step, seen.now))
    ready = sum(pod.is_ready for pod in seen.pods)
    taken = None if cluster.is_deleting else _next(scene)
    return Explanation(
        cluster=f"{cluster.key.namespace}/{cluster.key.name}",
        release=seen.release.version,
        phase=_phase(cycle[0]),
        ready=f"{ready}/{sum(pool.replicas for pool in seen.pools)}",
        engine=cluster.engine_version,
        target=_target(scene),
        configuration=cluster.current_version,
        follows=None if is_unfit else scene.version,
        unfit=next(a.message for a in actions if a.action in _REFUSING) if is_unfit else None,
        under_way=scene.journal.under_way,
        pools=tuple(map(_pool_line, scene.pools)),
        actions=actions,
        writes=tuple(_writes(cycle)),
        next=taken,
        way_back=_way_back(actions),
        steps=tuple(_steps(scene, taken)),
        components=(*there(scene, _target(scene)), *missing(scene, _target(scene))),
        history=tuple(_history(status.get("upgrade") or {})),
        deadline=_deadline([step.plan for step in cycle], seen.now),
        now=seen.now,
    )


def _phase(step: LoopStep) -> str:
    """As it was told last; but a refusal is known before it is told."""
    told = "Refused" if step.status.get("phase") == "Refused" else step.before.get("phase")
    return str(told or "Pending")


def _writes(cycle: Sequence[LoopStep]) -> Iterator[str]:
    """In the order they are carried out: what is about to be done is stored first."""
    for step in cycle:
        if step.is_news:
            yield f"store the status of {step.key}"
        yield from map(str, step.plan.writes)
        denied = {each.type for each in step.plan.conditions if each.reason == DENIED}
        if not step.only_tells or any(deed.action not in denied for deed in step.plan.deeds):
            return


def _history(upgrade: Mapping[str, Any]) -> Iterator[str]:
    """Upgrades that are over, oldest first."""
    for each in upgrade.get("history") or ():
        yield f"{each.get('from')} → {each.get('target')}: {each.get('result')} at {each.get('finishedAt')}"


def _deadline(plans: Sequence[Plan], now: int) -> int | None:
    """Of the waits that have an end at all."""
    moments = (made.wake_at for made in plans if made.wake_at is not None)
    return min((moment for moment in moments if moment - now < FOR_EVER // 2), default=None)


def _target(scene: Scene) -> str:
    """Where the engine goes: also before the upgrade that was asked for has begun."""
    if scene.journal.under_way is None and scene.refusal is None:
        return scene.seen.cluster.spec.version
    return scene.target


def _pool_line(pool: PoolView) -> PoolLine:
    pods = tuple((pod.name, pod.engine_version, pod.is_ready) for pod in pool.pods)
    return PoolLine(pool.spec.name, tuple(sorted(pool.spec.roles)), pool.permitted, pool.replicas, pods)


def _next(scene: Scene) -> Next | None:
    """The pod that the roll takes next; before it has begun, the one that it would begin with."""
    for pool in _pools_to_roll(scene):
        order = Roll(scene.seen, scene.journal, scene.pools).candidates(pool)
        left = [pod for pod in order if pod.name not in scene.journal.away]
        if left:
            itself = next(each for each in scene.pools if each.spec.name == pool.spec.name)
            candidate = Candidate(left[0], itself, frozenset(scene.journal.away))
            gates = tuple(GateLine(v.gate, v.is_open, v.sentence) for v in verdicts(candidate, scene.seen))
            return Next(left[0].name, pool.spec.name, gates)
    return None


def _pools_to_roll(scene: Scene) -> Iterator[PoolView]:
    """As they will be when their turn has come: with a template that is not the one of their old pods."""
    target = _target(scene)
    for pool in scene.pools:
        found = pool.stateful_set
        behind = [pod for pod in pool.pods if pod.engine_version != target]
        if found is not None and behind and not pool.stale_pods:
            fresh = replace(found, template=f"{found.template} of {target}")
            yield replace(pool, stateful_set=fresh, pods=tuple(behind))
        else:
            yield pool


def _steps(scene: Scene, taken: Next | None) -> Iterator[Step]:
    """Every pod in the order it goes, then Dashboards. Nothing while there is nothing to upgrade."""
    target = _target(scene)
    is_new, is_done = scene.seen.cluster.engine_version is None, all(c.is_done for c in there(scene, target))
    if scene.journal.under_way is None and (is_new or is_done):
        return
    is_left = False
    for pool in scene.pools:
        for pod in _in_order(pool.pods, scene):
            state = _state(pod, target, scene, is_next=taken is not None and taken.pod == pod.name)
            is_left |= state in (StepState.NEXT, StepState.WAITING)
            yield Step(pod.name, state, pod.engine_version, pod.problem)
    ahead = StepState.WAITING if is_left else StepState.NEXT
    for each in dashboards(scene, target):
        yield Step(each.name, StepState.DONE if each.is_done else ahead, each.version)


def _in_order(pods: tuple[Pod, ...], scene: Scene) -> list[Pod]:
    elected = scene.seen.engine.elected if isinstance(scene.seen.engine, EngineView) else None
    last = None if elected is None else elected.name
    target = _target(scene)
    return sorted(pods, key=lambda pod: (pod.engine_version != target, pod.name == last))


def _state(pod: Pod, target: str, scene: Scene, *, is_next: bool) -> StepState:
    if pod.name in scene.journal.away or pod.is_terminating:
        return StepState.CURRENT
    if pod.engine_version == target and pod.is_ready:
        return StepState.DONE
    return StepState.NEXT if is_next else StepState.WAITING
