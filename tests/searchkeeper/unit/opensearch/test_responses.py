"""Parsing of responses into an EngineView, on recorded responses of OpenSearch 2.19.4."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from searchkeeper.opensearch.http import Access
from searchkeeper.opensearch.http_client import OpenSearchClient
from searchkeeper.opensearch.responses import blocking_deciders
from searchkeeper.opensearch.view import Allocation, Color, EngineView, ShardState, Unreachable
from tests.support.searchkeeper.opensearch_replayed import RecordedEngine, load_recording, replay

STATE = "/_cluster/state/nodes,metadata,routing_table,cluster_manager_node"
ENABLE, EXCLUDE = "cluster.routing.allocation.enable", "cluster.routing.allocation.exclude._name"
MANAGER_AND_DATA = frozenset({"cluster_manager", "data"})


@pytest.fixture
def healthy() -> Iterator[RecordedEngine]:
    with replay(load_recording("healthy")) as engine:
        yield engine


def get_state(engine: RecordedEngine) -> EngineView | Unreachable:
    return OpenSearchClient(Access(engine.url)).get_state()


def get_view(engine: RecordedEngine) -> EngineView:
    view = get_state(engine)
    assert isinstance(view, EngineView), view
    return view


def state_of_recording(name: str) -> EngineView | Unreachable:
    with replay(load_recording(name)) as engine:
        return get_state(engine)


def response(engine: RecordedEngine, path: str) -> Any:
    return engine.exchange("GET", path, None)["response"]


def unassigned_deciders(view: EngineView) -> list[frozenset[str]]:
    return [copy.deciders for copy in view.shards if copy.state is ShardState.UNASSIGNED]


def test_nodes_have_the_versions_that_they_report_themselves(healthy: RecordedEngine) -> None:
    """`GET /` may report 7.10.2 for compatibility, so the client does not use it."""
    view = get_view(healthy)
    assert [(node.name, node.version, node.roles) for node in view.nodes] == [
        (f"logs-data-{number}", "2.19.4", MANAGER_AND_DATA) for number in range(3)
    ]
    assert view.elected is not None
    assert view.voters == {"logs-data-0", "logs-data-1", "logs-data-2"}
    assert "/" not in [request.path for request in healthy.requests]


def test_unassignable_replica_has_deciders_and_makes_the_cluster_yellow(healthy: RecordedEngine) -> None:
    view = get_view(healthy)
    unassigned = [copy for copy in view.shards if copy.state is ShardState.UNASSIGNED]
    assert view.color is Color.YELLOW
    assert [(copy.index, copy.deciders) for copy in unassigned] == [("wide", frozenset({"same_shard"}))] * 2
    assert not view.is_moving


def test_one_explanation_is_requested_for_all_replicas_of_a_shard(healthy: RecordedEngine) -> None:
    get_view(healthy)
    paths = [request.path for request in healthy.requests]
    assert paths.count("/_cluster/allocation/explain") == 1


def test_index_has_replicas_and_replication_type(healthy: RecordedEngine) -> None:
    indices = response(healthy, STATE)["metadata"]["indices"]
    indices["wide"]["settings"]["index"]["replication"] = {"type": "SEGMENT"}
    by_name = {index.name: index for index in get_view(healthy).indices}
    assert (by_name["wide"].created_by, by_name["wide"].replicas) == ("2.19.4", 4)
    assert by_name["wide"].segment_replication
    assert not by_name["books"].segment_replication


@pytest.mark.parametrize(
    ("version_id", "created_by"),
    [
        ("6082399", "0.6.8"),
        ("7000099", "0.7.0"),
        ("7100299", "0.7.10"),
        ("7171899", "0.7.17"),
        ("135217827", "1.0.0"),
        ("135238227", "1.2.4"),
        ("135249827", "1.3.20"),
        ("136217827", "2.0.0"),
        ("136408227", "2.19.4"),
        ("137257827", "3.4.0"),
    ],
    ids=[
        "Elasticsearch 6.8.23",
        "Elasticsearch 7.0.0",
        "Elasticsearch 7.10.2",
        "Elasticsearch 7.17.18",
        "OpenSearch 1.0.0",
        "OpenSearch 1.2.4",
        "OpenSearch 1.3.20",
        "OpenSearch 2.0.0",
        "OpenSearch 2.19.4",
        "OpenSearch 3.4.0",
    ],
)
def test_index_has_the_version_that_created_it(
    healthy: RecordedEngine, version_id: str, created_by: str
) -> None:
    """OpenSearch sets bit 27 of its version ids, and Elasticsearch does not (`Version.fromId`)."""
    indices = response(healthy, STATE)["metadata"]["indices"]
    indices["books"]["settings"]["index"]["version"]["created"] = version_id
    by_name = {index.name: index for index in get_view(healthy).indices}
    assert by_name["books"].created_by == created_by


def relocate(engine: RecordedEngine) -> dict[str, str]:
    """Make the first copy of books[0] relocate from logs-data-0 to logs-data-2. Returns node ids by name."""
    state = response(engine, STATE)
    ids = {node["name"]: node_id for node_id, node in state["nodes"].items()}
    state["routing_table"]["indices"]["books"]["shards"]["0"][0].update(
        state="RELOCATING", node=ids["logs-data-0"], relocating_node=ids["logs-data-2"]
    )
    return ids


def test_relocating_copy_is_on_its_source_and_on_its_target(healthy: RecordedEngine) -> None:
    relocate(healthy)
    view = get_view(healthy)
    relocating = [copy for copy in view.shards if copy.state is ShardState.RELOCATING]
    assert [(copy.node, copy.to) for copy in relocating] == [("logs-data-0", "logs-data-2")]
    assert relocating[0] in view.copies_on("logs-data-0")
    assert relocating[0] in view.copies_on("logs-data-2")
    assert view.is_moving


def test_target_of_a_relocation_does_not_report_the_move_again(healthy: RecordedEngine) -> None:
    """The INITIALIZING copy at the target names the source in `relocating_node`. It is not on the source."""
    ids = relocate(healthy)
    copies = response(healthy, STATE)["routing_table"]["indices"]["books"]["shards"]["0"]
    target = {
        **copies[0],
        "state": "INITIALIZING",
        "node": ids["logs-data-2"],
        "relocating_node": ids["logs-data-0"],
    }
    copies[:] = [copies[0], target]
    view = get_view(healthy)
    moved = [copy for copy in view.shards if copy.id == ("books", 0)]
    assert sorted((copy.state, copy.node, copy.to) for copy in moved if copy.to) == [
        (ShardState.RELOCATING, "logs-data-0", "logs-data-2")
    ]
    assert [copy.state for copy in view.copies_on("logs-data-0") if copy.id == ("books", 0)] == [
        ShardState.RELOCATING
    ]
    assert [copy.to for copy in moved if copy.state is ShardState.INITIALIZING] == [None]


def test_drained_node_keeps_only_copies_that_fit_nowhere_else() -> None:
    view = state_of_recording("drained")
    assert isinstance(view, EngineView)
    assert view.excluded == {"logs-data-2"}
    assert view.allocation is Allocation.ALL
    assert view.voting_exclusions == {"logs-data-2"}
    assert [copy.index for copy in view.copies_on("logs-data-2")] == ["wide"]
    assert set(unassigned_deciders(view)) == {frozenset({"same_shard", "filter"})}


def test_voter_that_has_left_still_counts(healthy: RecordedEngine) -> None:
    state = response(healthy, STATE)
    absent = next(node_id for node_id, node in state["nodes"].items() if node["name"] == "logs-data-2")
    del state["nodes"][absent]
    view = get_view(healthy)
    assert len(view.voters) == 3
    assert view.absent_voters == {f"@{absent}"}
    assert [node.name for node in view.nodes] == ["logs-data-0", "logs-data-1"]


def test_voters_are_those_of_the_committed_configuration(healthy: RecordedEngine) -> None:
    """An accepted configuration that is not committed decides no election."""
    state = response(healthy, STATE)
    ids = {node["name"]: node_id for node_id, node in state["nodes"].items()}
    state["metadata"]["cluster_coordination"].update(
        last_committed_config=[ids["logs-data-0"], ids["logs-data-1"]],
        last_accepted_config=[ids["logs-data-2"]],
    )
    assert get_view(healthy).voters == {"logs-data-0", "logs-data-1"}


def test_voting_exclusion_of_an_absent_node_has_its_id(healthy: RecordedEngine) -> None:
    state = response(healthy, STATE)
    exclusions = [{"node_id": "x7_Q", "node_name": "_absent_"}, {"node_id": "y", "node_name": "logs-data-1"}]
    state["metadata"]["cluster_coordination"]["voting_config_exclusions"] = exclusions
    assert get_view(healthy).voting_exclusions == {"@x7_Q", "logs-data-1"}


def test_copies_of_a_node_that_left_are_delayed() -> None:
    view = state_of_recording("node-left")
    assert isinstance(view, EngineView)
    assert len(view.nodes) == 2
    assert view.delayed == 1
    assert view.is_moving
    assert view.color is Color.YELLOW


def test_cluster_without_a_manager_is_unreachable() -> None:
    view = state_of_recording("no-manager")
    assert isinstance(view, Unreachable)
    assert "503" in view.cause
    assert "cluster_manager_not_discovered" in view.cause


def test_cluster_is_unreachable_when_health_timed_out(healthy: RecordedEngine) -> None:
    health = {**response(healthy, "/_cluster/health"), "timed_out": True}
    healthy.set_response("GET", "/_cluster/health", health)
    assert get_state(healthy) == Unreachable("the cluster manager did not respond in time")


def test_cluster_is_unreachable_when_a_node_does_not_report(healthy: RecordedEngine) -> None:
    healthy.set_response("GET", "/_nodes", {**response(healthy, "/_nodes"), "_nodes": {"failed": 1}})
    assert get_state(healthy) == Unreachable("1 nodes did not respond to GET /_nodes")


def test_color_is_the_worse_of_health_and_shards(healthy: RecordedEngine) -> None:
    health = {**response(healthy, "/_cluster/health"), "status": "green"}
    healthy.set_response("GET", "/_cluster/health", health)
    assert get_view(healthy).color is Color.YELLOW
    for copy in response(healthy, STATE)["routing_table"]["indices"]["books"]["shards"]["0"]:
        copy.update(state="UNASSIGNED", node=None)
    assert get_view(healthy).color is Color.RED


def test_color_is_red_when_only_health_is_red(healthy: RecordedEngine) -> None:
    health = {**response(healthy, "/_cluster/health"), "status": "red"}
    healthy.set_response("GET", "/_cluster/health", health)
    assert get_view(healthy).color is Color.RED


@pytest.mark.parametrize("status", [401, 403, 408, 429, 500, 503])
def test_cluster_is_unreachable_when_a_request_is_rejected(healthy: RecordedEngine, status: int) -> None:
    error = {"error": {"type": "security_exception", "reason": None}}
    healthy.set_response("GET", "/_cluster/settings", error, status)
    assert get_state(healthy) == Unreachable(f"{status} GET /_cluster/settings: security_exception")


@pytest.mark.parametrize("health", ["<html>", [], {}, {"status": "purple", "timed_out": False}, None])
def test_cluster_is_unreachable_when_health_is_invalid(healthy: RecordedEngine, health: Any) -> None:
    healthy.set_response("GET", "/_cluster/health", health)
    assert isinstance(get_state(healthy), Unreachable)


@pytest.mark.parametrize("version", ["", "unknown", None])
def test_cluster_is_unreachable_when_a_node_has_no_version(
    healthy: RecordedEngine, version: str | None
) -> None:
    nodes = response(healthy, "/_nodes")
    next(iter(nodes["nodes"].values()))["version"] = version
    healthy.set_response("GET", "/_nodes", nodes)
    assert isinstance(get_state(healthy), Unreachable)


def test_transient_settings_take_precedence(healthy: RecordedEngine) -> None:
    settings = {
        "persistent": {ENABLE: "all", EXCLUDE: "kept"},
        "transient": {ENABLE: "NONE", EXCLUDE: " a , ,b,"},
    }
    healthy.set_response("GET", "/_cluster/settings", settings)
    view = get_view(healthy)
    assert view.allocation is Allocation.NONE
    assert view.excluded == {"a", "b"}


def test_empty_transient_setting_takes_precedence(healthy: RecordedEngine) -> None:
    settings = {"persistent": {EXCLUDE: "logs-data-1"}, "transient": {EXCLUDE: ""}}
    healthy.set_response("GET", "/_cluster/settings", settings)
    view = get_view(healthy)
    assert view.excluded == set()
    assert not view.excludes("logs-data-1")


def test_copy_that_was_assigned_meanwhile_has_no_deciders(healthy: RecordedEngine) -> None:
    error = {"error": {"reason": "unable to find any"}}
    healthy.set_response("POST", "/_cluster/allocation/explain", error, 400)
    assert set(unassigned_deciders(get_view(healthy))) == {frozenset()}


def test_cluster_is_unreachable_when_an_explanation_fails(healthy: RecordedEngine) -> None:
    healthy.set_response("POST", "/_cluster/allocation/explain", {"error": "busy"}, 503)
    assert isinstance(get_state(healthy), Unreachable)


@pytest.mark.parametrize("explanation", [[], "x", None, 7, {"node_allocation_decisions": 7}, "[" * 100_000])
def test_cluster_is_unreachable_when_an_explanation_is_invalid(
    healthy: RecordedEngine, explanation: Any
) -> None:
    healthy.set_response("POST", "/_cluster/allocation/explain", explanation)
    assert isinstance(get_state(healthy), Unreachable)


def node_decision(decision: str, *deciders: str) -> dict[str, Any]:
    return {"node_decision": decision, "deciders": [{"decider": each, "decision": "NO"} for each in deciders]}


@pytest.mark.parametrize(
    ("decisions", "expected"),
    [
        (
            [node_decision("no", "same_shard"), node_decision("no", "node_version", "filter")],
            "filter node_version same_shard",
        ),
        ([node_decision("no", "same_shard"), node_decision("yes")], ""),
        ([node_decision("no", "same_shard"), node_decision("throttled", "throttling")], ""),
        ([node_decision("no", "same_shard"), node_decision("awaiting_info")], ""),
        ([node_decision("no", "same_shard"), node_decision("no")], ""),
        ([], ""),
    ],
)
def test_deciders_block_only_if_every_node_rejects_the_copy(decisions: list[Any], expected: str) -> None:
    assert blocking_deciders({"node_allocation_decisions": decisions}) == frozenset(expected.split())


def test_cluster_without_indices_has_a_view(healthy: RecordedEngine) -> None:
    state = response(healthy, STATE)
    del state["routing_table"], state["metadata"]["indices"]
    view = get_view(healthy)
    assert view.shards == ()
    assert view.indices == ()
