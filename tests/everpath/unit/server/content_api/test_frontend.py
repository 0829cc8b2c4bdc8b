"""The content API as a frontend of the gRPC server."""

from __future__ import annotations

import asyncio
import json
import socket
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from everpath.errors import UsageError
from everpath.loaders.sources import Sources
from everpath.server.address import Address
from everpath.server.catalog.snapshot import CatalogSnapshot, CurrentSnapshot, take_snapshot
from everpath.server.content_api.frontend import build_content, content_frontend
from everpath.server.errors import CatalogRejected
from tests.support.everpath.documents import bundle, channel, package


def catalog(folder: Path, *versions: str) -> CatalogSnapshot:
    names = [f"op.v{version}" for version in versions]
    documents = [package(), channel(*names), *map(bundle, names, versions)]
    folder.mkdir(exist_ok=True)
    (folder / "catalog.json").write_text("\n".join(map(json.dumps, documents)))
    (folder / "notes.txt").write_text("not a catalog")
    (folder / ".indexignore").write_text("*.txt\n")
    return take_snapshot(str(folder), {})


def fetch(address: str) -> bytes:
    """Return the body of a GET request."""
    host, _, path = address.removeprefix("http://").partition("/")
    name, _, port = host.rpartition(":")
    with socket.create_connection((name, int(port)), timeout=60) as connection:
        connection.sendall(f"GET /{path} HTTP/1.0\r\n\r\n".encode())
        response = b"".join(iter(lambda: connection.recv(65536), b""))
    return response.partition(b"\r\n\r\n")[2]


def test_files_in_indexignore_are_not_served(tmp_path: Path) -> None:
    content = build_content(catalog(tmp_path / "c", "1.0.0"), 1)
    assert [json.loads(line)["schema"] for line in content.text.splitlines()] == [
        "olm.package",
        "olm.channel",
        "olm.bundle",
    ]


def test_a_new_snapshot_is_served_to_the_next_request(tmp_path: Path) -> None:
    async def run() -> tuple[str, bytes, bytes]:
        served = CurrentSnapshot(catalog(tmp_path / "c", "1.0.0"))
        async with content_frontend(Address("127.0.0.1", 0), "op", 5)(served, print) as address:
            before = await asyncio.to_thread(fetch, address)
            served.snapshot = catalog(tmp_path / "c", "1.0.0", "1.1.0")
            return address, before, await asyncio.to_thread(fetch, address)

    address, before, after = asyncio.run(run())
    assert address.endswith("/catalogs/op/api/v1/all")
    assert b"op.v1.1.0" not in before
    assert b"op.v1.1.0" in after


def test_an_invalid_snapshot_leaves_the_previous_content(tmp_path: Path) -> None:
    async def run() -> tuple[bytes, bytes]:
        served = CurrentSnapshot(catalog(tmp_path / "c", "1.0.0"))
        async with content_frontend(Address("127.0.0.1", 0), "op", 5)(served, print) as address:
            before = await asyncio.to_thread(fetch, address)
            served.snapshot = invalid_snapshot(tmp_path)
            return before, await asyncio.to_thread(fetch, address)

    before, after = asyncio.run(run())
    assert before == after != b""


def test_an_invalid_snapshot_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        CatalogRejected, match=r"catalogd would not serve this catalog: .*invalid_snapshot\.json: "
    ):
        build_content(invalid_snapshot(tmp_path), 1)


def test_a_server_does_not_start_with_an_invalid_snapshot(tmp_path: Path) -> None:
    async def run() -> None:
        async with content_frontend(Address("127.0.0.1", 0), "op", 5)(
            CurrentSnapshot(invalid_snapshot(tmp_path)), print
        ):
            pass

    with pytest.raises(CatalogRejected, match="catalogd would not serve this catalog"):
        asyncio.run(run())


def invalid_snapshot(tmp_path: Path) -> CatalogSnapshot:
    """A snapshot with an invalid file, which `take_snapshot` would refuse because the file is small."""
    file = tmp_path / "invalid_snapshot.json"
    file.write_text("[]")
    return cast(CatalogSnapshot, SimpleNamespace(files=(str(file),), sources=Sources()))


def test_a_port_in_use_is_an_error(tmp_path: Path) -> None:
    async def run(port: int) -> None:
        async with content_frontend(Address("127.0.0.1", port), "op", 5)(
            CurrentSnapshot(catalog(tmp_path / "c", "1.0.0")), print
        ):
            pass

    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(UsageError, match=f"port {port} is in use"):
            asyncio.run(run(port))
