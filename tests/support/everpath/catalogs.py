"""File-based catalogs for tests, written from everpath's own notation of graphs."""

from __future__ import annotations

__all__ = ["fbc", "large_catalog", "write_fbc"]

import json
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import yaml

from everpath.loaders.notation import parse
from everpath.model import Entry, Package


def fbc(drawing: str, package: str = "p") -> str:
    """Return a catalog in YAML from the notation."""
    catalog = parse(dedent(drawing), package)
    return "".join(f"---\n{_yaml(document)}" for p in catalog.packages for document in _documents(p))


def write_fbc(folder: Path, drawing: str, package: str = "p") -> Path:
    """Write a catalog from the notation to FOLDER/catalog/PACKAGE.yaml, and return FOLDER/catalog.

    The file is renamed into place, so that a watching server never reads a part of it.
    """
    catalog = folder / "catalog"
    catalog.mkdir(exist_ok=True)
    aside = folder / f".{package}.yaml"
    aside.write_text(fbc(drawing, package))
    aside.replace(catalog / f"{package}.yaml")
    return catalog


def large_catalog(folder: Path, bundles: int) -> Path:
    """Write a catalog `folder`/p.json with one chain, whose bundles have ten kilobytes each in a list."""
    names = [f"p.v1.0.{number}" for number in range(bundles)]
    entries = [{"name": name, "replaces": below} for below, name in zip(["", *names], names, strict=False)]
    documents: list[dict[str, Any]] = [
        {"schema": "olm.package", "name": "p", "defaultChannel": "stable"},
        {"schema": "olm.channel", "package": "p", "name": "stable", "entries": entries},
    ]
    for name in names:
        identity = {"packageName": "p", "version": name.removeprefix("p.v")}
        properties = [
            {"type": "olm.package", "value": identity},
            {"type": "com.example.text", "value": "x" * 10_000},
        ]
        image = f"registry.example/p:{identity['version']}"
        bundle = {"schema": "olm.bundle", "package": "p", "name": name, "image": image}
        documents.append({**bundle, "properties": properties})
    folder.mkdir(exist_ok=True)
    (folder / "p.json").write_text("".join(f"{json.dumps(document)}\n" for document in documents))
    return folder


def _yaml(document: dict[str, Any]) -> str:
    text: str = yaml.safe_dump(json.loads(json.dumps(document)), sort_keys=False)
    return text


def _documents(package: Package) -> Iterator[dict[str, Any]]:
    yield {"schema": "olm.package", "name": package.name, "defaultChannel": package.default_channel}
    for channel in package.channels:
        yield {
            "schema": "olm.channel",
            "package": package.name,
            "name": channel.name,
            "entries": [_entry(entry) for entry in channel.entries],
        }
    for bundle in package.bundles:
        yield {
            "schema": "olm.bundle",
            "package": package.name,
            "name": bundle.name,
            "image": bundle.image,
            "properties": [{"type": p.type, "value": p.value} for p in bundle.properties],
        }
    for deprecations in package.deprecations:
        yield {
            "schema": "olm.deprecations",
            "package": package.name,
            "entries": [
                {"reference": {"schema": e.schema, "name": e.name}, "message": e.message}
                for e in deprecations.entries
            ],
        }


def _entry(entry: Entry) -> dict[str, Any]:
    fields = {"replaces": entry.replaces, "skips": list(entry.skips), "skipRange": entry.skip_range}
    return {"name": entry.name, **{key: value for key, value in fields.items() if value}}
