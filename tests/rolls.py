"""Single decisions of a roll, in few words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from searchkeeper.kernel import Answer, Ledger, Records
from searchkeeper.kernel.ledger import Entry
from searchkeeper.observed import Observed
from searchkeeper.upgrade.journal import Journal
from searchkeeper.upgrade.rolling import Roll, roll
from searchkeeper.writes import Delete, Key, Manifest, Tell


def rolled(seen: Observed, *ahead: str, **lines: Entry) -> Answer:
    """`roll__size` is the line `roll/size`."""
    ledger = Ledger.of({name.replace("__", "/"): entry for name, entry in lines.items()})
    seen = replace(seen, cluster=replace(seen.cluster, records=Records(ledger)))
    return roll(Roll(seen, Journal(ledger), seen.pools, frozenset(ahead)))


def taken(answer: Answer) -> str | None:
    """The pod that goes."""
    return next((each.key.name for each in answer.writes if isinstance(each, Delete)), None)


def calls(answer: Answer) -> list[object]:
    """What the engine is told."""
    return [each.call for each in answer.writes if isinstance(each, Tell)]


def notes(answer: Answer) -> dict[str, Entry | None]:
    return {note.key: note.value for note in answer.notes}


def with_claims(seen: Observed, **claims: Mapping[str, str]) -> Observed:
    """Volume claims of pods (`data_0`), with what else their metadata has."""
    found: dict[Key, Manifest] = {}
    for pod, metadata in claims.items():
        name = f"data-{pod.replace('_', '-')}"
        key = Key("v1", "PersistentVolumeClaim", seen.cluster.key.namespace, name)
        found[key] = {"metadata": {"name": name, "uid": f"uid-{name}", "resourceVersion": "1", **metadata}}
    return replace(seen, objects={**seen.objects, **found})
