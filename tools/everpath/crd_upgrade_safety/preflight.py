"""The CRD upgrade safety preflight of operator-controller: which changes of a CRD OLM v1 refuses.

The preflight compares the schemas of every version that both CRDs have, served or not, and the schemas of
each two served versions of the new CRD. It accepts a dozen kinds of change and refuses every other
difference, even of a description. Two of its properties are mirrored on purpose:

- The last schema of `allOf`, `anyOf`, `oneOf` and `not` replaces the schema of the field. Other changes of
  such a field pass unnoticed.
- The items of a list are part of the schema of the list. Nothing below them may change.
"""

from __future__ import annotations

__all__ = ["RefusedChange", "refused_changes", "served_version_differences"]

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from everpath.crd_upgrade_safety.constraints import Json, canonical_json, is_equal
from everpath.crd_upgrade_safety.crd import CrdVersion, CustomResourceDefinition
from everpath.manifest_access import mapping

#: The path of a field as the preflight writes it, without the leading "^": [*] for items and for entries.
Location = str

_COMBINATIONS: Final = ("allOf", "anyOf", "oneOf")
#: The fields of JSONSchemaProps. Go's decoder drops other keywords.
_KEYWORDS: Final = frozenset((
    "id", "$schema", "$ref", "description", "type", "format", "title", "default", "maximum",
    "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength", "minLength", "pattern", "maxItems",
    "minItems", "uniqueItems", "multipleOf", "enum", "maxProperties", "minProperties", "required",
    "items", "allOf", "oneOf", "anyOf", "not", "properties", "additionalProperties", "patternProperties",
    "dependencies", "additionalItems", "definitions", "externalDocs", "example", "nullable",
    "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string", "x-kubernetes-list-map-keys", "x-kubernetes-list-type",
    "x-kubernetes-map-type", "x-kubernetes-validations",
))  # fmt: skip
_NESTED_SCHEMAS: Final = ("items", "additionalProperties", "not")
#: Keywords whose value is arbitrary JSON.
_JSON: Final = ("default", "example")
#: Keywords of which an empty value is not the same as none.
_KEPT_IF_EMPTY: Final = ("x-kubernetes-preserve-unknown-fields", *_NESTED_SCHEMAS)
_UPPER_BOUNDS: Final = ("maximum", "maxItems", "maxLength", "maxProperties")
_LOWER_BOUNDS: Final = ("minimum", "minItems", "minLength", "minProperties")


class RefusedChange(NamedTuple):
    """A field that the preflight refuses: the keywords that changed, none if the field is removed."""

    version: str
    location: Location
    keywords: tuple[str, ...]

    @property
    def is_removal(self) -> bool:
        return not self.keywords

    @property
    def is_of_items(self) -> bool:
        """Whether only the schema of its items or entries has changed."""
        return bool(self.keywords) and {*self.keywords} <= {"items", "additionalProperties"}


def refused_changes(old: CustomResourceDefinition, new: CustomResourceDefinition) -> Iterator[RefusedChange]:
    """Yield what the preflight refuses in the versions that both CRDs have."""
    for name, before in old.versions.items():
        if name in new.versions:
            yield from _compare(name, before.schema, new.versions[name].schema)


def served_version_differences(
    crd: CustomResourceDefinition,
) -> Iterator[tuple[str, list[RefusedChange]]]:
    """Yield, for each two served versions that differ, the newer one and the differences from the older one.

    The preflight does not compare them if a webhook converts.
    """
    if crd.conversion == "Webhook":
        return
    served = sorted((v for v in crd.versions.values() if v.is_served), key=_version_priority)
    for i, older in enumerate(served):
        for newer in served[i + 1 :]:
            if differences := list(_compare(older.name, older.schema, newer.schema)):
                yield newer.name, differences


def _compare(version: str, old: Json, new: Json) -> Iterator[RefusedChange]:
    if is_equal(old, new):
        return
    before: dict[Location, Json] = {}
    after: dict[Location, Json] = {}
    _flatten(_decode(old), "", before)
    _flatten(_decode(new), "", after)
    for location in sorted(before):
        if location not in after:
            yield RefusedChange(version, location, ())
        elif keywords := tuple(_refused_keywords(before[location], after[location])):
            yield RefusedChange(version, location, keywords)


def _flatten(schema: Json, location: Location, found: dict[Location, Json]) -> None:
    """Collect all schemas by location. The last one at a location wins, as in the preflight."""
    found[location] = schema
    nested: list[tuple[object, Location]] = [(schema.get("items"), f"{location}[*]")]
    for key in _COMBINATIONS:
        nested += [(member, location) for member in schema.get(key, ())]
    nested.append((schema.get("not"), location))
    for name, inner in schema.get("properties", {}).items():
        nested.append((inner, f"{location}.{name}" if location else name))
    nested.append((schema.get("additionalProperties"), f"{location}[*]"))
    for inner, inner_location in nested:
        if isinstance(inner, Mapping):
            _flatten(inner, inner_location, found)


def _decode(value: object) -> dict[str, Any]:
    """A schema as Go decodes it: without unknown keywords and without empty values."""
    decoded = ((key, _decode_keyword(key, item)) for key, item in mapping(value).items() if key in _KEYWORDS)
    return {
        key: item
        for key, item in decoded
        if item is not None and (key in _KEPT_IF_EMPTY or not (item is False or item in ("", [], {})))
    }


def _decode_keyword(key: str, value: Any) -> Any:
    """The value of a keyword; None if it has a type that the API server does not accept."""
    if key in _JSON:
        return None if value is None else canonical_json(value)
    if key in _LIST_ITEMS:
        return [_LIST_ITEMS[key](item) for item in value] if isinstance(value, list) else None
    if key in _UPPER_BOUNDS or key in _LOWER_BOUNDS:
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None
    if key == "properties":
        return {name: _decode(inner) for name, inner in mapping(value).items()}
    return _decode(value) if key in _NESTED_SCHEMAS and isinstance(value, Mapping) else value


#: Keywords with a list, and the function that decodes an item.
_LIST_ITEMS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "enum": canonical_json,
    "required": str,
    **dict.fromkeys(_COMBINATIONS, _decode),
}


def _refused_keywords(old: Json, new: Json) -> Iterator[str]:
    for key in sorted((old.keys() | new.keys()) - {"properties"}):
        before, after = old.get(key), new.get(key)
        if before != after and not (key in _SAFE_CHANGES and _SAFE_CHANGES[key](before, after)):
            yield key


def _is_raised(old: Any, new: Any) -> bool:
    return new is None or (old is not None and new >= old)


def _is_lowered(old: Any, new: Any) -> bool:
    return new is None or (old is not None and new <= old)


def _is_extended(old: Any, new: Any) -> bool:
    """The preflight treats a removed enum like one without values."""
    return bool(old) and set(old) <= set(new or ())


def _is_relaxed(old: Any, new: Any) -> bool:
    return set(new or ()) <= set(old or ())


_SAFE_CHANGES: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "enum": _is_extended,
    "required": _is_relaxed,
    **dict.fromkeys(_UPPER_BOUNDS, _is_raised),
    **dict.fromkeys(_LOWER_BOUNDS, _is_lowered),
}

_VERSION: Final = re.compile(r"v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?")
_STAGES: Final = {"alpha": 0, "beta": 1, None: 2}


def _version_priority(version: CrdVersion) -> tuple[int, int, int, tuple[int, ...]]:
    """Kubernetes' version priority, lowest first: other names (z before a), v1alpha1, v1beta1, v1, v2."""
    match = _VERSION.fullmatch(version.name)
    if match is None:
        return -1, 0, 0, (*(-ord(letter) for letter in version.name), 0)
    return _STAGES[match[2]], int(match[1]), int(match[3] or 0), ()
