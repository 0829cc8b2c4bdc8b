"""A catalog with every kind of document, and a server of it."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.everpath.in_process_server import RunningServer, run_server

_CSV: Final = {"kind": "ClusterServiceVersion", "metadata": {"name": "inline.v1.0.0"}}


def _bundle(package: str, version: str, *properties: object, image: str = "") -> dict[str, Any]:
    identity = {"type": "olm.package", "value": {"version": version, "packageName": package}}
    return {
        "schema": "olm.bundle",
        "package": package,
        "name": f"{package}.v{version}",
        "image": image,
        "properties": [identity, *properties],
    }


def _object(manifest: object) -> dict[str, Any]:
    data = b64encode(json.dumps(manifest).encode()).decode()
    return {"type": "olm.bundle.object", "value": {"data": data}}


_THING: Final = {"type": "olm.gvk", "value": {"group": "example.com", "version": "v1", "kind": "Thing"}}

DOCUMENTS: Final[list[dict[str, Any]]] = [
    {
        "schema": "olm.package",
        "name": "op",
        "defaultChannel": "stable",
        "description": "of the package",
        "icon": {"base64data": "PHN2Zz4=", "mediatype": "image/svg+xml"},
    },
    {
        "schema": "olm.channel",
        "package": "op",
        "name": "stable",
        "entries": [
            {
                "name": "op.v1.2.0",
                "replaces": "op.v1.1.0",
                "skips": ["op.v1.0.0", "op.v0.9.0"],
                "skipRange": "<1.2.0",
            },
            {"name": "op.v1.1.0", "replaces": "op.v1.0.0"},
            {"name": "op.v1.0.0"},
        ],
    },
    {
        "schema": "olm.channel",
        "package": "op",
        "name": "alpha",
        "entries": [{"name": "op.v1.1.0", "replaces": "op.v1.0.0"}, {"name": "op.v1.0.0"}],
    },
    _bundle("op", "1.0.0", image="quay.io/example/op:1.0.0"),
    _bundle("op", "1.1.0", _THING, image="quay.io/example/op:1.1.0"),
    _bundle(
        "op",
        "1.2.0",
        _THING,
        {"type": "olm.package.required", "value": {"packageName": "inline", "versionRange": ">=1.0.0"}},
        {"type": "olm.csv.metadata", "value": {"displayName": "Op & more"}},
        image="quay.io/example/op:1.2.0",
    ),
    {
        "schema": "olm.deprecations",
        "package": "op",
        "entries": [
            {"reference": {"schema": "olm.package"}, "message": "use inline"},
            {"reference": {"schema": "olm.channel", "name": "alpha"}, "message": "use stable"},
            {"reference": {"schema": "olm.bundle", "name": "op.v1.0.0"}, "message": "use 1.2.0"},
        ],
    },
    {"schema": "olm.package", "name": "inline", "defaultChannel": "stable"},
    {"schema": "olm.channel", "package": "inline", "name": "stable", "entries": [{"name": "inline.v1.0.0"}]},
    _bundle("inline", "1.0.0", _object({"kind": "Service"}), _object(_CSV)),
    {"schema": "com.example.note", "package": "op", "name": "a", "lines": ["one", 2, None]},
]


@pytest.fixture(scope="session")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served")
    (folder / "catalog.json").write_text("".join(json.dumps(document) + "\n" for document in DOCUMENTS))
    return folder


@pytest.fixture(scope="session")
def registry(catalog: Path) -> Iterator[RunningServer]:
    """A server of the catalog for tests that only send calls."""
    with run_server(catalog) as running:
        yield running
