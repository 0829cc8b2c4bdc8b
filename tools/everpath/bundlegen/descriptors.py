"""The owned CRDs of a ClusterServiceVersion, with descriptors for consoles, derived from their schemas.

What the base CSV says about a CRD or a path takes precedence.
"""

from __future__ import annotations

__all__ = ["display_name", "owned_crds"]

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from everpath.manifest_access import mapping, mappings, text
from everpath.model.bundle_contents import Manifest

Json = Mapping[str, Any]

_UI: Final = "urn:alm:descriptor:com.tectonic.ui:"
_STATUS_DESCRIPTORS: Final[Mapping[str, str]] = {
    "conditions": "urn:alm:descriptor:io.kubernetes.conditions",
    "phase": "urn:alm:descriptor:io.kubernetes.phase",
}
_TYPE_DESCRIPTORS: Final[Mapping[str, str]] = {
    "boolean": f"{_UI}booleanSwitch",
    "integer": f"{_UI}number",
    "number": f"{_UI}number",
    "string": f"{_UI}text",
}
#: Fields below this level of `spec` or `status` get no descriptor: a form with them is too large.
_MAX_DEPTH: Final = 2


def owned_crds(crds: tuple[Manifest, ...], base: Json) -> list[dict[str, Any]]:
    """The items of `spec.customresourcedefinitions.owned`: one for each served version of each CRD."""
    base_items = {
        (text(item, "name"), text(item, "version")): item
        for item in mappings(base, "customresourcedefinitions", "owned")
    }
    return [
        _merge(_crd_description(crd, version), base_items.get((crd.name, text(version, "name")), {}))
        for crd in crds
        for version in mappings(crd.spec, "versions")
        if version.get("served", True)
    ]


def display_name(name: str) -> str:
    """A name for people: `maxBatch` → `Max Batch`, `tlsSecret` → `Tls Secret`."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return words[:1].upper() + words[1:]


def _crd_description(crd: Manifest, version: Json) -> dict[str, Any]:
    kind = text(mapping(crd.spec, "names"), "kind")
    schema = mapping(version, "schema", "openAPIV3Schema")
    item: dict[str, Any] = {
        "name": crd.name,
        "version": text(version, "name"),
        "kind": kind,
        "displayName": display_name(kind),
        "description": _description(schema) or f"A {display_name(kind)}.",
    }
    for section in ("spec", "status"):
        if descriptors := list(_descriptors(mapping(schema, "properties", section), section)):
            item[f"{section}Descriptors"] = descriptors
    return item


def _descriptors(schema: Json, section: str, path: tuple[str, ...] = ()) -> Iterator[dict[str, Any]]:
    fields = mapping(schema, "properties")
    for name in fields:
        field, field_path = mapping(fields, name), (*path, name)
        if field.get("properties"):
            if len(field_path) < _MAX_DEPTH:
                yield from _descriptors(field, section, field_path)
            continue
        item: dict[str, Any] = {
            "path": ".".join(field_path),
            "displayName": " ".join(map(display_name, field_path)),
        }
        if description := _description(field):
            item["description"] = description
        if x_descriptors := _x_descriptors(field, section, name):
            item["x-descriptors"] = x_descriptors
        yield item


def _x_descriptors(field: Json, section: str, name: str) -> list[str]:
    if section == "status":
        return [_STATUS_DESCRIPTORS[name]] if name in _STATUS_DESCRIPTORS else []
    if isinstance(values := field.get("enum"), list):
        return [f"{_UI}select:{value}" for value in values]
    if name == "replicas":
        return [f"{_UI}podCount"]
    descriptor = _TYPE_DESCRIPTORS.get(text(field, "type"))
    return [descriptor] if descriptor else []


def _description(schema: Json) -> str:
    return " ".join(text(schema, "description").split())


def _merge(derived: dict[str, Any], base_item: Json) -> dict[str, Any]:
    merged = {**derived, **base_item}
    for key in ("specDescriptors", "statusDescriptors"):
        derived_by_path = {text(item, "path"): item for item in mappings(derived, key)}
        base_by_path = {text(item, "path"): item for item in mappings(base_item, key)}
        if paths := sorted({*derived_by_path, *base_by_path}):
            merged[key] = [{**derived_by_path.get(path, {}), **base_by_path.get(path, {})} for path in paths]
    return merged
