"""Whether OLM may replace this operator at this moment: an OperatorCondition's Upgradeable.

One serves every cluster of the operator, so each that holds it is named on it. Whoever is replaced all the
same loses nothing but time: what is under way is in the journal.
"""

from __future__ import annotations

__all__ = ["OPERATOR_CONDITION", "UPGRADE_BLOCKERS", "upgrade_blocker", "upgradeable_patch"]

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from searchkeeper.api.codec import format_timestamp
from searchkeeper.desired.names import GROUP
from searchkeeper.kubernetes.operations import Delete, Key, Manifest, Patch
from searchkeeper.planner import Ledger, Operation
from searchkeeper.planner.denied_operations import denied_operations
from searchkeeper.snapshot import ClusterSnapshot
from searchkeeper.upgrade.ledger import UpgradeLedger
from searchkeeper.upgrade.pending_delete import pods_still_present

OPERATOR_CONDITION: Final = ("operators.coreos.com/v2", "OperatorCondition")
# Which clusters hold the operator, and why: JSON.
UPGRADE_BLOCKERS: Final = f"{GROUP}/held-by"
_UPGRADEABLE: Final = "Upgradeable"


def upgrade_blocker(snapshot: ClusterSnapshot, ledger: Ledger, operations: Iterable[Operation]) -> str | None:
    """The step that must not be interrupted, if there is one: somebody is away, or belongs to nobody.

    The pod with which the way back closes is away like any other; one that may not be deleted is there.
    """
    refused, upgrade = set(denied_operations(ledger)), UpgradeLedger.of(ledger)
    stays = {pod.name for pod in pods_still_present(snapshot, upgrade) if f"delete Pod {pod.name}" in refused}
    away = upgrade.replaced_pods.keys() - stays
    if away:
        return f"{', '.join(sorted(away))} is being replaced"
    orphaning = [write.key.name for write in operations if isinstance(write, Delete) and write.orphan]
    orphaning += [key.name for key, each in snapshot.objects.items() if _is_between(key, each)]
    return f"{', '.join(sorted(orphaning))} is between two StatefulSets" if orphaning else None


def _is_between(key: Key, manifest: Manifest) -> bool:
    metadata = manifest["metadata"]
    if key.kind == "StatefulSet":
        return "deletionTimestamp" in metadata
    return key.kind == "Pod" and not metadata.get("ownerReferences")


def upgradeable_patch(
    found: Manifest, cluster: Key, why: str | None, *, exists: Callable[[Key], bool], now: int
) -> Patch | None:
    """The write that makes an OperatorCondition say what it should; None when it does.

    Holders that do not exist any more hold nothing.
    """
    metadata = found["metadata"]
    before = _holders(metadata.get("annotations") or {})
    place = f"{cluster.namespace}/{cluster.name}"
    others = {each: text for each, text in before.items() if each != place}
    holders = {each: text for each, text in others.items() if exists(_key(cluster, each))}
    holders |= {place: why} if why is not None else {}
    conditions = (found.get("spec") or {}).get("conditions") or []
    known = next((each for each in conditions if each["type"] == _UPGRADEABLE), None)
    condition = _condition(holders, known, now)
    if holders == before and condition == known:
        return None
    note = json.dumps(holders, sort_keys=True) if holders else None
    changed = [*(each for each in conditions if each is not known), condition]
    changes = {"metadata": {"annotations": {UPGRADE_BLOCKERS: note}}, "spec": {"conditions": changed}}
    return Patch(Key.of(found), changes, metadata["resourceVersion"])


def _holders(annotations: Mapping[str, str]) -> dict[str, str]:
    """Of a note that nobody of ours wrote, nobody."""
    try:
        found = json.loads(annotations.get(UPGRADE_BLOCKERS) or "{}")
    except ValueError:
        return {}
    return {str(place): str(why) for place, why in found.items()} if isinstance(found, dict) else {}


def _key(like: Key, place: str) -> Key:
    namespace, _, name = place.partition("/")
    return like._replace(namespace=namespace, name=name)


def _condition(holders: Mapping[str, str], known: Mapping[str, Any] | None, now: int) -> dict[str, Any]:
    status = "False" if holders else "True"
    same = known is not None and known["status"] == status
    return {
        "type": _UPGRADEABLE,
        "status": status,
        "reason": "StepUnderWay" if holders else "AtRest",
        "message": "; ".join(f"{each}: {why}" for each, why in sorted(holders.items())),
        "lastTransitionTime": known["lastTransitionTime"] if same and known else format_timestamp(now),
    }
