"""The substitutes template: a catalog, and bundles that take the places of others in it."""

from __future__ import annotations

__all__ = ["render_substitutes"]

import re
from collections.abc import Iterable
from typing import Final

from everpath.model import Place
from everpath.opm_render.blobs import Document, blob_of
from everpath.opm_render.bundles import BUNDLE, METADATA, Blob, Rendered, embedded_csv
from everpath.opm_render.refusals import Refusal
from everpath.opm_render.templates.common import Renderer, Validator, bundle_in, items, package_property
from everpath.rules._shapes import field
from everpath.versions import Key, VersionError, parse

_SUBSTITUTES: Final = "olm.substitutesFor"
_RELEASE: Final = re.compile(r"(?=.{1,20}\Z)[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*")

# What a version and a release are ordered by; without a release comes first.
_Order = tuple[Key, bool, Key]


def render_substitutes(document: Document, render: Renderer, validate: Validator) -> list[Blob]:
    """The entries, which must be a catalog opm accepts, after every substitution. Raises `Refusal`."""
    blobs = [blob_of(entry) for entry in items(document, "entries")]
    if (words := validate(blobs)) is not None:
        raise Refusal(f"the entries are not a catalog opm accepts: {words}", document.place.at("entries"))
    bases: set[str] = set()
    images: dict[str, str] = {}
    for item in items(document, "substitutions"):
        image, base = (_text(item, key) for key in ("name", "base"))
        if base in bases:
            raise Refusal(f"{base!r} is substituted twice", item.place.at("base"), "substitute it once")
        if image in images:
            message = f"{image!r} substitutes {images[image]!r} already"
            raise Refusal(message, item.place.at("name"), "give each bundle a substitute of its own")
        bases.add(base)
        images[image] = base
        blobs = _substituted(blobs, _substitute(item, image, base, blobs, render), base)
        if (words := validate(blobs)) is not None:
            message = f"with {image!r} for {base!r} the catalog is none opm accepts: {words}"
            raise Refusal(message, item.place)
    return blobs


def _text(item: Document, key: str) -> str:
    value = field(item.body, key)
    if value is not None and not isinstance(value, str):
        raise Refusal(f"{key} of a substitution is not a string", item.place.at(key), "put it in quotes")
    return value or ""


def _substitute(item: Document, image: str, base: str, blobs: Iterable[Blob], render: Renderer) -> Blob:
    """The bundle that takes a place. Raises `Refusal` unless it is a later one than that which has it."""
    for key, text in (("name", image), ("base", base)):
        if not text:
            raise Refusal(f"a substitution without a {key}", item.place, f"add its {key}")
    if image == base:
        raise Refusal(f"{base!r} cannot substitute itself", item.place, "name the image of another bundle")
    rendered = bundle_in(image, render, item.place.at("name"))
    later = _order(rendered, item.place.at("name"))
    known = next((b for b in blobs if b["schema"] == BUNDLE and b.get("name") == base), None)
    if known is None:
        message = f"no bundle of the entries is called {base!r}"
        raise Refusal(message, item.place.at("base"), "name one of the catalog's bundles")
    if _order(Rendered(known), item.place.at("base")) >= later:
        message = f"{image!r} is no later version or release than {base!r}"
        raise Refusal(message, item.place, "give the substitute a higher version, or a release")
    return rendered.blob


def _order(rendered: Rendered, place: Place) -> _Order:
    stated = package_property(rendered.blob, place)
    try:
        version = parse(stated["version"])
    except VersionError as error:
        raise Refusal(f"bundle {rendered.blob.get('name')!r}: {error}", place) from error
    release = stated["release"]
    if not release and version.build and _substitutes_in_csv(rendered):
        release = ".".join(version.build)
    if not release:
        return version.key, False, ()
    if _RELEASE.fullmatch(release) is None:
        raise Refusal(f"{release!r} is no release", place, "use at most 20 letters, digits, dots and hyphens")
    try:
        return version.key, True, parse(f"0.0.0-{release}").key
    except VersionError as error:
        raise Refusal(f"{release!r} is no release: {error.reason}", place) from error


def _substitutes_in_csv(rendered: Rendered) -> bool:
    """Whether the CSV says that it is a substitute: build metadata is then a release."""
    csv = rendered.csv if rendered.csv is not None else embedded_csv(rendered.blob)
    if csv is not None:
        return _annotated(field(csv, "metadata"))
    stated = rendered.blob.get("properties") or ()
    return any(_annotated(item["value"]) for item in stated if item["type"] == METADATA)


def _annotated(owner: object) -> bool:
    return bool(field(field(owner, "annotations"), _SUBSTITUTES))


def _substituted(blobs: list[Blob], bundle: Blob, base: str) -> list[Blob]:
    channels = [
        {**b, "entries": _entries(b["entries"] or [], bundle.get("name", ""), base)}
        if b["schema"] == "olm.channel"
        else b
        for b in blobs
    ]
    return [*channels, bundle]


def _entries(entries: list[Blob], name: str, base: str) -> list[Blob]:
    """A channel in which whoever was on the base, or came to it, comes to the substitute."""
    placed = [
        _entry(name, e.get("replaces"), [*e.get("skips", ()), base], e.get("skipRange"))
        for e in entries
        if e["name"] == base
    ]
    moved = [{"name": base} if e["name"] == base else _redirected(e, name, base) for e in entries]
    return [*moved, *reversed(placed)]


def _redirected(entry: Blob, name: str, base: str) -> Blob:
    skips = entry.get("skips", [])
    if entry.get("replaces") == base:
        return _entry(entry["name"], name, [*skips, base], entry.get("skipRange"))
    if base in skips:
        kept = [skip for skip in [*skips, name] if skip != base]
        return _entry(entry["name"], entry.get("replaces"), kept, entry.get("skipRange"))
    return entry


def _entry(name: str, replaces: str | None, skips: list[str], skip_range: str | None) -> Blob:
    entry = {"name": name, "replaces": replaces, "skips": skips, "skipRange": skip_range}
    return {key: value for key, value in entry.items() if value}
