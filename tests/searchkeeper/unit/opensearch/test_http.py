"""Timeouts, retries, authentication and redaction of the HTTP connection."""

from __future__ import annotations

import html
import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from urllib.parse import quote, quote_plus

import pytest

from searchkeeper.opensearch.http import Access, HttpConnection
from searchkeeper.opensearch.http_client import OpenSearchClient, _fetch_view
from searchkeeper.opensearch.view import ShardState, Unreachable
from tests.support.searchkeeper.opensearch_replayed import RecordedEngine, load_recording, replay


@pytest.fixture
def healthy() -> Iterator[RecordedEngine]:
    with replay(load_recording("healthy")) as engine:
        yield engine


def access_to(server: socket.socket, *credentials: str) -> Access:
    return Access(f"http://127.0.0.1:{server.getsockname()[1]}", *credentials)


def test_cluster_is_unreachable_when_the_connection_is_refused() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        view = OpenSearchClient(access_to(bound)).get_state()
    assert isinstance(view, Unreachable)
    assert "refused" in view.cause


def test_request_without_a_response_times_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        view = OpenSearchClient(access_to(silent), timeout=0.1).get_state()
    assert isinstance(view, Unreachable)
    assert "timed out" in view.cause


@pytest.mark.parametrize("beginning", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n"])
def test_request_times_out_while_bytes_keep_arriving(beginning: bytes) -> None:
    """A timeout per read would block the reconcile loop forever."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=send_byte_by_byte, args=(server, beginning), daemon=True)
        thread.start()
        view = OpenSearchClient(access_to(server), timeout=0.3).get_state()
    assert view == Unreachable("GET /_cluster/health: timed out")
    thread.join()


def send_byte_by_byte(server: socket.socket, beginning: bytes) -> None:
    with suppress(OSError):
        while True:
            connection, _ = server.accept()
            with connection, suppress(OSError):
                connection.sendall(beginning)
                while True:
                    connection.sendall(b"X")
                    time.sleep(0.05)


def test_timed_out_request_is_not_retried() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        view = OpenSearchClient(access_to(server), timeout=0.3).get_state()
        server.settimeout(60)
        server.accept()[0].close()
        server.settimeout(0)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert view == Unreachable("GET /_cluster/health: timed out")


def test_response_is_read_to_the_end_when_the_server_closes_the_connection() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=respond_and_close, args=(server,), daemon=True)
        thread.start()
        with closing(HttpConnection(access_to(server))) as http:
            assert http.get("/") == {"a": 1}
        thread.join()


def respond_and_close(server: socket.socket) -> None:
    """Send the headers and the body in two packets."""
    connection, _ = server.accept()
    with connection:
        connection.recv(4096)
        connection.sendall(b"HTTP/1.0 200 OK\r\n\r\n")
        time.sleep(0.05)
        connection.sendall(b'{"a": 1}')


def test_no_explanation_is_requested_without_time_left(healthy: RecordedEngine) -> None:
    """The copies then have no deciders, so no gate excuses them."""
    with closing(HttpConnection(Access(healthy.url), timeout=15, total_timeout=15)) as http:
        unassigned = [copy for copy in _fetch_view(http).shards if copy.state is ShardState.UNASSIGNED]
    assert [copy.deciders for copy in unassigned] == [frozenset()] * 2


def test_quoted_credentials_are_redacted(healthy: RecordedEngine) -> None:
    access = Access(healthy.url, "root", "hunter2")
    reason = f"who is hunter2 of {access.authorization}?"
    healthy.set_response("GET", "/_cluster/health", {"error": {"reason": reason}}, 401)
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
def test_password_is_redacted_in_every_encoding(healthy: RecordedEngine, quoted: str) -> None:
    access = Access(healthy.url, "root", PASSWORD)
    healthy.set_response("GET", "/_cluster/health", {"error": {"reason": f"a {quoted} b"}}, 500)
    view = OpenSearchClient(access).get_state()
    assert isinstance(view, Unreachable)
    reason = view.cause.removeprefix("500 GET /_cluster/health: ")
    assert re.fullmatch(r'a [\\"]*…[\\"]* b', reason), reason


def test_password_is_redacted_before_the_reason_is_truncated(healthy: RecordedEngine) -> None:
    access = Access(healthy.url, "root", "hunter2hunter2")
    error = {"error": {"reason": "x" * 495 + "hunter2hunter2"}}
    healthy.set_response("GET", "/_cluster/health", error, 500)
    view = OpenSearchClient(access).get_state()
    assert isinstance(view, Unreachable)
    assert "hun" not in view.cause


def test_password_is_redacted_in_a_response_that_is_not_http() -> None:
    def respond_twice(server: socket.socket) -> None:
        for _ in range(2):
            connection, _ = server.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"you sent hunter2\r\n\r\n")

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=respond_twice, args=(server,), daemon=True)
        thread.start()
        view = OpenSearchClient(access_to(server, "root", "hunter2"), timeout=60).get_state()
        thread.join()
    assert view == Unreachable("GET /_cluster/health: you sent …")


def test_credentials_are_sent_and_not_in_the_repr() -> None:
    with replay(load_recording("healthy")) as engine:
        access = Access(engine.url, "keeper", "s3cret")
        OpenSearchClient(access).get_state()
        assert {headers["Authorization"] for headers in engine.headers} == {"Basic a2VlcGVyOnMzY3JldA=="}
    assert "s3cret" not in repr(access)
