"""Blobs of a file-based catalog, as opm decodes them from documents and encodes them again.

opm decodes each document into a struct: keys match in any case, empty optional fields are dropped, and fields
are written in the order of the struct. Unlike opm, everpath keeps unknown fields, after the known ones.
"""

from __future__ import annotations

__all__ = ["CatalogDocument", "blob_package", "channel_blob", "decode_blob", "meta_fields", "sort_blobs"]

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from everpath.go_types import GoType, type_mismatches
from everpath.manifest_access import Pointer
from everpath.model import Channel, OpmError, Place
from everpath.opm_render.bundles import BUNDLE, BUNDLE_OBJECT, Blob
from everpath.opm_render.go_json import sort_keys
from everpath.opm_render.nesting import check_depth


class CatalogDocument(NamedTuple):
    """A document as it is written, and its place. `repeated` are the paths of duplicate keys."""

    place: Place
    body: Any
    repeated: tuple[Pointer, ...] = ()


class _Field(NamedTuple):
    """A field of a struct. An optional one is omitted if it is empty (`omitempty` in Go)."""

    type: GoType
    decode: Callable[[Any], Any]
    is_optional: bool = False


_Struct: TypeAlias = Mapping[str, _Field]


def _decode_string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _decode_bytes(value: Any) -> str | None:
    """Base64 on one line. Go ignores line breaks in base64, and also accepts a list of numbers."""
    if value is None:
        return None
    data = bytes(map(int, value)) if isinstance(value, list) else b64decode(value)
    return b64encode(data).decode("ascii")


def _decode_struct(value: Any, struct: _Struct) -> Blob:
    """The fields of a struct in order, then all other keys of the mapping."""
    names = {name.casefold(): name for name in struct}
    known: dict[str, Any] = {}
    unknown: dict[str, Any] = {}
    for key in sorted(value or ()):
        name = names.get(key.casefold())
        (known if name else unknown)[name or key] = value[key]
    decoded = {name: field.decode(known.get(name)) for name, field in struct.items()}
    fields = {name: item for name, item in decoded.items() if item or not struct[name].is_optional}
    return {**fields, **{key: sort_keys(item) for key, item in unknown.items()}}


def _go_type(struct: _Struct) -> GoType:
    return {name: field.type for name, field in struct.items()}


def _list_of(struct: _Struct, *, is_optional: bool = False) -> _Field:
    """A list of structs; null stays null, as a nil slice does in Go."""
    return _Field(
        [_go_type(struct)],
        lambda value: None if value is None else [_decode_struct(item, struct) for item in value],
        is_optional,
    )


_STRING: Final = _Field("string", _decode_string)
_OPTIONAL_STRING: Final = _Field("string", _decode_string, is_optional=True)
_PROPERTY: Final[_Struct] = {"type": _STRING, "value": _Field("any", sort_keys)}
_PROPERTIES: Final = _list_of(_PROPERTY, is_optional=True)
_ICON: Final[_Struct] = {"base64data": _Field("any", _decode_bytes), "mediatype": _STRING}
_REFERENCE: Final[_Struct] = {"schema": _STRING, "name": _OPTIONAL_STRING}
_STRUCTS: Final[Mapping[str, _Struct]] = {
    "olm.package": {
        "schema": _STRING,
        "name": _STRING,
        "defaultChannel": _STRING,
        "icon": _Field(
            _go_type(_ICON),
            lambda value: None if value is None else _decode_struct(value, _ICON),
            is_optional=True,
        ),
        "description": _OPTIONAL_STRING,
        "properties": _PROPERTIES,
    },
    "olm.channel": {
        "schema": _STRING,
        "name": _STRING,
        "package": _STRING,
        "entries": _list_of(
            {
                "name": _STRING,
                "replaces": _OPTIONAL_STRING,
                "skips": _Field(
                    "[]string", lambda value: [_decode_string(item) for item in value or ()], is_optional=True
                ),
                "skipRange": _OPTIONAL_STRING,
            }
        ),
        "properties": _PROPERTIES,
    },
    BUNDLE: {
        "schema": _STRING,
        "name": _OPTIONAL_STRING,
        "package": _OPTIONAL_STRING,
        "image": _STRING,
        "properties": _PROPERTIES,
        "relatedImages": _list_of({"name": _STRING, "image": _STRING}, is_optional=True),
    },
    "olm.deprecations": {
        "schema": _STRING,
        "package": _STRING,
        "entries": _list_of(
            {
                "reference": _Field(_go_type(_REFERENCE), lambda value: _decode_struct(value, _REFERENCE)),
                "message": _STRING,
            }
        ),
    },
}
_GO_TYPES: Final = {schema: _go_type(struct) for schema, struct in _STRUCTS.items()}


def decode_blob(document: CatalogDocument) -> Blob:
    """The blob that opm makes of a document. Raises `OpmError`."""
    body = document.body
    if not isinstance(body, dict):
        raise OpmError("a document of a catalog must be a mapping", document.place, "write keys and values")
    check_depth(body, document.place)
    schema = meta_fields(document).get("schema")
    if not schema:
        raise OpmError("the document has no schema", document.place, "add one, such as schema: olm.package")
    if schema not in _STRUCTS:
        return {str(key): value for key, value in sort_keys(_round_integers(body)).items()}
    for mismatch in type_mismatches(body, _GO_TYPES[schema]):
        raise OpmError(f"invalid {schema}: {mismatch.message}", document.place.at(*mismatch.path))
    _check_base64_fields(document, schema)
    return _decode_struct(_round_integers(body), _STRUCTS[schema])


def meta_fields(document: CatalogDocument) -> dict[str, str]:
    """Schema, package and name of a document, as far as it has them; keys match in any case.

    Raises `OpmError` if opm cannot decode these fields, or if two keys differ only in case.
    """
    body: Mapping[str, Any] = document.body
    keys: dict[str, str] = {}
    for key in sorted(body):
        if (other := keys.setdefault(key.casefold(), key)) != key:
            message = f"opm does not distinguish the keys {other} and {key}"
            raise OpmError(message, document.place.at(key), "keep one of them")
    names = ("schema", "package", "name")
    fields: dict[str, Any] = {name: body[keys[name]] for name in names if name in keys}
    for name, value in fields.items():
        if not isinstance(value, str):
            raise OpmError(f"{keys[name]} is not a string", document.place.at(keys[name]), "quote it")
    return fields


def _check_base64_fields(document: CatalogDocument, schema: str) -> None:
    """Raise `OpmError` if the icon of a package or a manifest of a bundle is not base64."""

    def check(mapping: Mapping[str, Any], key: str, place: Place, name: str) -> None:
        spellings = sorted((k for k in mapping if k.casefold() == key), reverse=True)
        value = mapping[spellings[0]] if spellings else None
        if next(type_mismatches(value, "bytes"), None) is not None:
            raise OpmError(f"{name} is not base64", place, "encode it with base64")

    keys = {key.casefold(): key for key in sorted(document.body)}
    if schema == "olm.package" and "icon" in keys:
        icon = document.body[keys["icon"]] or {}
        check(icon, "base64data", document.place.at(keys["icon"]), "the icon")
    if schema != BUNDLE or "properties" not in keys:
        return
    for index, item in enumerate(document.body[keys["properties"]] or ()):
        property_ = _decode_struct(item, _PROPERTY)
        value = property_["value"]
        if property_["type"] == BUNDLE_OBJECT and value is not None:
            place = document.place.at(keys["properties"], index, "value")
            if not isinstance(value, dict):
                raise OpmError(f"the value of {BUNDLE_OBJECT} must be a mapping", place, "write data: BASE64")
            check(value, "data", place, f"the data of {BUNDLE_OBJECT}")


def _round_integers(value: Any) -> Any:
    """A copy of a value with large integers as floats: opm reads every number of a document as float64."""
    if isinstance(value, dict):
        return {key: _round_integers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_round_integers(item) for item in value]
    return float(value) if isinstance(value, int) and abs(value) > 2**53 else value


def channel_blob(channel: Channel) -> Blob:
    """The `olm.channel` blob of a channel."""
    entries: list[dict[str, Any]] = []
    for entry in channel.entries:
        edges = {"replaces": entry.replaces, "skips": list(entry.skips), "skipRange": entry.skip_range}
        entries.append({"name": entry.name} | {key: value for key, value in edges.items() if value})
    return {"schema": "olm.channel", "package": channel.package, "name": channel.name, "entries": entries}


_SCHEMA_ORDER: Final = {"olm.package": 0, "olm.channel": 1, BUNDLE: 2, "olm.deprecations": 4}
_OTHER_SCHEMAS: Final = 3


def sort_blobs(blobs: Iterable[Blob]) -> list[Blob]:
    """Blobs in opm's order: by package, then package, channels, bundles, other schemas, deprecations.

    Channels and bundles are sorted by name, other schemas by schema. Blobs without a package come last and
    stay in their order.
    """

    def key(blob: Blob) -> tuple[bool, str, int, str]:
        package = blob_package(blob)
        if not package:
            return True, "", 0, ""
        schema = str(blob.get("schema", ""))
        order = _SCHEMA_ORDER.get(schema, _OTHER_SCHEMAS)
        if schema in ("olm.channel", BUNDLE):
            return False, package, order, str(blob.get("name", ""))
        return False, package, order, schema

    return sorted(blobs, key=key)


def blob_package(blob: Blob) -> str:
    """The package that a blob belongs to; "" if it belongs to none."""
    key = "name" if blob.get("schema") == "olm.package" else "package"
    package = next((blob[k] for k in sorted(blob) if k.casefold() == key), "")
    return package if isinstance(package, str) else ""
