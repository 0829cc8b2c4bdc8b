"""The HTTP server of the content API."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

import pytest

from everpath.server.content_api import http_server
from everpath.server.content_api.content import CatalogContent, Meta
from tests.support.everpath.content_api_requests import run_content_server, run_content_server_on

SMALL = CatalogContent([Meta("s", "", "n", b'{"name":"n","schema":"s"}\n')], 1_700_000_000)
# Larger than the buffers of two sockets.
LARGE = CatalogContent([Meta("s", "", "n", b"x" * 50_000_000)], 1_700_000_000)
# Long enough for a machine under load.
TIMEOUT = 60.0
ALL, METAS = "/catalogs/op/api/v1/all", "/catalogs/op/api/v1/metas"


@pytest.fixture
def port() -> Iterator[int]:
    with run_content_server({"op": SMALL}) as port:
        yield port


def send(port: int, request: bytes) -> bytes:
    """Send a request, and read until the server closes the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT) as connection:
        connection.sendall(request)
        return read_all(connection)


def read_all(connection: socket.socket) -> bytes:
    return b"".join(iter(lambda: connection.recv(65536), b""))


def send_without_reading(port: int, target: str = ALL) -> socket.socket:
    """Send a request and do not read the response."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT)
    connection.sendall(f"GET {target} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    return connection


@contextmanager
def send_before_start(request: bytes, catalog: CatalogContent) -> Iterator[socket.socket]:
    """Send a request before the server starts, so that short timeouts of the server are not exceeded."""
    with (
        socket.create_server(("127.0.0.1", 0)) as server_socket,
        socket.create_connection(server_socket.getsockname(), timeout=TIMEOUT) as connection,
    ):
        connection.sendall(request)
        with run_content_server_on(server_socket, {"op": catalog}):
            yield connection


def test_one_connection_serves_many_requests(port: int) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)) as connection:
        for method, target, body in (
            ("GET", ALL, SMALL.text),
            ("HEAD", ALL, b""),
            ("HEAD", "/", b""),
            ("GET", f"{METAS}?schema=t", b""),
            ("GET", f"{METAS}?schema=s", SMALL.text),
        ):
            connection.request(method, target)
            response = connection.getresponse()
            assert response.read() == body
            assert not response.will_close


def test_not_modified_has_no_body(port: int) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)) as connection:
        for _ in range(2):
            connection.request("GET", ALL, headers={"If-None-Match": "*"})
            response = connection.getresponse()
            assert (response.status, response.read()) == (304, b"")
            assert "Content-Length" not in response.headers


def test_the_first_of_several_headers_counts(port: int) -> None:
    request = f"GET {ALL} HTTP/1.1\r\nHost: x\r\nIf-Match: *\r\nIf-Match: x\r\nConnection: close\r\n\r\n"
    assert send(port, request.encode()).startswith(b"HTTP/1.1 200 OK\r\n")


def test_an_unknown_method_is_not_allowed(port: int) -> None:
    request = f"BREW {ALL} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    assert send(port, request.encode()).startswith(b"HTTP/1.1 405 Method Not Allowed\r\n")


@pytest.mark.parametrize("header", ["Content-Length: 30", "Transfer-Encoding: chunked"])
def test_a_request_body_is_not_parsed_as_the_next_request(port: int, header: str) -> None:
    hidden = f"GET {ALL} HTTP/1.1\r\nHost: x\r\n\r\n"
    request = f"POST {ALL} HTTP/1.1\r\nHost: x\r\n{header}\r\n\r\n{hidden}"
    response = send(port, request.encode())
    assert response.count(b"HTTP/1.1 ") == 1
    assert b"\r\nConnection: close\r\n" in response


def test_the_connection_of_an_http_1_0_client_is_closed(port: int) -> None:
    assert send(port, f"GET {ALL} HTTP/1.0\r\n\r\n".encode()).endswith(SMALL.text)


def test_repeated_slashes_at_the_start_are_redirected(port: int) -> None:
    response = send(port, f"GET /{ALL} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
    assert response.startswith(b"HTTP/1.1 307 ")


def test_a_path_may_contain_bytes_outside_ascii() -> None:
    with run_content_server({"été": SMALL}) as port:
        request = "GET /catalogs/été/api/v1/all HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        assert send(port, request.encode()).endswith(SMALL.text)
        response = send(port, request.encode().replace(b"\xc3\xa9", b"\xff"))
        assert response.startswith(b"HTTP/1.1 404 Not Found\r\n")


def test_a_client_that_sends_no_complete_request_is_disconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server._RequestHandler, "timeout", 0.2)
    with send_before_start(b"GET /", SMALL) as connection:
        assert read_all(connection) == b""


def test_an_idle_client_is_disconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server._RequestHandler, "timeout", 0.2)
    with send_before_start(f"HEAD {ALL} HTTP/1.1\r\nHost: x\r\n\r\n".encode(), SMALL) as connection:
        assert read_all(connection).startswith(b"HTTP/1.1 200 OK\r\n")


@pytest.mark.exhaustive
def test_a_client_has_more_time_to_read_than_to_send(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server._RequestHandler, "timeout", 0.2)
    with send_before_start(f"GET {ALL} HTTP/1.1\r\nHost: x\r\n\r\n".encode(), LARGE) as connection:
        time.sleep(0.6)
        got = sum(map(len, iter(lambda: connection.recv(1 << 20), b"")))
    assert got > len(LARGE.text)


def test_a_client_that_does_not_read_blocks_no_other() -> None:
    with run_content_server({"op": LARGE, "small": SMALL}, grace=0.1) as port, send_without_reading(port):
        request = b"GET /catalogs/small/api/v1/all HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        assert send(port, request).endswith(SMALL.text)


def test_a_client_that_does_not_read_is_disconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "_WRITE_TIMEOUT", 0.2)
    with run_content_server({"op": LARGE}, connections=1) as port, send_without_reading(port):
        request = f"HEAD {ALL} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()
        deadline = time.monotonic() + TIMEOUT
        while not send(port, request).startswith(b"HTTP/1.1 200"):
            assert time.monotonic() < deadline
            time.sleep(0.05)


@pytest.mark.exhaustive
def test_a_client_that_reads_too_slowly_is_disconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "_WRITE_TIMEOUT", 0.5)
    with run_content_server({"op": LARGE}) as port, send_without_reading(port) as connection:
        got = 0
        with suppress(ConnectionResetError):
            while block := connection.recv(100_000):
                got += len(block)
                time.sleep(0.01)
    assert got < len(LARGE.text)


def test_a_thread_that_cannot_start_costs_one_connection(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    request = f"HEAD {ALL} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()
    with run_content_server({"op": SMALL}, connections=1) as port:
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", start)
            assert send(port, b"") == b""
        assert send(port, request).startswith(b"HTTP/1.1 200")
    assert "can't start new thread" in capsys.readouterr().err


def test_too_many_connections_get_a_503() -> None:
    with (
        run_content_server({"op": LARGE}, connections=2, grace=0.1) as port,
        send_without_reading(port),
        send_without_reading(port),
    ):
        response = send(port, b"")
        assert response.startswith(b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n")


def test_closing_waits_for_a_response_in_progress() -> None:
    got = bytearray()

    def read(connection: socket.socket) -> None:
        time.sleep(0.3)
        while block := connection.recv(1 << 20):
            got.extend(block)

    with run_content_server({"op": LARGE}, grace=20) as port:
        connection = send_without_reading(port)
        connection.recv(1)
        reader = threading.Thread(target=read, args=(connection,))
        reader.start()
    reader.join()
    connection.close()
    assert got.endswith(b"x" * 1000)
    assert len(got) > len(LARGE.text)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT)


def test_a_response_during_closing_ends_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    is_requested, is_closing = threading.Event(), threading.Event()
    drain = http_server._Server.drain

    class Slow(dict[str, CatalogContent]):
        def get(self, *_: object) -> CatalogContent:
            is_requested.set()
            is_closing.wait(TIMEOUT)
            return SMALL

    def drain_twice(server: http_server._Server, grace: float) -> None:
        drain(server, 0)
        is_closing.set()
        drain(server, grace)

    monkeypatch.setattr(http_server._Server, "drain", drain_twice)
    with run_content_server(Slow(), connections=1, grace=20) as port:
        connection = send_without_reading(port)
        is_requested.wait(TIMEOUT)
    response = read_all(connection)
    connection.close()
    assert b"\r\nConnection: close\r\n" in response
    assert response.endswith(SMALL.text)


def test_closing_does_not_wait_for_idle_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server._RequestHandler, "timeout", 2 * TIMEOUT)
    start = time.monotonic()
    with (
        run_content_server({"op": SMALL}, grace=2 * TIMEOUT) as port,
        socket.create_connection(("127.0.0.1", port)),
    ):
        connection = send_without_reading(port)
        connection.recv(65536)
    connection.close()
    assert time.monotonic() - start < TIMEOUT


def test_closing_waits_no_longer_than_the_grace_period() -> None:
    start = time.monotonic()
    with run_content_server({"op": LARGE}, grace=0.3) as port:
        connection = send_without_reading(port)
        connection.recv(1)
    connection.close()
    assert time.monotonic() - start < TIMEOUT < http_server._WRITE_TIMEOUT


def test_closed_connections_are_not_tracked() -> None:
    server_socket = socket.create_server(("127.0.0.1", 0))
    server = http_server.ContentServer(server_socket, lambda: {"op": SMALL})
    request = f"HEAD {ALL} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()
    for sent in (b"", request, request):
        with socket.create_connection(server_socket.getsockname()) as connection:
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
            connection.recv(65536)
    server.close()
    assert not server._server._idle_connections


def test_an_internal_error_is_logged(capsys: pytest.CaptureFixture[str]) -> None:
    class Faulty(dict[str, CatalogContent]):
        def get(self, *_: object) -> CatalogContent:
            raise ZeroDivisionError

    with run_content_server(Faulty()) as port:
        assert send(port, f"GET {ALL} HTTP/1.1\r\nHost: x\r\n\r\n".encode()) == b""
    assert "ZeroDivisionError" in capsys.readouterr().err
