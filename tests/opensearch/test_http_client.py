"""What the driver tells an OpenSearch: which requests, and which of them never."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opensearch_replayed import Replayed, recording, replaying
from searchkeeper.opensearch.calls import (
    Call,
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

ENABLE, EXCLUDE = "cluster.routing.allocation.enable", "cluster.routing.allocation.exclude._name"
VOTING = "/_cluster/voting_config_exclusions"


@pytest.fixture
def engine() -> Iterator[Replayed]:
    with replaying(recording("telling")) as replayed:
        yield replayed


def told(engine: Replayed, call: Call) -> list[object]:
    """The bodies of what was changed."""
    OpenSearchClient(Access(engine.url)).execute(call)
    return [body for _, _, _, body in engine.changes()]


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
    ],
)
def test_settings_are_persistent(engine: Replayed, call: Call, body: object) -> None:
    engine.amend("GET", "/_cluster/settings", {"persistent": {}, "transient": {}})
    assert told(engine, call) == [body]


@given(st.frozensets(st.text("ab-*,. ", max_size=4), max_size=4))
def test_an_exclusion_never_names_nobody(names: frozenset[str]) -> None:
    """Law: what is written has no empty part, and reads back as what was meant."""
    written = exclusion_value(names)
    parts = {part.strip() for name in names for part in name.split(",")} - {""}
    assert written is None or all(part.strip() for part in written.split(","))
    assert exclusion_setting({"persistent": {EXCLUDE: written}}) == parts


def test_a_transient_setting_of_that_name_goes_since_it_would_outrank_ours(engine: Replayed) -> None:
    engine.amend("GET", "/_cluster/settings", {"persistent": {}, "transient": {ENABLE: "none", EXCLUDE: "a"}})
    assert told(engine, SetAllocation(Allocation.PRIMARIES)) == [
        {"persistent": {ENABLE: "primaries"}, "transient": {ENABLE: None}}
    ]


def test_archived_settings_go_with_the_first_change_since_they_forbid_every_one(engine: Replayed) -> None:
    found = {"persistent": {"archived.a.b": "1", "mine": "2"}, "transient": {"archived.c": "3"}}
    engine.amend("GET", "/_cluster/settings", found)
    assert told(engine, SetAllocation(None)) == [
        {"persistent": {"archived.a.b": None, ENABLE: None}, "transient": {"archived.c": None}}
    ]


def test_what_not_every_node_acknowledged_has_failed(engine: Replayed) -> None:
    engine.amend("PUT", "/_cluster/settings", {"acknowledged": False})
    with pytest.raises(CallFailed, match="not acknowledged"):
        told(engine, SetAllocation(None))


def test_a_vote_is_moved_by_name_and_answered_with_nothing(engine: Replayed) -> None:
    assert told(engine, ExcludeFromVoting("logs-data-2")) == [None]
    assert engine.changes() == [("POST", VOTING, {"node_names": "logs-data-2", "timeout": "30s"}, None)]


def test_of_a_voter_that_is_away_the_vote_is_taken_by_its_id(engine: Replayed) -> None:
    """OpenSearch would take the name of one that is not there, and leave the vote where it is."""
    told(engine, ExcludeFromVoting("@x7_Q"))
    assert engine.changes() == [("POST", VOTING, {"node_ids": "x7_Q", "timeout": "30s"}, None)]


def test_every_manager_may_vote_again_whether_the_others_are_gone_or_not(engine: Replayed) -> None:
    engine.amend("DELETE", VOTING, None)
    told(engine, ClearVotingExclusions())
    assert engine.changes() == [("DELETE", VOTING, {"wait_for_removal": "false"}, None)]


def test_flushing_is_one_question(engine: Replayed) -> None:
    told(engine, Flush())
    assert engine.changes() == [("POST", "/_flush", {}, None)]


@pytest.mark.parametrize(
    "call",
    [Flush(), SetAllocation(None), Exclude(frozenset("a")), ExcludeFromVoting("a"), ClearVotingExclusions()],
)
def test_what_is_refused_has_failed_with_the_engines_own_words(engine: Replayed, call: Call) -> None:
    for method, path in (
        ("POST", "/_flush"),
        ("PUT", "/_cluster/settings"),
        ("POST", VOTING),
        ("DELETE", VOTING),
    ):
        engine.amend(method, path, {"error": {"reason": "not today"}}, 400)
    with pytest.raises(CallRejected, match=r"400 .*: not today"):
        told(engine, call)


@pytest.mark.parametrize(("status", "is_for_good"), [(403, True), (409, False), (429, False), (503, False)])
def test_what_would_be_refused_again_is_told_apart(engine: Replayed, status: int, is_for_good: bool) -> None:
    engine.amend("POST", "/_flush", {"error": {"reason": "not today"}}, status)
    with pytest.raises(CallFailed) as failed:
        told(engine, Flush())
    assert isinstance(failed.value, CallRejected) == is_for_good


@pytest.mark.parametrize("answer", [[], "7", None])
@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_what_is_answered_with_nonsense_has_failed(engine: Replayed, method: str, answer: object) -> None:
    engine.amend(method, "/_cluster/settings", answer)
    with pytest.raises(CallFailed):
        told(engine, SetAllocation(None))


@pytest.mark.parametrize("question", ["flush", "get_state"])
def test_only_a_question_is_asked_again_when_the_connection_breaks(question: str) -> None:
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def hang_up() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    heard.append(connection.recv(4096).split(b"\r\n")[0])

        thread = threading.Thread(target=hang_up, daemon=True)
        thread.start()
        engine = OpenSearchClient(Access(f"http://127.0.0.1:{server.getsockname()[1]}"))
        if question == "get_state":
            engine.get_state()
        else:
            with pytest.raises(CallFailed):
                engine.execute(Flush())
        server.shutdown(socket.SHUT_RDWR)
    thread.join(60)
    assert len(heard) == (2 if question == "get_state" else 1)
