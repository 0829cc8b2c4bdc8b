"""One cycle over the two ports: observe, plan, write down, carry out. Nothing here waits."""

from __future__ import annotations

__all__ = ["ROUNDS", "Cycle", "Step", "cycle", "decided", "steps"]

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

from searchkeeper.configuration import names
from searchkeeper.configuration.applying import difference
from searchkeeper.configuration.deleting import DELETION
from searchkeeper.configuration.illegible import ILLEGIBLE
from searchkeeper.configuration.pools import PoolScene
from searchkeeper.configuration.procedures import CLUSTER, POOL, deployed_version, shipped
from searchkeeper.configuration.scene import Scene
from searchkeeper.configuration.statuses import cluster_status, deletion_status, pool_status, refusal_status
from searchkeeper.configuration.unfit import REFUSAL
from searchkeeper.deeds import Denial, Stored, carried_out
from searchkeeper.engine.driver import Driver
from searchkeeper.holding import held, why_not_now
from searchkeeper.images import PUBLISHED, Images
from searchkeeper.kernel import (
    Condition,
    Deed,
    Ledger,
    Order,
    Plan,
    Procedure,
    Status,
    Unfit,
    Write,
    choose,
    plan,
)
from searchkeeper.kernel.denials import denial, denied_writes, is_news
from searchkeeper.kernel.waits import WAIT
from searchkeeper.kube import Kube
from searchkeeper.observed import ClusterView, Observed, PoolView
from searchkeeper.observing import observe, with_namesakes
from searchkeeper.resources.codec import ledger_json, records
from searchkeeper.upgrade.journal import Journal
from searchkeeper.versions import Release
from searchkeeper.writes import Create, Event, Key, Patch

W = TypeVar("W")

# More than it takes to prepare something once more, and to take it back.
ROUNDS: Final = 20
# What a status says to people: nobody else reads it.
_SAID: Final = frozenset({"conditions", "ledger"})
_WORDS: Final = _SAID | {"phase", "ready"}


@dataclass(frozen=True, slots=True)
class Cycle:
    """What a cycle came to: whether anything was written, whether all is done, and when to look again.

    `denied` are the writes that were refused, and would be again. What `only_told` has written are words in
    statuses, on which nobody decides anything. What `goes_round` was done before, and undone since: ROUNDS
    times in a row, and there is no end to it.
    """

    wrote: bool
    converged: bool
    wake_at: int | None = None
    denied: tuple[Denial, ...] = ()
    only_told: bool = False
    goes_round: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One resource's plan, and the status that follows from it."""

    key: Key
    resource_version: str
    before: Mapping[str, Any]
    status: Mapping[str, Any]
    plan: Plan

    @property
    def is_news(self) -> bool:
        return self.status != self.before

    @property
    def only_tells(self) -> bool:
        """Whether whoever was decided on beside it was decided on what still holds: only words have changed.

        Waits are the kernel's own, and each resource's.
        """
        changed = {name for name, part in self.status.items() if self.before.get(name) != part}
        return changed <= _WORDS and _lines(self.before) == _lines(self.status)


def _lines(status: Mapping[str, Any]) -> dict[str, str]:
    return {line: text for line, text in (status.get("ledger") or {}).items() if not line.startswith(WAIT)}


def cycle(  # noqa: PLR0913 - what an operator knows of itself is told by name
    kube: Kube,
    driver: Driver,
    key: Key,
    release: Release,
    now: int,
    *,
    looking_since: int = 0,
    settling: int = 0,
    operator_condition: Key | None = None,
    images: Images = PUBLISHED,
    order: Order = tuple,
) -> Cycle:
    """At most one destructive write. Raises KubeError, CallFailed: look again, nothing is lost.

    A write that is refused for good costs no other action its own, and is told of in the status.
    The status is stored before any write of the same plan: what is about to be done is known to whoever
    comes after a crash. The operator condition, where OLM has made one, is told in between. Nobody's patience
    ends before this operator has been looking for as long. Who was waited for until less than `settling`
    seconds ago, and is again, is not spoken of yet. `images` is where the engine's come from. In which
    `order` actions are asked changes nothing: what one relies on are its prerequisites.
    """
    seen = observe(kube, driver, key, release, now)
    if seen is None:
        return Cycle(wrote=False, converged=True)
    wake_at: list[int] = []
    denied: list[Denial] = []
    converged = True
    seen, found = decided(kube, replace(seen, looking_since=looking_since, images=images), order)
    has_told = False
    for step in found:
        is_held_back = _is_relapse(step, now, settling)
        stored = step.resource_version if is_held_back else _stored(kube, step)
        is_first = step is found[0]
        holding = _held(kube, operator_condition, seen, found) if operator_condition and is_first else ()
        of = Stored(step.key, step.resource_version, stored)
        told_olm, unheard = carried_out(kube, driver, holding, of)
        made, refused = carried_out(kube, driver, step.plan.deeds, of)
        denied += [*unheard, *refused]
        has_noted = not made and _noted(kube, step, stored, refused)
        if made or has_noted or told_olm or not step.only_tells:
            goes_round = not step.plan.headway
            return Cycle(wrote=True, converged=False, denied=tuple(denied), goes_round=goes_round)
        has_told |= step.is_news and not is_held_back
        converged &= step.plan.converged and not step.is_news
        wake_at += [step.plan.wake_at] if step.plan.wake_at is not None else []
    return Cycle(has_told, converged, min(wake_at, default=None), tuple(denied), only_told=has_told)


def steps(seen: Observed, order: Order = tuple) -> Iterator[Step]:
    """The parent first, then each pool by the parent's version. Pure: also for those who only ask.

    A cluster that is being deleted has no other goal; one whose spec cannot be followed, or that no
    procedure takes, has none at all.
    """
    cluster, before = seen.cluster, seen.objects[seen.cluster.key].get("status") or {}
    deployed = deployed_version(seen)
    chosen = choose(shipped(CLUSTER, seen.release), deployed)
    children = choose(shipped(POOL, seen.release), deployed)
    if cluster.is_deleting:
        made = _planned(DELETION, Scene(seen, 0), cluster, seen.now, order)
        status = deletion_status(seen, made, before)
        yield Step(cluster.key, cluster.resource_version, before, status, made)
    elif cluster.is_adrift:
        made = _planned(ILLEGIBLE, seen, cluster, seen.now, order)
        yield Step(cluster.key, cluster.resource_version, before, refusal_status(seen, made, before), made)
    elif isinstance(chosen, Unfit) or isinstance(children, Unfit):
        unfit = chosen if isinstance(chosen, Unfit) else children
        assert isinstance(unfit, Unfit)
        made = _planned(REFUSAL, unfit, cluster, seen.now, order)
        status = refusal_status(seen, made, before)
        yield Step(cluster.key, cluster.resource_version, before, status, made)
    else:
        yield from _ordinary(Scene(seen, chosen.version), chosen, children, before, order)


def decided(kube: Kube, seen: Observed, order: Order = tuple) -> tuple[Observed, tuple[Step, ...]]:
    """The steps, and what they were decided on. Raises KubeError.

    They are decided anew where somebody has a name that something would be created under.
    """
    found = tuple(steps(seen, order))
    new = [write.key for step in found for write in step.plan.writes if isinstance(write, Create)]
    whole = with_namesakes(kube, seen, new)
    return (seen, found) if whole is seen else decided(kube, whole, order)


def _planned(procedure: Procedure[W], world: W, of: ClusterView | PoolView, now: int, order: Order) -> Plan:
    return plan(procedure, world, of.records, now=now, generation=of.generation, order=order)


def _ordinary(
    scene: Scene,
    procedure: Procedure[Scene],
    children: Procedure[PoolScene],
    before: Mapping[str, Any],
    order: Order,
) -> Iterator[Step]:
    seen, cluster = scene.seen, scene.seen.cluster
    made = _planned(procedure, scene, cluster, seen.now, order)
    made = _on_one_course(made, scene.journal)
    status = cluster_status(scene, made, before)
    yield Step(cluster.key, cluster.resource_version, before, status, made)
    for pool in sorted(scene.pools, key=lambda pool: pool.spec.name):
        if pool.uid is not None:
            yield _pool_step(scene, pool, children, order)


def _on_one_course(made: Plan, journal: Journal) -> Plan:
    """Whatever was decided before an upgrade took the lock, or before it turned, is decided anew after that.

    Events are of the past, and told.
    """
    if _course(Journal(made.ledger)) == _course(journal):
        return made
    events = ((deed, tuple(each for each in deed.writes if isinstance(each, Event))) for deed in made.deeds)
    return replace(made, deeds=tuple(replace(deed, writes=told) for deed, told in events if told))


def _course(journal: Journal) -> tuple[Any, ...]:
    return journal.lock, journal.under_way, journal.returns_to


def _pool_step(scene: Scene, pool: PoolView, procedure: Procedure[PoolScene], order: Order) -> Step:
    seen = scene.seen
    key = scene.key(
        f"{names.GROUP}/v1alpha1", "SearchPool", names.pool_name(scene.deployed.name, pool.spec.name)
    )
    made = _planned(procedure, PoolScene(scene, pool), pool, seen.now, order)
    before = seen.objects[key].get("status") or {}
    status = pool_status(seen, pool, made, procedure.version, before)
    return Step(key, pool.resource_version, before, status, made)


def _is_relapse(step: Step, now: int, settling: int) -> bool:
    """Whether all that a status has to tell is that somebody waits again who has only just been done.

    An engine that answers every other time would have it written with every look. What is better is told at
    once, and what is worse when it has been well for a while, or stays so: a wait begins later, and no
    patience ends earlier.
    """
    changed = {name for name, part in step.status.items() if step.before.get(name) != part}
    known = {each.type: each for each in records(step.before).conditions}
    turned = [each for each in step.plan.conditions if not _says_the_same(known.get(each.type), each)]
    were_well = all(_is_fresh(known.get(each.type), now, settling) for each in turned)
    return bool(turned) and were_well and step.only_tells and changed <= _SAID


def _says_the_same(before: Condition | None, after: Condition) -> bool:
    return before is not None and (before.status, before.reason) == (after.status, after.reason)


def _is_fresh(condition: Condition | None, now: int, settling: int) -> bool:
    """Well, and only just. A moment that is still to come was noted by another clock."""
    if condition is None or condition.status is not Status.TRUE:
        return False
    return now - settling < condition.last_transition <= now


def _stored(kube: Kube, step: Step) -> str:
    """Stores the status if it has changed. The resource's version after that."""
    if not step.is_news:
        return step.resource_version
    patch = Patch(step.key, {"status": difference(step.before, step.status)}, step.resource_version)
    return str(kube.patch_status(patch)["metadata"]["resourceVersion"])


def _held(kube: Kube, condition: Key, seen: Observed, found: Sequence[Step]) -> tuple[Deed, ...]:
    """What tells OLM whether it may replace this operator now, where that is news. It is nobody's goal.

    Whatever is about to be done counts, also for pools: said by each for itself, it would be taken back and
    said again with every look where it cannot be done. What is refused is no step: it may take another
    release, with other rights, to make it one. Who is deleted, or cannot be followed, is amid none.
    """
    told, cluster = kube.get(condition), seen.cluster
    if told is None:
        return ()
    why = None if _is_left(cluster) else why_not_now(seen, found[0].plan.ledger, _about_to_be_made(found))
    patch = held(told, cluster.key, why, exists=lambda key: kube.get(key) is not None, now=seen.now)
    return () if patch is None else (Deed("", (patch,)),)


def _about_to_be_made(found: Sequence[Step]) -> Iterator[Write]:
    for step in found:
        refused = set(denied_writes(step.plan.ledger))
        yield from (each for each in step.plan.writes if str(each) not in refused)


def _is_left(cluster: ClusterView) -> bool:
    return cluster.is_deleting or cluster.is_adrift


def _noted(kube: Kube, step: Step, stored: str, denied: Sequence[Denial]) -> bool:
    """Notes what was refused, so that the next plan says so; whether that was news.

    Asked only where nothing else was done: what passes with the next look is not worth a line.
    """
    lines = dict(denial(each.action, each.write, each.words) for each in denied if each.action)
    news = {line: entry for line, entry in lines.items() if is_news(step.plan.ledger, line, entry)}
    if news:
        changes = {"status": {"ledger": ledger_json(Ledger.of(news))}}
        kube.patch_status(Patch(step.key, changes, stored))
    return bool(news)
