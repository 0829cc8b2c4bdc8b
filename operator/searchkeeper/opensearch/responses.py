"""Parses responses of OpenSearch into an EngineView. Pure: recorded responses always give the same view."""

from __future__ import annotations

__all__ = [
    "ENABLE_SETTING",
    "EXCLUDE_SETTING",
    "NODES_FILTER",
    "RECORD_PREFIX",
    "SETTINGS_FILTER",
    "STATE_FILTER",
    "InvalidResponse",
    "JsonObject",
    "allocation_setting",
    "archived_settings",
    "as_object",
    "blocking_deciders",
    "engine_view",
    "exclusion_setting",
    "recorded_settings",
    "watermark_setting",
]

from collections.abc import Iterator, Mapping
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

ENABLE_SETTING: Final = "cluster.routing.allocation.enable"
EXCLUDE_SETTING: Final = "cluster.routing.allocation.exclude._name"
# OpenSearch accepts any setting below `cluster.metadata.` and does not use it.
RECORD_PREFIX: Final = "cluster.metadata.searchkeeper."
_DISK_SETTINGS: Final = "cluster.routing.allocation.disk."
# Values of `filter_path`, so that the responses contain neither mappings nor statistics.
NODES_FILTER: Final = "_nodes.failed,nodes.*.name,nodes.*.version,nodes.*.roles"
STATE_FILTER: Final = ",".join(
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
# With the defaults, which include the configuration of the nodes, of the settings about disks.
SETTINGS_FILTER: Final = "persistent,transient,defaults.cluster*disk*"
# The bit that distinguishes version ids of OpenSearch from those of Elasticsearch (Version.MASK).
_OPENSEARCH_BIT: Final = 0x08000000
# What OpenSearch writes as the name of an excluded node that has left (VotingConfigExclusion).
_UNKNOWN_NODE_NAME: Final = "_absent_"
_BY_SEVERITY: Final = (Color.GREEN, Color.YELLOW, Color.RED)


class InvalidResponse(Exception):
    """A response is incomplete or not what OpenSearch sends."""


def as_object(response: Any) -> JsonObject:
    """Return the response if it is a JSON object. Raises InvalidResponse."""
    if not isinstance(response, dict):
        raise InvalidResponse(f"the response is {type(response).__name__}, expected an object")
    return response


def engine_view(health: JsonObject, nodes: JsonObject, state: JsonObject, settings: JsonObject) -> EngineView:
    """Build a view from four responses. Raises InvalidResponse.

    Shards, voters and indices come from one cluster state, so they are consistent. The color is the worse of
    the one in `health` and the one that the shards show: a node may have left between the two requests.
    """
    try:
        if health["timed_out"]:
            raise InvalidResponse("the cluster manager did not respond in time")
        if nodes["_nodes"]["failed"]:
            raise InvalidResponse(f"{nodes['_nodes']['failed']} nodes did not respond to GET /_nodes")
        names = {node_id: str(node["name"]) for node_id, node in state["nodes"].items()}
        shards = tuple(_shard_copies(state, names))
        missing = [copy for copy in shards if copy.state in (ShardState.UNASSIGNED, ShardState.INITIALIZING)]
        shards_color = Color.YELLOW if missing else Color.GREEN
        if any(copy.is_primary for copy in missing):
            shards_color = Color.RED
        coordination = state["metadata"]["cluster_coordination"]
        return EngineView(
            color=max(Color(health["status"]), shards_color, key=_BY_SEVERITY.index),
            nodes=tuple(_nodes(nodes, names, state.get("cluster_manager_node"))),
            shards=shards,
            indices=tuple(_indices(state)),
            allocation=allocation_setting(settings),
            excluded=exclusion_setting(settings),
            # Elections need a majority of the committed configuration. It includes voters that have left.
            voters=frozenset(
                names.get(node, ABSENT + node) for node in coordination["last_committed_config"]
            ),
            voting_exclusions=frozenset(
                ABSENT + str(exclusion["node_id"])
                if exclusion["node_name"] == _UNKNOWN_NODE_NAME
                else str(exclusion["node_name"])
                for exclusion in coordination.get("voting_config_exclusions") or ()
            ),
            delayed=int(health["delayed_unassigned_shards"]),
            fetching=int(health["number_of_in_flight_fetch"]),
            low_watermark=watermark_setting(settings),
            record=recorded_settings(settings),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InvalidResponse(f"cannot parse the responses: {error!r}") from error


def _nodes(nodes: JsonObject, names: Mapping[str, str], elected: str | None) -> Iterator[Node]:
    """Nodes that are in the cluster state and in `GET /_nodes`, by name."""
    joined = {(names[node_id], node_id): node for node_id, node in nodes["nodes"].items() if node_id in names}
    for name, node_id in sorted(joined):
        node = joined[name, node_id]
        # Raises ValueError for a version that cannot be compared.
        version = str(Version.parse(str(node["version"])))
        yield Node(name, version, frozenset(node["roles"]), node_id == elected)


def _shard_copies(state: JsonObject, names: Mapping[str, str]) -> Iterator[ShardCopy]:
    """Copies by index and shard number, primaries first. A node that has just left appears by its id."""
    routing = (state.get("routing_table") or {}).get("indices") or {}
    for index in sorted(routing):
        for _, copies in sorted(routing[index]["shards"].items(), key=lambda item: int(item[0])):
            for copy in sorted(copies, key=lambda copy: (not copy["primary"], str(copy["node"] or "~"))):
                node, other_node = copy["node"], copy["relocating_node"]
                shard_state = ShardState(copy["state"])
                # The INITIALIZING copy at the target has the source here, which already reports the move.
                is_source = shard_state is ShardState.RELOCATING and other_node is not None
                yield ShardCopy(
                    str(copy["index"]),
                    int(copy["shard"]),
                    bool(copy["primary"]),
                    shard_state,
                    None if node is None else names.get(node, node),
                    names.get(other_node, other_node) if is_source else None,
                )


def _indices(state: JsonObject) -> Iterator[Index]:
    for name, metadata in sorted((state["metadata"].get("indices") or {}).items()):
        settings = metadata["settings"]["index"]
        replication = (settings.get("replication") or {}).get("type", "DOCUMENT")
        yield Index(
            name,
            int(settings["number_of_replicas"]),
            _version_text(int(settings["version"]["created"])),
            replication == "SEGMENT",
        )


def _version_text(version_id: int) -> str:
    """The version in `index.version.created`; 0.MAJOR.MINOR for a version of Elasticsearch.

    Elasticsearch versions thereby sort before OpenSearch 1.0, which is their order of compatibility.
    """
    digits = version_id & ~_OPENSEARCH_BIT
    major, minor, patch = digits // 1_000_000, digits // 10_000 % 100, digits // 100 % 100
    return f"{major}.{minor}.{patch}" if version_id & _OPENSEARCH_BIT else f"0.{major}.{minor}"


def allocation_setting(settings: JsonObject) -> Allocation:
    """The `cluster.routing.allocation.enable` in force. Raises ValueError for an unknown value."""
    return Allocation(str(_setting_in_force(settings, ENABLE_SETTING) or "all").lower())


def exclusion_setting(settings: JsonObject) -> frozenset[str]:
    """The `cluster.routing.allocation.exclude._name` in force: node names and patterns."""
    value = _setting_in_force(settings, EXCLUDE_SETTING) or ""
    parts = value if isinstance(value, list) else str(value).split(",")
    return frozenset(filter(None, (part.strip() for part in parts)))


def watermark_setting(settings: JsonObject) -> str | None:
    """The low disk watermark in force; None if disks are ignored."""
    defaults: JsonObject = settings.get("defaults") or {}

    def in_force(name: str, default: str) -> str:
        value = _setting_in_force(settings, _DISK_SETTINGS + name)
        return str(defaults.get(_DISK_SETTINGS + name, default) if value is None else value)

    is_enabled = in_force("threshold_enabled", "true").lower() != "false"
    return in_force("watermark.low", "85%") if is_enabled else None


def recorded_settings(settings: JsonObject) -> tuple[tuple[str, str], ...]:
    """The operator's record of its own settings: the persistent settings below RECORD_PREFIX, sorted."""
    persistent: JsonObject = settings.get("persistent") or {}
    return tuple(
        (name.removeprefix(RECORD_PREFIX), str(text))
        for name, text in sorted(persistent.items())
        if name.startswith(RECORD_PREFIX) and text is not None
    )


def _setting_in_force(settings: JsonObject, name: str) -> Any:
    """A transient setting takes precedence over a persistent one, even when it is empty."""
    transient: JsonObject = settings.get("transient") or {}
    return transient[name] if name in transient else (settings.get("persistent") or {}).get(name)


def archived_settings(settings: JsonObject, scope: str) -> list[str]:
    """Settings of removed plugins or older versions. OpenSearch rejects every update while one exists."""
    return sorted(name for name in settings.get(scope) or {} if name.startswith("archived."))


def blocking_deciders(explanation: Any) -> frozenset[str]:
    """The deciders that reject a copy; empty unless every node has at least one. Raises InvalidResponse.

    A node that decides `throttled` or `awaiting_info` may still accept the copy.
    """
    try:
        by_node = [
            {
                str(decider["decider"])
                for decider in node.get("deciders") or ()
                if node.get("node_decision") == "no" and decider.get("decision") == "NO"
            }
            for node in explanation.get("node_allocation_decisions") or ()
        ]
    except (AttributeError, KeyError, TypeError) as error:
        raise InvalidResponse(f"cannot parse the allocation explanation: {error!r}") from error
    return frozenset[str]().union(*by_node) if by_node and all(by_node) else frozenset()
