"""OpenSearch, 2 and 3, over its HTTP API: the driver of clusters that somebody relies on."""

from __future__ import annotations

__all__ = ["OpenSearchClient", "exclusion_value"]

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from searchkeeper.opensearch.calls import (
    Call,
    ClearVotingExclusions,
    Exclude,
    ExcludeFromVoting,
    Flush,
    SetAllocation,
)
from searchkeeper.opensearch.client import CallFailed, CallRejected
from searchkeeper.opensearch.http import Access, ErrorResponse, HttpConnection, NoResponse
from searchkeeper.opensearch.responses import (
    ENABLE,
    EXCLUDE,
    NODES,
    STATE,
    InvalidResponse,
    JsonObject,
    archived_settings,
    as_object,
    blocking_deciders,
    engine_view,
)
from searchkeeper.opensearch.view import ABSENT, EngineView, ShardCopy, ShardState, Unreachable

# How long the elected manager may take to answer; without one there is none.
_MANAGER: Final = {"cluster_manager_timeout": "5s"}
# An explanation costs the manager a round of all deciders. Beyond these, or when the manager takes long for
# them, a copy stays unexplained, safely.
_EXPLAINED: Final = 256
# Moving a vote, or writing to disk what is in memory, is allowed to take a while.
_LONG: Final = 45


class OpenSearchClient:
    """One cluster. Settings are persistent ones: transient ones are lost when every manager restarts."""

    def __init__(self, access: Access, *, deadline: float = 15) -> None:
        self._access = access
        self._patience = deadline

    def get_state(self) -> EngineView | Unreachable:
        http = HttpConnection(self._access, deadline=self._patience)
        try:
            return _looked(http)
        except (NoResponse, ErrorResponse, InvalidResponse) as error:
            return Unreachable(str(error))
        finally:
            http.close()

    def execute(self, call: Call) -> None:
        http = HttpConnection(self._access, deadline=self._patience)
        try:
            _told(http, call)
        except (NoResponse, ErrorResponse, InvalidResponse) as error:
            is_for_good = isinstance(error, ErrorResponse) and error.is_for_good
            raise (CallRejected if is_for_good else CallFailed)(str(error)) from error
        finally:
            http.close()


def _looked(http: HttpConnection) -> EngineView:
    """Raises NoAnswer, Turned, Unclear. Health comes first: it waits until nothing is pending."""
    health = http.get("/_cluster/health", wait_for_events="languid", timeout="5s", **_MANAGER)
    nodes = http.get("/_nodes", filter_path=NODES, timeout="5s")
    state = http.get(
        "/_cluster/state/nodes,metadata,routing_table,cluster_manager_node", filter_path=STATE, **_MANAGER
    )
    view = engine_view(health, nodes, state, _settings(http))
    return replace(view, shards=_explained(http, view))


def _settings(http: HttpConnection) -> JsonObject:
    return as_object(http.get("/_cluster/settings", flat_settings="true", **_MANAGER))


def _explained(http: HttpConnection, view: EngineView) -> tuple[ShardCopy, ...]:
    """Unassigned copies with the deciders against them. All replicas of a shard have the same."""
    lost = [copy for copy in view.shards if copy.state is ShardState.UNASSIGNED]
    asked = list(dict.fromkeys((copy.index, copy.shard, copy.is_primary) for copy in lost))
    why = {each: _deciders(http, *each) for each in asked[:_EXPLAINED] if not http.is_late}
    return tuple(
        replace(copy, deciders=why.get((copy.index, copy.shard, copy.is_primary), frozenset()))
        if copy.state is ShardState.UNASSIGNED
        else copy
        for copy in view.shards
    )


def _deciders(http: HttpConnection, index: str, shard: int, is_primary: bool) -> frozenset[str]:
    """None where the copy has been assigned meanwhile: then there is nothing to excuse."""
    question = {"index": index, "shard": shard, "primary": is_primary}
    try:
        return blocking_deciders(http.call("POST", "/_cluster/allocation/explain", body=question))
    except ErrorResponse as refused:
        if refused.status in (400, 404):
            return frozenset()
        raise


def _told(http: HttpConnection, call: Call) -> None:
    match call:
        case SetAllocation(value):
            _set(http, ENABLE, None if value is None else str(value))
        case Exclude(names):
            _set(http, EXCLUDE, exclusion_value(names))
        case Flush():
            http.call("POST", "/_flush", deadline=_LONG)
        case ExcludeFromVoting(name):
            is_absent = name.startswith(ABSENT)
            who = {"node_ids": name.removeprefix(ABSENT)} if is_absent else {"node_names": name}
            query = {**who, "timeout": "30s"}
            http.call("POST", "/_cluster/voting_config_exclusions", query, deadline=_LONG)
        case ClearVotingExclusions():
            query = {"wait_for_removal": "false"}
            http.call("DELETE", "/_cluster/voting_config_exclusions", query, deadline=_LONG)


def exclusion_value(names: frozenset[str]) -> str | None:
    """As it is written; None for nobody, since a lone comma would be a name of nobody that matches nobody.

    A name with a comma in it is two.
    """
    parts = {part.strip() for name in names for part in name.split(",")}
    return ",".join(sorted(parts - {""})) or None


def _set(http: HttpConnection, name: str, value: str | None) -> None:
    """A transient setting of that name would outrank ours, so it goes; its value is in the ledger.

    Archived settings go, too: nothing reads them, and with one of them there no setting can be changed.
    """
    found = _settings(http)
    transient = _without(found, "transient")
    if name in (found.get("transient") or {}):
        transient[name] = None
    body = {"persistent": {**_without(found, "persistent"), name: value}, "transient": transient}
    answer = http.call(
        "PUT", "/_cluster/settings", _MANAGER, {key: part for key, part in body.items() if part}
    )
    if not as_object(answer).get("acknowledged"):
        raise NoResponse(f"PUT /_cluster/settings: {name} was not acknowledged by every node")


def _without(settings: Mapping[str, Any], scope: str) -> dict[str, None]:
    return dict.fromkeys(archived_settings(settings, scope))
