"""The driver's look at an OpenSearch that answers as a real one of 2.19.4 did."""

from __future__ import annotations

import html
import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from typing import Any
from urllib.parse import quote, quote_plus

import pytest

from opensearch_replayed import Replayed, recording, replaying
from searchkeeper.opensearch.http import Access, HttpConnection
from searchkeeper.opensearch.http_client import OpenSearchClient, _fetch_view
from searchkeeper.opensearch.responses import blocking_deciders
from searchkeeper.opensearch.view import Allocation, Color, EngineView, ShardState, Unreachable

STATE = "/_cluster/state/nodes,metadata,routing_table,cluster_manager_node"
BOTH = frozenset({"cluster_manager", "data"})


@pytest.fixture
def healthy() -> Iterator[Replayed]:
    with replaying(recording("healthy")) as replayed:
        yield replayed


def looked(replayed: Replayed) -> EngineView:
    view = OpenSearchClient(Access(replayed.url)).get_state()
    assert isinstance(view, EngineView), view
    return view


def recorded(replayed: Replayed, path: str) -> Any:
    return replayed.answer("GET", path, None)["answer"]


def at(name: str) -> EngineView | Unreachable:
    with replaying(recording(name)) as replayed:
        return OpenSearchClient(Access(replayed.url)).get_state()


def test_nodes_have_the_names_of_pods_and_the_versions_they_say_themselves(
    healthy: Replayed,
) -> None:
    view = looked(healthy)
    assert [(node.name, node.version, node.roles) for node in view.nodes] == [
        (f"logs-data-{number}", "2.19.4", BOTH) for number in range(3)
    ]
    assert view.elected is not None
    assert view.voters == {"logs-data-0", "logs-data-1", "logs-data-2"}
    assert "/" not in [path for _, path, _, _ in healthy.questions]


def test_a_replica_too_many_is_explained_and_the_cluster_yellow(healthy: Replayed) -> None:
    view = looked(healthy)
    lost = [copy for copy in view.shards if copy.state is ShardState.UNASSIGNED]
    assert view.color is Color.YELLOW
    assert [(copy.index, copy.deciders) for copy in lost] == [("wide", frozenset({"same_shard"}))] * 2
    assert not view.is_moving


def test_every_replica_of_a_shard_is_explained_by_one_question(healthy: Replayed) -> None:
    looked(healthy)
    assert [path for _, path, _, _ in healthy.questions].count("/_cluster/allocation/explain") == 1


def test_indices_tell_who_created_them(healthy: Replayed) -> None:
    state = recorded(healthy, STATE)
    state["metadata"]["indices"]["books"]["settings"]["index"]["version"]["created"] = "7100299"
    state["metadata"]["indices"]["wide"]["settings"]["index"]["replication"] = {"type": "SEGMENT"}
    found = {index.name: index for index in looked(healthy).indices}
    assert (found["wide"].created_by, found["wide"].replicas) == ("2.19.4", 4)
    assert found["wide"].segment_replication
    assert not found["books"].segment_replication
    assert found["books"].created_by == "0.7.10"


def test_a_moving_copy_is_where_it_leaves_and_where_it_goes(healthy: Replayed) -> None:
    state = recorded(healthy, STATE)
    ids = {each["name"]: node for node, each in state["nodes"].items()}
    state["routing_table"]["indices"]["books"]["shards"]["0"][0].update(
        state="RELOCATING", node=ids["logs-data-0"], relocating_node=ids["logs-data-2"]
    )
    view = looked(healthy)
    moving = [copy for copy in view.shards if copy.state is ShardState.RELOCATING]
    assert [(copy.node, copy.to) for copy in moving] == [("logs-data-0", "logs-data-2")]
    assert moving[0] in view.copies_on("logs-data-0")
    assert moving[0] in view.copies_on("logs-data-2")
    assert view.is_moving


def test_after_a_drain_nothing_that_could_go_is_left_on_the_node() -> None:
    view = at("drained")
    assert isinstance(view, EngineView)
    assert view.excluded == {"logs-data-2"}
    assert view.allocation is Allocation.ALL
    assert view.voting_exclusions == {"logs-data-2"}
    assert [copy.index for copy in view.copies_on("logs-data-2")] == ["wide"]
    assert {copy.deciders for copy in view.shards if copy.state is ShardState.UNASSIGNED} == {
        frozenset({"same_shard", "filter"})
    }


def test_a_voter_that_is_away_still_counts(healthy: Replayed) -> None:
    state = recorded(healthy, STATE)
    gone = next(node for node, each in state["nodes"].items() if each["name"] == "logs-data-2")
    del state["nodes"][gone]
    view = looked(healthy)
    assert len(view.voters) == 3
    assert view.absent_voters == {f"@{gone}"}
    assert [node.name for node in view.nodes] == ["logs-data-0", "logs-data-1"]


def test_who_was_excluded_from_voting_while_it_was_away_is_called_by_its_id(healthy: Replayed) -> None:
    state = recorded(healthy, STATE)
    excluded = [{"node_id": "x7_Q", "node_name": "_absent_"}, {"node_id": "y", "node_name": "logs-data-1"}]
    state["metadata"]["cluster_coordination"]["voting_config_exclusions"] = excluded
    assert looked(healthy).voting_exclusions == {"@x7_Q", "logs-data-1"}


def test_a_node_that_left_leaves_copies_that_are_waited_for() -> None:
    view = at("one-away")
    assert isinstance(view, EngineView)
    assert len(view.nodes) == 2
    assert view.delayed == 1
    assert view.is_moving
    assert view.color is Color.YELLOW


def test_without_a_cluster_manager_nothing_is_known() -> None:
    view = at("no-manager")
    assert isinstance(view, Unreachable)
    assert "503" in view.cause
    assert "cluster_manager_not_discovered" in view.cause


def test_a_health_that_timed_out_is_no_colour(healthy: Replayed) -> None:
    health = {**recorded(healthy, "/_cluster/health"), "timed_out": True}
    healthy.amend("GET", "/_cluster/health", health)
    view = OpenSearchClient(Access(healthy.url)).get_state()
    assert view == Unreachable("the cluster manager did not answer in time")


def test_a_node_that_does_not_speak_for_itself_makes_the_look_worthless(healthy: Replayed) -> None:
    healthy.amend("GET", "/_nodes", {**recorded(healthy, "/_nodes"), "_nodes": {"failed": 1}})
    assert OpenSearchClient(Access(healthy.url)).get_state() == Unreachable(
        "1 nodes did not say what they are"
    )


def test_the_colour_is_the_worse_of_what_was_said_and_what_is_seen(healthy: Replayed) -> None:
    health = {**recorded(healthy, "/_cluster/health"), "status": "green"}
    healthy.amend("GET", "/_cluster/health", health)
    assert looked(healthy).color is Color.YELLOW
    primary = recorded(healthy, STATE)["routing_table"]["indices"]["books"]["shards"]["0"]
    for copy in primary:
        copy.update(state="UNASSIGNED", node=None)
    assert looked(healthy).color is Color.RED


def test_a_red_that_was_said_is_not_painted_over(healthy: Replayed) -> None:
    healthy.amend("GET", "/_cluster/health", {**recorded(healthy, "/_cluster/health"), "status": "red"})
    assert looked(healthy).color is Color.RED


@pytest.mark.parametrize("status", [401, 403, 408, 429, 500, 503])
def test_whatever_is_refused_is_not_known(healthy: Replayed, status: int) -> None:
    healthy.amend(
        "GET", "/_cluster/settings", {"error": {"type": "security_exception", "reason": None}}, status
    )
    view = OpenSearchClient(Access(healthy.url)).get_state()
    assert view == Unreachable(f"{status} GET /_cluster/settings: security_exception")


@pytest.mark.parametrize("answer", ["<html>", [], {}, {"status": "purple", "timed_out": False}, None])
def test_what_is_no_answer_of_an_engine_is_not_believed(healthy: Replayed, answer: Any) -> None:
    healthy.amend("GET", "/_cluster/health", answer)
    assert isinstance(OpenSearchClient(Access(healthy.url)).get_state(), Unreachable)


def test_nobody_listens() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        view = OpenSearchClient(Access(f"http://127.0.0.1:{held.getsockname()[1]}")).get_state()
    assert isinstance(view, Unreachable)
    assert "refused" in view.cause


def test_silence_ends_after_the_patience() -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        view = OpenSearchClient(Access(f"http://127.0.0.1:{mute.getsockname()[1]}"), timeout=0.1).get_state()
    assert isinstance(view, Unreachable)
    assert "timed out" in view.cause


@pytest.mark.parametrize("beginning", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n"])
def test_an_answer_that_never_ends_is_none(beginning: bytes) -> None:
    """A little now and then would otherwise hold a loop for ever."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=trickling, args=(server, beginning), daemon=True)
        thread.start()
        view = OpenSearchClient(
            Access(f"http://127.0.0.1:{server.getsockname()[1]}"), timeout=0.3
        ).get_state()
    assert view == Unreachable("GET /_cluster/health: timed out")
    thread.join()


def test_whoever_was_silent_for_long_is_not_asked_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        view = OpenSearchClient(
            Access(f"http://127.0.0.1:{server.getsockname()[1]}"), timeout=0.3
        ).get_state()
        server.settimeout(60)
        server.accept()[0].close()
        server.settimeout(0)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert view == Unreachable("GET /_cluster/health: timed out")


def test_an_answer_may_be_the_last_of_its_connection() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=parting, args=(server,), daemon=True)
        thread.start()
        with closing(HttpConnection(Access(f"http://127.0.0.1:{server.getsockname()[1]}"))) as http:
            assert http.get("/") == {"a": 1}
        thread.join()


def parting(server: socket.socket) -> None:
    """Says one thing, in two pieces, and goes."""
    connection, _ = server.accept()
    with connection:
        connection.recv(4096)
        connection.sendall(b"HTTP/1.0 200 OK\r\n\r\n")
        time.sleep(0.05)
        connection.sendall(b'{"a": 1}')


def trickling(server: socket.socket, beginning: bytes) -> None:
    """A byte in a moment, to whoever asks, until nobody listens any more."""
    with suppress(OSError):
        while True:
            connection, _ = server.accept()
            with connection, suppress(OSError):
                connection.sendall(beginning)
                while True:
                    connection.sendall(b"X")
                    time.sleep(0.05)


def test_a_look_asks_for_no_explanation_that_it_cannot_wait_for(healthy: Replayed) -> None:
    """Beyond its time a copy stays unexplained, which is no excuse for it."""
    with closing(HttpConnection(Access(healthy.url), timeout=15, total_timeout=15)) as http:
        lost = [copy for copy in _fetch_view(http).shards if copy.state is ShardState.UNASSIGNED]
    assert [copy.deciders for copy in lost] == [frozenset()] * 2


@pytest.mark.parametrize("answer", [[], "x", None, 7, {"node_allocation_decisions": 7}, "[" * 100_000])
def test_an_explanation_that_is_none_makes_the_look_worthless(healthy: Replayed, answer: Any) -> None:
    healthy.amend("POST", "/_cluster/allocation/explain", answer)
    assert isinstance(OpenSearchClient(Access(healthy.url)).get_state(), Unreachable)


@pytest.mark.parametrize("version", ["", "unknown", None])
def test_a_node_without_a_version_makes_the_look_worthless(healthy: Replayed, version: str | None) -> None:
    nodes = recorded(healthy, "/_nodes")
    next(iter(nodes["nodes"].values()))["version"] = version
    healthy.amend("GET", "/_nodes", nodes)
    assert isinstance(OpenSearchClient(Access(healthy.url)).get_state(), Unreachable)


def test_credentials_that_somebody_quotes_are_not_passed_on(healthy: Replayed) -> None:
    access = Access(healthy.url, "root", "hunter2")
    quoted = f"who is hunter2 of {access.authorization}?"
    healthy.amend("GET", "/_cluster/health", {"error": {"reason": quoted}}, 401)
    view = OpenSearchClient(access).get_state()
    assert view == Unreachable("401 GET /_cluster/health: who is … of Basic …?")


PASSWORD = 'S3c r!t"p\\w/&<ü'


@pytest.mark.parametrize(
    "quoted",
    [
        PASSWORD,
        quote(PASSWORD),
        re.sub("%..", lambda found: found[0].lower(), quote(PASSWORD, safe="")),
        quote_plus(PASSWORD),
        json.dumps(PASSWORD),
        json.dumps(json.dumps(PASSWORD)),
        json.dumps(PASSWORD, ensure_ascii=False).replace("/", "\\/"),
        html.escape(PASSWORD),
        "".join(f"&#{ord(each)};" for each in PASSWORD),
        "".join(f"&#x{ord(each):x};" for each in PASSWORD),
    ],
)
def test_a_password_is_struck_out_however_it_is_written(healthy: Replayed, quoted: str) -> None:
    access = Access(healthy.url, "root", PASSWORD)
    healthy.amend("GET", "/_cluster/health", {"error": {"reason": f"a {quoted} b"}}, 500)
    view = OpenSearchClient(access).get_state()
    assert isinstance(view, Unreachable)
    said = view.cause.removeprefix("500 GET /_cluster/health: ")
    assert re.fullmatch(r'a [\\"]*…[\\"]* b', said), said


def test_no_part_of_a_password_is_left_where_a_sentence_is_cut(healthy: Replayed) -> None:
    access = Access(healthy.url, "root", "hunter2hunter2")
    healthy.amend("GET", "/_cluster/health", {"error": {"reason": "x" * 495 + "hunter2hunter2"}}, 500)
    view = OpenSearchClient(access).get_state()
    assert isinstance(view, Unreachable)
    assert "hun" not in view.cause


def test_what_is_no_http_quotes_no_password_either() -> None:
    def parrot(server: socket.socket) -> None:
        for _ in range(2):
            connection, _ = server.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"you sent hunter2\r\n\r\n")

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=parrot, args=(server,), daemon=True)
        thread.start()
        access = Access(f"http://127.0.0.1:{server.getsockname()[1]}", "root", "hunter2")
        view = OpenSearchClient(access, timeout=60).get_state()
        thread.join()
    assert view == Unreachable("GET /_cluster/health: you sent …")


def test_a_transient_setting_is_the_one_in_force(healthy: Replayed) -> None:
    enable, exclude = "cluster.routing.allocation.enable", "cluster.routing.allocation.exclude._name"
    settings = {
        "persistent": {enable: "all", exclude: "kept"},
        "transient": {enable: "NONE", exclude: " a , ,b,"},
    }
    healthy.amend("GET", "/_cluster/settings", settings)
    view = looked(healthy)
    assert view.allocation is Allocation.NONE
    assert view.excluded == {"a", "b"}


def test_a_copy_that_found_a_place_meanwhile_needs_no_excuse(healthy: Replayed) -> None:
    healthy.amend("POST", "/_cluster/allocation/explain", {"error": {"reason": "unable to find any"}}, 400)
    lost = [copy for copy in looked(healthy).shards if copy.state is ShardState.UNASSIGNED]
    assert {copy.deciders for copy in lost} == {frozenset()}


def test_an_explanation_that_fails_makes_the_look_worthless(healthy: Replayed) -> None:
    healthy.amend("POST", "/_cluster/allocation/explain", {"error": "busy"}, 503)
    assert isinstance(OpenSearchClient(Access(healthy.url)).get_state(), Unreachable)


def against(decision: str, *deciders: str) -> dict[str, Any]:
    return {"node_decision": decision, "deciders": [{"decider": each, "decision": "NO"} for each in deciders]}


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        (
            [against("no", "same_shard"), against("no", "node_version", "filter")],
            "filter node_version same_shard",
        ),
        ([against("no", "same_shard"), against("yes")], ""),
        ([against("no", "same_shard"), against("throttled", "throttling")], ""),
        ([against("no", "same_shard"), against("awaiting_info")], ""),
        ([against("no", "same_shard"), against("no")], ""),
        ([], ""),
    ],
)
def test_only_deciders_against_every_node_keep_a_copy_away(nodes: list[Any], expected: str) -> None:
    assert blocking_deciders({"node_allocation_decisions": nodes}) == frozenset(expected.split())


def test_who_enters_says_so_and_is_not_shown() -> None:
    with replaying(recording("healthy")) as replayed:
        access = Access(replayed.url, "keeper", "s3cret")
        OpenSearchClient(access).get_state()
        assert {each["Authorization"] for each in replayed.headers} == {"Basic a2VlcGVyOnMzY3JldA=="}
    assert "s3cret" not in repr(access)


def test_a_look_without_shards_is_a_look(healthy: Replayed) -> None:
    state = recorded(healthy, STATE)
    del state["routing_table"], state["metadata"]["indices"]
    view = looked(healthy)
    assert view.shards == ()
    assert view.indices == ()
