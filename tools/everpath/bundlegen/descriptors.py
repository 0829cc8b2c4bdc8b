"""What consoles show of the operator's own kinds, derived from their schemas.

The base ClusterServiceVersion has the last word: what it says of a kind or of a path is kept, and only what
it is silent about is derived.
"""

from __future__ import annotations

__all__ = ["owned"]

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from everpath.manifest_access import mapping, mappings, text
from everpath.model.bundle_contents import Manifest

Json = Mapping[str, Any]

_UI: Final = "urn:alm:descriptor:com.tectonic.ui:"
_STATUS: Final[Mapping[str, str]] = {
    "conditions": "urn:alm:descriptor:io.kubernetes.conditions",
    "phase": "urn:alm:descriptor:io.kubernetes.phase",
}
_TYPES: Final[Mapping[str, str]] = {
    "boolean": f"{_UI}booleanSwitch",
    "integer": f"{_UI}number",
    "number": f"{_UI}number",
    "string": f"{_UI}text",
}
#: How many steps below `spec` or `status` are shown: what lies deeper is a form nobody fills in by hand.
_DEPTH: Final = 2


def owned(crds: tuple[Manifest, ...], base: Json) -> list[dict[str, Any]]:
    """One item for each version of each kind, as `spec.customresourcedefinitions.owned` lists them."""
    given = {
        (item.get("name"), item.get("version")): item
        for item in mappings(base, "customresourcedefinitions", "owned")
    }
    return [
        _merged(_described(crd, version), given.get((crd.name, version.get("name")), {}))
        for crd in crds
        for version in mappings(crd.spec, "versions")
        if version.get("served", True)
    ]


def _described(crd: Manifest, version: Json) -> dict[str, Any]:
    kind = text(mapping(crd.spec, "names"), "kind")
    schema = mapping(version, "schema", "openAPIV3Schema")
    item: dict[str, Any] = {
        "name": crd.name,
        "version": version.get("name"),
        "kind": kind,
        "displayName": spaced(kind),
        "description": _sentence(schema) or f"A {spaced(kind)}.",
    }
    for part in ("spec", "status"):
        if listed := list(_descriptors(mapping(schema, "properties", part), part)):
            item[f"{part}Descriptors"] = listed
    return item


def _descriptors(schema: Json, part: str, path: tuple[str, ...] = ()) -> Iterator[dict[str, Any]]:
    fields = mapping(schema, "properties")
    for name in fields:
        field, below = mapping(fields, name), (*path, name)
        if not field.get("properties"):
            yield _descriptor(field, part, below)
        elif len(below) < _DEPTH:
            yield from _descriptors(field, part, below)


def _descriptor(field: Json, part: str, path: tuple[str, ...]) -> dict[str, Any]:
    item: dict[str, Any] = {"path": ".".join(path), "displayName": " ".join(map(spaced, path))}
    if sentence := _sentence(field):
        item["description"] = sentence
    if hints := _hints(field, part, path[-1]):
        item["x-descriptors"] = hints
    return item


def _hints(field: Json, part: str, name: str) -> list[str]:
    if part == "status":
        return [_STATUS[name]] if name in _STATUS else []
    if isinstance(values := field.get("enum"), list):
        return [f"{_UI}select:{value}" for value in values]
    if name == "replicas":
        return [f"{_UI}podCount"]
    hint = _TYPES.get(text(field, "type"))
    return [hint] if hint else []


def _sentence(schema: Json) -> str:
    return " ".join(text(schema, "description").split())


def spaced(name: str) -> str:
    """A name as people write it: `maxBatch` → `Max Batch`, `tlsSecret` → `Tls Secret`."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return words[:1].upper() + words[1:]


def _merged(derived: dict[str, Any], given: Json) -> dict[str, Any]:
    merged = {**derived, **given}
    for part in ("specDescriptors", "statusDescriptors"):
        said = {text(item, "path"): item for item in mappings(given, part)}
        known = {text(item, "path"): item for item in mappings(derived, part)}
        if paths := sorted({*known, *said}):
            merged[part] = [{**known.get(path, {}), **said.get(path, {})} for path in paths]
    return merged
