"""Catalogs for tests, from documents: for what the notation cannot express.

    catalog(package(), channel("op.v1.0.0"), bundle("op.v1.0.0", image="Not An Image"))

Documents are those of a file-based catalog, as Python data, so that opm can load the same ones.
"""

from __future__ import annotations

__all__ = [
    "Document",
    "bundle",
    "catalog",
    "channel",
    "deprecations",
    "in_folder",
    "package",
    "package_property",
    "repository",
    "text",
]

import json
from collections.abc import Iterable
from typing import Any, TypeAlias

from everpath.model import (
    Bundle,
    Catalog,
    Channel,
    Csv,
    Declaration,
    DeprecationEntry,
    Deprecations,
    Entry,
    Other,
    Place,
    Property,
    UpdateMode,
)
from everpath.model.builder import CatalogBuilder

Document: TypeAlias = dict[str, Any]


def package(name: str = "op", default: str = "stable", **fields: Any) -> Document:
    return {"schema": "olm.package", "name": name, "defaultChannel": default, **fields}


def channel(*entries: str | Document, name: str = "stable", package: str = "op") -> Document:
    """Return a channel; an entry that is only a name replaces the one before it."""
    made: list[Document] = []
    for entry in entries:
        before = {"replaces": made[-1]["name"]} if made else {}
        made.append({"name": entry, **before} if isinstance(entry, str) else entry)
    return {"schema": "olm.channel", "package": package, "name": name, "entries": made}


def package_property(name: str = "op", version: str = "1.0.0", **fields: Any) -> Document:
    return {"type": "olm.package", "value": {"packageName": name, "version": version, **fields}}


def bundle(
    name: str = "op.v1.0.0",
    version: str = "",
    *properties: Document,
    package: str = "op",
    image: str = "registry.example/op:1",
    **fields: Any,
) -> Document:
    """Return a bundle; its default version is the end of its name. `properties` are added."""
    stated = package_property(package, version or name.partition(".v")[2] or "1.0.0")
    made = {"schema": "olm.bundle", "name": name, "package": package, "image": image}
    return {**made, "properties": [stated, *properties], **fields}


def deprecations(*entries: tuple[str, str, str], package: str = "op") -> Document:
    """Entries are schema, name and message."""
    made = [{"reference": {"schema": s, **({"name": n} if n else {})}, "message": m} for s, n, m in entries]
    return {"schema": "olm.deprecations", "package": package, "entries": made}


def text(documents: Iterable[Document]) -> str:
    """Return the documents as YAML."""
    return "\n".join(map(json.dumps, documents))


def catalog(*documents: Document) -> Catalog:
    """Return the catalog of the documents; each has its own file, 0.yaml and so on."""
    builder = CatalogBuilder()
    for number, document in enumerate(documents):
        _add(builder, document, Place(f"{number}.yaml"))
    return builder.build("test")


def _add(builder: CatalogBuilder, document: Document, place: Place) -> None:
    name, owner = document.get("name", ""), document.get("package", "")
    match document["schema"]:
        case "olm.package":
            builder.declare(name, Declaration(place, document["defaultChannel"]))
        case "olm.channel":
            entries = tuple(_entry(e, place.at("entries", i)) for i, e in enumerate(document["entries"]))
            builder.add_channel(Channel(name, owner, place, entries))
        case "olm.bundle":
            builder.add_bundle(_bundle(document, place))
        case "olm.deprecations":
            found = tuple(_deprecation(e, place.at("entries", i)) for i, e in enumerate(document["entries"]))
            builder.add_deprecations(Deprecations(owner, place, found))
        case schema:
            builder.add_other(Other(schema, owner, name, place))


def _entry(entry: Document, place: Place) -> Entry:
    return Entry(
        entry.get("name", ""),
        place,
        entry.get("replaces"),
        tuple(entry.get("skips", ())),
        entry.get("skipRange"),
    )


def _bundle(document: Document, place: Place) -> Bundle:
    properties = tuple(
        Property(p["type"], p.get("value"), place.at("properties", i))
        for i, p in enumerate(document.get("properties", ()))
    )
    values = [p.value for p in properties if p.type == "olm.package" and isinstance(p.value, dict)]
    stated: Document = values[0] if values else {}
    version, release = stated.get("version"), stated.get("release")
    return Bundle(
        document.get("name", ""),
        document.get("package", ""),
        version if isinstance(version, str) else None,
        place,
        image=document.get("image", ""),
        release=release if isinstance(release, str) else None,
        properties=properties,
        related_images=tuple((r.get("name", ""), r["image"]) for r in document.get("relatedImages", ())),
        has_objects=any(p.type == "olm.bundle.object" for p in properties),
    )


def _deprecation(entry: Document, place: Place) -> DeprecationEntry:
    reference = entry["reference"]
    return DeprecationEntry(reference["schema"], reference.get("name", ""), entry["message"], place)


def in_folder(
    name: str = "op.v1.0.0",
    version: str = "",
    *properties: Property,
    folder: str | None = None,
    package: str = "op",
    channels: tuple[str, ...] = ("stable",),
    **csv: Any,
) -> Bundle:
    """Return a bundle as loaded from its folder; keywords are fields of its Csv."""
    version = version or name.partition(".v")[2]
    file = f"operators/{package}/{folder or version}/manifests/csv.yaml"
    place = Place(file, dialect="csv")
    notes = Place(f"operators/{package}/{folder or version}/metadata/annotations.yaml", dialect="annotations")
    made = Csv(
        **{
            "place": place,
            "version": version,
            "folder": folder or version,
            "annotations": notes,
            "package": package,
            "channels": channels,
            **csv,
        }
    )
    return Bundle(name, package, version, place, properties=properties, csv=made)


def repository(*bundles: Bundle, mode: UpdateMode = UpdateMode.REPLACES, default: str = "") -> Catalog:
    """Return the catalog of bundle folders: in each channel every bundle replaces the one before it."""
    builder = CatalogBuilder()
    for name in dict.fromkeys(b.package for b in bundles):
        builder.declare(
            name, Declaration(Place(f"operators/{name}/ci.yaml"), default, inferred=True, mode=mode)
        )
    channels: dict[tuple[str, str], list[Entry]] = {}
    for made in bundles:
        builder.add_bundle(made)
        for name in made.csv.channels if made.csv else ():
            entries = channels.setdefault((made.package, name), [])
            entries.append(Entry(made.name, made.place, entries[-1].name if entries else None))
    for (owner, name), found in channels.items():
        builder.add_channel(Channel(name, owner, found[0].place, tuple(found)))
    return builder.build("test")
