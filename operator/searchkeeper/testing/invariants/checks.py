"""The invariants I1 to I16: what no write of the operator may do, whatever faults occur.

An invariant is a function of a `Transition`: the state before, the write, the state after. It returns a
sentence if the write violates it, otherwise None. It reads the real state of the cluster and the engine, not
the snapshot of the operator. Those of removals are in `removals`, those of versions in `versions`, those of
volumes in `volumes`; the others are here.
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
from searchkeeper.opensearch.calls import (
    ChangeRecord,
    ClearVotingExclusions,
    Exclude,
    ExcludeFromVoting,
    SetAllocation,
    TakeSnapshot,
)
from searchkeeper.planner import STALLED_ACTIONS
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
    exclusions_leave_a_data_node,
    last_copies_kept,
    one_voter_at_a_time,
    quorum_kept,
)
from searchkeeper.testing.invariants.transitions import ObservedState, Transition
from searchkeeper.testing.invariants.versions import (
    configuration_upgrades_are_supported,
    no_rollback_past_point_of_no_return,
    pools_run_permitted_version,
    refused_versions_touch_nothing,
    versions_can_coexist,
    versions_only_rise,
)
from searchkeeper.testing.invariants.volumes import claim_templates_follow_volumes, claims_never_shrink
from searchkeeper.testing.ports import StatusPatch
from searchkeeper.upgrade.ledger import (
    ALLOCATION,
    EXCLUDED,
    FOREIGN_VOTING,
    SCALE_IN_EXCLUDED,
    SCALE_IN_VOTING,
    SNAPSHOT,
    VOTING,
)

# The ledger lines that record the effect of a call.
_LINES: Final[Mapping[type, tuple[str, ...]]] = {
    SetAllocation: (ALLOCATION,),
    Exclude: (EXCLUDED, SCALE_IN_EXCLUDED),
    ExcludeFromVoting: (VOTING, SCALE_IN_VOTING),
    ClearVotingExclusions: (VOTING, SCALE_IN_VOTING),
    TakeSnapshot: (SNAPSHOT,),
    ChangeRecord: (VOTING, SCALE_IN_VOTING, FOREIGN_VOTING),
}
_SUMMARY_TYPES: Final = frozenset(SummaryType)
Invariant: TypeAlias = Callable[[Transition], str | None]
# The pools in the lock, by the name of their SearchPool.
_LockedPools: TypeAlias = dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Violation:
    """An invariant that a write violated."""

    invariant: str
    message: str
    step: Transition

    def __str__(self) -> str:
        return f"{self.invariant}: {self.message} ({self.step.write!r})"


def violations(step: Transition) -> Iterator[Violation]:
    """Yield every invariant that this write violates."""
    for invariant in INVARIANTS:
        message = invariant(step)
        if message is not None:
            yield Violation(invariant.__name__, message, step)


def settings_recorded_first(step: Transition) -> str | None:
    """I9: the ledger has an engine setting before it is changed and until it is restored.

    It also has the name of a snapshot before that is taken.
    """
    if not isinstance(step.write, EngineCall):
        return None
    lines = _LINES.get(type(step.write.call), ())
    if not lines or any(line in step.before.recorded for line in lines):
        return None
    return f"the ledger has no line {' or '.join(lines)}"


def settings_recorded_in_engine(step: Transition) -> str | None:
    """I9: the engine has a record of every exclusion that a call adds and that is in the ledger."""
    if not isinstance(step.write, EngineCall):
        return None
    before, after, ledger = step.before.engine, step.after.engine, step.before.recorded
    own = ledger.excluded | ledger.scale_in_excluded
    own_votes = ledger.scale_in_voting_excluded | {ledger.voting_excluded}
    added = (after.excluded - before.excluded) & own
    added |= (after.voting_exclusions - before.voting_exclusions) & own_votes
    texts = [text for _, text in after.record]
    missing = sorted(name for name in added if not any(json.dumps(name) in text for text in texts))
    return f"the engine has no record of {', '.join(missing)}" if missing else None


def locked_spec_unchanged(step: Transition) -> str | None:
    """I11: during an upgrade, pools and certificates stay as they were when it started.

    The lock may drop nodes that are not part of the engine.
    """
    lock = _locked_pools(step.before)
    if lock and step.key is not None and step.key.kind == "StatefulSet":
        new = sorted(_certificate_secrets(step.after) - _certificate_secrets(step.before))
        return f"{step.key.name} gets the certificates of {', '.join(new)} during an upgrade" if new else None
    dropped = [
        f"{pool}-{ordinal}"
        for pool, after in _locked_pools(step.after).items()
        if pool in lock
        for ordinal in range(after["replicas"], lock[pool]["replicas"])
        if f"{pool}-{ordinal}" in step.before.engine.names
    ]
    if dropped:
        return f"the lock drops {', '.join(sorted(dropped))}"
    if not lock or step.key is None or step.key.kind != "SearchPool" or step.written is None:
        return None
    spec, locked = step.written["spec"], lock.get(step.key.name)
    before = step.before.all_of("SearchPool").get(step.key.name, step.written)["spec"]
    if locked is None or sorted(locked["roles"]) != spec["roles"]:
        return f"{step.key.name} changes during an upgrade"
    if spec["replicas"] not in (locked["replicas"], before["replicas"]):
        return f"the replicas of {step.key.name} change during an upgrade"
    return None


def _locked_pools(state: ObservedState) -> _LockedPools:
    lock = state.ledger.lock
    pools = [] if lock is None else json.loads(lock)["pools"]
    return {f"{state.key.name}-{pool['name']}": pool for pool in pools}


def _certificate_secrets(state: ObservedState) -> set[str]:
    """Return the names of the certificate Secrets in the templates of all StatefulSets."""
    pods = [stateful_set["spec"]["template"] for stateful_set in state.all_of("StatefulSet").values()]
    volumes = (volume for pod in pods for volume in pod["spec"].get("volumes") or ())
    return {v["secret"]["secretName"] for v in volumes if v["name"] == names.CERTIFICATES_VOLUME}


def conditions_follow_prerequisites(step: Transition) -> str | None:
    """I14: a condition is Unknown unless every prerequisite is True."""
    if not isinstance(step.write, StatusPatch) or step.written is None or step.key is None:
        return None
    conditions = get_value(step.written, "status", "conditions", default=())
    statuses = {
        condition["type"]: condition["status"]
        for condition in conditions
        if condition["type"] not in _SUMMARY_TYPES
    }
    for required in _prerequisites(step.key.kind, step.release.configurations):
        if required.keys() != statuses.keys():
            continue
        for name, prerequisites in required.items():
            unmet = [each for each in prerequisites if statuses[each] != "True"]
            if unmet and statuses[name] != "Unknown":
                return f"{name} is {statuses[name]} without {', '.join(unmet)}"
    return None


@cache
def _prerequisites(kind: str, versions: tuple[int, ...]) -> tuple[dict[str, tuple[str, ...]], ...]:
    """Return the prerequisites of each action by name, for each of these configuration versions."""
    graphs = [
        closure(CLUSTER_RECONCILERS[version].actions)
        if kind == "SearchCluster"
        else closure(POOL_RECONCILERS[version].actions)
        for version in versions
    ]
    return tuple({each.name: tuple(p.name for p in each.requires) for each in actions} for actions in graphs)


INVARIANTS: Final[tuple[Invariant, ...]] = (
    quorum_kept,
    one_voter_at_a_time,
    versions_can_coexist,
    versions_only_rise,
    pools_run_permitted_version,
    configuration_upgrades_are_supported,
    last_copies_kept,
    allocation_targets_remain,
    exclusions_leave_a_data_node,
    deletes_have_preconditions,
    deletes_recorded_first,
    settings_recorded_first,
    settings_recorded_in_engine,
    refused_versions_touch_nothing,
    locked_spec_unchanged,
    batches_grow_slowly,
    no_rollback_past_point_of_no_return,
    conditions_follow_prerequisites,
    claims_never_shrink,
    claim_templates_follow_volumes,
)


def leftovers(state: FakeClusterState, key: Key) -> str | None:
    """Return what a converged operator has left behind: ledger lines, engine settings, the lock."""
    observed = ObservedState(state, key)
    prefixes = ("engine/", "roll/", DENIED_PREFIX, STALLED_ACTIONS)
    lines = [line for line in observed.ledger if line.startswith(prefixes)]
    if lines:
        return f"the ledger still has {', '.join(lines)}"
    if state.engine.allocation is not None or state.engine.voting_exclusions:
        return "the engine still has settings of the operator"
    if state.engine.record:
        return f"the engine still has the record {dict(state.engine.record)}"
    return "the lock is held" if observed.ledger.lock is not None else None
