"""One step of a rollout, for tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from searchkeeper.kubernetes.operations import Delete, EngineCall, Key, Manifest
from searchkeeper.planner import Ledger, Records, Result
from searchkeeper.planner.ledger import Entry
from searchkeeper.snapshot import ClusterSnapshot
from searchkeeper.upgrade.ledger import UpgradeLedger
from searchkeeper.upgrade.rollout import Rollout, roll_out


def next_step(snapshot: ClusterSnapshot, *ahead: str, **lines: Entry) -> Result:
    """Return the next step. `roll__size` stands for the key `roll/size`."""
    ledger = Ledger.of({name.replace("__", "/"): entry for name, entry in lines.items()})
    snapshot = replace(snapshot, cluster=replace(snapshot.cluster, records=Records(ledger)))
    return roll_out(Rollout(snapshot, UpgradeLedger.of(ledger), snapshot.pools, frozenset(ahead)))


def deleted_object(result: Result) -> str | None:
    """Return the name of the object that a result deletes."""
    return next((each.key.name for each in result.operations if isinstance(each, Delete)), None)


def calls(result: Result) -> list[object]:
    """Return the engine calls of a result."""
    return [each.call for each in result.operations if isinstance(each, EngineCall)]


def notes(result: Result) -> dict[str, Entry | None]:
    return {note.key: note.value for note in result.ledger_changes}


def with_claims(snapshot: ClusterSnapshot, **claims: Mapping[str, str]) -> ClusterSnapshot:
    """Add volume claims of pods (`data_0`) with this metadata."""
    found: dict[Key, Manifest] = {}
    for pod, metadata in claims.items():
        name = f"data-{pod.replace('_', '-')}"
        key = Key("v1", "PersistentVolumeClaim", snapshot.cluster.key.namespace, name)
        found[key] = {"metadata": {"name": name, "uid": f"uid-{name}", "resourceVersion": "1", **metadata}}
    return replace(snapshot, objects={**snapshot.objects, **found})
