"""The laws of an operator, I1 to I14: what no write may do, whatever else goes wrong.

Each law is a function of one step: the state before, the write, the state after. It gives a sentence where it
is broken, and nothing where it holds. They read the world itself, not what the operator makes of it. Those of
taking away are in `departures`, those of versions in `ascents`; here is the rest, and all of them together.
"""

from __future__ import annotations

__all__ = ["INVARIANTS", "Invariant", "Violation", "leftovers", "violations"]

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeAlias

from searchkeeper.api.status import SummaryType
from searchkeeper.desired import names
from searchkeeper.kubernetes.operations import EngineCall, Key
from searchkeeper.opensearch.calls import ClearVotingExclusions, Exclude, ExcludeFromVoting, SetAllocation
from searchkeeper.planner.actions import closure
from searchkeeper.planner.denied_operations import DENIED_PREFIX
from searchkeeper.reconcilers.versions import CLUSTER_RECONCILERS, POOL_RECONCILERS
from searchkeeper.testing.fake_cluster import FakeClusterState
from searchkeeper.testing.fake_kubernetes.manifests import get_value
from searchkeeper.testing.invariants.removals import (
    allocation_targets_remain,
    batches_grow_slowly,
    deletes_have_preconditions,
    deletes_recorded_first,
    last_copies_kept,
    one_voter_at_a_time,
    quorum_kept,
)
from searchkeeper.testing.invariants.transitions import ObservedState, StatusPatch, Transition
from searchkeeper.testing.invariants.versions import (
    configuration_upgrades_are_supported,
    no_rollback_past_point_of_no_return,
    pools_run_permitted_version,
    refused_versions_touch_nothing,
    versions_can_coexist,
    versions_only_rise,
)
from searchkeeper.upgrade.ledger import ALLOCATION, EXCLUDED, SCALE_IN_EXCLUDED, SCALE_IN_VOTING, VOTING

# Which lines of the ledger speak of what a call changes.
_LINES: Final[Mapping[type, tuple[str, ...]]] = {
    SetAllocation: (ALLOCATION,),
    Exclude: (EXCLUDED, SCALE_IN_EXCLUDED),
    ExcludeFromVoting: (VOTING, SCALE_IN_VOTING),
    ClearVotingExclusions: (VOTING, SCALE_IN_VOTING),
}
_SUMMARY_TYPES: Final = frozenset(SummaryType)
Invariant: TypeAlias = Callable[[Transition], str | None]
_Pools: TypeAlias = dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Violation:
    """A law that a write broke."""

    law: str
    message: str
    step: Transition

    def __str__(self) -> str:
        return f"{self.law}: {self.message} ({self.step.write!r})"


def violations(step: Transition) -> Iterator[Violation]:
    """Every law that this step breaks."""
    for law in INVARIANTS:
        sentence = law(step)
        if sentence is not None:
            yield Violation(law.__name__, sentence, step)


def settings_recorded_first(step: Transition) -> str | None:
    """I9: what the engine is told to change is in the ledger before, and until it is seen undone."""
    if not isinstance(step.write, EngineCall):
        return None
    lines = _LINES.get(type(step.write.call), ())
    if not lines or any(line in step.before.ledger for line in lines):
        return None
    return f"neither {' nor '.join(lines)} is in the ledger"


def locked_spec_unchanged(step: Transition) -> str | None:
    """I11: while an upgrade is under way, pools and certificates are as they were when it began.

    But for nodes that are no part of the engine: the lock may let go of those.
    """
    lock, later = _locked(step.before), _locked(step.after)
    if lock and step.key is not None and step.key.kind == "StatefulSet":
        new = sorted(_certificates(step.after) - _certificates(step.before))
        return f"{step.key.name} gets the certificates of {', '.join(new)} under lock" if new else None
    released = [name for pool in lock.keys() & later.keys() for name in _released(step, pool, lock, later)]
    if released:
        return f"{', '.join(sorted(released))} is let out of the lock"
    if not lock or step.key is None or step.key.kind != "SearchPool" or step.written is None:
        return None
    spec, pool = step.written["spec"], lock.get(step.key.name)
    before = step.before.all_of("SearchPool").get(step.key.name, step.written)["spec"]
    if pool is None or sorted(pool["roles"]) != spec["roles"]:
        return f"{step.key.name} changes under lock"
    is_locked = spec["replicas"] in (pool["replicas"], before["replicas"])
    return None if is_locked else f"{step.key.name} changes its size under lock"


def _locked(moment: ObservedState) -> _Pools:
    """The pools in the lock, by the name of their SearchPool."""
    lock = moment.ledger.lock
    found = [] if lock is None else json.loads(lock)["pools"]
    return {f"{moment.key.name}-{each['name']}": each for each in found}


def _certificates(moment: ObservedState) -> set[str]:
    """The Secrets that any node mounts, or would if it were made anew."""
    pods = [each["spec"]["template"] for each in moment.all_of("StatefulSet").values()]
    volumes = (each for pod in pods for each in pod["spec"].get("volumes") or ())
    return {each["secret"]["secretName"] for each in volumes if each["name"] == names.CERTIFICATES_VOLUME}


def _released(step: Transition, pool: str, lock: _Pools, later: _Pools) -> Iterator[str]:
    """Nodes of the engine that the lock had, and has no more."""
    for ordinal in range(later[pool]["replicas"], lock[pool]["replicas"]):
        if f"{pool}-{ordinal}" in step.before.engine.names:
            yield f"{pool}-{ordinal}"


def conditions_follow_prerequisites(step: Transition) -> str | None:
    """I14: a condition is True or False only if all that it requires is True."""
    if not isinstance(step.write, StatusPatch) or step.written is None or step.key is None:
        return None
    conditions = get_value(step.written, "status", "conditions", default=())
    given = {each["type"]: each["status"] for each in conditions if each["type"] not in _SUMMARY_TYPES}
    for required in _prerequisites(step.key.kind, step.release.configurations):
        for name in required if set(required) == set(given) else ():
            closed = [each for each in required[name] if given[each] != "True"]
            if closed and given[name] != "Unknown":
                return f"{name} is {given[name]} without {', '.join(closed)}"
    return None


@cache
def _prerequisites(kind: str, versions: tuple[int, ...]) -> tuple[dict[str, tuple[str, ...]], ...]:
    """What each action requires, for each of these versions."""
    found = [
        closure(CLUSTER_RECONCILERS[version].actions)
        if kind == "SearchCluster"
        else closure(POOL_RECONCILERS[version].actions)
        for version in versions
    ]
    return tuple({each.name: tuple(p.name for p in each.requires) for each in actions} for actions in found)


INVARIANTS: Final[tuple[Invariant, ...]] = (
    quorum_kept,
    one_voter_at_a_time,
    versions_can_coexist,
    versions_only_rise,
    pools_run_permitted_version,
    configuration_upgrades_are_supported,
    last_copies_kept,
    allocation_targets_remain,
    deletes_have_preconditions,
    deletes_recorded_first,
    settings_recorded_first,
    refused_versions_touch_nothing,
    locked_spec_unchanged,
    batches_grow_slowly,
    no_rollback_past_point_of_no_return,
    conditions_follow_prerequisites,
)


def leftovers(state: FakeClusterState, key: Key) -> str | None:
    """What is left over in a state in which the operator finds nothing to do: settings, locks, journeys."""
    moment = ObservedState(state, key)
    left = [line for line in moment.ledger if line.startswith(("engine/", "roll/", DENIED_PREFIX))]
    if left:
        return f"the ledger still has {', '.join(left)}"
    if state.engine.allocation is not None or state.engine.voting_exclusions:
        return "the engine still has settings of ours"
    return "the lock is held" if moment.ledger.lock is not None else None
