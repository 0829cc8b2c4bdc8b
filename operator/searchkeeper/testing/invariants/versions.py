"""Invariants of versions: I3 to I6, I10 and I13."""

from __future__ import annotations

__all__ = [
    "configuration_upgrades_are_supported",
    "no_rollback_past_point_of_no_return",
    "pools_run_permitted_version",
    "refused_versions_touch_nothing",
    "versions_can_coexist",
    "versions_only_rise",
]

from typing import Final

from semver import Version

from searchkeeper.api.reasons import Reason
from searchkeeper.desired import names
from searchkeeper.kubernetes.operations import Create, EmitEvent, Manifest, Patch
from searchkeeper.reconcilers.versions import CLUSTER_RECONCILERS
from searchkeeper.testing.fake_kubernetes.manifests import annotation, get_value
from searchkeeper.testing.invariants.transitions import (
    ObservedState,
    Transition,
    template_version,
)
from searchkeeper.testing.ports import StatusPatch
from searchkeeper.upgrade.version_policy import version_refusal
from searchkeeper.versions import is_newer

_UPGRADE_EVENTS: Final = frozenset(
    {
        Reason.POOL_UPGRADED,
        Reason.POINT_OF_NO_RETURN_PASSED,
        Reason.ROLLBACK_FINISHED,
        Reason.ROLLBACK_STARTED,
        Reason.UPGRADE_FINISHED,
        Reason.UPGRADE_STARTED,
    }
)


def versions_can_coexist(step: Transition) -> str | None:
    """I3: nodes are at most one major apart, and no old-major node remains if all managers are new."""
    nodes = step.after.engine.nodes
    majors = {Version.parse(node.version).major for node in nodes}
    if len(majors) < 2:
        return None
    if max(majors) - min(majors) > 1:
        return f"nodes of the majors {sorted(majors)}"
    managers = {Version.parse(n.version).major for n in nodes if "cluster_manager" in n.roles}
    old = [node.name for node in nodes if Version.parse(node.version).major == min(majors)]
    return f"{', '.join(old)} is older than every manager" if managers == {max(majors)} else None


def versions_only_rise(step: Transition) -> str | None:
    """I4: the versions in the status never fall, and rise only when every pool and every node has them."""
    if not isinstance(step.write, StatusPatch) or step.key != step.before.key:
        return None
    old, new = step.before.status.get("currentVersion"), step.after.status.get("currentVersion")
    old_engine, new_engine = step.before.status.get("engineVersion"), step.after.status.get("engineVersion")
    if old is not None and (new is None or new < old):
        return f"currentVersion changes from {old} to {new}"
    if old_engine is not None and (new_engine is None or is_newer(old_engine, new_engine)):
        return f"engineVersion changes from {old_engine} to {new_engine}"
    pools = step.after.all_of("SearchPool")
    behind = [name for name, pool in pools.items() if not _has_reported(pool, new)]
    if old != new and behind:
        return f"{', '.join(behind)} has not reported configuration {new}"
    others = [node.name for node in step.after.engine.nodes if node.version != new_engine]
    if old_engine != new_engine and others:
        return f"{', '.join(others)} does not run {new_engine}"
    return None


def _has_reported(pool: Manifest, version: object) -> bool:
    """Whether a pool reports a configuration version for its present generation."""
    reported = get_value(pool, "status", "currentVersion"), get_value(pool, "status", "observedGeneration")
    return "status" in pool and reported == (version, get_value(pool, "metadata", "generation"))


def pools_run_permitted_version(step: Transition) -> str | None:
    """I5: a pool is permitted a version of the present upgrade, and deploys the version it is permitted."""
    if not isinstance(step.write, Create | Patch) or step.written is None or step.key is None:
        return None
    pool = step.before.all_of("SearchPool").get(step.key.name)
    if step.key.kind == "SearchPool":
        version = step.written["spec"]["engineVersion"]
        allowed = {*(step.before.ledger.upgrade or ()), step.before.status.get("engineVersion")}
        if allowed == {None}:
            allowed.add(step.before.spec.version)
        if pool is not None:
            allowed.add(pool["spec"]["engineVersion"])
        return None if version in allowed else f"{step.key.name} is permitted {version}"
    if step.key.kind == "StatefulSet":
        permitted = None if pool is None else pool["spec"]["engineVersion"]
        deployed = template_version(step.written)
        if deployed != permitted:
            return f"{step.key.name} deploys {deployed}; permitted is {permitted}"
    return None


def configuration_upgrades_are_supported(step: Transition) -> str | None:
    """I6: the release ships the reconciler that writes an object, and it supports the deployed version."""
    if not isinstance(step.write, Create | Patch) or step.written is None or step.key is None:
        return None
    mark = annotation(step.written, names.CONFIGURATION)
    before = step.before.state.cluster.objects.get(step.key)
    if mark is None or (before is not None and annotation(before, names.CONFIGURATION) == mark):
        return None
    version, deployed = int(mark), step.before.status.get("currentVersion")
    if version not in step.release.configurations:
        return f"{step.release.version} does not ship configuration {version}"
    if deployed is not None and not CLUSTER_RECONCILERS[version].min_version <= deployed <= version:
        return f"configuration {version} does not support an upgrade from {deployed}"
    return None


def refused_versions_touch_nothing(step: Transition) -> str | None:
    """I10: no template has a refused version, and an event is emitted after the ledger has it."""
    if isinstance(step.write, EmitEvent):
        return None if _is_recorded(step.before, step.write) else f"{step.write.reason} is not in the ledger"
    upgrade, version = step.before.ledger.upgrade, step.before.spec.version
    running = upgrade[0] if upgrade else step.before.status.get("engineVersion")
    is_refused = version_refusal(running, version, step.release) is not None
    is_stateful_set = step.key is not None and step.key.kind == "StatefulSet"
    if is_refused and is_stateful_set and step.written and template_version(step.written) == version:
        return f"{version} is refused, but deployed"
    return None


def _is_recorded(before: ObservedState, event: EmitEvent) -> bool:
    """Whether the ledger has an event. Entries of an upgrade end with it; its events may arrive later."""
    generation = (before.resource or {}).get("metadata", {}).get("generation")
    recorded = {entry.partition("/")[0] for entry in before.recorded.events_emitted}
    return (
        before.recorded.refused_generation == generation
        or event.reason in recorded
        or (event.reason in _UPGRADE_EVENTS and Reason.UPGRADE_STARTED not in recorded)
    )


def no_rollback_past_point_of_no_return(step: Transition) -> str | None:
    """I13: no rollback starts, and no upgraded node is rolled back, past the point of no return.

    During a rollback no node is upgraded.
    """
    target, name = step.after.ledger.rollback_to, step.deleted_pod or step.deleted_claim
    is_rolling_back = step.before.ledger.rollback_to is not None
    node = None if name is None else step.before.node(name)
    if is_rolling_back and _upgrades_node(step):
        return f"{name} is upgraded during a rollback to {target}"
    starts = isinstance(step.write, StatusPatch) and not is_rolling_back
    rolls_back_node = node is not None and target is not None and is_newer(node.version, target)
    if target is None or not (starts or rolls_back_node):
        return None
    return _rollback_blocker(step.before, target)


def _upgrades_node(step: Transition) -> bool:
    """Whether a pod is deleted whose replacement runs a newer version."""
    name = step.deleted_pod
    if name is None:
        return False
    node, owner = step.before.node(name), step.before.stateful_set_of(name)
    return node is not None and owner is not None and is_newer(template_version(owner), node.version)


def _rollback_blocker(state: ObservedState, target: str) -> str | None:
    """Return why a rollback is impossible.

    It is possible if every shard has a usable copy on a node that was not upgraded, no index was created by
    the newer version, and most voters were not upgraded.
    """
    engine = state.engine
    if not any(is_newer(version, target) for _, version in engine.disks):
        return None
    old = {node.name for node in engine.nodes if not is_newer(node.version, target)}
    safe = {c.id for c in engine.copies if c.node in old and state.is_usable(c)}
    lost = sorted({c.id for c in engine.copies} - safe)
    if lost:
        return f"a rollback to {target} loses {lost[0][0]}[{lost[0][1]}]"
    if any(is_newer(index.created_by, target) for index in engine.indices):
        return f"an index is newer than {target}"
    return "most voters are upgraded" if len(engine.voters & old) * 2 <= len(engine.voters) else None
