"""The condition Upgradeable of the OperatorCondition: whether OLM may replace the operator now.

One OperatorCondition serves all clusters of the operator, so an annotation names the clusters that block. A
forced replacement loses only time: the ledger has every step in progress.
"""

from __future__ import annotations

__all__ = ["OPERATOR_CONDITION", "UPGRADE_BLOCKERS", "upgrade_blocker", "upgradeable_patch"]

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from searchkeeper.api.codec import format_timestamp
from searchkeeper.api.reasons import Reason
from searchkeeper.desired.names import GROUP
from searchkeeper.kubernetes.operations import Delete, Key, Manifest, Patch
from searchkeeper.planner import Ledger, Operation
from searchkeeper.planner.denied_operations import denied_operations
from searchkeeper.snapshot import ClusterSnapshot
from searchkeeper.upgrade.ledger import UpgradeLedger
from searchkeeper.upgrade.pending_delete import pods_still_present

OPERATOR_CONDITION: Final = ("operators.coreos.com/v2", "OperatorCondition")
# Annotation: JSON of the clusters that block, as namespace/name, each with its cause.
UPGRADE_BLOCKERS: Final = f"{GROUP}/held-by"
_UPGRADEABLE: Final = "Upgradeable"


def upgrade_blocker(snapshot: ClusterSnapshot, ledger: Ledger, operations: Iterable[Operation]) -> str | None:
    """Return the step of this cluster that must not be interrupted, or None.

    A pod that is being replaced blocks, unless its delete is denied and it is still present. Pods without a
    StatefulSet block as well, and so does an operation that is about to orphan them.
    """
    upgrade, denied = UpgradeLedger.of(ledger), set(denied_operations(ledger))
    namespace = snapshot.cluster.key.namespace
    kept = {
        pod.name
        for pod in pods_still_present(snapshot, upgrade)
        if str(Delete(Key("v1", "Pod", namespace, pod.name), pod.uid, pod.resource_version)) in denied
    }
    replaced = upgrade.replaced_pods.keys() - kept
    if replaced:
        return f"{', '.join(sorted(replaced))} is being replaced"
    orphans = [each.key.name for each in operations if isinstance(each, Delete) and each.orphan]
    orphans += [key.name for key, manifest in snapshot.objects.items() if _is_orphaned(key, manifest)]
    return f"{', '.join(sorted(orphans))} is between two StatefulSets" if orphans else None


def _is_orphaned(key: Key, manifest: Manifest) -> bool:
    """Whether this is a pod without an owner, or a StatefulSet that is being deleted."""
    metadata = manifest["metadata"]
    if key.kind == "StatefulSet":
        return "deletionTimestamp" in metadata
    return key.kind == "Pod" and not metadata.get("ownerReferences")


def upgradeable_patch(
    operator_condition: Manifest,
    cluster: Key,
    blocker: str | None,
    *,
    exists: Callable[[Key], bool],
    now: int,
) -> Patch | None:
    """Return the patch that records this cluster's blocker, or None when nothing changes.

    Blockers of clusters that no longer exist are removed.
    """
    metadata = operator_condition["metadata"]
    before = _blockers(metadata.get("annotations") or {})
    own_name = f"{cluster.namespace}/{cluster.name}"
    blockers: dict[str, str] = {}
    for name, cause in before.items():
        namespace, _, other = name.partition("/")
        if name != own_name and exists(cluster._replace(namespace=namespace, name=other)):
            blockers[name] = cause
    if blocker is not None:
        blockers[own_name] = blocker

    conditions = (operator_condition.get("spec") or {}).get("conditions") or []
    old = next((each for each in conditions if each["type"] == _UPGRADEABLE), None)
    status = "False" if blockers else "True"
    reason = Reason.UPGRADE_STEP_IN_PROGRESS if blockers else Reason.NO_UPGRADE_STEP_IN_PROGRESS
    has_same_status = old is not None and old["status"] == status
    new = {
        "type": _UPGRADEABLE,
        "status": status,
        "reason": str(reason),
        "message": "; ".join(f"{name}: {cause}" for name, cause in sorted(blockers.items())),
        "lastTransitionTime": old["lastTransitionTime"] if old and has_same_status else format_timestamp(now),
    }
    if blockers == before and new == old:
        return None
    annotation = json.dumps(blockers, sort_keys=True) if blockers else None
    changes = {
        "metadata": {"annotations": {UPGRADE_BLOCKERS: annotation}},
        "spec": {"conditions": [*(each for each in conditions if each is not old), new]},
    }
    return Patch(Key.of(operator_condition), changes, metadata["resourceVersion"])


def _blockers(annotations: Mapping[str, str]) -> dict[str, str]:
    """Return the blocking clusters, each with its cause. A malformed annotation names none."""
    try:
        blockers = json.loads(annotations.get(UPGRADE_BLOCKERS) or "{}")
    except ValueError:
        return {}
    return {str(name): str(cause) for name, cause in blockers.items()} if isinstance(blockers, dict) else {}
