"""The laws of taking away: I1, I2, I7, I8 and I12. Who may go, when, and what is written down before.

A cluster that is being deleted keeps neither a quorum nor its last copies, and nobody is to come back: there
only the laws about naming and about volumes hold, and that no pod is taken that somebody else takes along.
"""

from __future__ import annotations

__all__ = [
    "allocation_targets_remain",
    "batches_grow_slowly",
    "deletes_have_preconditions",
    "deletes_recorded_first",
    "last_copies_kept",
    "one_voter_at_a_time",
    "quorum_kept",
]

from searchkeeper.desired import names
from searchkeeper.kubernetes.operations import Delete, EngineCall, Manifest
from searchkeeper.opensearch.calls import Exclude
from searchkeeper.opensearch.view import is_excluded
from searchkeeper.testing.fake_kubernetes.manifests import annotation, is_terminating, owner_uids
from searchkeeper.testing.invariants.transitions import ObservedState, Transition
from searchkeeper.upgrade.ledger import REPLACED_PODS, WIPED_VOLUME


def quorum_kept(step: Transition) -> str | None:
    """I1: whoever is sent away leaves a majority of the committed voters. A lone voter has none to leave, and
    comes back with what it knows on its volume.

    Nobody comes back without the role by which it votes, and whoever has is no voter that is left.
    """
    name = step.surplus_pods
    voters = step.before.engine.voters
    if name is None or name not in voters or name not in step.before.engine.names:
        return None
    if _loses(step, name, "cluster_manager"):
        return f"{name} votes, and comes back without a vote"
    if len(voters) == 1:
        is_kept = name in dict(step.before.engine.disks)
        return None if is_kept else f"the state of the cluster is on {name} alone, and goes with it"
    left = sum(_may_elect(step.before, voter) for voter in voters if voter != name)
    needed = len(voters) // 2 + 1
    return f"{left} of {len(voters)} voters are left without {name}" if left < needed else None


def _may_elect(moment: ObservedState, name: str) -> bool:
    node = moment.node(name)
    return node is not None and "cluster_manager" in node.roles and moment.is_here(name)


def _loses(step: Transition, name: str, role: str) -> bool:
    """Whether a node has a role that its StatefulSet makes no pod with any more."""
    node, owner = step.before.node(name), step.before.all_of("StatefulSet").get(name.rpartition("-")[0])
    if node is None or owner is None:
        return False
    variables = owner["spec"]["template"]["spec"]["containers"][0].get("env", ())
    given = (each.get("value", "") for each in variables if each["name"] == names.ROLES)
    return role in node.roles and any(role not in each.split(",") for each in given)


def one_voter_at_a_time(step: Transition) -> str | None:
    """I2: of those that vote, at most one is away by our doing."""
    name, voters = step.surplus_pods, step.before.engine.voters
    if name is None or name not in voters or name not in step.before.engine.names:
        return None
    others = [each for each in step.before.ledger.replaced_pods if each != name and each in voters]
    return f"{name} goes while {', '.join(others)} is away" if others else None


def last_copies_kept(step: Transition) -> str | None:
    """I7: no pod goes with the last usable copy of a shard, no volume with the last copy at all.

    A pod may where its owner has accepted that, and where it is the only data node and its volume stays. A
    pod that comes back without the role data goes with no copy at all: it would not start with one.
    """
    claim = step.deleted_claim
    if claim is not None:
        lost = _only_on(step.before, claim)
        return f"the volume of {claim} has the only copy of {', '.join(lost)}" if lost else None
    name = step.surplus_pods
    if name is not None and _loses(step, name, "data") and _copies_on(step.before, name):
        return f"{name} has shards, and comes back without the role data"
    if name is None or step.before.spec.upgrade.accept_single_copy_loss or not step.before.node(name):
        return None
    data = [node for node in step.before.engine.nodes if "data" in node.roles]
    if len(data) == 1 and name in dict(step.before.engine.disks):
        return None
    lost = _only_on(step.before, name)
    return f"{name} has the only copy of {', '.join(lost)}" if lost else None


def allocation_targets_remain(step: Transition) -> str | None:
    """I7: no exclusion of ours is that of the last data node that may have shards."""
    if not isinstance(step.write, EngineCall) or not isinstance(step.write.call, Exclude):
        return None
    data = sorted(node.name for node in step.before.engine.nodes if "data" in node.roles)
    before, after = (
        any(not is_excluded(name, moment.engine.excluded) for name in data)
        for moment in (step.before, step.after)
    )
    return f"none of {', '.join(data)} may have shards" if before and not after else None


def _copies_on(moment: ObservedState, node: str) -> bool:
    return any(node in (copy.node, copy.to) for copy in moment.engine.copies)


def _only_on(moment: ObservedState, node: str) -> list[str]:
    here = {c.id for c in moment.engine.copies if node in (c.node, c.left_on)}
    elsewhere = {c.id for c in moment.engine.copies if c.node != node and moment.usable(c)}
    return [f"{index}[{shard}]" for index, shard in sorted(here - elsewhere)]


def deletes_have_preconditions(step: Transition) -> str | None:
    """I8: a deletion names the UID and the state it was decided on; a pod is out of date, and still there."""
    if not isinstance(step.write, Delete):
        return None
    found = step.before.state.cluster.objects.get(step.write.key)
    if not step.write.uid or not step.write.resource_version:
        return f"{step.write.key} may be another one by now"
    if found is None or is_terminating(found):
        return f"{step.write.key} is going already"
    name = step.deleted_pod
    return _out_of_date(step, name) if name is not None else None


def _out_of_date(step: Transition, name: str) -> str | None:
    """Also a pod whose volume is on its way out: it cannot start on it."""
    pod, owner = step.before.pod(name), step.before.all_of("StatefulSet").get(name.rpartition("-")[0])
    claim = step.before.all_of("PersistentVolumeClaim").get(f"data-{name}")
    if pod is None or owner is None or (claim is not None and is_terminating(claim)):
        return None
    is_marked = annotation(pod, names.TEMPLATE) == annotation(owner, names.TEMPLATE)
    is_current = is_marked and _image(pod) == _image(owner["spec"]["template"])
    return f"{name} is of the newest template" if is_current else None


def _image(made: Manifest) -> str:
    return str(made["spec"]["containers"][0]["image"])


def deletes_recorded_first(step: Transition) -> str | None:
    """I8: the ledger knows of a pod or a volume before it is taken away.

    A cluster that is being deleted has nobody to wait for, and so no such line. Its pods go with their
    StatefulSets: only one that belongs to nobody is left to be taken away.
    """
    if not isinstance(step.write, Delete):
        return None
    name, claim = step.deleted_pod, step.deleted_claim
    if name is not None and step.before.is_deleting:
        pod = step.before.pod(name)
        return f"{name} goes with its StatefulSet" if pod is not None and owner_uids(pod) else None
    if name is not None and step.before.ledger.replaced_pods.get(name) != step.write.uid:
        return f"{REPLACED_PODS} does not know of {name}"
    if claim is not None and step.before.ledger.get(WIPED_VOLUME) != (f"data-{claim}", step.write.uid):
        return f"{WIPED_VOLUME} does not know of the volume of {claim}"
    return None


def batches_grow_slowly(step: Transition) -> str | None:
    """I12: no more pods are away than the policy and the ramp allow; each pool begins with one."""
    name = step.surplus_pods
    if name is None or name not in step.before.engine.names:
        return None
    others = [
        each for each in step.before.ledger.replaced_pods if each != name and not _is_back(step.before, each)
    ]
    pool = name.rpartition("-")[0].removeprefix(f"{step.before.key.name}-")
    allowed = min(step.before.spec.upgrade.max_batch, step.before.ledger.batch_size(pool))
    return f"{len(others) + 1} pods away, {allowed} may be" if len(others) + 1 > max(1, allowed) else None


def _is_back(moment: ObservedState, name: str) -> bool:
    pod = moment.pod(name)
    return (
        pod is not None
        and pod["metadata"]["uid"] != moment.ledger.replaced_pods[name]
        and moment.is_here(name)
    )
