"""A recorded minute of a run on a real API server, and methods to tamper with it.

In the record, during an upgrade, the second of two operators records `logs-managers-1` in the ledger, deletes
it, and removes it from the ledger after it was replaced. The record is cut to what the invariants read.
"""

from __future__ import annotations

__all__ = ["FIRST", "KEY", "LAST", "RELEASE", "TamperedRun"]

import json
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from searchkeeper.kubernetes.operations import Key
from searchkeeper.opensearch.view import Node, ShardState
from searchkeeper.releases import release
from searchkeeper.testing.audit_log import requests
from searchkeeper.testing.fake_opensearch import FakeEngine
from searchkeeper.testing.fake_opensearch.state import FakeShardCopy
from searchkeeper.testing.run_history import EngineObservation, RunHistory, StoreChange

KEY: Final = Key("search.everpath.dev/v1alpha1", "SearchCluster", "search", "logs")
RELEASE: Final = release("0.5.0")
# The revisions of the first read of the engine, and of the one after the new pod was ready. In between: the
# ledger line at 1145, the deletion at 1146.
FIRST, LAST = 1144, 1168
_RECORD: Final = Path(__file__).parent / "recorded" / "replaces-a-manager.json"
_DATA: Final = ("logs-data-0", "logs-data-1")
_MANAGERS: Final = ("logs-managers-0", "logs-managers-1", "logs-managers-2")


def _engine(upgraded: str = "") -> FakeEngine:
    """Data nodes are upgraded already. Each has a copy of one index."""
    managers = (
        Node(
            name,
            "3.4.0" if name == upgraded else "2.19.4",
            frozenset({"cluster_manager"}),
            name == _MANAGERS[0],
        )
        for name in _MANAGERS
    )
    nodes = (*(Node(name, "3.4.0", frozenset({"data"})) for name in _DATA), *managers)
    copies = tuple(
        FakeShardCopy("books", 0, name == _DATA[0], ShardState.STARTED, name, has_data=True) for name in _DATA
    )
    disks = tuple((node.name, node.version) for node in nodes)
    return FakeEngine(nodes=nodes, copies=copies, disks=disks, voters=frozenset(_MANAGERS))


class TamperedRun:
    """The record, with methods that change it. An added change needs a revision of its own."""

    def __init__(self) -> None:
        record: Any = json.loads(_RECORD.read_text(encoding="utf-8"))
        self.changes = [
            *(_change(each) for each in record["there"]),
            *(_change(each, is_gone=what == "DELETED") for what, each in record["heard"]),
        ]
        self.audit: list[Any] = record["audit"]
        self.observations = [
            EngineObservation(FIRST, _engine()),
            EngineObservation(LAST, _engine(_MANAGERS[1])),
        ]

    @property
    def history(self) -> RunHistory:
        return RunHistory(KEY, RELEASE, self.changes, self.observations, tuple(requests(self.audit)))

    def violated_invariants(self) -> set[str]:
        """The names of the violated invariants."""
        return {each.partition(":")[0] for each in self.history.violations()}

    def audit_event(self, verb: str, resource: str) -> Any:
        """The first event of the audit log with this verb and resource."""
        return next(e for e in self.audit if (e["verb"], e["objectRef"]["resource"]) == (verb, resource))

    def manifest(self, kind: str, name: str, before: int = FIRST + 1) -> Any:
        """A copy of an object as it was before a revision."""
        key = (kind, name)
        changes = [e for e in self.changes if (e.key.kind, e.key.name) == key and e.revision < before]
        return deepcopy(max(changes, key=lambda each: each.revision).manifest)

    def change(self, manifest: Any, revision: int, *, is_gone: bool = False) -> Any:
        """Add a change of an object. Return the object at that revision."""
        changed = {**manifest, "metadata": {**manifest["metadata"], "resourceVersion": str(revision)}}
        self.changes.append(StoreChange(revision, changed, is_gone))
        return changed

    def delete(self, name: str, revision: int) -> Any:
        """Add the deletion of a pod. Return its event in the audit log."""
        pod = self.manifest("Pod", name)
        preconditions = {"uid": pod["metadata"]["uid"], "resourceVersion": pod["metadata"]["resourceVersion"]}
        pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        event = deepcopy(self.audit_event("delete", "pods"))
        event["objectRef"]["name"] = name
        event["requestObject"]["preconditions"] = preconditions
        event["responseObject"] = self.change(pod, revision)
        self.audit.append(event)
        return event

    def patch(self, manifest: Any, resource: str, revision: int, **changes: Any) -> None:
        """Add a patch of an object."""
        event = deepcopy(self.audit_event("patch", "searchclusters"))
        api, _, version = manifest["apiVersion"].rpartition("/")
        event["objectRef"] = {
            "resource": resource,
            "namespace": KEY.namespace,
            "name": manifest["metadata"]["name"],
            "apiGroup": api,
            "apiVersion": version,
        }
        event["requestObject"] = changes
        event["responseObject"] = self.change({**manifest, **changes}, revision)
        self.audit.append(event)

    def add_ledger_lines(self, revision: int, **ledger: Any) -> None:
        """Add lines to the ledger from a revision on; `roll__away` is roll/away."""
        lines = {name.replace("__", "/"): json.dumps(entry) for name, entry in ledger.items()}
        self.changes = [
            replace(each, manifest=_with_ledger_lines(each.manifest, lines))
            if each.key == KEY and each.revision >= revision
            else each
            for each in self.changes
        ]


def _change(manifest: Any, *, is_gone: bool = False) -> StoreChange:
    return StoreChange(int(manifest["metadata"]["resourceVersion"]), manifest, is_gone)


def _with_ledger_lines(manifest: Any, lines: dict[str, str]) -> Any:
    status = manifest["status"]
    return {**manifest, "status": {**status, "ledger": {**status["ledger"], **lines}}}
