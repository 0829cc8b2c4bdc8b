"""The way to Services: names are for the proxy to know."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import pytest

from e2e.servers.loopback import HOST
from e2e.servers.service_proxy import socks_server

GREETING = bytes((5, 1, 0))


def connect(host: bytes, kind: int = 3, command: int = 1) -> bytes:
    return bytes((5, command, 0, kind, len(host))) + host + (50051).to_bytes(2, "big")


@contextmanager
def echo() -> Iterator[int]:
    """Says back what it hears first, and ends the conversation."""
    with socket.create_server((HOST, 0)) as listener:

        def serve() -> None:
            talk, _ = listener.accept()
            with talk:
                talk.sendall(talk.recv(1024).upper())

        thread = Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        thread.join(60)


@contextmanager
def asked(proxy: int, request: bytes) -> Iterator[tuple[socket.socket, int]]:
    with socket.create_connection((HOST, proxy), timeout=60) as talk:
        talk.sendall(GREETING)
        assert talk.recv(2) == bytes((5, 0))
        talk.sendall(request)
        yield talk, talk.recv(10)[1]


def test_whoever_asks_for_a_name_talks_to_its_program() -> None:
    with (
        echo() as port,
        socks_server({"ours.olm.svc": port}.get) as proxy,
        asked(proxy, connect(b"ours.olm.svc")) as (talk, answer),
    ):
        assert answer == 0
        talk.sendall(b"hello")
        assert talk.recv(1024) == b"HELLO"
        assert talk.recv(1024) == b""


UNKNOWN = (connect(b"nobody.olm.svc"), connect(b"ours.olm.svc", command=2), connect(b"\x7f\0\0", kind=1))


@pytest.mark.parametrize("request_", UNKNOWN)
def test_what_it_does_not_know_is_unreachable(request_: bytes) -> None:
    known = {"ours.olm.svc": 1}
    with socks_server(known.get) as proxy, asked(proxy, request_) as (_, answer):
        assert answer == 4
