"""The manifests of a bundle as a registry hands them out: those it carries, or a CSV made of its metadata."""

from __future__ import annotations

__all__ = ["Manifests", "manifests_of"]

import json
from base64 import b64decode
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from everpath.opm_render.bundles import BUNDLE_OBJECT, CSV_METADATA, Blob
from everpath.opm_render.csv_metadata import csv_from_metadata
from everpath.opm_render.go_json import json_text, sort_keys
from everpath.parsing.first_document import first_document
from everpath.rules._shapes import text_field

_CSV = "ClusterServiceVersion"


class Manifests(NamedTuple):
    """All manifests of a bundle in JSON, and which of them is its CSV; empty if none is."""

    csv: str
    objects: tuple[str, ...]


def manifests_of(bundle: Blob, package: Blob) -> Manifests:
    """What a bundle's document holds, or implies together with its package's. Cost: linear in the text.

    Raises ValueError or `Broken` for a manifest that is no text, or does not parse.
    """
    properties = bundle.get("properties") or ()
    objects = tuple(_objects(properties))
    csv = next((text for text in objects if _is_csv(text)), "")
    described = [item["value"] for item in properties if item["type"] == CSV_METADATA]
    if not csv and len(described) == 1:
        csv = _made(bundle, package, described[0])
        objects = objects or (csv,)
    return Manifests(csv, objects)


def _objects(properties: Any) -> Iterator[str]:
    data = b""
    for item in properties:
        if item["type"] == BUNDLE_OBJECT:
            # opm decodes all of them into one struct: who has no data has that of the one before.
            data = _data(item["value"], data)
            yield _as_json(data)


def _data(value: Any, before: bytes) -> bytes:
    keys = sorted(key for key in value or () if key.casefold() == "data")
    if not keys:
        return before
    data = value[keys[-1]]
    return bytes(data) if isinstance(data, list) else b64decode(data or "")


def _as_json(data: bytes) -> str:
    if data.lstrip().startswith(b"{"):
        return data.decode("utf-8")
    return json_text(sort_keys(first_document(data).value), html=True)


def _is_csv(text: str) -> bool:
    try:
        manifest = json.loads(text)
    except ValueError:
        return False
    return isinstance(manifest, dict) and manifest.get("kind") == _CSV


def _made(bundle: Blob, package: Blob, metadata: Any) -> str:
    icon: Mapping[str, Any] | None = package.get("icon")
    identity = next(item["value"] for item in bundle["properties"] if item["type"] == "olm.package")
    csv = csv_from_metadata(
        bundle["name"],
        metadata,
        text_field(identity, "version"),
        icon=icon,
        description=package.get("description", ""),
        images=bundle.get("relatedImages") or (),
    )
    return json_text(csv, html=True, floats=True)
