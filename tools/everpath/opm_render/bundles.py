"""A bundle's folder as the `olm.bundle` blob that `opm render` makes of it.

Of several olm.package properties the last counts, and the order is: properties.yaml, what annotations.yaml
and the CSV imply, the CSV's annotation olm.properties. Edges between releases are not rendered: only
channels have them.
"""

from __future__ import annotations

__all__ = [
    "BUNDLE",
    "METADATA",
    "OBJECT",
    "Blob",
    "Rendered",
    "embedded_csv",
    "image_named",
    "render_bundle",
    "tidied",
]

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from everpath.model import Gvk, Place, Property
from everpath.model.bundle_contents import CSV, Contents, Manifest
from everpath.opm_render.apis import Api, check_owned, provided_apis, required_apis
from everpath.opm_render.decoding import check_manifests, csv_release, csv_version
from everpath.opm_render.go_json import json_text, sorted_keys
from everpath.opm_render.images import related_images
from everpath.opm_render.refusals import Refusal, check_depth
from everpath.rules._shapes import SHAPES, field, misfits, text_field

#: One document of a file-based catalog, its keys in the order opm writes them.
Blob: TypeAlias = dict[str, Any]

BUNDLE: Final = "olm.bundle"
OBJECT: Final = "olm.bundle.object"
METADATA: Final = "olm.csv.metadata"

_PACKAGE: Final = "olm.package"
_GVK: Final = "olm.gvk"
_PACKAGE_NAME: Final = "operators.operatorframework.io.bundle.package.v1"
_ANNOTATED: Final = "olm.properties"

# The value of a property that has none.
_NONE: Final = object()

_WORD: Final = re.compile(r"\{\{\s*\.(Package|Name|Version)\s*\}\}")


class Rendered(NamedTuple):
    """A blob, and the bundle's ClusterServiceVersion, which templates look into, with where it stands."""

    blob: Blob
    csv: Mapping[str, Any] | None = None
    place: Place = Place("")


def render_bundle(contents: Contents, image: str = "", *, is_out: bool = False) -> Rendered:
    """The bundle as a catalog holds it, under the image it can be pulled from. Raises `Refusal`.

    One that `is_out` may lack a CRD that its CSV owns: opm let such bundles pass once, and they have users.
    Cost: linear in the manifests, each of which is in it as text.
    """
    csv = _csv(contents, is_out=is_out)
    package = contents.annotation(_PACKAGE_NAME)
    properties = _in_order([*_objects(contents), *_properties(contents, csv, package)])
    blob: Blob = {"schema": BUNDLE}
    if csv.name:
        blob["name"] = csv.name
    blob |= {"package": package, "image": image, "properties": properties}
    if images := related_images(csv, image):
        blob["relatedImages"] = images
    return Rendered(blob, csv.body, csv.place)


def image_named(contents: Contents, template: str) -> str:
    """The image of a bundle's folder: a text with {{.Package}}, {{.Name}} and {{.Version}} filled in."""
    csv = _csv(contents)
    package = contents.annotation(_PACKAGE_NAME)
    implied = _identity(package, csv_version(csv), csv_release(csv))
    stated = (_fitting(p) for p in _stated(contents, csv, implied) if p.type == _PACKAGE)
    words = {"Package": package, "Name": csv.name, "Version": text_field(next(stated), "version")}
    return _WORD.sub(lambda found: words[found[1]], template)


def tidied(blob: Blob) -> Blob:
    """A bundle of a catalog as opm renders it again: manifests behind the other properties, images sorted."""
    if blob["schema"] != BUNDLE:
        return blob
    tidy = dict(blob)
    if "properties" in blob:
        tidy["properties"] = sorted(blob["properties"], key=lambda item: item["type"] in (OBJECT, METADATA))
    if "relatedImages" in blob:
        tidy["relatedImages"] = sorted(blob["relatedImages"], key=lambda related: str(related["image"]))
    return tidy


def embedded_csv(blob: Blob, parse: Callable[[bytes], object] = json.loads) -> Mapping[str, Any] | None:
    """The first ClusterServiceVersion among the manifests that a blob carries.

    opm writes them in JSON and reads them in YAML, too: who wants that brings the parser.
    """
    for item in blob.get("properties") or ():
        if item["type"] == OBJECT:
            manifest = _decoded(field(item["value"], "data"), parse)
            if isinstance(manifest, dict) and manifest.get("kind") == CSV:
                return manifest
    return None


def _decoded(data: object, parse: Callable[[bytes], object]) -> object:
    try:
        return parse(b64decode(data)) if isinstance(data, str) else None
    except (ValueError, RecursionError):
        return None


def _csv(contents: Contents, *, is_out: bool = False) -> Manifest:
    if not contents.manifests:
        raise Refusal("no file of the bundle is a manifest", contents.place, "add the bundle's manifests")
    for manifest in contents.manifests:
        check_depth(manifest.body, manifest.place)
    for stated in (*contents.properties, *contents.dependencies):
        check_depth(stated.value, stated.place)
    csv = contents.csv
    if csv is None:
        message = "none of the bundle's manifests is a ClusterServiceVersion"
        raise Refusal(message, contents.place, "add the operator's ClusterServiceVersion")
    check_manifests(contents, csv)
    if not is_out:
        check_owned(contents, csv)
    if contents.annotations is None:
        message = "no file of the metadata folder says which package and channels the bundle belongs to"
        raise Refusal(message, contents.place, "write metadata/annotations.yaml")
    if not contents.annotation(_PACKAGE_NAME):
        # opm renders such a bundle and then writes nothing, without a word.
        message = "the annotations do not say which package the bundle belongs to"
        place = (contents.annotations_place or contents.place).at("annotations")
        raise Refusal(message, place, f"add {_PACKAGE_NAME}")
    return csv


def _objects(contents: Contents) -> Iterator[dict[str, Any]]:
    for manifest in contents.objects:
        text = json_text(sorted_keys(manifest.body), html=True)
        yield {"type": OBJECT, "value": {"data": b64encode(text.encode()).decode("ascii")}}


def _properties(contents: Contents, csv: Manifest, package: str) -> Iterator[dict[str, Any]]:
    """What a resolver looks at, in no particular order."""
    implied = _identity(package, csv_version(csv), csv_release(csv))
    stated = list(_stated(contents, csv, implied))
    wanted = list(_valued(contents, contents.dependencies))
    for item in (*stated, *wanted):
        _check_value(item)
    packages = [_fitting(item) for item in stated if item.type == _PACKAGE]
    keys = ("packageName", "version", "release")
    yield {"type": _PACKAGE, "value": _identity(*(text_field(packages[-1], key) for key in keys))}
    yield from _apis(_GVK, stated, provided_apis(contents, csv))
    yield from _apis("olm.gvk.required", wanted, required_apis(csv))
    yield from (_required(item) for item in wanted if item.type == _PACKAGE)
    others = (item for item in (*stated, *wanted) if item.type not in (_GVK, _PACKAGE))
    yield from ({"type": other.type, "value": other.value} for other in others)


def _apis(kind: str, stated: Iterable[Property], found: Iterable[Api]) -> Iterator[dict[str, Any]]:
    """Every API once, whether somebody states it or the manifests show it."""
    gvks = [*(_gvk(item) for item in stated if item.type == _GVK), *(api.gvk for api in found)]
    return ({"type": kind, "value": _api_value(gvk)} for gvk in dict.fromkeys(gvks))


def _api_value(gvk: Gvk) -> dict[str, str]:
    """The value of an API property, its keys in the order opm writes them."""
    return {"group": gvk.group, "kind": gvk.kind, "version": gvk.version}


def _required(dependency: Property) -> dict[str, Any]:
    value = _fitting(dependency)
    asked = {"packageName": text_field(value, "packageName"), "versionRange": text_field(value, "version")}
    return {"type": "olm.package.required", "value": asked}


def _stated(contents: Contents, csv: Manifest, identity: Mapping[str, str]) -> Iterator[Property]:
    """Properties as they are written, without repetitions, and the package that is implied."""
    implied = Property(_PACKAGE, identity, csv.place)
    seen = set()
    for stated in (*_valued(contents, contents.properties), implied, *_annotated(csv)):
        key = stated.type, _raw(stated.value)
        if key not in seen:
            seen.add(key)
            yield stated


def _annotated(csv: Manifest) -> Iterator[Property]:
    """The properties of the CSV's annotation, a JSON list in a string. opm passes over what is none."""
    text = csv.annotations.get(_ANNOTATED)
    place = csv.place.at("metadata", "annotations", _ANNOTATED)
    try:
        listed = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return
    for item in listed if isinstance(listed, list) else ():
        kind = field(item, "type")
        has_value = isinstance(item, dict) and any(key.casefold() == "value" for key in item)
        value = field(item, "value") if has_value else _NONE
        check_depth(value, place)
        yield Property(kind if isinstance(kind, str) else "", value, place)


def _valued(contents: Contents, stated: Iterable[Property]) -> Iterator[Property]:
    for item in stated:
        yield item._replace(value=_NONE) if item.place in contents.valueless else item


def _raw(value: object) -> str:
    """The text that a value is to opm; none at all is less than null, and written as null in the end."""
    return "" if value is _NONE else json_text(value)


def _check_value(stated: Property) -> None:
    if stated.type in (_GVK, _PACKAGE) and stated.value is _NONE:
        raise Refusal(f"an {stated.type} without a value", stated.place, "give it a value")


def _gvk(stated: Property) -> Gvk:
    value = _fitting(stated)
    return Gvk(*(text_field(value, key) for key in ("group", "version", "kind")))


def _fitting(stated: Property) -> object:
    """The value of a property whose type opm reads into a struct."""
    for misfit in misfits(stated.value, SHAPES[stated.type]):
        message = f"an {stated.type} does not have the shape opm reads: {misfit.message}"
        raise Refusal(message, stated.place.at("value", *misfit.path), "write it as the type asks for")
    return stated.value


def _identity(package: str, version: str, release: str) -> Mapping[str, str]:
    value = {"packageName": package, "version": version}
    return {**value, "release": release} if release else value


def _in_order(properties: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """By type and by the text of the value, manifests and metadata at the end."""

    def place(item: dict[str, Any]) -> tuple[bool, str, str]:
        kind = item["type"]
        return kind in (OBJECT, METADATA), kind, _raw(item["value"])

    ordered = sorted(properties, key=place)
    return [{**item, "value": None} if item["value"] is _NONE else item for item in ordered]
