"""Documents of a file-based catalog as opm takes them in and writes them out again.

It reads each into a struct, so keys match whatever their case, empty fields go, and the order of fields is
that of the struct. Unlike opm, this keeps what the struct has no field for, behind the fields it has.
"""

from __future__ import annotations

__all__ = ["Document", "blob_of", "in_order", "package_of", "root_fields"]

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from everpath.go_types import misfits as struct_misfits
from everpath.model import Place
from everpath.opm_render.bundles import BUNDLE, OBJECT, Blob
from everpath.opm_render.go_json import sorted_keys
from everpath.opm_render.refusals import Refusal, check_depth
from everpath.rules._shapes import ANY, Shape, misfits


class Document(NamedTuple):
    """A document as it is written, and where. `repeated` are the keys that stand in it twice."""

    place: Place
    body: Any
    repeated: tuple[tuple[str | int, ...], ...] = ()


_Read: TypeAlias = Callable[[Any], Any]


class _Field(NamedTuple):
    """A field of a struct; an optional one is left out when it is empty."""

    read: _Read
    is_optional: bool = False


_Fields: TypeAlias = Mapping[str, _Field]

_PROPERTIES: Final[Shape] = [{"type": str, "value": ANY}]
_SHAPES: Final[Mapping[str, Shape]] = {
    "olm.package": {
        "schema": str,
        "name": str,
        "defaultChannel": str,
        "icon": {"base64data": ANY, "mediatype": str},
        "description": str,
        "properties": _PROPERTIES,
    },
    "olm.channel": {
        "schema": str,
        "name": str,
        "package": str,
        "entries": [{"name": str, "replaces": str, "skips": [str], "skipRange": str}],
        "properties": _PROPERTIES,
    },
    BUNDLE: {
        "schema": str,
        "name": str,
        "package": str,
        "image": str,
        "properties": _PROPERTIES,
        "relatedImages": [{"name": str, "image": str}],
    },
    "olm.deprecations": {
        "schema": str,
        "package": str,
        "entries": [{"reference": {"schema": str, "name": str}, "message": str}],
    },
}


def blob_of(document: Document) -> Blob:
    """The blob opm makes of a document. Raises `Refusal`."""
    body = document.body
    if not isinstance(body, dict):
        message = "a document of a catalog is a mapping"
        raise Refusal(message, document.place, "write schema, name and the rest as keys")
    check_depth(body, document.place)
    schema = _schema(document)
    if schema not in _SHAPES:
        return {str(key): value for key, value in sorted_keys(_in_floats(body)).items()}
    for misfit in misfits(body, _SHAPES[schema]):
        raise Refusal(f"an {schema} that opm cannot read: {misfit.message}", document.place.at(*misfit.path))
    _check_bytes(document, schema)
    return _struct(_in_floats(body), _FIELDS[schema])


def root_fields(document: Document) -> dict[str, str]:
    """The document's schema, package and name, as far as it has them, whatever the case of their keys.

    Raises `Refusal` for what opm asks of every document and does not find.
    """
    body: Mapping[str, Any] = document.body
    folded: dict[str, str] = {}
    for key in sorted(body):
        if (other := folded.setdefault(key.casefold(), key)) != key:
            message = f"{other} and {key} are one key to opm"
            raise Refusal(message, document.place.at(key), "keep one of them")
    names = ("schema", "package", "name")
    found: dict[str, Any] = {name: body[folded[name]] for name in names if name in folded}
    for name, value in found.items():
        if not isinstance(value, str):
            message = f"{folded[name]} is not a string"
            raise Refusal(message, document.place.at(folded[name]), "put it in quotes")
    return found


def _schema(document: Document) -> str:
    """The schema, once what opm asks of every document is seen to."""
    schema = root_fields(document).get("schema")
    if not schema:
        raise Refusal("the document has no schema", document.place, "add schema: olm.package, or what it is")
    return schema


def _check_bytes(document: Document, schema: str) -> None:
    """Raise `Refusal` for what should be base64 and is not: icons, and manifests of bundles."""
    folded = {key.casefold(): key for key in sorted(document.body)}
    if schema == "olm.package" and "icon" in folded:
        icon = document.body[folded["icon"]] or {}
        data = next((icon[key] for key in sorted(icon, reverse=True) if key.casefold() == "base64data"), None)
        _check_base64(data, document.place.at(folded["icon"]), "the icon")
    if schema != BUNDLE or "properties" not in folded:
        return
    for index, item in enumerate(document.body[folded["properties"]] or ()):
        value = _struct(item, _PROPERTY)
        if value["type"] == OBJECT and value["value"] is not None:
            place = document.place.at(folded["properties"], index, "value")
            if not isinstance(value["value"], dict):
                raise Refusal(f"an {OBJECT} is a mapping with data", place, "give it data")
            _check_base64(_data(value["value"]), place, f"the data of an {OBJECT}")


def _data(value: Mapping[str, Any]) -> Any:
    return next((value[key] for key in sorted(value, reverse=True) if key.casefold() == "data"), None)


def _check_base64(data: Any, place: Place, what: str) -> None:
    if next(struct_misfits(data, "bytes"), None) is not None:
        raise Refusal(f"{what} is not base64", place, "encode it with base64")


def _struct(value: Any, fields: _Fields) -> Blob:
    """A mapping as a struct: its fields in order, then whatever else there is."""
    names = {name.casefold(): name for name in fields}
    given: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for key in sorted(value or ()):
        name = names.get(key.casefold())
        (given if name else rest)[name or key] = value[key]
    read = {name: field.read(given.get(name)) for name, field in fields.items()}
    kept = {name: item for name, item in read.items() if item or not fields[name].is_optional}
    return {**kept, **{key: sorted_keys(item) for key, item in rest.items()}}


def _in_floats(value: Any) -> Any:
    """opm holds every number of a document as a float64."""
    if isinstance(value, dict):
        return {key: _in_floats(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_in_floats(item) for item in value]
    is_large = isinstance(value, int) and abs(value) > _EXACT
    return float(value) if is_large else value


_EXACT: Final = 2**53


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: Any) -> list[str]:
    return [_text(item) for item in value or ()]


def _bytes(value: Any) -> str | None:
    """Base64 in one line; Go's decoder passes over line breaks and takes a list of numbers, too."""
    if value is None:
        return None
    data = bytes(map(int, value)) if isinstance(value, list) else b64decode(value)
    return b64encode(data).decode("ascii")


def _structs(fields: _Fields) -> _Read:
    """Reads a list of structs; null stays null where nothing leaves it out."""
    return lambda value: None if value is None else [_struct(item, fields) for item in value]


def _one(fields: _Fields) -> _Read:
    return lambda value: _struct(value, fields)


def _maybe(fields: _Fields) -> _Read:
    return lambda value: None if value is None else _struct(value, fields)


_MUST: Final = _Field(_text)
_MAY: Final = _Field(_text, is_optional=True)
_PROPERTY: Final[_Fields] = {"type": _MUST, "value": _Field(sorted_keys)}
_LISTED: Final = _Field(_structs(_PROPERTY), is_optional=True)
_IMAGE: Final[_Fields] = {"name": _MUST, "image": _MUST}
_ENTRY: Final[_Fields] = {
    "name": _MUST,
    "replaces": _MAY,
    "skips": _Field(_texts, is_optional=True),
    "skipRange": _MAY,
}
_FIELDS: Final[Mapping[str, _Fields]] = {
    "olm.package": {
        "schema": _MUST,
        "name": _MUST,
        "defaultChannel": _MUST,
        "icon": _Field(_maybe({"base64data": _Field(_bytes), "mediatype": _MUST}), is_optional=True),
        "description": _MAY,
        "properties": _LISTED,
    },
    "olm.channel": {
        "schema": _MUST,
        "name": _MUST,
        "package": _MUST,
        "entries": _Field(_structs(_ENTRY)),
        "properties": _LISTED,
    },
    BUNDLE: {
        "schema": _MUST,
        "name": _MAY,
        "package": _MAY,
        "image": _MUST,
        "properties": _LISTED,
        "relatedImages": _Field(_structs(_IMAGE), is_optional=True),
    },
    "olm.deprecations": {
        "schema": _MUST,
        "package": _MUST,
        "entries": _Field(
            _structs({"reference": _Field(_one({"schema": _MUST, "name": _MAY})), "message": _MUST})
        ),
    },
}

_RANKS: Final = {"olm.package": 0, "olm.channel": 1, BUNDLE: 2, "olm.deprecations": 4}


def in_order(blobs: Iterable[Blob]) -> list[Blob]:
    """As opm writes them: by package; in it the package, channels, bundles, others, deprecations.

    Channels and bundles are sorted by name, others by schema. What belongs to no package comes last, in the
    order it came in.
    """
    return sorted(blobs, key=_place)


def _place(blob: Blob) -> tuple[bool, str, int, str]:
    package = package_of(blob)
    if not package:
        return True, "", 0, ""
    schema = str(blob.get("schema", ""))
    rank = _RANKS.get(schema, 3)
    by = blob.get("name", "") if rank in (1, 2) else schema if rank == 3 else ""
    return False, package, rank, str(by)


def package_of(blob: Blob) -> str:
    """The package a blob belongs to, empty if it belongs to none."""
    key = "name" if blob.get("schema") == "olm.package" else "package"
    found = next((blob[k] for k in sorted(blob) if k.casefold() == key), "")
    return found if isinstance(found, str) else ""
