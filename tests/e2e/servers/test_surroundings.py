"""What the harness finds and offers: ports, parts, catalogs."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from e2e.servers.api import conditions
from e2e.servers.binaries import AbsentError, Parts
from e2e.servers.fake_catalogd import catalog_server
from e2e.servers.loopback import HOST, free_ports
from e2e.servers.probes import answered


def test_free_ports_are_distinct_and_nobody_listens_there() -> None:
    ports = free_ports(20)
    assert len(set(ports)) == 20
    for port in ports:
        with socket.socket() as taken:
            taken.bind((HOST, port))


def test_a_port_that_somebody_has_is_not_free(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        port = taken.getsockname()[1]
        monkeypatch.setattr("e2e.servers.loopback._PORTS", range(port, port + 2))
        assert port not in free_ports(1)


def test_a_catalog_is_served_where_its_address_says_and_remembered_as_fetched() -> None:
    with catalog_server() as catalogs:
        base = catalogs.offer("mine", '{"schema": "olm.package"}')
        assert answered(f"{base}/api/v1/other") is None
        assert catalogs.fetched == set()
        assert answered(f"{base}/api/v1/all") == b'{"schema": "olm.package"}'
        assert catalogs.fetched == {"mine"}
    assert answered(f"{base}/api/v1/all") is None


def test_without_real_parts_it_says_how_to_get_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("EVERPATH_REAL", raising=False)
    with pytest.raises(AbsentError, match="make e2e"):
        Parts.found()
    monkeypatch.setenv("EVERPATH_REAL", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(AbsentError, match="scripts/real-parts"):
        Parts.found()


def test_a_folder_of_real_parts_that_lacks_one_is_a_mistake(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "etcd").touch(mode=0o755)
    monkeypatch.setenv("EVERPATH_REAL", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"lacks kube-apiserver; tests/e2e/servers/build\.sh"):
        Parts.found()


@pytest.mark.parametrize("young", [{}, {"status": {}}, {"status": {"conditions": None}}])
def test_a_thing_without_conditions_yet_has_none(young: dict[str, object]) -> None:
    assert conditions(young) == []
