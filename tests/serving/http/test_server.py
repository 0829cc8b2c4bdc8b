"""The content API on a socket."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

import pytest

from content_requests import answering, serving
from everpath.server.content_api import http_server
from everpath.server.content_api.content import CatalogContent, Meta

SMALL = CatalogContent([Meta("s", "", "n", b'{"name":"n","schema":"s"}\n')], 1_700_000_000)
# More than the buffers between two sockets hold.
LARGE = CatalogContent([Meta("s", "", "n", b"x" * 50_000_000)], 1_700_000_000)
# Longer than any machine that is merely busy takes.
PATIENCE = 60.0
ALL, METAS = "/catalogs/op/api/v1/all", "/catalogs/op/api/v1/metas"


@pytest.fixture
def port() -> Iterator[int]:
    with serving({"op": SMALL}) as port:
        yield port


def spoken(port: int, request: bytes) -> bytes:
    """Everything that comes back until the server hangs up."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as line:
        line.sendall(request)
        return heard(line)


def heard(line: socket.socket) -> bytes:
    return b"".join(iter(lambda: line.recv(65536), b""))


def begin(port: int, target: str = ALL) -> socket.socket:
    """A client that asks and does not listen."""
    line = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    line.sendall(f"GET {target} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    return line


@contextmanager
def answered(request: bytes, catalog: CatalogContent) -> Iterator[socket.socket]:
    """A client that has spoken before the server looks: no limit of the server's is too short for it."""
    with (
        socket.create_server(("127.0.0.1", 0)) as listening,
        socket.create_connection(listening.getsockname(), timeout=PATIENCE) as line,
    ):
        line.sendall(request)
        with answering(listening, {"op": catalog}):
            yield line


def test_one_connection_serves_many_requests(port: int) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as connection:
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


def test_a_not_modified_has_no_body(port: int) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as connection:
        for _ in range(2):
            connection.request("GET", ALL, headers={"If-None-Match": "*"})
            response = connection.getresponse()
            assert (response.status, response.read()) == (304, b"")
            assert "Content-Length" not in response.headers


def test_the_first_of_several_headers_counts(port: int) -> None:
    request = f"GET {ALL} HTTP/1.1\r\nHost: x\r\nIf-Match: *\r\nIf-Match: x\r\nConnection: close\r\n\r\n"
    assert spoken(port, request.encode()).startswith(b"HTTP/1.1 200 OK\r\n")


def test_methods_nobody_knows_are_not_allowed_either(port: int) -> None:
    request = f"BREW {ALL} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    assert spoken(port, request.encode()).startswith(b"HTTP/1.1 405 Method Not Allowed\r\n")


@pytest.mark.parametrize("header", ["Content-Length: 30", "Transfer-Encoding: chunked"])
def test_a_body_is_not_taken_for_the_next_request(port: int, header: str) -> None:
    hidden = f"GET {ALL} HTTP/1.1\r\nHost: x\r\n\r\n"
    request = f"POST {ALL} HTTP/1.1\r\nHost: x\r\n{header}\r\n\r\n{hidden}"
    said = spoken(port, request.encode())
    assert said.count(b"HTTP/1.1 ") == 1
    assert b"\r\nConnection: close\r\n" in said


def test_old_clients_are_hung_up_on(port: int) -> None:
    assert spoken(port, f"GET {ALL} HTTP/1.0\r\n\r\n".encode()).endswith(SMALL.text)


def test_slashes_in_front_are_seen(port: int) -> None:
    said = spoken(port, f"GET /{ALL} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
    assert said.startswith(b"HTTP/1.1 307 ")


def test_bytes_in_a_path_are_what_they_are() -> None:
    with serving({"été": SMALL}) as port:
        request = "GET /catalogs/été/api/v1/all HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        assert spoken(port, request.encode()).endswith(SMALL.text)
        said = spoken(port, request.encode().replace(b"\xc3\xa9", b"\xff"))
        assert said.startswith(b"HTTP/1.1 404 Not Found\r\n")


def test_who_says_nothing_is_hung_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server._RequestHandler, "timeout", 0.2)
    with answered(b"GET /", SMALL) as line:
        assert heard(line) == b""


def test_who_has_been_answered_and_says_no_more_is_hung_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server._RequestHandler, "timeout", 0.2)
    with answered(f"HEAD {ALL} HTTP/1.1\r\nHost: x\r\n\r\n".encode(), SMALL) as line:
        assert heard(line).startswith(b"HTTP/1.1 200 OK\r\n")


def test_who_listens_later_has_more_time_than_who_speaks_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server._RequestHandler, "timeout", 0.2)
    with answered(f"GET {ALL} HTTP/1.1\r\nHost: x\r\n\r\n".encode(), LARGE) as line:
        time.sleep(0.6)
        got = sum(map(len, iter(lambda: line.recv(1 << 20), b"")))
    assert got > len(LARGE.text)


def test_a_client_that_does_not_listen_is_in_nobodys_way() -> None:
    with serving({"op": LARGE, "small": SMALL}, grace=0.1) as port, begin(port):
        request = b"GET /catalogs/small/api/v1/all HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        assert spoken(port, request).endswith(SMALL.text)


def test_a_client_that_does_not_listen_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "_WRITE_TIMEOUT", 0.2)
    with serving({"op": LARGE}, connections=1) as port, begin(port):
        request = f"HEAD {ALL} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()
        deadline = time.monotonic() + PATIENCE
        while not spoken(port, request).startswith(b"HTTP/1.1 200"):
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_a_client_that_listens_too_slowly_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "_WRITE_TIMEOUT", 0.5)
    with serving({"op": LARGE}) as port, begin(port) as line:
        got = 0
        with suppress(ConnectionResetError):
            while block := line.recv(100_000):
                got += len(block)
                time.sleep(0.01)
    assert got < len(LARGE.text)


def test_a_thread_that_cannot_be_had_costs_one_connection(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    request = f"HEAD {ALL} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()
    with serving({"op": SMALL}, connections=1) as port:
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", start)
            assert spoken(port, b"") == b""
        assert spoken(port, request).startswith(b"HTTP/1.1 200")
    assert "can't start new thread" in capsys.readouterr().err


def test_more_clients_than_there_is_room_for_are_told_to_come_back() -> None:
    with serving({"op": LARGE}, connections=2, grace=0.1) as port, begin(port), begin(port):
        said = spoken(port, b"")
        assert said.startswith(b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n")


def test_closing_waits_for_the_answer_under_way() -> None:
    got = bytearray()

    def read(line: socket.socket) -> None:
        time.sleep(0.3)
        while block := line.recv(1 << 20):
            got.extend(block)

    with serving({"op": LARGE}, grace=20) as port:
        line = begin(port)
        line.recv(1)
        reader = threading.Thread(target=read, args=(line,))
        reader.start()
    reader.join()
    line.close()
    assert got.endswith(b"x" * 1000)
    assert len(got) > len(LARGE.text)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)


def test_who_is_answered_while_it_closes_is_told_that_this_was_all(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, refusing = threading.Event(), threading.Event()
    drain = http_server._Server.drain

    class Slow(dict[str, CatalogContent]):
        def get(self, *_: object) -> CatalogContent:
            asked.set()
            refusing.wait(PATIENCE)
            return SMALL

    def draining(listener: http_server._Server, grace: float) -> None:
        drain(listener, 0)
        refusing.set()
        drain(listener, grace)

    monkeypatch.setattr(http_server._Server, "drain", draining)
    with serving(Slow(), connections=1, grace=20) as port:
        line = begin(port)
        asked.wait(PATIENCE)
    said = heard(line)
    line.close()
    assert b"\r\nConnection: close\r\n" in said
    assert said.endswith(SMALL.text)


def test_closing_does_not_wait_for_who_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server._RequestHandler, "timeout", 2 * PATIENCE)
    start = time.monotonic()
    with serving({"op": SMALL}, grace=2 * PATIENCE) as port, socket.create_connection(("127.0.0.1", port)):
        line = begin(port)
        line.recv(65536)
    line.close()
    assert time.monotonic() - start < PATIENCE


def test_closing_does_not_wait_for_ever() -> None:
    start = time.monotonic()
    with serving({"op": LARGE}, grace=0.3) as port:
        line = begin(port)
        line.recv(1)
    line.close()
    assert time.monotonic() - start < PATIENCE < http_server._WRITE_TIMEOUT


def test_connections_that_are_over_are_forgotten() -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    server = http_server.ContentServer(listening, lambda: {"op": SMALL})
    request = f"HEAD {ALL} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()
    for said in (b"", request, request):
        with socket.create_connection(listening.getsockname()) as line:
            line.sendall(said)
            line.shutdown(socket.SHUT_WR)
            line.recv(65536)
    server.close()
    assert not server._server._idle_connections


def test_a_fault_of_ours_is_not_kept_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    class Faulty(dict[str, CatalogContent]):
        def get(self, *_: object) -> CatalogContent:
            raise ZeroDivisionError

    with serving(Faulty()) as port:
        assert spoken(port, f"GET {ALL} HTTP/1.1\r\nHost: x\r\n\r\n".encode()) == b""
    assert "ZeroDivisionError" in capsys.readouterr().err
