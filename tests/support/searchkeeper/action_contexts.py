"""Contexts for tests of single actions: a snapshot of the module `snapshots` with a ledger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from searchkeeper.kubernetes.operations import Key, Manifest
from searchkeeper.planner import Ledger, Records
from searchkeeper.planner.ledger import Entry
from searchkeeper.reconcilers.context import ReconcileContext
from searchkeeper.snapshot import ClusterSnapshot
from tests.support.searchkeeper.snapshots import NEW


def context(
    snapshot: ClusterSnapshot, *, version: str = NEW, runs: str | None = NEW, **entries: Entry
) -> ReconcileContext:
    """Return the context of a cluster with this `spec.version` whose nodes run `runs`.

    Other arguments are ledger entries: `engine__leaving` has the key `engine/leaving`.
    """
    ledger = Ledger.of({name.replace("__", "/"): entry for name, entry in entries.items()})
    spec = replace(snapshot.cluster.spec, version=version)
    cluster = replace(snapshot.cluster, spec=spec, engine_version=runs, records=Records(ledger))
    return ReconcileContext(replace(snapshot, cluster=cluster), 4)


def with_objects(snapshot: ClusterSnapshot, *manifests: Manifest) -> ClusterSnapshot:
    found: Mapping[Key, Manifest] = {Key.of(each): each for each in manifests}
    return replace(snapshot, objects={**snapshot.objects, **found})


def manifest(api: str, kind: str, name: str, **metadata: Any) -> Manifest:
    named = {"name": name, "namespace": "search", "uid": f"uid-{name}", "resourceVersion": "1"}
    return {"apiVersion": api, "kind": kind, "metadata": {**named, **metadata}}
