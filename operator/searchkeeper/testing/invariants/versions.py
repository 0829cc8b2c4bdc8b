"""The laws of versions: I3 to I6, I10 and I13. Which may meet, be told, be deployed, and be left again."""

from __future__ import annotations

__all__ = [
    "configuration_upgrades_are_supported",
    "no_rollback_past_point_of_no_return",
    "pools_run_permitted_version",
    "refused_versions_touch_nothing",
    "versions_can_coexist",
    "versions_only_rise",
]

from collections.abc import Mapping

from semver import Version

from searchkeeper.api.reasons import Reason
from searchkeeper.desired import names
from searchkeeper.kubernetes.operations import Create, EmitEvent, Patch
from searchkeeper.reconcilers.versions import CLUSTER_RECONCILERS
from searchkeeper.testing.fake_kubernetes.manifests import annotation
from searchkeeper.testing.invariants.transitions import (
    ObservedState,
    StatusPatch,
    Transition,
    template_version,
)
from searchkeeper.versions import is_newer, version_refusal


def versions_can_coexist(step: Transition) -> str | None:
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


def versions_only_rise(step: Transition) -> str | None:
    """I4: what status says is deployed rises, and only when every pool says so of its present spec."""
    if not isinstance(step.write, StatusPatch) or step.key != step.before.key:
        return None
    was, now = step.before.status.get("currentVersion"), step.after.status.get("currentVersion")
    engine_was, engine_now = step.before.status.get("engineVersion"), step.after.status.get("engineVersion")
    if was is not None and (now is None or now < was):
        return f"configuration {was} became {now}"
    if engine_was is not None and (engine_now is None or is_newer(engine_was, engine_now)):
        return f"engine {engine_was} became {engine_now}"
    behind = [name for name, pool in step.after.all_of("SearchPool").items() if not _has_reported(pool, now)]
    return f"{', '.join(behind)} not at {now} yet" if was != now and behind else _arrival(step)


def _arrival(step: Transition) -> str | None:
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


def pools_run_permitted_version(step: Transition) -> str | None:
    """I5: a pool is permitted a version of the upgrade under way, and deploys what it is permitted."""
    if not isinstance(step.write, Create | Patch) or step.written is None or step.key is None:
        return None
    if step.key.kind == "SearchPool":
        version = step.written["spec"]["engineVersion"]
        allowed = {*(step.before.ledger.upgrade or ()), step.before.status.get("engineVersion")}
        allowed |= {step.before.spec.version} if allowed == {None} else set()
        earlier = step.before.all_of("SearchPool").get(step.key.name)
        allowed |= {earlier["spec"]["engineVersion"]} if earlier is not None else set()
        return None if version in allowed else f"{step.key.name} is permitted {version}"
    if step.key.kind != "StatefulSet":
        return None
    pool = step.before.all_of("SearchPool").get(step.key.name)
    permitted_version = None if pool is None else pool["spec"]["engineVersion"]
    deployed = template_version(step.written)
    return (
        None
        if deployed == permitted_version
        else f"{step.key.name} deploys {deployed}, permitted is {permitted_version}"
    )


def configuration_upgrades_are_supported(step: Transition) -> str | None:
    """I6: whoever writes an object can take over from the version that is deployed, and is shipped."""
    if not isinstance(step.write, Create | Patch) or step.written is None or step.key is None:
        return None
    mark = annotation(step.written, names.CONFIGURATION)
    before = step.before.state.cluster.objects.get(step.key)
    if mark is None or (before is not None and annotation(before, names.CONFIGURATION) == mark):
        return None
    version, deployed = int(mark), step.before.status.get("currentVersion")
    least = CLUSTER_RECONCILERS[version].min_version
    if version not in step.release.configurations:
        return f"{step.release.version} does not ship configuration {version}"
    if deployed is not None and not least <= deployed <= version:
        return f"configuration {version} cannot take over from {deployed}"
    return None


def refused_versions_touch_nothing(step: Transition) -> str | None:
    """I10: no template has a version that cannot be reached; it is warned of after that was noted."""
    running = step.before.status.get("engineVersion")
    under_way = step.before.ledger.upgrade
    generation = (step.before.resource or {}).get("metadata", {}).get("generation")
    if isinstance(step.write, EmitEvent):
        noted = step.before.ledger.refused_generation == generation
        return None if noted or _is_known(step, step.write) else "a warning that nobody will remember"
    wanted = step.before.spec.version
    refused = version_refusal(under_way[0] if under_way else running, wanted, step.release) is not None
    is_set = step.key is not None and step.key.kind == "StatefulSet" and step.written is not None
    if refused and is_set and step.written is not None and template_version(step.written) == wanted:
        return f"{wanted} is refused, and deployed"
    return None


def _is_known(step: Transition, event: EmitEvent) -> bool:
    """The ledger has what was told for as long as it lasts, and not any longer."""
    recorded = {entry.partition("/")[0] for entry in step.before.ledger.events_emitted}
    is_end = event.reason in (Reason.UPGRADE_FINISHED, Reason.ROLLBACK_FINISHED)
    return event.reason in recorded or (is_end and Reason.UPGRADE_STARTED not in recorded)


def no_rollback_past_point_of_no_return(step: Transition) -> str | None:
    """I13: neither is a way back begun, nor does a node that runs the newer version go back, without one.

    Open is: every shard has a copy on a node that the older version can run on, no index was made by the
    newer one, and the majority of voters is old.
    """
    back = step.after.ledger.rollback_to
    turns = (
        isinstance(step.write, StatusPatch) and back is not None and step.before.ledger.rollback_to is None
    )
    name = step.deleted_pod or step.deleted_claim
    node = None if name is None else step.before.node(name)
    is_rollback = back is not None and node is not None and is_newer(node.version, back)
    if step.before.ledger.rollback_to is not None and _goes_forward(step):
        return f"{name} leaves {back} on the way back"
    if back is None or not (turns or is_rollback):
        return None
    return _closed(step.before, back)


def _goes_forward(step: Transition) -> bool:
    """A node that runs the older version is replaced by one that would run the newer."""
    name = step.deleted_pod
    node = None if name is None else step.before.node(name)
    owner = None if name is None else step.before.all_of("StatefulSet").get(name.rpartition("-")[0])
    return node is not None and owner is not None and is_newer(template_version(owner), node.version)


def _closed(moment: ObservedState, back: str) -> str | None:
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
