"""The requests that OpenSearchClient sends for each call, and the errors that it raises."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchkeeper.opensearch.calls import (
    Call,
    ChangeRecord,
    ClearVotingExclusions,
    Exclude,
    ExcludeFromVoting,
    Flush,
    SetAllocation,
)
from searchkeeper.opensearch.client import CallFailed, CallRejected
from searchkeeper.opensearch.http import Access
from searchkeeper.opensearch.http_client import OpenSearchClient, exclusion_value
from searchkeeper.opensearch.responses import exclusion_setting
from searchkeeper.opensearch.view import Allocation
from tests.support.searchkeeper.opensearch_replayed import RecordedEngine, load_recording, replay

ENABLE, EXCLUDE = "cluster.routing.allocation.enable", "cluster.routing.allocation.exclude._name"
RECORD = "cluster.metadata.searchkeeper."
VOTING = "/_cluster/voting_config_exclusions"


@pytest.fixture
def engine() -> Iterator[RecordedEngine]:
    with replay(load_recording("calls")) as engine:
        yield engine


def execute(engine: RecordedEngine, call: Call) -> list[object]:
    """Execute a call and return the bodies of the writes."""
    OpenSearchClient(Access(engine.url)).execute(call)
    return [request.body for request in engine.writes()]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (SetAllocation(Allocation.PRIMARIES), "set cluster.routing.allocation.enable to primaries"),
        (SetAllocation(None), "reset cluster.routing.allocation.enable to its default"),
        (Exclude(frozenset({"b", "a"})), "set cluster.routing.allocation.exclude._name to a,b"),
        (Exclude(frozenset()), "clear cluster.routing.allocation.exclude._name"),
        (Flush(), "flush all indices"),
        (ExcludeFromVoting("logs-data-2"), "exclude logs-data-2 from voting"),
        (ClearVotingExclusions(), "clear voting exclusions"),
        (ChangeRecord((("voting", None), ("leaving", '["a"]'))), "change the record of leaving, voting"),
    ],
)
def test_text_of_a_call_says_what_it_does(call: Call, text: str) -> None:
    assert str(call) == text


@pytest.mark.parametrize(
    ("call", "body"),
    [
        (SetAllocation(Allocation.PRIMARIES), {"persistent": {ENABLE: "primaries"}}),
        (SetAllocation(None), {"persistent": {ENABLE: None}}),
        (
            Exclude(frozenset({"logs-data-2", "logs-data-1"})),
            {"persistent": {EXCLUDE: "logs-data-1,logs-data-2"}},
        ),
        (Exclude(frozenset()), {"persistent": {EXCLUDE: None}}),
        (
            Exclude(frozenset({"a"}), (("excluded", '["a"]'), ("leaving", None))),
            {"persistent": {f"{RECORD}excluded": '["a"]', f"{RECORD}leaving": None, EXCLUDE: "a"}},
        ),
        (ChangeRecord((("voting", None),)), {"persistent": {f"{RECORD}voting": None}}),
    ],
)
def test_settings_are_persistent(engine: RecordedEngine, call: Call, body: object) -> None:
    engine.set_response("GET", "/_cluster/settings", {"persistent": {}, "transient": {}})
    assert execute(engine, call) == [body]


@given(st.frozensets(st.text("ab-*,. ", max_size=4), max_size=4))
def test_exclusion_value_has_no_empty_name_and_parses_to_the_same_names(names: frozenset[str]) -> None:
    value = exclusion_value(names)
    parts = {part.strip() for name in names for part in name.split(",")} - {""}
    assert value is None or all(part.strip() for part in value.split(","))
    assert exclusion_setting({"persistent": {EXCLUDE: value}}) == parts


def test_transient_setting_of_the_same_name_is_removed(engine: RecordedEngine) -> None:
    """It would take precedence over the persistent one."""
    settings = {"persistent": {}, "transient": {ENABLE: "none", EXCLUDE: "a"}}
    engine.set_response("GET", "/_cluster/settings", settings)
    assert execute(engine, SetAllocation(Allocation.PRIMARIES)) == [
        {"persistent": {ENABLE: "primaries"}, "transient": {ENABLE: None}}
    ]


def test_empty_transient_setting_of_the_same_name_is_removed(engine: RecordedEngine) -> None:
    """An empty transient setting takes precedence, too: the drain would have no effect."""
    engine.set_response("GET", "/_cluster/settings", {"persistent": {}, "transient": {EXCLUDE: ""}})
    assert execute(engine, Exclude(frozenset({"logs-data-1"}))) == [
        {"persistent": {EXCLUDE: "logs-data-1"}, "transient": {EXCLUDE: None}}
    ]


def test_archived_settings_are_removed_with_the_update(engine: RecordedEngine) -> None:
    """OpenSearch rejects every update while one exists."""
    settings = {"persistent": {"archived.a.b": "1", "mine": "2"}, "transient": {"archived.c": "3"}}
    engine.set_response("GET", "/_cluster/settings", settings)
    assert execute(engine, SetAllocation(None)) == [
        {"persistent": {"archived.a.b": None, ENABLE: None}, "transient": {"archived.c": None}}
    ]


def test_update_that_not_every_node_acknowledged_fails(engine: RecordedEngine) -> None:
    engine.set_response("PUT", "/_cluster/settings", {"acknowledged": False})
    with pytest.raises(CallFailed, match="not every node acknowledged"):
        execute(engine, SetAllocation(None))


def test_voter_is_excluded_by_name(engine: RecordedEngine) -> None:
    assert execute(engine, ExcludeFromVoting("logs-data-2")) == [None]
    assert engine.writes() == [("POST", VOTING, {"node_names": "logs-data-2", "timeout": "30s"}, None)]


def test_absent_voter_is_excluded_by_id(engine: RecordedEngine) -> None:
    """OpenSearch accepts the name of an absent node, but does not remove its vote."""
    execute(engine, ExcludeFromVoting("@x7_Q"))
    assert engine.writes() == [("POST", VOTING, {"node_ids": "x7_Q", "timeout": "30s"}, None)]


def test_voting_exclusions_are_cleared_without_waiting_for_removal(engine: RecordedEngine) -> None:
    engine.set_response("DELETE", VOTING, None)
    execute(engine, ClearVotingExclusions())
    assert engine.writes() == [("DELETE", VOTING, {"wait_for_removal": "false"}, None)]


def test_flush_is_one_request(engine: RecordedEngine) -> None:
    execute(engine, Flush())
    assert engine.writes() == [("POST", "/_flush", {}, None)]


@pytest.mark.parametrize(
    "call",
    [Flush(), SetAllocation(None), Exclude(frozenset("a")), ExcludeFromVoting("a"), ClearVotingExclusions()],
)
def test_rejected_call_raises_with_the_reason_of_opensearch(engine: RecordedEngine, call: Call) -> None:
    for method, path in (
        ("POST", "/_flush"),
        ("PUT", "/_cluster/settings"),
        ("POST", VOTING),
        ("DELETE", VOTING),
    ):
        engine.set_response(method, path, {"error": {"reason": "not today"}}, 400)
    with pytest.raises(CallRejected, match=r"400 .*: not today"):
        execute(engine, call)


@pytest.mark.parametrize(("status", "is_permanent"), [(403, True), (409, False), (429, False), (503, False)])
def test_only_a_permanent_error_rejects_the_call(
    engine: RecordedEngine, status: int, is_permanent: bool
) -> None:
    engine.set_response("POST", "/_flush", {"error": {"reason": "not today"}}, status)
    with pytest.raises(CallFailed) as failed:
        execute(engine, Flush())
    assert isinstance(failed.value, CallRejected) == is_permanent


@pytest.mark.parametrize("response", [[], "7", None])
@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_call_fails_when_the_response_is_invalid(
    engine: RecordedEngine, method: str, response: object
) -> None:
    engine.set_response(method, "/_cluster/settings", response)
    with pytest.raises(CallFailed):
        execute(engine, SetAllocation(None))


@pytest.mark.parametrize("operation", ["flush", "get_state"])
def test_only_reads_are_retried_when_the_connection_breaks(operation: str) -> None:
    received: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def close_connections() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    received.append(connection.recv(4096).split(b"\r\n")[0])

        thread = threading.Thread(target=close_connections, daemon=True)
        thread.start()
        client = OpenSearchClient(Access(f"http://127.0.0.1:{server.getsockname()[1]}"))
        if operation == "get_state":
            client.get_state()
        else:
            with pytest.raises(CallFailed):
                client.execute(Flush())
        server.shutdown(socket.SHUT_RDWR)
    thread.join(60)
    assert len(received) == (2 if operation == "get_state" else 1)
