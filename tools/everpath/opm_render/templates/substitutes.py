"""The substitutes template: a catalog in which bundles are replaced with substitutes."""

from __future__ import annotations

__all__ = ["render_substitutes"]

import re
from collections.abc import Iterable
from typing import Final

from everpath.go_types import field
from everpath.model import OpmError, Place
from everpath.opm_render.blobs import CatalogDocument, decode_blob
from everpath.opm_render.bundles import BUNDLE, CSV_METADATA, Blob, RenderedBundle, embedded_csv
from everpath.opm_render.templates.common import (
    CatalogValidator,
    ImageRenderer,
    list_documents,
    package_property,
    render_image_at,
)
from everpath.versions import Key, VersionError, parse

_SUBSTITUTES_FOR: Final = "olm.substitutesFor"
_RELEASE: Final = re.compile(r"(?=.{1,20}\Z)[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*")

# Version, whether there is a release, release.
_Precedence = tuple[Key, bool, Key]


def render_substitutes(
    document: CatalogDocument, render_image: ImageRenderer, validate: CatalogValidator
) -> list[Blob]:
    """Apply all substitutions to the entries. Raises `OpmError`, also if opm rejects the catalog."""
    blobs = [decode_blob(entry) for entry in list_documents(document, "entries")]
    if (error := validate(blobs)) is not None:
        raise OpmError(f"opm rejects the entries: {error}", document.place.at("entries"))
    bases: dict[str, str] = {}
    for item in list_documents(document, "substitutions"):
        image, base = (_string(item, key) for key in ("name", "base"))
        if base in bases.values():
            raise OpmError(f"{base!r} is substituted twice", item.place.at("base"), "substitute it once")
        if image in bases:
            message = f"{image!r} already substitutes {bases[image]!r}"
            raise OpmError(message, item.place.at("name"), "use another image for each bundle")
        bases[image] = base
        bundle = _substitute(item, image, base, blobs, render_image)
        blobs = [_substitute_in_channel(blob, bundle.get("name", ""), base) for blob in blobs]
        blobs.append(bundle)
        if (error := validate(blobs)) is not None:
            message = f"opm rejects the catalog with {image!r} as the substitute of {base!r}: {error}"
            raise OpmError(message, item.place)
    return blobs


def _string(item: CatalogDocument, key: str) -> str:
    value = field(item.body, key)
    if value is not None and not isinstance(value, str):
        raise OpmError(f"{key} of a substitution is not a string", item.place.at(key), "quote it")
    return value or ""


def _substitute(
    item: CatalogDocument, image: str, base: str, blobs: Iterable[Blob], render_image: ImageRenderer
) -> Blob:
    """Render the substitute of a bundle. Raises `OpmError` unless its version or release is higher."""
    for key, value in (("name", image), ("base", base)):
        if not value:
            raise OpmError(f"the substitution has no {key}", item.place, f"add its {key}")
    if image == base:
        raise OpmError(f"{base!r} cannot substitute itself", item.place, "write the image of another bundle")
    substitute = render_image_at(item.place.at("name"), image, render_image)
    precedence = _precedence(substitute, item.place.at("name"))
    base_blob = next((b for b in blobs if b["schema"] == BUNDLE and b.get("name") == base), None)
    if base_blob is None:
        message = f"the entries have no bundle {base!r}"
        raise OpmError(message, item.place.at("base"), "write the name of a bundle of the catalog")
    if _precedence(RenderedBundle(base_blob), item.place.at("base")) >= precedence:
        message = f"the version and release of {image!r} are not higher than those of {base!r}"
        raise OpmError(message, item.place, "use a substitute with a higher version or with a release")
    return substitute.blob


def _precedence(bundle: RenderedBundle, place: Place) -> _Precedence:
    value = package_property(bundle.blob, place)
    try:
        version = parse(value["version"])
    except VersionError as error:
        raise OpmError(f"bundle {bundle.blob.get('name')!r}: {error}", place) from error
    release = value["release"]
    if not release and version.build and _is_substitute(bundle):
        release = ".".join(version.build)
    if not release:
        return version.key, False, ()
    if _RELEASE.fullmatch(release) is None:
        fix = "use at most 20 letters, digits, dots and hyphens"
        raise OpmError(f"invalid release {release!r}", place, fix)
    try:
        return version.key, True, parse(f"0.0.0-{release}").key
    except VersionError as error:
        raise OpmError(f"invalid release {release!r}: {error.reason}", place) from error


def _is_substitute(bundle: RenderedBundle) -> bool:
    """Whether the CSV has the annotation olm.substitutesFor. opm then reads build metadata as a release."""

    def has_annotation(owner: object) -> bool:
        return bool(field(field(owner, "annotations"), _SUBSTITUTES_FOR))

    csv = bundle.csv if bundle.csv is not None else embedded_csv(bundle.blob)
    if csv is not None:
        return has_annotation(field(csv, "metadata"))
    properties = bundle.blob.get("properties") or ()
    return any(has_annotation(item["value"]) for item in properties if item["type"] == CSV_METADATA)


def _substitute_in_channel(blob: Blob, name: str, base: str) -> Blob:
    """Move all edges of the base to the substitute. The base stays as an entry that the substitute skips."""
    if blob["schema"] != "olm.channel":
        return blob
    entries: list[Blob] = []
    substitutes: list[Blob] = []
    for entry in blob["entries"] or []:
        skips = entry.get("skips", [])
        replaces, skip_range = entry.get("replaces"), entry.get("skipRange")
        if entry["name"] == base:
            entries.append({"name": base})
            substitutes.append(_entry(name, replaces, [*skips, base], skip_range))
        elif replaces == base:
            entries.append(_entry(entry["name"], name, [*skips, base], skip_range))
        elif base in skips:
            others = [skip for skip in [*skips, name] if skip != base]
            entries.append(_entry(entry["name"], replaces, others, skip_range))
        else:
            entries.append(entry)
    return {**blob, "entries": [*entries, *reversed(substitutes)]}


def _entry(name: str, replaces: str | None, skips: list[str], skip_range: str | None) -> Blob:
    entry = {"name": name, "replaces": replaces, "skips": skips, "skipRange": skip_range}
    return {key: value for key, value in entry.items() if value}
