"""EngineClient over the HTTP API of OpenSearch 2 and 3."""

from __future__ import annotations

__all__ = ["OpenSearchClient", "exclusion_value"]

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from searchkeeper.opensearch.calls import (
    Call,
    ChangeRecord,
    ClearVotingExclusions,
    Exclude,
    ExcludeFromVoting,
    Flush,
    RecordChanges,
    SetAllocation,
    TakeSnapshot,
)
from searchkeeper.opensearch.client import CallFailed, CallRejected
from searchkeeper.opensearch.details import (
    DISKS_FILTER,
    DetailsRequest,
    Disks,
    EngineDetails,
    SnapshotState,
    SnapshotView,
    parse_disks,
    parse_snapshot,
)
from searchkeeper.opensearch.http import Access, ErrorResponse, HttpConnection, NoResponse
from searchkeeper.opensearch.responses import (
    ENABLE_SETTING,
    EXCLUDE_SETTING,
    NODES_FILTER,
    RECORD_PREFIX,
    SETTINGS_FILTER,
    STATE_FILTER,
    InvalidResponse,
    JsonObject,
    archived_settings,
    as_object,
    blocking_deciders,
    engine_view,
)
from searchkeeper.opensearch.view import ABSENT, EngineView, ShardCopy, ShardState, Unreachable

# Without an elected cluster manager the request fails after this time.
_MANAGER_TIMEOUT: Final = {"cluster_manager_timeout": "5s"}
# Each explanation runs every allocation decider on the cluster manager. Copies beyond this number, and copies
# for which no time is left, have no deciders, so no gate excuses them.
_MAX_EXPLANATIONS: Final = 256
# Seconds for a flush or a change of voting exclusions, which are slow on a busy cluster.
_SLOW_CALL_TIMEOUT: Final = 45
_BAD_REQUEST: Final = 400
_NOT_FOUND: Final = 404
_INTERNAL_ERROR: Final = 500
_VOTING_EXCLUSIONS: Final = "/_cluster/voting_config_exclusions"


class OpenSearchClient:
    """Client of one cluster. `timeout` limits each request, in seconds."""

    def __init__(self, access: Access, *, timeout: float = 15) -> None:
        self._access = access
        self._timeout = timeout

    def get_state(self) -> EngineView | Unreachable:
        http = HttpConnection(self._access, timeout=self._timeout)
        try:
            return _fetch_view(http)
        except (NoResponse, ErrorResponse, InvalidResponse) as error:
            return Unreachable(str(error))
        finally:
            http.close()

    def get_details(self, request: DetailsRequest) -> EngineDetails:
        http = HttpConnection(self._access, timeout=self._timeout)
        try:
            disks = _fetch_disks(http) if request.disks else None
            snapshot = None
            if request.repository is not None:
                snapshot = _fetch_snapshot(http, request.repository, request.snapshot)
            return EngineDetails(disks, snapshot)
        finally:
            http.close()

    def execute(self, call: Call) -> None:
        http = HttpConnection(self._access, timeout=self._timeout)
        try:
            match call:
                case SetAllocation(value, record):
                    _update_settings(http, record, {ENABLE_SETTING: None if value is None else str(value)})
                case Exclude(names, record):
                    _update_settings(http, record, {EXCLUDE_SETTING: exclusion_value(names)})
                case ChangeRecord(record):
                    _update_settings(http, record)
                case Flush():
                    http.call("POST", "/_flush", timeout=_SLOW_CALL_TIMEOUT)
                case ExcludeFromVoting(name, record):
                    _update_settings(http, record)
                    # By name, the exclusion of a node that has left would not remove its vote.
                    is_absent = name.startswith(ABSENT)
                    node = {"node_ids": name.removeprefix(ABSENT)} if is_absent else {"node_names": name}
                    query = {**node, "timeout": "30s"}
                    http.call("POST", _VOTING_EXCLUSIONS, query, timeout=_SLOW_CALL_TIMEOUT)
                case ClearVotingExclusions(record):
                    _update_settings(http, record)
                    query = {"wait_for_removal": "false"}
                    http.call("DELETE", _VOTING_EXCLUSIONS, query, timeout=_SLOW_CALL_TIMEOUT)
                case TakeSnapshot(repository, name):
                    _take_snapshot(http, repository, name)
        except (NoResponse, ErrorResponse, InvalidResponse) as error:
            is_permanent = isinstance(error, ErrorResponse) and error.is_permanent
            raise (CallRejected if is_permanent else CallFailed)(str(error)) from error
        finally:
            http.close()


def _fetch_view(http: HttpConnection) -> EngineView:
    """Raises NoResponse, ErrorResponse, InvalidResponse."""
    # Health comes first: it waits until the cluster manager has no pending tasks.
    health = http.get("/_cluster/health", wait_for_events="languid", timeout="5s", **_MANAGER_TIMEOUT)
    nodes = http.get("/_nodes", filter_path=NODES_FILTER, timeout="5s")
    state = http.get(
        "/_cluster/state/nodes,metadata,routing_table,cluster_manager_node",
        filter_path=STATE_FILTER,
        **_MANAGER_TIMEOUT,
    )
    view = engine_view(health, nodes, state, _get_settings(http))
    return replace(view, shards=_explain_unassigned(http, view.shards))


def _get_settings(http: HttpConnection) -> JsonObject:
    query = {"flat_settings": "true", "include_defaults": "true", "filter_path": SETTINGS_FILTER}
    return as_object(http.get("/_cluster/settings", **query, **_MANAGER_TIMEOUT))


def _explain_unassigned(http: HttpConnection, shards: tuple[ShardCopy, ...]) -> tuple[ShardCopy, ...]:
    """Add the blocking deciders to unassigned copies, with one request for all replicas of a shard."""
    deciders: dict[tuple[str, int, bool], frozenset[str]] = {}
    explained = []
    for copy in shards:
        key = (copy.index, copy.shard, copy.is_primary)
        if copy.state is not ShardState.UNASSIGNED:
            explained.append(copy)
            continue
        if key not in deciders and len(deciders) < _MAX_EXPLANATIONS and http.has_time_left:
            deciders[key] = _fetch_blocking_deciders(http, *key)
        explained.append(replace(copy, deciders=deciders.get(key, frozenset())))
    return tuple(explained)


def _fetch_blocking_deciders(
    http: HttpConnection, index: str, shard: int, is_primary: bool
) -> frozenset[str]:
    body = {"index": index, "shard": shard, "primary": is_primary}
    try:
        return blocking_deciders(http.call("POST", "/_cluster/allocation/explain", body=body))
    except ErrorResponse as error:
        # The copy has been assigned since, or its index is deleted.
        if error.status in (400, 404):
            return frozenset()
        raise


def _fetch_disks(http: HttpConnection) -> Disks | None:
    """None if the engine gives no figures: they refine a decision, and none is blocked without them."""
    try:
        query = {"level": "shards", "filter_path": DISKS_FILTER, "timeout": "5s"}
        return parse_disks(http.get("/_nodes/stats/fs,indices/store", **query))
    except (NoResponse, ErrorResponse):
        return None


def _fetch_snapshot(http: HttpConnection, repository: str, name: str | None) -> SnapshotView:
    try:
        if name is not None:
            try:
                return parse_snapshot(http.get(f"/_snapshot/{repository}/{name}", **_MANAGER_TIMEOUT))
            except ErrorResponse as error:
                if error.status != _NOT_FOUND:
                    raise
        # Either the snapshot or the repository is missing.
        http.get(f"/_snapshot/{repository}", **_MANAGER_TIMEOUT)
        return SnapshotView(SnapshotState.MISSING)
    except ErrorResponse as error:
        is_missing = error.status == _NOT_FOUND
        return SnapshotView(
            SnapshotState.REPOSITORY_MISSING if is_missing else SnapshotState.UNKNOWN, str(error)
        )
    except NoResponse as error:
        return SnapshotView(SnapshotState.UNKNOWN, str(error))


def _take_snapshot(http: HttpConnection, repository: str, name: str) -> None:
    """Verify the repository on every node, then start the snapshot. Does not wait for its end.

    OpenSearch rejects a name that exists with 400. Raises CallRejected also for 500, which OpenSearch returns
    for a repository that a node cannot write to and for a primary that is missing: the message names it.
    """
    try:
        http.call("POST", f"/_snapshot/{repository}/_verify", timeout=_SLOW_CALL_TIMEOUT)
        body = {"indices": "*", "include_global_state": True}
        query = {"wait_for_completion": "false"}
        http.call("PUT", f"/_snapshot/{repository}/{name}", query, body, timeout=_SLOW_CALL_TIMEOUT)
    except ErrorResponse as error:
        states = (SnapshotState.MISSING, SnapshotState.REPOSITORY_MISSING, SnapshotState.UNKNOWN)
        if error.status == _BAD_REQUEST and _fetch_snapshot(http, repository, name).state not in states:
            return
        if error.status == _INTERNAL_ERROR:
            raise CallRejected(str(error)) from error
        raise


def exclusion_value(names: frozenset[str]) -> str | None:
    """The value of `cluster.routing.allocation.exclude._name`; None, which removes it, without names.

    A name that contains a comma counts as two names, as it does for OpenSearch.
    """
    parts = {part.strip() for name in names for part in name.split(",")}
    return ",".join(sorted(parts - {""})) or None


def _update_settings(
    http: HttpConnection, record: RecordChanges, settings: Mapping[str, str | None] | None = None
) -> None:
    """Set persistent settings and the record in one request; None removes one.

    Transient settings are lost when all managers restart. A transient setting of the same name is removed, as
    it would take precedence; the ledger has its value. Archived settings are removed, too: OpenSearch rejects
    every settings update while one exists.
    """
    changes = {**{RECORD_PREFIX + name: text for name, text in record}, **(settings or {})}
    if not changes:
        return
    current = _get_settings(http)
    persistent: dict[str, Any] = dict.fromkeys(archived_settings(current, "persistent"))
    transient: dict[str, Any] = dict.fromkeys(archived_settings(current, "transient"))
    transient |= dict.fromkeys(name for name in changes if name in (current.get("transient") or {}))
    body = {"persistent": {**persistent, **changes}, **({"transient": transient} if transient else {})}
    response = http.call("PUT", "/_cluster/settings", _MANAGER_TIMEOUT, body)
    if not as_object(response).get("acknowledged"):
        raise NoResponse(f"PUT /_cluster/settings: not every node acknowledged {', '.join(changes)}")
