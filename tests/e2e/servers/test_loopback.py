"""free_ports returns ports that no program uses."""

from __future__ import annotations

import socket

import pytest

from tests.e2e.servers.loopback import HOST, free_ports


def test_free_ports_are_distinct_and_unused() -> None:
    ports = free_ports(20)
    assert len(set(ports)) == 20
    for port in ports:
        with socket.socket() as listener:
            listener.bind((HOST, port))


def test_used_port_is_not_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        port = listener.getsockname()[1]
        monkeypatch.setattr("tests.e2e.servers.loopback._PORTS", range(port, port + 2))
        assert port not in free_ports(1)
