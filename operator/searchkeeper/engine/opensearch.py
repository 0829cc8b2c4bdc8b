"""OpenSearch, 2 and 3, over its HTTP API: the driver of clusters that somebody relies on."""

from __future__ import annotations

__all__ = ["OpenSearch", "exclusion"]

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from searchkeeper.engine.answers import (
    ENABLE,
    EXCLUDE,
    NODES,
    STATE,
    Answer,
    Unclear,
    archived_in,
    as_object,
    deciders_in,
    view_of,
)
from searchkeeper.engine.calls import (
    Call,
    ClearVotingExclusions,
    Exclude,
    ExcludeFromVoting,
    Flush,
    SetAllocation,
)
from searchkeeper.engine.driver import CallFailed, CallRefused
from searchkeeper.engine.http import Access, Http, NoAnswer, Turned
from searchkeeper.engine.view import ABSENT, EngineView, ShardCopy, ShardState, Unreachable

# How long the elected manager may take to answer; without one there is none.
_MANAGER: Final = {"cluster_manager_timeout": "5s"}
# An explanation costs the manager a round of all deciders. Beyond these, or when the manager takes long for
# them, a copy stays unexplained, safely.
_EXPLAINED: Final = 256
# Moving a vote, or writing to disk what is in memory, is allowed to take a while.
_LONG: Final = 45


class OpenSearch:
    """One cluster. Settings are persistent ones: transient ones are lost when every manager restarts."""

    def __init__(self, access: Access, *, patience: float = 15) -> None:
        self._access = access
        self._patience = patience

    def look(self) -> EngineView | Unreachable:
        http = Http(self._access, patience=self._patience)
        try:
            return _looked(http)
        except (NoAnswer, Turned, Unclear) as error:
            return Unreachable(str(error))
        finally:
            http.close()

    def tell(self, call: Call) -> None:
        http = Http(self._access, patience=self._patience)
        try:
            _told(http, call)
        except (NoAnswer, Turned, Unclear) as error:
            is_for_good = isinstance(error, Turned) and error.is_for_good
            raise (CallRefused if is_for_good else CallFailed)(str(error)) from error
        finally:
            http.close()


def _looked(http: Http) -> EngineView:
    """Raises NoAnswer, Turned, Unclear. Health comes first: it waits until nothing is pending."""
    health = http.get("/_cluster/health", wait_for_events="languid", timeout="5s", **_MANAGER)
    nodes = http.get("/_nodes", filter_path=NODES, timeout="5s")
    state = http.get(
        "/_cluster/state/nodes,metadata,routing_table,cluster_manager_node", filter_path=STATE, **_MANAGER
    )
    view = view_of(health, nodes, state, _settings(http))
    return replace(view, shards=_explained(http, view))


def _settings(http: Http) -> Answer:
    return as_object(http.get("/_cluster/settings", flat_settings="true", **_MANAGER))


def _explained(http: Http, view: EngineView) -> tuple[ShardCopy, ...]:
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


def _deciders(http: Http, index: str, shard: int, is_primary: bool) -> frozenset[str]:
    """None where the copy has been assigned meanwhile: then there is nothing to excuse."""
    question = {"index": index, "shard": shard, "primary": is_primary}
    try:
        return deciders_in(http.call("POST", "/_cluster/allocation/explain", body=question))
    except Turned as refused:
        if refused.status in (400, 404):
            return frozenset()
        raise


def _told(http: Http, call: Call) -> None:
    match call:
        case SetAllocation(value):
            _set(http, ENABLE, None if value is None else str(value))
        case Exclude(names):
            _set(http, EXCLUDE, exclusion(names))
        case Flush():
            http.call("POST", "/_flush", patience=_LONG)
        case ExcludeFromVoting(name):
            is_absent = name.startswith(ABSENT)
            who = {"node_ids": name.removeprefix(ABSENT)} if is_absent else {"node_names": name}
            query = {**who, "timeout": "30s"}
            http.call("POST", "/_cluster/voting_config_exclusions", query, patience=_LONG)
        case ClearVotingExclusions():
            query = {"wait_for_removal": "false"}
            http.call("DELETE", "/_cluster/voting_config_exclusions", query, patience=_LONG)


def exclusion(names: frozenset[str]) -> str | None:
    """As it is written; None for nobody, since a lone comma would be a name of nobody that matches nobody.

    A name with a comma in it is two.
    """
    parts = {part.strip() for name in names for part in name.split(",")}
    return ",".join(sorted(parts - {""})) or None


def _set(http: Http, name: str, value: str | None) -> None:
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
        raise NoAnswer(f"PUT /_cluster/settings: {name} was not acknowledged by every node")


def _without(settings: Mapping[str, Any], scope: str) -> dict[str, None]:
    return dict.fromkeys(archived_in(settings, scope))
