"""Parses a document of a catalog, and returns the manifests of a bundle as opm does.

The manifests of a bundle are its `olm.bundle.object` properties, or a CSV generated from `olm.csv.metadata`.
"""

from __future__ import annotations

__all__ = ["bundle_manifests", "parse_document"]

import json
from base64 import b64decode
from collections.abc import Iterator, Mapping
from io import BytesIO
from typing import Any

from everpath.go_types import text_field
from everpath.loaders.fbc.document_splitter import RawDocument, split_yaml
from everpath.model import OpmError, Place
from everpath.opm_render.blobs import CatalogDocument, decode_blob
from everpath.opm_render.bundles import BUNDLE_OBJECT, CSV_METADATA, Blob
from everpath.opm_render.csv_metadata import csv_from_metadata
from everpath.opm_render.go_json import json_text, sort_keys
from everpath.parsing import json_parser, yaml_parser
from everpath.parsing.first_document import first_document
from everpath.parsing.parse_result import ParseError
from everpath.server.catalog.temporary_files import BundleManifests


def parse_document(text: bytes, place: Place, *, is_json: bool) -> Blob:
    """Parse the first document of a text. Raises ValueError for a document that opm rejects."""
    try:
        return decode_blob(CatalogDocument(place, _parse_value(text, is_json=is_json)))
    except (ParseError, OpmError) as problem:
        raise ValueError(f"{place.file}: {problem}") from problem


def _parse_value(text: bytes, *, is_json: bool) -> Any:
    if is_json:
        try:
            return json_parser.parse_at(json_parser.decode_utf8(text), 0)[0].value
        except json_parser.ParseError:
            # YAML that starts with a brace.
            pass
    first = next(part for part in split_yaml(BytesIO(text)) if isinstance(part, RawDocument))
    return yaml_parser.parse(first.text if first.text.endswith(b"\n") else first.text + b"\n").value


def bundle_manifests(bundle: Blob, package: Blob) -> BundleManifests:
    """Return the manifests of a bundle, given its document and its package's. Cost: linear in the text.

    Raises ValueError or `ParseError` for a manifest that cannot be decoded or parsed.
    """
    properties = bundle.get("properties") or ()
    objects = tuple(_object_manifests(properties))
    csv = next((manifest for manifest in objects if _is_csv(manifest)), "")
    metadata = [item["value"] for item in properties if item["type"] == CSV_METADATA]
    if not csv and len(metadata) == 1:
        csv = _generate_csv(bundle, package, metadata[0])
        objects = objects or (csv,)
    return BundleManifests(csv, objects)


def _object_manifests(properties: Any) -> Iterator[str]:
    data = b""
    for item in properties:
        if item["type"] != BUNDLE_OBJECT:
            continue
        value = item["value"] or {}
        keys = sorted(key for key in value if key.casefold() == "data")
        # opm decodes every object into the same struct: one without data has the data of the previous one.
        if keys:
            encoded = value[keys[-1]]
            data = bytes(encoded) if isinstance(encoded, list) else b64decode(encoded or "")
        if data.lstrip().startswith(b"{"):
            yield data.decode("utf-8")
        else:
            yield json_text(sort_keys(first_document(data).value), html=True)


def _is_csv(text: str) -> bool:
    try:
        manifest = json.loads(text)
    except ValueError:
        return False
    return isinstance(manifest, dict) and manifest.get("kind") == "ClusterServiceVersion"


def _generate_csv(bundle: Blob, package: Blob, metadata: Any) -> str:
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
