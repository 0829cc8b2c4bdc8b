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
)
from searchkeeper.opensearch.client import CallFailed, CallRejected
from searchkeeper.opensearch.http import Access, ErrorResponse, HttpConnection, NoResponse
from searchkeeper.opensearch.responses import (
    ENABLE_SETTING,
    EXCLUDE_SETTING,
    NODES_FILTER,
    RECORD_PREFIX,
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
    return as_object(http.get("/_cluster/settings", flat_settings="true", **_MANAGER_TIMEOUT))


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
