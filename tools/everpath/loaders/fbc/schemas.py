"""The documents of a file-based catalog, from decoded data to the model, schema by schema."""

from __future__ import annotations

__all__ = ["CatalogDocuments"]

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from everpath.go_types import type_mismatches
from everpath.go_types.properties import PROPERTY_TYPES
from everpath.loaders.fbc.bundle_objects import is_base64, object_flaw
from everpath.loaders.fbc.fields import Fields, Report, described, nearest
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
_BIG: Final = (_OBJECT, _METADATA)


class CatalogDocuments:
    """Puts documents into an builder. `thorough` keeps the value of every olm.csv.metadata."""

    def __init__(self, builder: CatalogBuilder, *, thorough: bool) -> None:
        self._builder = builder
        self._thorough = thorough
        self._schemas: dict[str, Callable[[dict[str, Any], Place, Report], None]] = {
            "olm.package": self._package,
            "olm.channel": self._channel,
            "olm.bundle": self._bundle,
            "olm.deprecations": self._deprecations,
        }

    def add(self, document: dict[str, Any], place: Place, report: Report) -> bool:
        """Put one document, which the report is about, in its place. False if it does not say what it is."""
        schema = document.get("schema")
        if type(schema) is not str or not _is_usual(document, schema):
            meta = Fields(_meta(document, place, report), place, report)
            schema = meta.text("schema")
            if schema not in self._schemas:
                return self._unknown(schema, meta, document)
        self._schemas[schema](document, place, report)
        return True

    def _unknown(self, schema: str, meta: Fields, document: dict[str, Any]) -> bool:
        if schema:
            self._other(schema, meta)
        elif meta.values.get("schema", "") == "":
            meta.report.add("missing-schema", meta.place, "the document has no schema", _guess(document))
        return bool(schema)

    def _other(self, schema: str, meta: Fields) -> None:
        if (meant := nearest(schema, frozenset(self._schemas))) is not None:
            place = meta.place.at("schema")
            meta.report.add("misspelled-key", place, f"{schema} is no schema opm knows", f"write {meant}")
        self._builder.add_other(Other(schema, meta.text("package"), meta.text("name"), meta.place))

    def _package(self, document: dict[str, Any], place: Place, report: Report) -> None:
        fields = Fields.of(document, _PACKAGE, place, report)
        name = fields.text("name")
        fields.text("description")
        _check_icon(fields.below("icon", _ICON))
        self._properties(fields)
        self._builder.declare(name, Declaration(place, fields.text("defaultChannel")))

    def _channel(self, document: dict[str, Any], place: Place, report: Report) -> None:
        fields = Fields.of(document, _CHANNEL, place, report)
        self._properties(fields)
        self._builder.add_channel(
            Channel(fields.text("name"), fields.text("package"), place, tuple(_entries(fields)))
        )

    def _bundle(self, document: dict[str, Any], place: Place, report: Report) -> None:
        fields = Fields.of(document, _BUNDLE, place, report)
        name = fields.text("name")
        properties = self._properties(fields, must_have_value=True)
        version, release = _identity(properties)
        self._builder.add_bundle(
            Bundle(
                name,
                fields.text("package"),
                version,
                place,
                image=fields.text("image"),
                release=release,
                properties=tuple(properties),
                related_images=tuple(_images(fields)),
                has_objects=_OBJECT in {stated.type for stated in properties},
            )
        )

    def _deprecations(self, document: dict[str, Any], place: Place, report: Report) -> None:
        fields = Fields.of(document, _DEPRECATIONS, place, report)
        entries = tuple(_deprecated(fields))
        self._builder.add_deprecations(Deprecations(fields.text("package"), place, entries))

    def _properties(self, fields: Fields, *, must_have_value: bool = False) -> list[Property]:
        file, offset = fields.place.file, fields.place.offset
        found = []
        for i, item in enumerate(fields.items("properties")):
            place = Place(file, offset, ("properties", i))
            if type(item) is dict and len(item) == 2 and "value" in item and type(item.get("type")) is str:
                kind, value = item["type"], item["value"]
            else:
                kind, value = _property(item, place, fields.report, must_have_value=must_have_value)
            if kind in _BIG and value is not UNREAD:
                value = self._kept(kind, value, place, fields.report)
            found.append(Property(kind, value, place))
        return found

    def _kept(self, kind: str, value: Any, place: Place, report: Report) -> Any:
        """What is kept of a big value: UNREAD if no rule would speak on it. Those are most of a catalog."""
        if kind == _OBJECT:
            _check_object(value, place, report, thorough=self._thorough)
            return UNREAD
        return value if self._thorough or not _is_metadata(value) else UNREAD


def _text_at(document: Any, key: str) -> str | None:
    """Whom a report is about, as far as that can be said before the document is read."""
    value = document.get(key) if type(document) is dict else None
    return value if type(value) is str and value else None


def _is_usual(document: dict[str, Any], schema: str) -> bool:
    """A known schema, every key as it is spelled there, and no null where opm wants text."""
    known = _FIELDS.get(schema)
    if known is None or not document.keys() <= known:
        return False
    return document.get("name", "") is not None and document.get("package", "") is not None


def _meta(document: dict[str, Any], place: Place, report: Report) -> dict[str, Any]:
    """What opm reads of every document, whatever its schema: here alone null is not as good as nothing."""
    folded = {key.casefold(): key for key in sorted(document)}
    if len(folded) != len(document):
        _report_folded(folded, document, place, report)
    meta: dict[str, Any] = {name: document[folded[name]] for name in _META if name in folded}
    for name, value in meta.items():
        if value is None:
            report.add(
                "non-string-name",
                place.at(name),
                f"{name} is null, not text",
                f"give {name} a value, or drop it",
            )
    return meta


def _report_folded(kept: dict[str, str], document: dict[str, Any], place: Place, report: Report) -> None:
    for key in sorted(document.keys() - set(kept.values())):
        message = f"{key} and {kept[key.casefold()]} are one key to opm"
        report.add("case-folded-keys", place.at(key), message, "keep one of them")


def _guess(document: dict[str, Any]) -> str | None:
    """The line that is missing, by the fields only one schema has."""
    signs = {
        "defaultChannel": "olm.package",
        "image": "olm.bundle",
        "relatedImages": "olm.bundle",
        "entries": "olm.channel",
    }
    schema = next((schema for key, schema in signs.items() if key in document), None)
    return f"add schema: {schema}" if schema else None


def _entries(fields: Fields) -> Iterator[Entry]:
    file, offset, report = fields.place.file, fields.place.offset, fields.report
    for i, item in enumerate(fields.items("entries")):
        place = Place(file, offset, ("entries", i))
        report.entry = _text_at(item, "name")
        entry = Fields.of(item, _ENTRY, place, report)
        yield Entry(
            entry.text("name"),
            place,
            entry.text("replaces") or None,
            entry.texts("skips"),
            entry.text("skipRange") if entry.values.get("skipRange") is not None else None,
        )
    report.entry = None


def _deprecated(fields: Fields) -> Iterator[DeprecationEntry]:
    for i, item in enumerate(fields.items("entries")):
        entry = Fields.of(item, _DEPRECATION, fields.place.at("entries", i), fields.report)
        reference = entry.below("reference", _REFERENCE)
        yield DeprecationEntry(
            reference.text("schema"), reference.text("name"), entry.text("message"), entry.place
        )


def _images(fields: Fields) -> Iterator[tuple[str, str]]:
    for i, item in enumerate(fields.items("relatedImages")):
        if type(item) is dict and item.keys() == _IMAGE:
            name, image = item["name"], item["image"]
            if type(name) is str and type(image) is str:
                yield name, image
                continue
        related = Fields.of(item, _IMAGE, fields.place.at("relatedImages", i), fields.report)
        yield related.text("name"), related.text("image")


def _property(item: Any, place: Place, report: Report, *, must_have_value: bool) -> tuple[str, Any]:
    """A property in any shape but the usual one."""
    fields = Fields.of(item, _PROPERTY, place, report)
    if must_have_value and "value" not in fields.values:
        report.add("wrong-type", place, "a property without a value", "give it a value, or remove it")
    return fields.text("type"), fields.values.get("value")


def _is_metadata(value: Any) -> bool:
    """Whether a value of olm.csv.metadata has the shape opm wants, as an empty one has."""
    return value == {} or next(type_mismatches(value, PROPERTY_TYPES[_METADATA]), None) is None


def _identity(properties: Sequence[Property]) -> tuple[str | None, str | None]:
    """Version and release of the olm.package property; that it has the right shape is a rule's business."""
    for stated in properties:
        if stated.type == "olm.package" and isinstance(stated.value, dict):
            value = stated.value
            if not value.keys() <= _IDENTITY:
                value = {key.casefold(): value[key] for key in sorted(value)}
            version, release = value.get("version"), value.get("release")
            return (
                version if isinstance(version, str) else None,
                release if isinstance(release, str) and release else None,
            )
    return None, None


def _check_object(value: Any, place: Place, report: Report, *, thorough: bool) -> None:
    if (flaw := object_flaw(value, thorough=thorough)) is not None:
        report.add("wrong-type", place.at("value"), flaw)


def _check_icon(icon: Fields) -> None:
    icon.text("mediatype")
    data = icon.values.get("base64data")
    if isinstance(data, str):
        if not is_base64(data):
            icon.report.add("wrong-type", icon.place.at("base64data"), "the icon is not base64")
    elif data is not None and not isinstance(data, list):
        icon.report.add(
            "wrong-type", icon.place.at("base64data"), f"the icon is {described(data)}, not base64"
        )
