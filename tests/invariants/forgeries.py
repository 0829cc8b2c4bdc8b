"""A minute of a real run, as an API server told it, and ways to tell it differently.

Recorded: of a cluster in the middle of its upgrade, `logs-managers-1` is noted and taken away by the second
of two operators, comes back, and is struck out again. Cut to what laws read.
"""

from __future__ import annotations

__all__ = ["FIRST", "KEY", "LAST", "RELEASE", "Forgery"]

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
RELEASE: Final = release("0.4.0")
# The first look, and the one after the new pod was ready. In between: noted at 1145, deleted at 1146.
FIRST, LAST = 1144, 1168
_RECORD: Final = Path(__file__).parent / "recorded" / "takes-a-manager.json"
_DATA: Final = ("logs-data-0", "logs-data-1")
_MANAGERS: Final = ("logs-managers-0", "logs-managers-1", "logs-managers-2")


def _engine(upgraded: str = "") -> FakeEngine:
    """Data nodes are new already, with a copy of one index on each."""
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


class Forgery:
    """The record, open to changes. Whatever is added has a revision that nobody else has."""

    def __init__(self) -> None:
        record: Any = json.loads(_RECORD.read_text(encoding="utf-8"))
        self.changes = [
            *(_change(each) for each in record["there"]),
            *(_change(each, is_gone=what == "DELETED") for what, each in record["heard"]),
        ]
        self.audit: list[Any] = record["audit"]
        self.beats = [EngineObservation(FIRST, _engine()), EngineObservation(LAST, _engine(_MANAGERS[1]))]

    @property
    def history(self) -> RunHistory:
        return RunHistory(KEY, RELEASE, self.changes, self.beats, tuple(requests(self.audit)))

    def laws(self) -> set[str]:
        """The names of those that are broken."""
        return {each.partition(":")[0] for each in self.history.breaches()}

    def line(self, verb: str, resource: str) -> Any:
        """The first line of the log about that."""
        return next(e for e in self.audit if (e["verb"], e["objectRef"]["resource"]) == (verb, resource))

    def there(self, kind: str, name: str, before: int = FIRST + 1) -> Any:
        """An object as it was; not the record's own."""
        key = (kind, name)
        found = [e for e in self.changes if (e.key.kind, e.key.name) == key and e.revision < before]
        return deepcopy(max(found, key=lambda each: each.revision).manifest)

    def change(self, manifest: Any, revision: int, *, is_gone: bool = False) -> Any:
        """It happened as well. The object as it was then."""
        made = {**manifest, "metadata": {**manifest["metadata"], "resourceVersion": str(revision)}}
        self.changes.append(StoreChange(revision, made, is_gone))
        return made

    def delete(self, name: str, revision: int) -> Any:
        """One more pod was taken away. The line of the log about it."""
        pod = self.there("Pod", name)
        snapshot = {"uid": pod["metadata"]["uid"], "resourceVersion": pod["metadata"]["resourceVersion"]}
        pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        line = deepcopy(self.line("delete", "pods"))
        line["objectRef"]["name"] = name
        line["requestObject"]["preconditions"] = snapshot
        line["responseObject"] = self.change(pod, revision)
        self.audit.append(line)
        return line

    def patch(self, manifest: Any, resource: str, revision: int, **changes: Any) -> None:
        """One more object was written."""
        line = deepcopy(self.line("patch", "searchclusters"))
        api, _, version = manifest["apiVersion"].rpartition("/")
        line["objectRef"] = {
            "resource": resource,
            "namespace": KEY.namespace,
            "name": manifest["metadata"]["name"],
            "apiGroup": api,
            "apiVersion": version,
        }
        line["requestObject"] = changes
        line["responseObject"] = self.change({**manifest, **changes}, revision)
        self.audit.append(line)

    def note(self, revision: int, **ledger: Any) -> None:
        """From then on the ledger has had these lines as well; `roll__away` is roll/away."""
        lines = {name.replace("__", "/"): json.dumps(entry) for name, entry in ledger.items()}
        self.changes = [
            replace(each, manifest=_noted(each.manifest, lines))
            if each.key == KEY and each.revision >= revision
            else each
            for each in self.changes
        ]


def _change(manifest: Any, *, is_gone: bool = False) -> StoreChange:
    return StoreChange(int(manifest["metadata"]["resourceVersion"]), manifest, is_gone)


def _noted(manifest: Any, lines: dict[str, str]) -> Any:
    status = manifest["status"]
    return {**manifest, "status": {**status, "ledger": {**status["ledger"], **lines}}}
