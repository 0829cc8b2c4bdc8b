"""What OpenSearch answers, read as values. Pure: recorded answers give the view that they gave then."""

from __future__ import annotations

__all__ = [
    "NODES",
    "STATE",
    "InvalidResponse",
    "JsonObject",
    "allocation_setting",
    "archived_settings",
    "as_object",
    "blocking_deciders",
    "engine_view",
    "exclusion_setting",
]

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from semver import Version

from searchkeeper.opensearch.view import (
    ABSENT,
    Allocation,
    Color,
    EngineView,
    Index,
    Node,
    ShardCopy,
    ShardState,
)

JsonObject: TypeAlias = Mapping[str, Any]

ENABLE: Final = "cluster.routing.allocation.enable"
EXCLUDE: Final = "cluster.routing.allocation.exclude._name"
# What is asked for, so that neither mappings nor statistics travel.
NODES: Final = "_nodes.failed,nodes.*.name,nodes.*.version,nodes.*.roles"
STATE: Final = ",".join(
    (
        "cluster_manager_node",
        "nodes.*.name",
        "metadata.cluster_coordination",
        "metadata.indices.*.settings.index.version.created",
        "metadata.indices.*.settings.index.number_of_replicas",
        "metadata.indices.*.settings.index.replication.type",
        "routing_table.indices.*.shards",
    )
)
# Set in every version number of OpenSearch, to tell it from Elasticsearch's.
_OPENSEARCH: Final = 0x08000000
# The name of an excluded node that was not there.
_NAMELESS: Final = "_absent_"
_WORSE: Final = (Color.GREEN, Color.YELLOW, Color.RED)


class InvalidResponse(Exception):
    """An answer that says too little to decide anything on."""


def as_object(answer: Any) -> JsonObject:
    """Raises Unclear for anything else: every answer of an engine is one."""
    if not isinstance(answer, dict):
        raise InvalidResponse(f"an answer is {type(answer).__name__} instead of an object")
    return answer


def engine_view(health: JsonObject, nodes: JsonObject, state: JsonObject, settings: JsonObject) -> EngineView:
    """One view out of four answers. Raises Unclear.

    Shards, voters and indices come from one state of the cluster, so they fit each other. The colour is the
    worse of what the engine said before and what that state shows: in between a node may have left.
    """
    try:
        return _view(health, nodes, state, settings)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InvalidResponse(f"the answers cannot be read: {error!r}") from error


def _view(health: JsonObject, nodes: JsonObject, state: JsonObject, settings: JsonObject) -> EngineView:
    _check(health, nodes)
    names = {node: str(each["name"]) for node, each in state["nodes"].items()}
    shards = tuple(_shards(state, names))
    coordination = state["metadata"]["cluster_coordination"]
    return EngineView(
        max(Color(health["status"]), _color(shards), key=_WORSE.index),
        tuple(_nodes(nodes, names, state.get("cluster_manager_node"))),
        shards,
        tuple(_indices(state)),
        allocation_setting(settings),
        exclusion_setting(settings),
        # A voter that is away has no name any more; it counts all the same.
        frozenset(names.get(node, ABSENT + node) for node in coordination["last_committed_config"]),
        frozenset(map(_without_vote, coordination.get("voting_config_exclusions") or ())),
        int(health["delayed_unassigned_shards"]),
        int(health["number_of_in_flight_fetch"]),
    )


def _without_vote(exclusion: JsonObject) -> str:
    """Who was excluded by its id while it was away has no name."""
    name = str(exclusion["node_name"])
    return ABSENT + str(exclusion["node_id"]) if name == _NAMELESS else name


def _check(health: JsonObject, nodes: JsonObject) -> None:
    if health["timed_out"]:
        raise InvalidResponse("the cluster manager did not answer in time")
    if nodes["_nodes"]["failed"]:
        raise InvalidResponse(f"{nodes['_nodes']['failed']} nodes did not say what they are")


def _nodes(nodes: JsonObject, names: Mapping[str, str], elected: str | None) -> Iterator[Node]:
    """Those that are in the state and spoke for themselves; by name."""
    found = [(names[node], node, each) for node, each in nodes["nodes"].items() if node in names]
    for name, node, each in sorted(found, key=lambda one: one[:2]):
        # What cannot be compared with any other version decides nothing.
        version = str(Version.parse(str(each["version"])))
        yield Node(name, version, frozenset(each["roles"]), node == elected)


def _shards(state: JsonObject, names: Mapping[str, str]) -> Iterator[ShardCopy]:
    """By index and number, the primary first. A node that has just left is called by its id."""
    table = (state.get("routing_table") or {}).get("indices") or {}
    for index in sorted(table):
        for _, copies in sorted(table[index]["shards"].items(), key=lambda item: int(item[0])):
            yield from (_copy(each, names) for each in sorted(copies, key=_place))


def _place(copy: JsonObject) -> tuple[bool, str]:
    return not copy["primary"], str(copy["node"] or "~")


def _copy(raw: JsonObject, names: Mapping[str, str]) -> ShardCopy:
    node, to = raw["node"], raw["relocating_node"]
    state = ShardState(raw["state"])
    # An initializing copy that is the far end of a move names where it comes from: that end is told already.
    return ShardCopy(
        str(raw["index"]),
        int(raw["shard"]),
        bool(raw["primary"]),
        state,
        None if node is None else names.get(node, node),
        names.get(to, to) if to is not None and state is ShardState.RELOCATING else None,
    )


def _color(shards: Sequence[ShardCopy]) -> Color:
    missing = [c for c in shards if c.state in (ShardState.UNASSIGNED, ShardState.INITIALIZING)]
    if any(copy.is_primary for copy in missing):
        return Color.RED
    return Color.YELLOW if missing else Color.GREEN


def _indices(state: JsonObject) -> Iterator[Index]:
    indices = state["metadata"].get("indices") or {}
    for name in sorted(indices):
        settings = indices[name]["settings"]["index"]
        replication = (settings.get("replication") or {}).get("type", "DOCUMENT")
        yield Index(
            name,
            int(settings["number_of_replicas"]),
            _version(int(settings["version"]["created"])),
            replication == "SEGMENT",
        )


def _version(number: int) -> str:
    """OpenSearch's, or 0.MAJOR.MINOR for Elasticsearch's, which all come before OpenSearch 1."""
    digits = number & ~_OPENSEARCH
    major, minor, patch = digits // 1_000_000, digits // 10_000 % 100, digits // 100 % 100
    return f"{major}.{minor}.{patch}" if number & _OPENSEARCH else f"0.{major}.{minor}"


def allocation_setting(settings: JsonObject) -> Allocation:
    return Allocation(str(_in_force(settings, ENABLE) or "all").lower())


def exclusion_setting(settings: JsonObject) -> frozenset[str]:
    """Names and patterns, as they are written."""
    written = _in_force(settings, EXCLUDE) or ""
    parts = written if isinstance(written, list) else str(written).split(",")
    return frozenset(filter(None, (part.strip() for part in parts)))


def _in_force(settings: JsonObject, name: str) -> Any:
    """A transient setting goes before a persistent one. An empty one is in force, too."""
    transient: JsonObject = settings.get("transient") or {}
    return transient[name] if name in transient else (settings.get("persistent") or {}).get(name)


def archived_settings(settings: JsonObject, scope: str) -> list[str]:
    """Settings of plugins or versions that are gone: while there are any, no setting can be changed."""
    return sorted(name for name in settings.get(scope) or {} if name.startswith("archived."))


def blocking_deciders(explanation: Any) -> frozenset[str]:
    """The deciders that keep a copy from every node; none where a node would take it, or might.

    Raises Unclear.
    """
    try:
        against = [_against(node) for node in explanation.get("node_allocation_decisions") or ()]
    except (AttributeError, KeyError, TypeError) as error:
        raise InvalidResponse(f"the explanation cannot be read: {error!r}") from error
    return frozenset[str]().union(*against) if against and all(against) else frozenset()


def _against(node: JsonObject) -> frozenset[str]:
    if node.get("node_decision") != "no":
        return frozenset()
    return frozenset(
        str(each["decider"]) for each in node.get("deciders") or () if each.get("decision") == "NO"
    )
