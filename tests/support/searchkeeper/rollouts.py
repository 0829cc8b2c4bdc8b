"""Single steps of a rollout: what it decides on a snapshot and a ledger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from searchkeeper.kubernetes.operations import Delete, EngineCall, Key, Manifest
from searchkeeper.opensearch.calls import Flush, TakeSnapshot
from searchkeeper.planner import Ledger, Records, Result
from searchkeeper.planner.ledger import Entry
from searchkeeper.snapshot import ClusterSnapshot
from searchkeeper.upgrade.ledger import UpgradeLedger
from searchkeeper.upgrade.rollout import Rollout, roll_out


def rollout_step(snapshot: ClusterSnapshot, *pending_pools: str, **entries: Entry) -> Result:
    """Return the next step of a rollout of all pools. `roll__size` is the ledger key `roll/size`."""
    ledger = Ledger.of({name.replace("__", "/"): entry for name, entry in entries.items()})
    snapshot = replace(snapshot, cluster=replace(snapshot.cluster, records=Records(ledger)))
    return roll_out(Rollout(snapshot, UpgradeLedger.of(ledger), snapshot.pools, frozenset(pending_pools)))


def deleted_object(result: Result) -> str | None:
    """Return the name of the pod or volume claim that is deleted."""
    deletes = (operation for operation in result.operations if isinstance(operation, Delete))
    return next((delete.key.name for delete in deletes), None)


def engine_calls(result: Result) -> list[object]:
    """The calls without their changes of the engine's record."""
    calls = (operation.call for operation in result.operations if isinstance(operation, EngineCall))
    return [call if isinstance(call, Flush | TakeSnapshot) else replace(call, record=()) for call in calls]


def ledger_changes(result: Result) -> dict[str, Entry | None]:
    return {change.key: change.value for change in result.ledger_changes}


def with_claims(snapshot: ClusterSnapshot, **claims: Mapping[str, str]) -> ClusterSnapshot:
    """Add the volume claims of pods. `data_0={...}` adds the claim of `data-0`, with this metadata."""
    manifests: dict[Key, Manifest] = {}
    for pod, metadata in claims.items():
        name = f"data-{pod.replace('_', '-')}"
        key = Key("v1", "PersistentVolumeClaim", snapshot.cluster.key.namespace, name)
        manifests[key] = {
            "metadata": {"name": name, "uid": f"uid-{name}", "resourceVersion": "1", **metadata}
        }
    return replace(snapshot, objects={**snapshot.objects, **manifests})
