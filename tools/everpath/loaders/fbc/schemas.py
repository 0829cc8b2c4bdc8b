"""Decode the documents of a file-based catalog into the model, schema by schema."""

from __future__ import annotations

__all__ = ["SchemaDecoder"]

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from everpath.go_types import type_mismatches
from everpath.go_types.properties import PROPERTY_TYPES
from everpath.loaders.fbc.bundle_objects import bundle_object_error, is_base64
from everpath.loaders.fbc.fields import ProblemCollector, StructFields, closest_name, type_description
from everpath.model import (
    UNREAD,
    Bundle,
    Channel,
    Declaration,
    DeprecationEntry,
    Deprecations,
    Entry,
    Other,
    Place,
    ProblemKind,
    Property,
)
from everpath.model.builder import CatalogBuilder

_META: Final = ("schema", "package", "name")
_PACKAGE: Final = frozenset(
    ("schema", "name", "package", "defaultChannel", "icon", "description", "properties")
)
_ICON: Final = frozenset(("base64data", "mediatype"))
_CHANNEL: Final = frozenset(("schema", "name", "package", "entries", "properties"))
_ENTRY: Final = frozenset(("name", "replaces", "skips", "skipRange"))
_BUNDLE: Final = frozenset(("schema", "name", "package", "image", "properties", "relatedImages"))
_IMAGE: Final = frozenset(("name", "image"))
_PROPERTY: Final = frozenset(("type", "value"))
_IDENTITY: Final = frozenset(("packageName", "version", "release"))
_DEPRECATIONS: Final = frozenset(("schema", "name", "package", "entries"))
_DEPRECATION: Final = frozenset(("reference", "message"))
_REFERENCE: Final = frozenset(("schema", "name"))

_FIELDS: Final = {
    "olm.package": _PACKAGE,
    "olm.channel": _CHANNEL,
    "olm.bundle": _BUNDLE,
    "olm.deprecations": _DEPRECATIONS,
}

_OBJECT: Final = "olm.bundle.object"
_METADATA: Final = "olm.csv.metadata"
_LARGE: Final = (_OBJECT, _METADATA)


class SchemaDecoder:
    """Decodes documents into a builder. `thorough` keeps the value of every olm.csv.metadata."""

    def __init__(self, builder: CatalogBuilder, *, thorough: bool) -> None:
        self._builder = builder
        self._thorough = thorough
        self._schemas: dict[str, Callable[[dict[str, Any], Place, ProblemCollector], None]] = {
            "olm.package": self._package,
            "olm.channel": self._channel,
            "olm.bundle": self._bundle,
            "olm.deprecations": self._deprecations,
        }

    def add(self, document: dict[str, Any], place: Place, collector: ProblemCollector) -> bool:
        """Decode one document into the builder. Return False if it has no schema."""
        schema = document.get("schema")
        if type(schema) is not str or not _has_exact_fields(document, schema):
            meta = StructFields(_meta(document, place, collector), place, collector)
            schema = meta.text("schema")
            if schema not in self._schemas:
                return self._add_other(schema, meta, document)
        self._schemas[schema](document, place, collector)
        return True

    def _add_other(self, schema: str, meta: StructFields, document: dict[str, Any]) -> bool:
        """Add a document of a schema that opm does not know, or report that it has none."""
        if not schema:
            if meta.values.get("schema", "") == "":
                fix = _schema_fix(document)
                meta.collector.add(ProblemKind.MISSING_SCHEMA, meta.place, "the document has no schema", fix)
            return False
        if (meant := closest_name(schema, frozenset(self._schemas))) is not None:
            message = f"opm does not know the schema {schema}"
            meta.collector.add(ProblemKind.MISSPELLED_KEY, meta.place.at("schema"), message, f"write {meant}")
        self._builder.add_other(Other(schema, meta.text("package"), meta.text("name"), meta.place))
        return True

    def _package(self, document: dict[str, Any], place: Place, collector: ProblemCollector) -> None:
        fields = StructFields.of(document, _PACKAGE, place, collector)
        name = fields.text("name")
        fields.text("description")
        _check_icon(fields.struct("icon", _ICON))
        self._properties(fields)
        self._builder.declare(name, Declaration(place, fields.text("defaultChannel")))

    def _channel(self, document: dict[str, Any], place: Place, collector: ProblemCollector) -> None:
        fields = StructFields.of(document, _CHANNEL, place, collector)
        self._properties(fields)
        self._builder.add_channel(
            Channel(fields.text("name"), fields.text("package"), place, tuple(_entries(fields)))
        )

    def _bundle(self, document: dict[str, Any], place: Place, collector: ProblemCollector) -> None:
        fields = StructFields.of(document, _BUNDLE, place, collector)
        name = fields.text("name")
        properties = self._properties(fields, must_have_value=True)
        version, release = _version_and_release(properties)
        self._builder.add_bundle(
            Bundle(
                name,
                fields.text("package"),
                version,
                place,
                image=fields.text("image"),
                release=release,
                properties=tuple(properties),
                related_images=tuple(_related_images(fields)),
                has_objects=_OBJECT in {each.type for each in properties},
            )
        )

    def _deprecations(self, document: dict[str, Any], place: Place, collector: ProblemCollector) -> None:
        fields = StructFields.of(document, _DEPRECATIONS, place, collector)
        entries = []
        for i, item in enumerate(fields.items("entries")):
            entry = StructFields.of(item, _DEPRECATION, place.at("entries", i), collector)
            reference = entry.struct("reference", _REFERENCE)
            schema, name = reference.text("schema"), reference.text("name")
            entries.append(DeprecationEntry(schema, name, entry.text("message"), entry.place))
        self._builder.add_deprecations(Deprecations(fields.text("package"), place, tuple(entries)))

    def _properties(self, fields: StructFields, *, must_have_value: bool = False) -> list[Property]:
        file, offset = fields.place.file, fields.place.offset
        found = []
        for i, item in enumerate(fields.items("properties")):
            place = Place(file, offset, ("properties", i))
            if type(item) is dict and len(item) == 2 and "value" in item and type(item.get("type")) is str:
                kind, value = item["type"], item["value"]
            else:
                kind, value = _decode_property(item, place, fields.collector, must_have_value=must_have_value)
            if kind in _LARGE and value is not UNREAD:
                value = self._check_large_value(kind, value, place, fields.collector)
            found.append(Property(kind, value, place))
        return found

    def _check_large_value(self, kind: str, value: Any, place: Place, collector: ProblemCollector) -> Any:
        """Check a large value. Return it if a rule would report it, else UNREAD to free its memory."""
        if kind == _OBJECT:
            if (error := bundle_object_error(value, thorough=self._thorough)) is not None:
                collector.add(ProblemKind.WRONG_TYPE, place.at("value"), error)
            return UNREAD
        is_valid = value == {} or next(type_mismatches(value, PROPERTY_TYPES[_METADATA]), None) is None
        return value if self._thorough or not is_valid else UNREAD


def _has_exact_fields(document: dict[str, Any], schema: str) -> bool:
    """Return whether a document has a known schema, every key spelled exactly, and no null name."""
    known = _FIELDS.get(schema)
    if known is None or not document.keys() <= known:
        return False
    return document.get("name", "") is not None and document.get("package", "") is not None


def _meta(document: dict[str, Any], place: Place, collector: ProblemCollector) -> dict[str, Any]:
    """Return the fields that opm reads of every document. Only here null differs from an absent field."""
    folded = {key.casefold(): key for key in sorted(document)}
    for key in sorted(document.keys() - set(folded.values())):
        message = f"{key} and {folded[key.casefold()]} are one key to opm"
        collector.add(ProblemKind.CASE_FOLDED_KEYS, place.at(key), message, "keep one of them")
    meta: dict[str, Any] = {name: document[folded[name]] for name in _META if name in folded}
    for name, value in meta.items():
        if value is None:
            message, fix = f"{name} is null, not text", f"give {name} a value, or remove it"
            collector.add(ProblemKind.NON_STRING_NAME, place.at(name), message, fix)
    return meta


def _schema_fix(document: dict[str, Any]) -> str | None:
    """Return the missing line, by a field that only one schema has."""
    schemas = {
        "defaultChannel": "olm.package",
        "image": "olm.bundle",
        "relatedImages": "olm.bundle",
        "entries": "olm.channel",
    }
    schema = next((schema for key, schema in schemas.items() if key in document), None)
    return f"add schema: {schema}" if schema else None


def _entries(fields: StructFields) -> Iterator[Entry]:
    file, offset, collector = fields.place.file, fields.place.offset, fields.collector
    for i, item in enumerate(fields.items("entries")):
        place = Place(file, offset, ("entries", i))
        name = item.get("name") if type(item) is dict else None
        collector.entry = name if type(name) is str and name else None
        entry = StructFields.of(item, _ENTRY, place, collector)
        yield Entry(
            entry.text("name"),
            place,
            entry.text("replaces") or None,
            entry.texts("skips"),
            entry.text("skipRange") if entry.values.get("skipRange") is not None else None,
        )
    collector.entry = None


def _related_images(fields: StructFields) -> Iterator[tuple[str, str]]:
    for i, item in enumerate(fields.items("relatedImages")):
        if type(item) is dict and item.keys() == _IMAGE:
            name, image = item["name"], item["image"]
            if type(name) is str and type(image) is str:
                yield name, image
                continue
        related = StructFields.of(item, _IMAGE, fields.place.at("relatedImages", i), fields.collector)
        yield related.text("name"), related.text("image")


def _decode_property(
    item: Any, place: Place, collector: ProblemCollector, *, must_have_value: bool
) -> tuple[str, Any]:
    """Decode a property that is not exactly `{type, value}`."""
    fields = StructFields.of(item, _PROPERTY, place, collector)
    if must_have_value and "value" not in fields.values:
        collector.add(
            ProblemKind.WRONG_TYPE, place, "the property has no value", "give it a value, or remove it"
        )
    return fields.text("type"), fields.values.get("value")


def _version_and_release(properties: Sequence[Property]) -> tuple[str | None, str | None]:
    """Return version and release of the olm.package property. A rule checks its shape."""
    for each in properties:
        if each.type == "olm.package" and isinstance(each.value, dict):
            value = each.value
            if not value.keys() <= _IDENTITY:
                value = {key.casefold(): value[key] for key in sorted(value)}
            version, release = value.get("version"), value.get("release")
            return (
                version if isinstance(version, str) else None,
                release if isinstance(release, str) and release else None,
            )
    return None, None


def _check_icon(icon: StructFields) -> None:
    icon.text("mediatype")
    data = icon.values.get("base64data")
    if isinstance(data, str):
        if not is_base64(data):
            icon.collector.add(ProblemKind.WRONG_TYPE, icon.place.at("base64data"), "the icon is not base64")
    elif data is not None and not isinstance(data, list):
        icon.collector.add(
            ProblemKind.WRONG_TYPE,
            icon.place.at("base64data"),
            f"the icon is {type_description(data)}, not base64",
        )
