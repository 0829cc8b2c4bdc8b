"""The fake engine behind the part of OpenSearch's HTTP API that OpenSearchClient uses.

Outside the operator process it survives a restart of the operator.
"""

from __future__ import annotations

__all__ = ["EngineHost", "EngineHttpApi"]

from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any, Final, Protocol

from searchkeeper.opensearch.calls import (
    Call,
    ChangeRecord,
    ClearVotingExclusions,
    Exclude,
    ExcludeFromVoting,
    Flush,
    SetAllocation,
    TakeSnapshot,
)
from searchkeeper.opensearch.details import DetailsRequest, SnapshotState
from searchkeeper.opensearch.http_client import exclusion_value
from searchkeeper.opensearch.responses import (
    ENABLE_SETTING,
    EXCLUDE_SETTING,
    RECORD_PREFIX,
    allocation_setting,
    exclusion_setting,
)
from searchkeeper.opensearch.view import ABSENT, EngineView, Index, ShardCopy, Unreachable
from searchkeeper.testing.fake_opensearch import FakeEngine, get_details, get_state
from searchkeeper.versions import parse
from tests.support.searchkeeper.opensearch_replayed import Request

_HEALTH: Final = "/_cluster/health"
_STATE: Final = "/_cluster/state/nodes,metadata,routing_table,cluster_manager_node"
_SETTINGS: Final = "/_cluster/settings"
_STATISTICS: Final = "/_nodes/stats/fs,indices/store"
_SNAPSHOTS: Final = "/_snapshot/"
_VOTING: Final = "/_cluster/voting_config_exclusions"
_OPENSEARCH_BIT: Final = 0x08000000


class EngineHost(Protocol):
    """Owns a fake engine, advances its time and executes calls."""

    @property
    def engine(self) -> FakeEngine: ...

    def pass_time(self) -> None: ...

    def execute(self, call: Call) -> None:
        """Raises CallFailed."""


class EngineHttpApi:
    """Handles requests one after the other. Time passes with each request for the health."""

    def __init__(self, host: EngineHost) -> None:
        self._host = host
        self._lock = Lock()

    def handle(self, request: Request, _: Mapping[str, str]) -> tuple[int, Any]:
        with self._lock:
            if request.path == _HEALTH:
                self._host.pass_time()
            view = get_state(self._host.engine)
            if isinstance(view, Unreachable):
                return 503, {"error": {"reason": view.cause}}
            if request.path.startswith((_STATISTICS, _SNAPSHOTS)) and request.method == "GET":
                return _details(self._host.engine, request.path)
            if request.method == "GET":
                return 200, _RESPONSES[request.path](view)
            if "explain" in request.path:
                return 200, _explanation(view, **request.body)
            for call in _calls(request):
                self._host.execute(call)
            return 200, {"acknowledged": True}


def _calls(request: Request) -> list[Call]:
    match request.method, request.path:
        case "POST", "/_flush":
            return [Flush()]
        case "POST", path if path.startswith(_SNAPSHOTS):
            return []
        case "PUT", path if path.startswith(_SNAPSHOTS):
            return [TakeSnapshot(*path.removeprefix(_SNAPSHOTS).split("/"))]
        case "POST", path if path == _VOTING:
            ids = request.query.get("node_ids")
            return [ExcludeFromVoting(request.query["node_names"] if ids is None else ABSENT + ids)]
        case "DELETE", path if path == _VOTING:
            return [ClearVotingExclusions()]
        case "PUT", path if path == _SETTINGS:
            return _settings_calls(request.body["persistent"])
        case method, path:
            raise LookupError(f"the client never sends {method} {path}")


def _details(engine: FakeEngine, path: str) -> tuple[int, Any]:
    """Node statistics, a repository or a snapshot."""
    if path == _STATISTICS:
        disks = get_details(engine, DetailsRequest(disks=True)).disks
        assert disks is not None
        nodes: dict[str, Any] = {}
        for name, disk in disks.nodes.items():
            usage = {"total_in_bytes": disk.total, "available_in_bytes": disk.available}
            nodes[name] = {"name": name, "fs": {"total": usage}, "indices": {"shards": {}}}
        for (name, index, shard), size in disks.copies.items():
            shards = nodes[name]["indices"]["shards"].setdefault(index, [])
            shards.append({str(shard): {"store": {"size_in_bytes": size}}})
        return 200, {"nodes": nodes}
    repository, _, name = path.removeprefix(_SNAPSHOTS).partition("/")
    view = get_details(engine, DetailsRequest(repository=repository, snapshot=name or None)).snapshot
    assert view is not None
    missing = (SnapshotState.REPOSITORY_MISSING, *((SnapshotState.MISSING,) if name else ()))
    if view.state in missing:
        return 404, {"error": {"reason": "missing"}}
    snapshot = {"snapshot": name, "state": str(view.state), "shards": {"failed": 0}, "reason": view.cause}
    return 200, {"snapshots": [snapshot]} if name else {repository: {"type": "fs"}}


def _settings_calls(persistent: Mapping[str, Any]) -> list[Call]:
    record = tuple(
        (name.removeprefix(RECORD_PREFIX), text)
        for name, text in persistent.items()
        if name.startswith(RECORD_PREFIX)
    )
    if ENABLE_SETTING in persistent:
        is_set = persistent[ENABLE_SETTING] is not None
        value = allocation_setting({"persistent": persistent}) if is_set else None
        return [SetAllocation(value, record)]
    if EXCLUDE_SETTING in persistent:
        return [Exclude(exclusion_setting({"persistent": persistent}), record)]
    return [ChangeRecord(record)] if record else []


def _explanation(view: EngineView, index: str, shard: int, primary: bool) -> Any:
    key = (index, shard, primary)
    copy = next(each for each in view.shards if (each.index, each.shard, each.is_primary) == key)
    deciders = [{"decider": each, "decision": "NO"} for each in sorted(copy.deciders)]
    decision = {"node_decision": "no" if deciders else "yes", "deciders": deciders}
    return {"node_allocation_decisions": [decision]}


def _health(view: EngineView) -> Any:
    return {
        "status": str(view.color),
        "timed_out": False,
        "delayed_unassigned_shards": view.delayed,
        "number_of_in_flight_fetch": view.fetching,
    }


def _nodes(view: EngineView) -> Any:
    """Node ids are the node names."""
    nodes = {
        each.name: {"name": each.name, "version": each.version, "roles": sorted(each.roles)}
        for each in view.nodes
    }
    return {"_nodes": {"failed": 0}, "nodes": nodes}


def _state(view: EngineView) -> Any:
    elected = view.elected
    coordination = {
        "last_committed_config": sorted(name.removeprefix(ABSENT) for name in view.voters),
        "voting_config_exclusions": [_exclusion(name) for name in sorted(view.voting_exclusions)],
    }
    tables: dict[str, Any] = {each.name: {"shards": {}} for each in view.indices}
    for copy in view.shards:
        tables[copy.index]["shards"].setdefault(str(copy.shard), []).append(_copy(copy))
    return {
        "cluster_manager_node": None if elected is None else elected.name,
        "nodes": {each.name: {"name": each.name} for each in view.nodes},
        "metadata": {
            "cluster_coordination": coordination,
            "indices": {each.name: {"settings": {"index": _index(each)}} for each in view.indices},
        },
        "routing_table": {"indices": tables},
    }


def _exclusion(name: str) -> Any:
    is_absent = name.startswith(ABSENT)
    return {"node_id": name.removeprefix(ABSENT), "node_name": "_absent_" if is_absent else name}


def _copy(copy: ShardCopy) -> Any:
    return {
        "index": copy.index,
        "shard": copy.shard,
        "primary": copy.is_primary,
        "state": str(copy.state),
        "node": copy.node,
        "relocating_node": copy.to,
    }


def _index(index: Index) -> Any:
    version = parse(index.created_by)
    assert version is not None
    number = _OPENSEARCH_BIT | version.major * 1_000_000 + version.minor * 10_000 + version.patch * 100 + 99
    replication = {"replication": {"type": "SEGMENT"}} if index.segment_replication else {}
    return {"number_of_replicas": str(index.replicas), "version": {"created": str(number)}, **replication}


def _settings(view: EngineView) -> Any:
    record = {RECORD_PREFIX + name: text for name, text in view.record}
    persistent = {
        ENABLE_SETTING: str(view.allocation),
        EXCLUDE_SETTING: exclusion_value(view.excluded),
        **record,
    }
    return {"persistent": {name: text for name, text in persistent.items() if text}, "transient": {}}


_RESPONSES: Final[Mapping[str, Callable[[EngineView], Any]]] = {
    _HEALTH: _health,
    "/_nodes": _nodes,
    _STATE: _state,
    _SETTINGS: _settings,
}
