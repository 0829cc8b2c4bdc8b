"""Invariants of removals: I1, I2, I7, I8, I12 and I15.

A cluster that is being deleted has no quorum, no last copies and no batch to keep. Preconditions (I8) and
volumes (I7) are protected there too.
"""

from __future__ import annotations

__all__ = [
    "allocation_targets_remain",
    "batches_grow_slowly",
    "deletes_have_preconditions",
    "deletes_recorded_first",
    "exclusions_leave_a_data_node",
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
    """I1: a replaced pod leaves a majority of the committed voters, and its node keeps the voting role.

    The only voter may be replaced if it has a persistent volume.
    """
    name, voters = step.replaced_pod, step.before.engine.voters
    if name is None or name not in voters or name not in step.before.engine.names:
        return None
    if _loses_role(step.before, name, "cluster_manager"):
        return f"{name} is a voter and comes back without the role cluster_manager"
    if len(voters) == 1:
        is_persistent = name in dict(step.before.engine.disks)
        return None if is_persistent else f"{name} has the only copy of the cluster state and no volume"
    left = [
        voter
        for voter in voters - {name}
        if step.before.is_available(voter)
        if (node := step.before.node(voter)) is not None and "cluster_manager" in node.roles
    ]
    needed = len(voters) // 2 + 1
    return f"{len(left)} of {len(voters)} voters are left without {name}" if len(left) < needed else None


def _loses_role(state: ObservedState, name: str, role: str) -> bool:
    """Whether a node has a role that the template of its StatefulSet does not have."""
    node, owner = state.node(name), state.stateful_set_of(name)
    if node is None or owner is None:
        return False
    variables = owner["spec"]["template"]["spec"]["containers"][0].get("env", ())
    values = (variable.get("value", "") for variable in variables if variable["name"] == names.ROLES)
    return role in node.roles and any(role not in value.split(",") for value in values)


def one_voter_at_a_time(step: Transition) -> str | None:
    """I2: at most one voter is being replaced."""
    name, voters = step.replaced_pod, step.before.engine.voters
    if name is None or name not in voters or name not in step.before.engine.names:
        return None
    others = [other for other in step.before.recorded.replaced_pods if other != name and other in voters]
    return f"{name} is deleted while {', '.join(others)} is being replaced" if others else None


def last_copies_kept(step: Transition) -> str | None:
    """I7: no pod is deleted with the last usable copy of a shard, no volume with the last copy.

    A pod may be if the spec accepts it, or if it is the only data node and has a persistent volume. A pod
    that comes back without the role data must have no copy at all: it would not start.
    """
    claim = step.deleted_claim
    if claim is not None:
        lost = _only_on(step.before, claim)
        return f"the volume of {claim} has the only copy of {', '.join(lost)}" if lost else None
    name = step.replaced_pod
    if name is None:
        return None
    engine = step.before.engine
    if _loses_role(step.before, name, "data") and any(name in (c.node, c.to) for c in engine.copies):
        return f"{name} has shards and comes back without the role data"
    if step.before.spec.upgrade.accept_single_copy_loss or not step.before.node(name):
        return None
    if sum("data" in node.roles for node in engine.nodes) == 1 and name in dict(engine.disks):
        return None
    lost = _only_on(step.before, name)
    return f"{name} has the only copy of {', '.join(lost)}" if lost else None


def _only_on(state: ObservedState, node: str) -> list[str]:
    """Return the shards of which only this node has a copy."""
    here = {c.id for c in state.engine.copies if node in (c.node, c.left_on)}
    elsewhere = {c.id for c in state.engine.copies if c.node != node and state.is_usable(c)}
    return [f"{index}[{shard}]" for index, shard in sorted(here - elsewhere)]


def allocation_targets_remain(step: Transition) -> str | None:
    """I7: a call never excludes the last data node that shards may be allocated to."""
    if not isinstance(step.write, EngineCall) or not isinstance(step.write.call, Exclude):
        return None
    data = sorted(node.name for node in step.before.engine.nodes if "data" in node.roles)
    had_target, has_target = (
        any(not is_excluded(name, state.engine.excluded) for name in data)
        for state in (step.before, step.after)
    )
    return f"every data node is excluded: {', '.join(data)}" if had_target and not has_target else None


def exclusions_leave_a_data_node(step: Transition) -> str | None:
    """I15: the operator's own exclusions never cover every data node, if there are two or more.

    An own exclusion is in the ledger and in force in the engine. The ledger alone does not count: nodes of a
    scale-in stay in it while they are temporary hosts of shards.
    """
    if _excludes_every_data_node(step.before) or not _excludes_every_data_node(step.after):
        return None
    data = sorted(node.name for node in step.after.engine.nodes if "data" in node.roles)
    return f"the operator excludes every data node: {', '.join(data)}"


def _excludes_every_data_node(state: ObservedState) -> bool:
    data = {node.name for node in state.engine.nodes if "data" in node.roles}
    own = (state.ledger.excluded | state.ledger.scale_in_excluded) & state.engine.excluded
    return len(data) > 1 and data <= own


def deletes_have_preconditions(step: Transition) -> str | None:
    """I8: a deletion names UID and resource version; the object is not terminating; a pod is outdated."""
    if not isinstance(step.write, Delete):
        return None
    manifest = step.before.state.cluster.objects.get(step.write.key)
    if not step.write.uid or not step.write.resource_version:
        return f"{step.write.key} is deleted without preconditions"
    if manifest is None or is_terminating(manifest):
        return f"{step.write.key} is terminating already"
    name = step.deleted_pod
    return f"{name} has the newest template" if name is not None and _is_current(step.before, name) else None


def _is_current(state: ObservedState, name: str) -> bool:
    """Whether a pod has the newest template. A pod whose volume claim terminates cannot start: it has not."""
    pod, owner = state.pod(name), state.stateful_set_of(name)
    claim = state.all_of("PersistentVolumeClaim").get(f"data-{name}")
    if pod is None or owner is None or (claim is not None and is_terminating(claim)):
        return False
    has_template = annotation(pod, names.TEMPLATE) == annotation(owner, names.TEMPLATE)
    return has_template and _image(pod) == _image(owner["spec"]["template"])


def _image(pod: Manifest) -> str:
    return str(pod["spec"]["containers"][0]["image"])


def deletes_recorded_first(step: Transition) -> str | None:
    """I8: the ledger has a pod or volume before it is deleted.

    In a cluster that is being deleted the pods are deleted with their StatefulSets. Only pods without an
    owner are deleted by the operator, without a ledger line.
    """
    if not isinstance(step.write, Delete):
        return None
    name, claim = step.deleted_pod, step.deleted_claim
    if name is not None and step.before.is_deleting:
        pod = step.before.pod(name)
        return f"{name} belongs to a StatefulSet" if pod is not None and owner_uids(pod) else None
    if name is not None and step.before.recorded.replaced_pods.get(name) != step.write.uid:
        return f"{REPLACED_PODS} does not have {name}"
    if claim is not None and step.before.recorded.get(WIPED_VOLUME) != (f"data-{claim}", step.write.uid):
        return f"{WIPED_VOLUME} does not have the volume of {claim}"
    return None


def batches_grow_slowly(step: Transition) -> str | None:
    """I12: at most as many pods are being replaced as the policy and the present batch size allow."""
    name = step.replaced_pod
    if name is None or name not in step.before.engine.names:
        return None
    others = [
        other
        for other, uid in step.before.recorded.replaced_pods.items()
        if other != name and not _is_replaced(step.before, other, uid)
    ]
    pool = name.rpartition("-")[0].removeprefix(f"{step.before.key.name}-")
    allowed = max(1, min(step.before.spec.upgrade.max_batch, step.before.recorded.batch_size(pool)))
    count = len(others) + 1
    return f"{count} pods are being replaced; the batch size is {allowed}" if count > allowed else None


def _is_replaced(state: ObservedState, name: str, old_uid: str) -> bool:
    pod = state.pod(name)
    return pod is not None and pod["metadata"]["uid"] != old_uid and state.is_available(name)
