"""The content API beside a server's gRPC."""

from __future__ import annotations

import asyncio
import json
import socket
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from documents import bundle, channel, package
from everpath.errors import UsageError
from everpath.loaders.sources import Sources
from everpath.server.address import Address
from everpath.server.catalog.snapshot import CatalogSnapshot, ServedCatalog, take_snapshot
from everpath.server.content_api.frontend import build_content, content_frontend
from everpath.server.errors import CatalogRefused


def catalog(folder: Path, *versions: str) -> CatalogSnapshot:
    names = [f"op.v{version}" for version in versions]
    documents = [package(), channel(*names), *map(bundle, names, versions)]
    folder.mkdir(exist_ok=True)
    (folder / "catalog.json").write_text("\n".join(map(json.dumps, documents)))
    (folder / "notes.txt").write_text("not a catalog")
    (folder / ".indexignore").write_text("*.txt\n")
    return take_snapshot(str(folder), {})


def fetched(address: str) -> bytes:
    """By hand: the loop that serves must not be waited for by the thread it runs in."""
    host, _, path = address.removeprefix("http://").partition("/")
    name, _, port = host.rpartition(":")
    with socket.create_connection((name, int(port)), timeout=60) as line:
        line.sendall(f"GET /{path} HTTP/1.0\r\n\r\n".encode())
        said = b"".join(iter(lambda: line.recv(65536), b""))
    return said.partition(b"\r\n\r\n")[2]


def test_a_snapshot_is_served_without_what_is_ignored(tmp_path: Path) -> None:
    content = build_content(catalog(tmp_path / "c", "1.0.0"), 1)
    assert [json.loads(line)["schema"] for line in content.text.splitlines()] == [
        "olm.package",
        "olm.channel",
        "olm.bundle",
    ]


def test_a_new_snapshot_is_served_from_when_it_is_there(tmp_path: Path) -> None:
    async def story() -> tuple[str, bytes, bytes]:
        served = ServedCatalog(catalog(tmp_path / "c", "1.0.0"))
        async with content_frontend(Address("127.0.0.1", 0), "op", 5)(served, print) as address:
            before = await asyncio.to_thread(fetched, address)
            served.snapshot = catalog(tmp_path / "c", "1.0.0", "1.1.0")
            return address, before, await asyncio.to_thread(fetched, address)

    address, before, after = asyncio.run(story())
    assert address.endswith("/catalogs/op/api/v1/all")
    assert b"op.v1.1.0" not in before
    assert b"op.v1.1.0" in after


def test_a_snapshot_that_turns_out_to_be_none_leaves_the_one_before(tmp_path: Path) -> None:
    async def story() -> tuple[bytes, bytes]:
        served = ServedCatalog(catalog(tmp_path / "c", "1.0.0"))
        async with content_frontend(Address("127.0.0.1", 0), "op", 5)(served, print) as address:
            before = await asyncio.to_thread(fetched, address)
            served.snapshot = broken(tmp_path)
            return before, await asyncio.to_thread(fetched, address)

    before, after = asyncio.run(story())
    assert before == after != b""


def test_a_catalog_that_turns_out_to_be_none_is_not_served(tmp_path: Path) -> None:
    with pytest.raises(CatalogRefused, match=r"catalogd would not serve this catalog: .*broken\.json: "):
        build_content(broken(tmp_path), 1)


def test_nor_does_a_server_start_with_it(tmp_path: Path) -> None:
    async def story() -> None:
        async with content_frontend(Address("127.0.0.1", 0), "op", 5)(ServedCatalog(broken(tmp_path)), print):
            pass

    with pytest.raises(CatalogRefused, match="catalogd would not serve this catalog"):
        asyncio.run(story())


def broken(tmp_path: Path) -> CatalogSnapshot:
    """One whose files are no catalog: `take` lets none through that is small enough for a test."""
    file = tmp_path / "broken.json"
    file.write_text("[]")
    return cast(CatalogSnapshot, SimpleNamespace(files=(str(file),), sources=Sources()))


def test_a_port_in_use_is_said_so(tmp_path: Path) -> None:
    async def story(port: int) -> None:
        async with content_frontend(Address("127.0.0.1", port), "op", 5)(
            ServedCatalog(catalog(tmp_path / "c", "1.0.0")), print
        ):
            pass

    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(UsageError, match=f"port {port} is in use"):
            asyncio.run(story(port))
