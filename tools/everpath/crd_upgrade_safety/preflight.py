"""Which changes of a definition OLM v1 refuses: the preflight of operator-controller, step by step.

It compares, of each version that both definitions have, served or not, field by field, and of the new
definition each two served versions. It knows a dozen constraints; any other difference, be it of a
description, it calls unknown and refuses. Two habits are kept as they are: a field's schema is replaced by
the last of its `allOf`, `anyOf`, `oneOf` and `not`, so that changes beside those pass unseen; and the items
of a list count as part of the list, so that nothing below them may change.
"""

from __future__ import annotations

__all__ = ["Refusal", "between_served", "refusals"]

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from everpath.crd_upgrade_safety.constraints import Json, canonical, is_same
from everpath.crd_upgrade_safety.definitions import Definition, Version
from everpath.manifest_access import mapping

#: Where a field is, as the preflight writes it without the leading "^": [*] for items and entries alike.
Location = str

_COMBINED: Final = ("allOf", "anyOf", "oneOf")
#: What a schema in a definition may state; the rest is dropped as it is read.
_KEYS: Final = (
    "id", "$schema", "$ref", "description", "type", "format", "title", "default", "maximum",
    "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength", "minLength", "pattern", "maxItems",
    "minItems", "uniqueItems", "multipleOf", "enum", "maxProperties", "minProperties", "required",
    "items", "allOf", "oneOf", "anyOf", "not", "properties", "additionalProperties", "patternProperties",
    "dependencies", "additionalItems", "definitions", "externalDocs", "example", "nullable",
    "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string", "x-kubernetes-list-map-keys", "x-kubernetes-list-type",
    "x-kubernetes-map-type", "x-kubernetes-validations",
)  # fmt: skip
_HOLDERS: Final = ("items", "additionalProperties", "not")
#: Keywords whose values are of any kind, true and 1 alike.
_JSON: Final = ("default", "example")
#: Keywords that say something by an empty value, too; those above are read as texts, which are never empty.
_ALWAYS_SAY: Final = ("x-kubernetes-preserve-unknown-fields", *_HOLDERS)
_UPPER: Final = ("maximum", "maxItems", "maxLength", "maxProperties")
_LOWER: Final = ("minimum", "minItems", "minLength", "minProperties")
_BOUNDS: Final = (*_UPPER, *_LOWER)
_INSIDE: Final = ("items", "additionalProperties")


class Refusal(NamedTuple):
    """What the preflight does not take of one field: the keywords that changed, or that it is gone."""

    version: str
    location: Location
    keys: tuple[str, ...]

    @property
    def is_gone(self) -> bool:
        """Whether the field is not there any more."""
        return not self.keys

    @property
    def is_inside(self) -> bool:
        """Whether only what its items or entries hold has changed."""
        return bool(self.keys) and set(self.keys) <= set(_INSIDE)


def refusals(old: Definition, new: Definition) -> Iterator[Refusal]:
    """What is refused of the versions that both definitions have."""
    for name, before in old.versions.items():
        if name in new.versions:
            yield from _compared(name, before.schema, new.versions[name].schema)


def between_served(new: Definition) -> Iterator[tuple[str, list[Refusal]]]:
    """What is refused of the new definition alone: how each two of its served versions differ.

    The name of the other version comes first. A conversion webhook makes up for every difference.
    """
    if new.conversion == "Webhook":
        return
    served = sorted((v for v in new.versions.values() if v.is_served), key=_age)
    for i, older in enumerate(served):
        for newer in served[i + 1 :]:
            if found := list(_compared(older.name, older.schema, newer.schema)):
                yield newer.name, found


def _compared(version: str, old: Json, new: Json) -> Iterator[Refusal]:
    if is_same(old, new):
        return
    before, after = _flat(old), _flat(new)
    for location in sorted(before):
        if location not in after:
            yield Refusal(version, location, ())
        elif keys := tuple(_refused(before[location], after[location])):
            yield Refusal(version, location, keys)


def _flat(schema: Json) -> dict[Location, Json]:
    found: dict[Location, Json] = {}
    _flatten(_read(schema), "", found)
    return found


def _flatten(schema: Json, location: Location, found: dict[Location, Json]) -> None:
    """Puts every schema at its location; of several at one the last stays, as in the preflight's own walk."""
    found[location] = schema
    for inner, below in _inner(schema, location):
        if isinstance(inner, Mapping):
            _flatten(inner, below, found)


def _inner(schema: Json, location: Location) -> Iterator[tuple[object, Location]]:
    yield schema.get("items"), f"{location}[*]"
    for key in _COMBINED:
        yield from ((member, location) for member in schema.get(key, ()))
    yield schema.get("not"), location
    for name, inner in schema.get("properties", {}).items():
        yield inner, f"{location}.{name}" if location else name
    yield schema.get("additionalProperties"), f"{location}[*]"


def _read(schema: Json) -> dict[str, Any]:
    """A schema as Go reads it: without keywords it does not know, and without those that say nothing."""
    made = ((key, _value(key, value)) for key, value in schema.items() if key in _KEYS)
    return {key: value for key, value in made if value is not None and not _says_nothing(key, value)}


def _value(key: str, value: Any) -> Any:
    """A keyword's value. What has a wrong shape counts as absent: the API server never took it."""
    if key in _JSON:
        return None if value is None else canonical(value)
    if key in _LISTS:
        return [_LISTS[key](item) for item in value] if isinstance(value, list) else None
    if key in _BOUNDS:
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None
    if key == "properties":
        return {name: _inner_schema(inner) for name, inner in mapping(value).items()}
    return _read(value) if key in _HOLDERS and isinstance(value, Mapping) else value


def _inner_schema(value: object) -> dict[str, Any]:
    return _read(mapping(value))


def _says_nothing(key: str, value: Any) -> bool:
    empty = value is False or value in ("", [], {})
    return empty and key not in _ALWAYS_SAY


def _refused(old: Json, new: Json) -> Iterator[str]:
    for key in sorted((old.keys() | new.keys()) - {"properties"}):
        was, now = old.get(key), new.get(key)
        if was != now and not _KNOWN.get(key, _never)(was, now):
            yield key


#: Keywords that hold a list, each with how to read an item.
_LISTS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "enum": canonical,
    "required": str,
    **dict.fromkeys(_COMBINED, _inner_schema),
}


def _never(_old: Any, _new: Any) -> bool:
    return False


def _is_raised(old: Any, new: Any) -> bool:
    return new is None or (old is not None and new >= old)


def _is_lowered(old: Any, new: Any) -> bool:
    return new is None or (old is not None and new <= old)


def _is_extended(old: Any, new: Any) -> bool:
    """An enumeration that is given up counts as one that lost all its values."""
    return bool(old) and set(old) <= set(new or ())


def _is_relaxed(old: Any, new: Any) -> bool:
    return set(new or ()) <= set(old or ())


_KNOWN: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "enum": _is_extended,
    "required": _is_relaxed,
    **dict.fromkeys(_UPPER, _is_raised),
    **dict.fromkeys(_LOWER, _is_lowered),
}


_AGED: Final = re.compile(r"v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?")
_STAGES: Final = {"alpha": 0, "beta": 1, None: 2}


def _age(version: Version) -> tuple[int, int, int, tuple[int, ...]]:
    """Kubernetes' order of versions: v1alpha1, v1beta1, v1, v2; other names before them, z before a."""
    found = _AGED.fullmatch(version.name)
    if found is None:
        return -1, 0, 0, (*(-ord(letter) for letter in version.name), 0)
    return _STAGES[found[2]], int(found[1]), int(found[3] or 0), ()
