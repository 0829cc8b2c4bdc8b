"""Scenes for tests of single actions: the world of `worlds`, with a ledger, as an action sees it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from searchkeeper.configuration.scene import Scene
from searchkeeper.kernel import Ledger, Records
from searchkeeper.kernel.ledger import Entry
from searchkeeper.observed import Observed
from searchkeeper.writes import Key, Manifest
from worlds import NEW


def scene(seen: Observed, *, version: str = NEW, runs: str | None = NEW, **lines: Entry) -> Scene:
    """Of a cluster that is to have a version and runs one; `roll__away` is the line `roll/away`."""
    ledger = Ledger.of({name.replace("__", "/"): entry for name, entry in lines.items()})
    spec = replace(seen.cluster.spec, version=version)
    cluster = replace(seen.cluster, spec=spec, engine_version=runs, records=Records(ledger))
    return Scene(replace(seen, cluster=cluster), 4)


def with_objects(seen: Observed, *manifests: Manifest) -> Observed:
    found: Mapping[Key, Manifest] = {Key.of(each): each for each in manifests}
    return replace(seen, objects={**seen.objects, **found})


def manifest(api: str, kind: str, name: str, **metadata: Any) -> Manifest:
    named = {"name": name, "namespace": "search", "uid": f"uid-{name}", "resourceVersion": "1"}
    return {"apiVersion": api, "kind": kind, "metadata": {**named, **metadata}}
