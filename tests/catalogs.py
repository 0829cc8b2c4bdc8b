"""File-based catalogs for tests, written from everpath's own notation of graphs."""

from __future__ import annotations

__all__ = ["fbc", "write_fbc"]

import json
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import yaml

from everpath.formats.notation import parse
from everpath.model import Entry, Package


def fbc(drawing: str, package: str = "p") -> str:
    """A catalog in YAML whose channels are drawn."""
    catalog = parse(dedent(drawing), package)
    return "".join(f"---\n{_yaml(document)}" for p in catalog.packages for document in _documents(p))


def write_fbc(folder: Path, drawing: str, package: str = "p") -> Path:
    """The same as a file `catalog/PACKAGE.yaml` in a folder; the folder `catalog` is returned."""
    catalog = folder / "catalog"
    catalog.mkdir(exist_ok=True)
    (catalog / f"{package}.yaml").write_text(fbc(drawing, package))
    return catalog


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
