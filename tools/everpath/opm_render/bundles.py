"""The `olm.bundle` blob that `opm render` makes of the folder of a bundle.

Of several olm.package properties the last one counts, in this order: properties.yaml, the property derived
from annotations.yaml and the CSV, the annotation olm.properties of the CSV. A bundle has no upgrade edges;
channels have.
"""

from __future__ import annotations

__all__ = [
    "BUNDLE",
    "BUNDLE_OBJECT",
    "CSV_METADATA",
    "Blob",
    "RenderedBundle",
    "embedded_csv",
    "expand_image_template",
    "normalize_bundle",
    "render_bundle",
]

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from everpath.go_types import field, text_field, type_mismatches
from everpath.go_types.properties import PROPERTY_TYPES
from everpath.model import Gvk, OpmError, Place, Property
from everpath.model.bundle_contents import CSV, PACKAGE_ANNOTATION, Contents, Manifest
from everpath.opm_render.apis import ApiKey, check_owned_crds, provided_apis, required_apis
from everpath.opm_render.go_json import json_text, sort_keys
from everpath.opm_render.manifest_checks import check_manifests, csv_release, csv_version
from everpath.opm_render.nesting import check_depth
from everpath.opm_render.related_images import related_images

#: A document of a file-based catalog, with its keys in opm's order.
Blob: TypeAlias = dict[str, Any]

BUNDLE: Final = "olm.bundle"
BUNDLE_OBJECT: Final = "olm.bundle.object"
CSV_METADATA: Final = "olm.csv.metadata"

_PACKAGE: Final = "olm.package"
_GVK: Final = "olm.gvk"
_PROPERTIES_ANNOTATION: Final = "olm.properties"

# The value of a property without one. opm distinguishes it from null when it sorts, and writes both as null.
_NO_VALUE: Final = object()


class RenderedBundle(NamedTuple):
    """The blob of a bundle, and its ClusterServiceVersion with its place, which templates read."""

    blob: Blob
    csv: Mapping[str, Any] | None = None
    place: Place = Place("")


def render_bundle(contents: Contents, image: str = "", *, is_published: bool = False) -> RenderedBundle:
    """Render a bundle that can be pulled from `image`. Raises `OpmError`.

    A published bundle may lack a CRD that its CSV owns: older releases of opm accepted that, and the bundle
    has users. Cost: linear in the size of the manifests.
    """
    csv = _require_valid_csv(contents, is_published=is_published)
    package = contents.annotation(PACKAGE_ANNOTATION)
    objects = []
    for manifest in contents.objects:
        text = json_text(sort_keys(manifest.body), html=True)
        data = b64encode(text.encode()).decode("ascii")
        objects.append({"type": BUNDLE_OBJECT, "value": {"data": data}})
    blob: Blob = {"schema": BUNDLE}
    if csv.name:
        blob["name"] = csv.name
    properties = _sort_properties([*objects, *_properties(contents, csv, package)])
    blob |= {"package": package, "image": image, "properties": properties}
    if images := related_images(csv, image):
        blob["relatedImages"] = images
    return RenderedBundle(blob, csv.body, csv.place)


def expand_image_template(contents: Contents, template: str) -> str:
    """Fill in {{.Package}}, {{.Name}} and {{.Version}} of an image reference. Raises `OpmError`."""
    csv = _require_valid_csv(contents)
    package = contents.annotation(PACKAGE_ANNOTATION)
    declared = _declared_properties(contents, csv, package)
    package_property = next(item for item in declared if item.type == _PACKAGE)
    version = text_field(_require_valid_value(package_property), "version")
    values = {"Package": package, "Name": csv.name, "Version": version}
    return re.sub(r"\{\{\s*\.(Package|Name|Version)\s*\}\}", lambda match: values[match[1]], template)


def normalize_bundle(blob: Blob) -> Blob:
    """A blob of a catalog as opm renders it: manifests after other properties, related images sorted."""
    if blob["schema"] != BUNDLE:
        return blob
    normalized = dict(blob)
    if "properties" in blob:
        normalized["properties"] = sorted(blob["properties"], key=_is_manifest)
    if "relatedImages" in blob:
        normalized["relatedImages"] = sorted(blob["relatedImages"], key=lambda related: str(related["image"]))
    return normalized


def embedded_csv(blob: Blob, parse: Callable[[bytes], object] = json.loads) -> Mapping[str, Any] | None:
    """The first ClusterServiceVersion among the manifests of a bundle.

    opm writes manifests as JSON and also reads YAML; pass a parser to read both.
    """
    for item in blob.get("properties") or ():
        data = field(item["value"], "data") if item["type"] == BUNDLE_OBJECT else None
        try:
            manifest = parse(b64decode(data)) if isinstance(data, str) else None
        except (ValueError, RecursionError):
            continue
        if isinstance(manifest, dict) and manifest.get("kind") == CSV:
            return manifest
    return None


def _require_valid_csv(contents: Contents, *, is_published: bool = False) -> Manifest:
    """The CSV of a bundle, after all checks of manifests and annotations. Raises `OpmError`."""
    if not contents.manifests:
        raise OpmError("the bundle has no manifests", contents.place, "add the manifests of the bundle")
    for manifest in contents.manifests:
        check_depth(manifest.body, manifest.place)
    for item in (*contents.properties, *contents.dependencies):
        check_depth(item.value, item.place)
    csv = contents.csv
    if csv is None:
        message = "the bundle has no ClusterServiceVersion"
        raise OpmError(message, contents.place, "add the ClusterServiceVersion of the operator")
    check_manifests(contents, csv)
    if not is_published:
        check_owned_crds(contents, csv)
    if contents.annotations is None:
        message = "no file in metadata/ states the package and channels of the bundle"
        raise OpmError(message, contents.place, "add metadata/annotations.yaml")
    if not contents.annotation(PACKAGE_ANNOTATION):
        # opm renders such a bundle and then drops it without a message.
        message = "the annotations do not state the package of the bundle"
        place = (contents.annotations_place or contents.place).at("annotations")
        raise OpmError(message, place, f"add {PACKAGE_ANNOTATION}")
    return csv


def _properties(contents: Contents, csv: Manifest, package: str) -> Iterator[dict[str, Any]]:
    """All properties except manifests, unsorted."""
    properties = list(_declared_properties(contents, csv, package))
    dependencies = list(_with_missing_values(contents, contents.dependencies))
    for item in (*properties, *dependencies):
        if item.type in (_GVK, _PACKAGE) and item.value is _NO_VALUE:
            raise OpmError(f"{item.type} has no value", item.place, "add a value")
    packages = [_require_valid_value(item) for item in properties if item.type == _PACKAGE]
    name, version, release = (text_field(packages[-1], key) for key in ("packageName", "version", "release"))
    yield {"type": _PACKAGE, "value": _package_value(name, version, release)}
    yield from _gvk_properties(_GVK, properties, provided_apis(contents, csv))
    yield from _gvk_properties("olm.gvk.required", dependencies, required_apis(csv))
    for item in dependencies:
        if item.type == _PACKAGE:
            value = _require_valid_value(item)
            required = {
                "packageName": text_field(value, "packageName"),
                "versionRange": text_field(value, "version"),
            }
            yield {"type": "olm.package.required", "value": required}
    for item in (*properties, *dependencies):
        if item.type not in (_GVK, _PACKAGE):
            yield {"type": item.type, "value": item.value}


def _gvk_properties(
    type_: str, declared: Iterable[Property], derived: Iterable[ApiKey]
) -> Iterator[dict[str, Any]]:
    """One property for each API that is declared or derived from manifests."""
    gvks = []
    for item in declared:
        if item.type == _GVK:
            value = _require_valid_value(item)
            gvks.append(Gvk(*(text_field(value, key) for key in ("group", "version", "kind"))))
    gvks += [api.gvk for api in derived]
    for gvk in dict.fromkeys(gvks):
        # opm writes the keys in this order.
        yield {"type": type_, "value": {"group": gvk.group, "kind": gvk.kind, "version": gvk.version}}


def _declared_properties(contents: Contents, csv: Manifest, package: str) -> Iterator[Property]:
    """Properties of properties.yaml, the derived olm.package, and the CSV's annotation; no duplicates."""
    derived = Property(_PACKAGE, _package_value(package, csv_version(csv), csv_release(csv)), csv.place)
    seen = set()
    for item in (
        *_with_missing_values(contents, contents.properties),
        derived,
        *_annotation_properties(csv),
    ):
        key = item.type, _value_text(item.value)
        if key not in seen:
            seen.add(key)
            yield item


def _annotation_properties(csv: Manifest) -> Iterator[Property]:
    """The JSON list in the annotation olm.properties. opm ignores an annotation that is not one."""
    text = csv.annotations.get(_PROPERTIES_ANNOTATION)
    place = csv.place.at("metadata", "annotations", _PROPERTIES_ANNOTATION)
    try:
        items = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return
    for item in items if isinstance(items, list) else ():
        has_value = isinstance(item, dict) and any(key.casefold() == "value" for key in item)
        value = field(item, "value") if has_value else _NO_VALUE
        check_depth(value, place)
        yield Property(text_field(item, "type"), value, place)


def _with_missing_values(contents: Contents, properties: Iterable[Property]) -> Iterator[Property]:
    for item in properties:
        yield item._replace(value=_NO_VALUE) if item.place in contents.valueless else item


def _require_valid_value(item: Property) -> object:
    """The value of a property whose type opm decodes into a struct. Raises `OpmError`."""
    for mismatch in type_mismatches(item.value, PROPERTY_TYPES[item.type]):
        message = f"invalid value of {item.type}: {mismatch.message}"
        raise OpmError(message, item.place.at("value", *mismatch.path), "write what the type requires")
    return item.value


def _package_value(package: str, version: str, release: str) -> Mapping[str, str]:
    value = {"packageName": package, "version": version}
    return {**value, "release": release} if release else value


def _sort_properties(properties: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Properties sorted by type and by the JSON of their value, with manifests and CSV metadata last."""
    properties = sorted(
        properties, key=lambda item: (_is_manifest(item), item["type"], _value_text(item["value"]))
    )
    return [{**item, "value": None} if item["value"] is _NO_VALUE else item for item in properties]


def _is_manifest(property_: Mapping[str, Any]) -> bool:
    return property_["type"] in (BUNDLE_OBJECT, CSV_METADATA)


def _value_text(value: object) -> str:
    return "" if value is _NO_VALUE else json_text(value)
