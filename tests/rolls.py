"""Single decisions of a roll, in few words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from searchkeeper.kubernetes.operations import Delete, EngineCall, Key, Manifest
from searchkeeper.planner import Ledger, Records, Result
from searchkeeper.planner.ledger import Entry
from searchkeeper.snapshot import ClusterSnapshot
from searchkeeper.upgrade.ledger import UpgradeLedger
from searchkeeper.upgrade.rollout import Rollout, roll_out


def rolled(snapshot: ClusterSnapshot, *ahead: str, **lines: Entry) -> Result:
    """`roll__size` is the line `roll/size`."""
    ledger = Ledger.of({name.replace("__", "/"): entry for name, entry in lines.items()})
    snapshot = replace(snapshot, cluster=replace(snapshot.cluster, records=Records(ledger)))
    return roll_out(Rollout(snapshot, UpgradeLedger.of(ledger), snapshot.pools, frozenset(ahead)))


def taken(answer: Result) -> str | None:
    """The pod that goes."""
    return next((each.key.name for each in answer.operations if isinstance(each, Delete)), None)


def calls(answer: Result) -> list[object]:
    """What the engine is told."""
    return [each.call for each in answer.operations if isinstance(each, EngineCall)]


def notes(answer: Result) -> dict[str, Entry | None]:
    return {note.key: note.value for note in answer.ledger_changes}


def with_claims(snapshot: ClusterSnapshot, **claims: Mapping[str, str]) -> ClusterSnapshot:
    """Volume claims of pods (`data_0`), with what else their metadata has."""
    found: dict[Key, Manifest] = {}
    for pod, metadata in claims.items():
        name = f"data-{pod.replace('_', '-')}"
        key = Key("v1", "PersistentVolumeClaim", snapshot.cluster.key.namespace, name)
        found[key] = {"metadata": {"name": name, "uid": f"uid-{name}", "resourceVersion": "1", **metadata}}
    return replace(snapshot, objects={**snapshot.objects, **found})
