"""Disks and snapshots: what OpenSearchClient requests, and how it reads recorded responses."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import pytest

from searchkeeper.opensearch.calls import TakeSnapshot
from searchkeeper.opensearch.client import CallFailed, CallRejected
from searchkeeper.opensearch.details import (
    DetailsRequest,
    Disks,
    EngineDetails,
    NodeDisk,
    SnapshotState,
    SnapshotView,
    parse_disks,
    parse_snapshot,
)
from searchkeeper.opensearch.http import Access
from searchkeeper.opensearch.http_client import OpenSearchClient
from searchkeeper.opensearch.responses import watermark_setting
from searchkeeper.opensearch.view import EngineView
from tests.support.searchkeeper.opensearch_replayed import RecordedEngine, load_recording, replay

FIRST = DetailsRequest(repository="nightly", snapshot="first")
TAKE = TakeSnapshot("nightly", "first")
PATH = "/_snapshot/nightly/first"


@contextmanager
def replay_recording(name: str) -> Any:
    with replay(load_recording(name)) as engine:
        yield engine, OpenSearchClient(Access(engine.url))


def snapshot(name: str, request: DetailsRequest = FIRST) -> SnapshotView | None:
    with replay_recording(name) as (_, client):
        details: EngineDetails = client.get_details(request)
        return details.snapshot


def test_disks_and_shard_sizes_are_read_with_one_request() -> None:
    with replay_recording("disks") as (engine, client):
        details = client.get_details(DetailsRequest(disks=True))
        [request] = engine.requests
    assert (request.path, request.query["level"]) == ("/_nodes/stats/fs,indices/store", "shards")
    assert details == EngineDetails(
        Disks(
            {"logs-data-0": NodeDisk(25274793984, 25145139200)},
            {("logs-data-0", "books", 0): 0, ("logs-data-0", "books", 1): 208},
        )
    )


def test_configuration_of_the_nodes_counts_for_the_watermark() -> None:
    """The recorded node is configured to ignore disks."""
    with replay_recording("disks") as (engine, client):
        assert client.get_state().low_watermark is None
        settings = next(each for each in engine.requests if each.path == "/_cluster/settings")
    assert settings.query["include_defaults"] == "true"


DISK = "cluster.routing.allocation.disk."


@pytest.mark.parametrize(
    ("settings", "watermark"),
    [
        ({}, "85%"),
        ({"defaults": {f"{DISK}watermark.low": "80%"}}, "80%"),
        ({"defaults": {f"{DISK}watermark.low": "80%"}, "persistent": {f"{DISK}watermark.low": "9gb"}}, "9gb"),
        (
            {"persistent": {f"{DISK}watermark.low": "9gb"}, "transient": {f"{DISK}watermark.low": "0.7"}},
            "0.7",
        ),
        ({"persistent": {f"{DISK}threshold_enabled": "false"}}, None),
        (
            {
                "defaults": {f"{DISK}threshold_enabled": "false"},
                "transient": {f"{DISK}threshold_enabled": "true"},
            },
            "85%",
        ),
    ],
)
def test_watermark_in_force(settings: dict[str, Any], watermark: str | None) -> None:
    assert watermark_setting(settings) == watermark


@pytest.mark.parametrize(
    "response", [None, [], {}, {"nodes": {"a": {}}}, {"nodes": {"a": {"name": "a", "fs": 1}}}]
)
def test_unexpected_statistics_are_no_figures(response: Any) -> None:
    assert parse_disks(response) is None


@pytest.mark.parametrize("status", [403, 500, 503])
def test_rejected_statistics_are_no_figures(status: int) -> None:
    with replay_recording("disks") as (engine, client):
        engine.set_response("GET", "/_nodes/stats/fs,indices/store", {"error": {}}, status)
        assert client.get_details(DetailsRequest(disks=True)) == EngineDetails()


def test_states_of_a_snapshot() -> None:
    assert snapshot("no-repository") == SnapshotView(
        SnapshotState.REPOSITORY_MISSING, "404 GET /_snapshot/nightly: [nightly] missing"
    )
    assert snapshot("no-snapshot") == SnapshotView(SnapshotState.MISSING)
    assert snapshot("take-snapshot") == SnapshotView(SnapshotState.IN_PROGRESS)
    assert snapshot("snapshot") == SnapshotView(SnapshotState.SUCCESS)


def test_repository_without_a_snapshot_is_requested_by_itself() -> None:
    repository = DetailsRequest(repository="nightly")
    assert snapshot("no-snapshot", repository) == SnapshotView(SnapshotState.MISSING)
    with replay_recording("no-repository") as (engine, client):
        assert client.get_details(repository).snapshot.state is SnapshotState.REPOSITORY_MISSING
        assert [request.path for request in engine.requests] == ["/_snapshot/nightly"]


def test_rejected_request_leaves_the_state_unknown() -> None:
    with replay_recording("snapshot") as (engine, client):
        engine.set_response("GET", PATH, {"error": {"reason": "not today"}}, 503)
        assert client.get_details(FIRST).snapshot == SnapshotView(
            SnapshotState.UNKNOWN, f"503 GET {PATH}: not today"
        )


def test_engine_that_is_gone_leaves_details_unknown() -> None:
    with replay_recording("snapshot") as (engine, _):
        url = engine.url
    details = OpenSearchClient(Access(url)).get_details(DetailsRequest(True, "nightly", "first"))
    assert details.disks is None
    assert details.snapshot is not None
    assert details.snapshot.state is SnapshotState.UNKNOWN


def response(state: str, failed: int = 0, **more: Any) -> Any:
    return {"snapshots": [{"state": state, "shards": {"failed": failed}, **more}]}


@pytest.mark.parametrize(
    ("content", "view"),
    [
        (response("SUCCESS", 1), SnapshotView(SnapshotState.PARTIAL, "1 shards failed")),
        (
            response("PARTIAL", 1, failures=[{"index": "books", "shard_id": 2, "reason": "gone"}]),
            SnapshotView(SnapshotState.PARTIAL, "books[2]: gone"),
        ),
        (response("FAILED", 9, reason="no space"), SnapshotView(SnapshotState.FAILED, "no space")),
        (response("FAILED", 0, reason="x" * 900), SnapshotView(SnapshotState.FAILED, "x" * 300)),
    ],
)
def test_incomplete_snapshot_has_a_cause(content: Any, view: SnapshotView) -> None:
    assert parse_snapshot(content) == view


@pytest.mark.parametrize("content", [None, {}, {"snapshots": []}, {"snapshots": [{}]}, response("RESTING")])
def test_unexpected_snapshot_is_unknown(content: Any) -> None:
    assert parse_snapshot(content).state is SnapshotState.UNKNOWN


def writes(engine: RecordedEngine) -> list[tuple[str, str]]:
    return [(request.method, request.path) for request in engine.writes()]


def test_repository_is_verified_before_the_snapshot_is_taken() -> None:
    with replay_recording("take-snapshot") as (engine, client):
        client.execute(TAKE)
        [_, put] = engine.writes()
        assert writes(engine) == [("POST", "/_snapshot/nightly/_verify"), ("PUT", PATH)]
        assert put.query == {"wait_for_completion": "false"}
        assert put.body == {"indices": "*", "include_global_state": True}


def test_snapshot_that_exists_counts_as_started() -> None:
    with replay_recording("take-snapshot-again") as (engine, client):
        client.execute(TAKE)
        assert writes(engine)[-1] == ("PUT", PATH)


def reject_name(engine: RecordedEngine) -> None:
    engine.set_response("PUT", PATH, {"error": {"reason": "must be lowercase"}}, 400)
    engine.set_response("GET", PATH, {"error": {"reason": "missing"}}, 404)
    engine.set_response("GET", "/_snapshot/nightly", {"nightly": {}})


def fail_verification(engine: RecordedEngine) -> None:
    engine.set_response("POST", "/_snapshot/nightly/_verify", {"error": {"reason": "not accessible"}}, 500)


def be_busy(engine: RecordedEngine) -> None:
    engine.set_response("PUT", PATH, {"error": {"reason": "another operation runs"}}, 503)


@pytest.mark.parametrize(
    ("set_responses", "error", "message"),
    [
        (reject_name, CallRejected, "400 PUT /_snapshot/nightly/first: must be lowercase"),
        (fail_verification, CallRejected, "500 POST /_snapshot/nightly/_verify: not accessible"),
        (be_busy, CallFailed, "503 PUT /_snapshot/nightly/first: another operation runs"),
    ],
)
def test_snapshot_that_cannot_be_taken_raises_with_the_cause(
    set_responses: Callable[[RecordedEngine], None], error: type[CallFailed], message: str
) -> None:
    with replay_recording("take-snapshot") as (engine, client):
        set_responses(engine)
        with pytest.raises(CallFailed) as raised:
            client.execute(TAKE)
    assert (type(raised.value), str(raised.value)) == (error, message)


def test_text_of_the_call_says_what_it_does() -> None:
    assert str(TAKE) == "take snapshot nightly/first"


def test_details_request_without_fields_is_empty() -> None:
    assert not DetailsRequest()
    assert DetailsRequest(disks=True)
    assert DetailsRequest(repository="nightly")


def test_state_has_the_default_watermark_without_settings() -> None:
    with replay_recording("healthy") as (_, client):
        view = client.get_state()
    assert isinstance(view, EngineView)
    assert view.low_watermark == "85%"
