"""The laws of an operator, I1 to I14: what no write may do, whatever else goes wrong.

Each law is a function of one step: the state before, the write, the state after. It gives a sentence where it
is broken, and nothing where it holds. They read the world itself, not what the operator makes of it. Those of
taking away are in `departures`, those of versions in `ascents`; here is the rest, and all of them together.
"""

from __future__ import annotations

__all__ = ["LAWS", "Breach", "Law", "broken", "unrest"]

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeAlias

from searchkeeper.configuration import names
from searchkeeper.configuration.procedures import CLUSTER, POOL
from searchkeeper.embedded.manifests import value
from searchkeeper.embedded.world import State
from searchkeeper.engine.calls import ClearVotingExclusions, Exclude, ExcludeFromVoting, SetAllocation
from searchkeeper.kernel.actions import closure
from searchkeeper.kernel.denials import DENIAL
from searchkeeper.proof.ascents import (
    configuration_can_start_from_what_is_there,
    no_way_back_is_gone_that_is_closed,
    pools_run_what_is_permitted,
    refused_versions_touch_nothing,
    versions_can_coexist,
    versions_only_rise,
)
from searchkeeper.proof.departures import (
    batches_grow_slowly,
    deletions_are_written_down_first,
    deletions_name_what_was_seen,
    last_copies_stay,
    one_voter_is_away,
    quorum_is_kept,
    shards_have_a_home,
)
from searchkeeper.proof.steps import Moment, Step, Stored
from searchkeeper.upgrade.journal import ALLOCATION, EXCLUDED, LEAVING, LEAVING_VOTES, VOTING
from searchkeeper.writes import Key, Tell

# Which lines of the ledger speak of what a call changes.
_LINES: Final[Mapping[type, tuple[str, ...]]] = {
    SetAllocation: (ALLOCATION,),
    Exclude: (EXCLUDED, LEAVING),
    ExcludeFromVoting: (VOTING, LEAVING_VOTES),
    ClearVotingExclusions: (VOTING, LEAVING_VOTES),
}
Law: TypeAlias = Callable[[Step], str | None]
_Pools: TypeAlias = dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Breach:
    """A law that a write broke."""

    law: str
    sentence: str
    step: Step

    def __str__(self) -> str:
        return f"{self.law}: {self.sentence} ({self.step.write!r})"


def broken(step: Step) -> Iterator[Breach]:
    """Every law that this step breaks."""
    for law in LAWS:
        sentence = law(step)
        if sentence is not None:
            yield Breach(law.__name__, sentence, step)


def settings_are_written_down_first(step: Step) -> str | None:
    """I9: what the engine is told to change is in the ledger before, and until it is seen undone."""
    if not isinstance(step.write, Tell):
        return None
    lines = _LINES.get(type(step.write.call), ())
    if not lines or any(line in step.before.ledger for line in lines):
        return None
    return f"neither {' nor '.join(lines)} is in the ledger"


def locked_specs_wait(step: Step) -> str | None:
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


def _locked(moment: Moment) -> _Pools:
    """The pools in the lock, by the name of their SearchPool."""
    lock = moment.journal.lock
    found = [] if lock is None else json.loads(lock)["pools"]
    return {f"{moment.key.name}-{each['name']}": each for each in found}


def _certificates(moment: Moment) -> set[str]:
    """The Secrets that any node mounts, or would if it were made anew."""
    pods = [each["spec"]["template"] for each in moment.all_of("StatefulSet").values()]
    volumes = (each for pod in pods for each in pod["spec"].get("volumes") or ())
    return {each["secret"]["secretName"] for each in volumes if each["name"] == names.CERTIFICATES_VOLUME}


def _released(step: Step, pool: str, lock: _Pools, later: _Pools) -> Iterator[str]:
    """Nodes of the engine that the lock had, and has no more."""
    for ordinal in range(later[pool]["replicas"], lock[pool]["replicas"]):
        if f"{pool}-{ordinal}" in step.before.engine.names:
            yield f"{pool}-{ordinal}"


def conditions_follow_their_prerequisites(step: Step) -> str | None:
    """I14: a condition is True or False only if all that it requires is True."""
    if not isinstance(step.write, Stored) or step.written is None or step.key is None:
        return None
    given = {each["type"]: each["status"] for each in value(step.written, "status", "conditions", default=())}
    for required in _prerequisites(step.key.kind, step.release.procedures):
        for name in required if set(required) == set(given) else ():
            closed = [each for each in required[name] if given[each] != "True"]
            if closed and given[name] != "Unknown":
                return f"{name} is {given[name]} without {', '.join(closed)}"
    return None


@cache
def _prerequisites(kind: str, versions: tuple[int, ...]) -> tuple[dict[str, tuple[str, ...]], ...]:
    """What each action requires, for each of these versions."""
    found = [
        closure(CLUSTER[version].actions) if kind == "SearchCluster" else closure(POOL[version].actions)
        for version in versions
    ]
    return tuple({each.name: tuple(p.name for p in each.requires) for each in actions} for actions in found)


LAWS: Final[tuple[Law, ...]] = (
    quorum_is_kept,
    one_voter_is_away,
    versions_can_coexist,
    versions_only_rise,
    pools_run_what_is_permitted,
    configuration_can_start_from_what_is_there,
    last_copies_stay,
    shards_have_a_home,
    deletions_name_what_was_seen,
    deletions_are_written_down_first,
    settings_are_written_down_first,
    refused_versions_touch_nothing,
    locked_specs_wait,
    batches_grow_slowly,
    no_way_back_is_gone_that_is_closed,
    conditions_follow_their_prerequisites,
)


def unrest(state: State, key: Key) -> str | None:
    """What is left over in a state in which the operator finds nothing to do: settings, locks, journeys."""
    moment = Moment(state, key)
    left = [line for line in moment.ledger if line.startswith(("engine/", "roll/", DENIAL))]
    if left:
        return f"the ledger still has {', '.join(left)}"
    if state.engine.allocation is not None or state.engine.voting_exclusions:
        return "the engine still has settings of ours"
    return "the lock is held" if moment.journal.lock is not None else None
