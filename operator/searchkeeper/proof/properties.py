"""The laws of an operator, I1 to I14: what no write may do, whatever else goes wrong.

Each law is a function of one step: the state before, the write, the state after. It gives a sentence where it
is broken, and nothing where it holds. They read the world itself, not what the operator makes of it.
"""

from __future__ import annotations

__all__ = ["LAWS", "Breach", "Law", "broken", "unrest"]

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final, TypeAlias

from semver import Version

from searchkeeper.configuration import names
from searchkeeper.configuration.procedures import CLUSTER, POOL
from searchkeeper.embedded.manifests import annotation, is_terminating, value
from searchkeeper.embedded.world import State
from searchkeeper.engine.calls import ClearVotingExclusions, Exclude, ExcludeFromVoting, SetAllocation
from searchkeeper.kernel.actions import closure
from searchkeeper.proof.steps import Moment, Step, Stored, image_version
from searchkeeper.upgrade.journal import ALLOCATION, AWAY, EXCLUDED, LEAVING, LEAVING_VOTES, VOTING, WIPED
from searchkeeper.versions import is_newer, refusal
from searchkeeper.writes import Create, Delete, Event, Key, Patch, Tell

# Which lines of the ledger speak of what a call changes.
_LINES: Final[Mapping[type, tuple[str, ...]]] = {
    SetAllocation: (ALLOCATION,),
    Exclude: (EXCLUDED, LEAVING),
    ExcludeFromVoting: (VOTING, LEAVING_VOTES),
    ClearVotingExclusions: (VOTING, LEAVING_VOTES),
}
Law: TypeAlias = Callable[[Step], str | None]


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


def quorum_is_kept(step: Step) -> str | None:
    """I1: whoever is sent away leaves a majority of the committed voters; a lone voter has none to leave."""
    name = _deleted_pod(step)
    voters = step.before.engine.voters
    if name is None or name not in voters or len(voters) == 1 or name not in step.before.engine.names:
        return None
    left = sum(step.before.is_here(voter) for voter in voters if voter != name)
    needed = len(voters) // 2 + 1
    return f"{left} of {len(voters)} voters are left without {name}" if left < needed else None


def one_voter_is_away(step: Step) -> str | None:
    """I2: of those that vote, at most one is away by our doing."""
    name, voters = _deleted_pod(step), step.before.engine.voters
    if name is None or name not in voters or name not in step.before.engine.names:
        return None
    others = [each for each in step.before.journal.away if each != name and each in voters]
    return f"{name} goes while {', '.join(others)} is away" if others else None


def versions_can_coexist(step: Step) -> str | None:
    """I3: at most one major apart, and no old-major node beside managers that are all of the new one."""
    nodes = step.after.engine.nodes
    majors = {Version.parse(node.version).major for node in nodes}
    if len(majors) < 2:
        return None
    if max(majors) - min(majors) > 1:
        return f"versions of majors {sorted(majors)} at once"
    managers = {Version.parse(n.version).major for n in nodes if "cluster_manager" in n.roles}
    old = [node.name for node in nodes if Version.parse(node.version).major == min(majors)]
    return f"{', '.join(old)} is older than every manager" if managers == {max(majors)} else None


def versions_only_rise(step: Step) -> str | None:
    """I4: what status says is deployed rises, and only when every pool says so of its present spec."""
    if not isinstance(step.write, Stored) or step.key != step.before.key:
        return None
    was, now = step.before.status.get("currentVersion"), step.after.status.get("currentVersion")
    engine_was, engine_now = step.before.status.get("engineVersion"), step.after.status.get("engineVersion")
    if was is not None and (now is None or now < was):
        return f"configuration {was} became {now}"
    if engine_was is not None and (engine_now is None or is_newer(engine_was, engine_now)):
        return f"engine {engine_was} became {engine_now}"
    behind = [name for name, pool in step.after.all_of("SearchPool").items() if not _has_reported(pool, now)]
    return f"{', '.join(behind)} not at {now} yet" if was != now and behind else _arrival(step)


def _arrival(step: Step) -> str | None:
    now = step.after.status.get("engineVersion")
    if now == step.before.status.get("engineVersion"):
        return None
    other = [node.name for node in step.after.engine.nodes if node.version != now]
    return f"{', '.join(other)} does not run {now}" if other else None


def _has_reported(pool: Mapping[str, object], version: object) -> bool:
    status, metadata = pool.get("status"), pool["metadata"]
    if not isinstance(status, Mapping) or not isinstance(metadata, Mapping):
        return False
    return status.get("currentVersion") == version and status.get("observedGeneration") == metadata.get(
        "generation"
    )


def pools_run_what_is_permitted(step: Step) -> str | None:
    """I5: a pool is permitted a version of the upgrade under way, and deploys what it is permitted."""
    if not isinstance(step.write, Create | Patch) or step.written is None or step.key is None:
        return None
    if step.key.kind == "SearchPool":
        version = step.written["spec"]["engineVersion"]
        allowed = {*(step.before.journal.under_way or ()), step.before.status.get("engineVersion")}
        allowed |= {step.before.spec.version} if allowed == {None} else set()
        earlier = step.before.all_of("SearchPool").get(step.key.name)
        allowed |= {earlier["spec"]["engineVersion"]} if earlier is not None else set()
        return None if version in allowed else f"{step.key.name} is permitted {version}"
    if step.key.kind != "StatefulSet":
        return None
    pool = step.before.all_of("SearchPool").get(step.key.name)
    permitted = None if pool is None else pool["spec"]["engineVersion"]
    deployed = image_version(step.written)
    return None if deployed == permitted else f"{step.key.name} deploys {deployed}, permitted is {permitted}"


def configuration_can_start_from_what_is_there(step: Step) -> str | None:
    """I6: whoever writes an object can take over from the version that is deployed, and is shipped."""
    if not isinstance(step.write, Create | Patch) or step.written is None or step.key is None:
        return None
    mark = annotation(step.written, names.CONFIGURATION)
    before = step.before.state.cluster.objects.get(step.key)
    if mark is None or (before is not None and annotation(before, names.CONFIGURATION) == mark):
        return None
    version, deployed = int(mark), step.before.status.get("currentVersion")
    least = CLUSTER[version].min_version
    if version not in step.release.procedures:
        return f"{step.release.version} does not ship configuration {version}"
    if deployed is not None and not least <= deployed <= version:
        return f"configuration {version} cannot take over from {deployed}"
    return None


def last_copies_stay(step: Step) -> str | None:
    """I7: no pod goes with the last usable copy of a shard, no volume with the last copy at all.

    A pod may where its owner has accepted that, and where it is the only data node and its volume stays.
    """
    claim = _deleted_claim(step)
    if claim is not None:
        lost = _only_on(step.before, claim)
        return f"the volume of {claim} has the only copy of {', '.join(lost)}" if lost else None
    name = _deleted_pod(step)
    if name is None or step.before.spec.upgrade.accept_single_copy_loss or not step.before.node(name):
        return None
    data = [node for node in step.before.engine.nodes if "data" in node.roles]
    if len(data) == 1 and name in dict(step.before.engine.disks):
        return None
    lost = _only_on(step.before, name)
    return f"{name} has the only copy of {', '.join(lost)}" if lost else None


def _only_on(moment: Moment, node: str) -> list[str]:
    here = {c.id for c in moment.engine.copies if node in (c.node, c.left_on)}
    elsewhere = {c.id for c in moment.engine.copies if c.node != node and moment.usable(c)}
    return [f"{index}[{shard}]" for index, shard in sorted(here - elsewhere)]


def deletions_name_what_was_seen(step: Step) -> str | None:
    """I8: a deletion names the UID and the state it was decided on; a pod is out of date, and still there."""
    if not isinstance(step.write, Delete):
        return None
    found = step.before.state.cluster.objects.get(step.write.key)
    if not step.write.uid or not step.write.resource_version:
        return f"{step.write.key} may be another one by now"
    if found is None or is_terminating(found):
        return f"{step.write.key} is going already"
    name = _deleted_pod(step)
    return _out_of_date(step, name) if name is not None else None


def _out_of_date(step: Step, name: str) -> str | None:
    """Also a pod whose volume is on its way out: it cannot start on it."""
    pod, owner = step.before.pod(name), step.before.all_of("StatefulSet").get(name.rpartition("-")[0])
    claim = step.before.all_of("PersistentVolumeClaim").get(f"data-{name}")
    if pod is None or owner is None or (claim is not None and is_terminating(claim)):
        return None
    is_current = annotation(pod, names.TEMPLATE) == annotation(owner, names.TEMPLATE)
    return f"{name} is of the newest template" if is_current else None


def deletions_are_written_down_first(step: Step) -> str | None:
    """I8: the ledger knows of a pod or a volume before it is taken away."""
    name, claim = _deleted_pod(step), _deleted_claim(step)
    if not isinstance(step.write, Delete):
        return None
    if name is not None and step.before.journal.away.get(name) != step.write.uid:
        return f"{AWAY} does not know of {name}"
    if claim is not None and step.before.ledger.get(WIPED) != (f"data-{claim}", step.write.uid):
        return f"{WIPED} does not know of the volume of {claim}"
    return None


def settings_are_written_down_first(step: Step) -> str | None:
    """I9: what the engine is told to change is in the ledger before, and until it is seen undone."""
    if not isinstance(step.write, Tell):
        return None
    lines = _LINES.get(type(step.write.call), ())
    if not lines or any(line in step.before.ledger for line in lines):
        return None
    return f"neither {' nor '.join(lines)} is in the ledger"


def refused_versions_touch_nothing(step: Step) -> str | None:
    """I10: no template has a version that cannot be reached; it is warned of after that was noted."""
    running = step.before.status.get("engineVersion")
    under_way = step.before.journal.under_way
    generation = (step.before.resource or {}).get("metadata", {}).get("generation")
    if isinstance(step.write, Event):
        noted = step.before.journal.refused_generation == generation
        return None if noted else "a warning that nobody will remember"
    wanted = step.before.spec.version
    refused = refusal(under_way[0] if under_way else running, wanted, step.release) is not None
    is_set = step.key is not None and step.key.kind == "StatefulSet" and step.written is not None
    if refused and is_set and step.written is not None and image_version(step.written) == wanted:
        return f"{wanted} is refused, and deployed"
    return None


def locked_specs_wait(step: Step) -> str | None:
    """I11: while an upgrade is under way, pools are as they were when it began."""
    lock = step.before.journal.lock
    if lock is None or step.key is None or step.key.kind != "SearchPool" or step.written is None:
        return None
    locked = {each["name"]: each for each in json.loads(lock)["pools"]}
    spec = step.written["spec"]
    pool = locked.get(step.key.name.removeprefix(f"{step.before.key.name}-"))
    if pool is None or pool["replicas"] != spec["replicas"] or sorted(pool["roles"]) != spec["roles"]:
        return f"{step.key.name} changes under lock"
    return None


def batches_grow_slowly(step: Step) -> str | None:
    """I12: no more pods are away than the policy and the ramp allow; each pool begins with one."""
    name = _deleted_pod(step)
    if name is None or name not in step.before.engine.names:
        return None
    others = [each for each in step.before.journal.away if each != name and not _is_back(step.before, each)]
    pool = name.rpartition("-")[0].removeprefix(f"{step.before.key.name}-")
    allowed = min(step.before.spec.upgrade.max_batch, step.before.journal.size(pool))
    return f"{len(others) + 1} pods away, {allowed} may be" if len(others) + 1 > max(1, allowed) else None


def _is_back(moment: Moment, name: str) -> bool:
    pod = moment.pod(name)
    return pod is not None and pod["metadata"]["uid"] != moment.journal.away[name] and moment.is_here(name)


def no_way_back_is_gone_that_is_closed(step: Step) -> str | None:
    """I13: neither is a way back begun, nor does a node that runs the newer version go back, without one.

    Open is: every shard has a copy on a node that the older version can run on, no index was made by the
    newer one, and the majority of voters is old.
    """
    back = step.after.journal.returns_to
    turns = isinstance(step.write, Stored) and back is not None and step.before.journal.returns_to is None
    name = _deleted_pod(step) or _deleted_claim(step)
    node = None if name is None else step.before.node(name)
    goes_back = back is not None and node is not None and is_newer(node.version, back)
    if step.before.journal.returns_to is not None and _goes_forward(step):
        return f"{name} leaves {back} on the way back"
    if back is None or not (turns or goes_back):
        return None
    return _closed(step.before, back)


def _goes_forward(step: Step) -> bool:
    """A node that runs the older version is replaced by one that would run the newer."""
    name = _deleted_pod(step)
    node = None if name is None else step.before.node(name)
    owner = None if name is None else step.before.all_of("StatefulSet").get(name.rpartition("-")[0])
    return node is not None and owner is not None and is_newer(image_version(owner), node.version)


def _closed(moment: Moment, back: str) -> str | None:
    engine = moment.engine
    if not any(is_newer(version, back) for _, version in engine.disks):
        return None
    old = {node.name for node in engine.nodes if not is_newer(node.version, back)}
    safe = {c.id for c in engine.copies if c.node in old and moment.usable(c)}
    lost = sorted({c.id for c in engine.copies} - safe)
    if lost:
        return f"{lost[0][0]}[{lost[0][1]}] would be lost on the way back to {back}"
    if any(is_newer(index.created_by, back) for index in engine.indices):
        return f"an index is newer than {back}"
    return "the majority is newer" if len(engine.voters & old) * 2 <= len(engine.voters) else None


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
    left = [line for line in moment.ledger if line.startswith(("engine/", "roll/"))]
    if left:
        return f"the ledger still has {', '.join(left)}"
    if state.engine.allocation is not None or state.engine.voting_exclusions:
        return "the engine still has settings of ours"
    return "the lock is held" if moment.journal.lock is not None else None


def _deleted_pod(step: Step) -> str | None:
    """The pod of a StatefulSet that this step takes away."""
    return step.write.key.name if isinstance(step.write, Delete) and step.write.key.kind == "Pod" else None


def _deleted_claim(step: Step) -> str | None:
    """The pod whose volume claim this step takes away."""
    if isinstance(step.write, Delete) and step.write.key.kind == "PersistentVolumeClaim":
        return step.write.key.name.removeprefix("data-")
    return None
