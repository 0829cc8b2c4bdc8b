"""The SOCKS5 server connects host names to loopback ports."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import pytest

from tests.e2e.servers.loopback import HOST
from tests.e2e.servers.service_proxy import socks_server

GREETING = bytes((5, 1, 0))


def connect_request(host: bytes, kind: int = 3, command: int = 1) -> bytes:
    return bytes((5, command, 0, kind, len(host))) + host + (50051).to_bytes(2, "big")


@contextmanager
def uppercase_server() -> Iterator[int]:
    """Run a server that returns the first message in upper case and closes the connection."""
    with socket.create_server((HOST, 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.sendall(connection.recv(1024).upper())

        thread = Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        thread.join(60)


@contextmanager
def connect(proxy: int, request: bytes) -> Iterator[tuple[socket.socket, int]]:
    """Send a request to the proxy, and yield the connection and the reply code."""
    with socket.create_connection((HOST, proxy), timeout=60) as connection:
        connection.sendall(GREETING)
        assert connection.recv(2) == bytes((5, 0))
        connection.sendall(request)
        yield connection, connection.recv(10)[1]


def test_known_host_is_connected_to_its_port() -> None:
    with (
        uppercase_server() as port,
        socks_server({"ours.olm.svc": port}.get) as proxy,
        connect(proxy, connect_request(b"ours.olm.svc")) as (connection, reply),
    ):
        assert reply == 0
        connection.sendall(b"hello")
        assert connection.recv(1024) == b"HELLO"
        assert connection.recv(1024) == b""


UNREACHABLE = (
    connect_request(b"unknown.olm.svc"),
    connect_request(b"ours.olm.svc", command=2),
    connect_request(b"\x7f\0\0", kind=1),
)


@pytest.mark.parametrize("request_", UNREACHABLE)
def test_unknown_host_command_or_address_type_is_unreachable(request_: bytes) -> None:
    known = {"ours.olm.svc": 1}
    with socks_server(known.get) as proxy, connect(proxy, request_) as (_, reply):
        assert reply == 4
