"""Constraints that a schema adds at one place, in comparison with an older schema."""

from __future__ import annotations

__all__ = [
    "Json",
    "SchemaConstraint",
    "canonical_json",
    "is_equal",
    "new_constraints",
    "preserves_unknown_fields",
    "schema_type",
]

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

Json = Mapping[str, Any]

INT_OR_STRING: Final = "integer or string"

_UPPER_BOUNDS: Final = ("maximum", "maxLength", "maxItems", "maxProperties")
_LOWER_BOUNDS: Final = ("minimum", "minLength", "minItems", "minProperties")
#: Lower bounds of sizes: 0 excludes nothing, unlike `minimum: 0`.
_LOWER_SIZE_BOUNDS: Final = ("minLength", "minItems", "minProperties")
#: The types that a keyword constrains. A keyword that is not listed constrains every type.
_CONSTRAINED_TYPES: Final = {
    **dict.fromkeys(("maximum", "minimum", "multipleOf"), ("integer", "number")),
    **dict.fromkeys(("maxLength", "minLength", "pattern"), ("string",)),
    **dict.fromkeys(("maxItems", "minItems", "uniqueItems"), ("array",)),
    **dict.fromkeys(("maxProperties", "minProperties", "required"), ("object",)),
}
#: Boolean keywords, each with the keyword that it needs and a message.
_SWITCHES: Final = {
    "exclusiveMaximum": ("maximum", "must be less than its maximum"),
    "exclusiveMinimum": ("minimum", "must be greater than its minimum"),
    "uniqueItems": ("uniqueItems", "must not contain duplicate items"),
}
_STRING_FORMATS: Final = (
    "bsonobjectid", "uri", "email", "hostname", "ipv4", "ipv6", "cidr", "mac", "uuid", "uuid3", "uuid4",
    "uuid5", "isbn", "isbn10", "isbn13", "creditcard", "ssn", "hexcolor", "rgbcolor", "byte", "date",
    "duration", "datetime", "k8sshortname", "k8slongname",
)  # fmt: skip
#: The formats that the API server validates, by type and without hyphens.
_VALIDATED_FORMATS: Final = {
    "": _STRING_FORMATS,
    "string": _STRING_FORMATS,
    "integer": ("int32",),
    "number": ("float",),
}


class SchemaConstraint(NamedTuple):
    """A constraint. `is_validated` is False for one that schema validation does not check, such as CEL."""

    message: str
    is_validated: bool = True


def new_constraints(old: Json, new: Json) -> Iterator[SchemaConstraint]:
    """Constraints of the new schema itself, not of its fields or items, that the old one does not have."""
    type_ = schema_type(new)
    if type_ not in ("", INT_OR_STRING):
        new = {key: value for key, value in new.items() if type_ in _CONSTRAINED_TYPES.get(key, (type_,))}
    for message in (*_bounds(old, new), *_values(old, new), *_combinations(old, new)):
        yield SchemaConstraint(message)
    for message in _kubernetes_extensions(old, new):
        yield SchemaConstraint(message, is_validated=False)


def schema_type(schema: Json) -> str:
    """The type of a schema; "" if it allows every type."""
    if schema.get("x-kubernetes-int-or-string") is True:
        return INT_OR_STRING
    type_ = schema.get("type")
    return type_ if isinstance(type_, str) else ""


def preserves_unknown_fields(schema: Json) -> bool:
    """Whether the API server keeps fields that the schema does not declare."""
    return (
        schema.get("x-kubernetes-preserve-unknown-fields") is True
        or schema.get("additionalProperties") is True
    )


def canonical_json(value: object) -> str:
    """A value as text that is equal if Go considers the values equal: 1 and 1.0 are, 1 and true are not."""
    return json.dumps(_with_integers(value), sort_keys=True)


def _with_integers(value: object) -> object:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {str(key): _with_integers(item) for key, item in value.items()}
    return [_with_integers(item) for item in value] if isinstance(value, list) else value


def is_equal(old: Json, new: Json) -> bool:
    """Whether two schemas are written identically: a fast check to skip what has not changed."""
    return repr(old) == repr(new)


def _bounds(old: Json, new: Json) -> Iterator[str]:
    for key in _UPPER_BOUNDS:
        before, after = _number(old, key), _number(new, key)
        if after is not None and (before is None or after < before):
            yield f"must have {key} at most {after} {_before(before)}"
    for key in _LOWER_BOUNDS:
        before, after = _number(old, key), _number(new, key)
        lowest = before if before is not None or key not in _LOWER_SIZE_BOUNDS else 0
        if after is not None and (lowest is None or after > lowest):
            yield f"must have {key} at least {after} {_before(before)}"
    for key, (needed, message) in _SWITCHES.items():
        if new.get(key) is True and needed in new and not (old.get(key) is True and needed in old):
            yield message
    before, after = _number(old, "multipleOf"), _number(new, "multipleOf")
    if after and (before is None or not (before / after).is_integer()):
        yield f"must be a multiple of {after} {_before(before)}"


def _values(old: Json, new: Json) -> Iterator[str]:
    before, after = _list(old, "enum"), _list(new, "enum")
    allowed = set(map(canonical_json, after))
    removed = [value for value in before if canonical_json(value) not in allowed]
    if after and not before:
        yield f"must be one of {', '.join(map(repr, after))} (before: any value)"
    elif after and removed:
        yield f"may no longer be {', '.join(map(repr, removed))}"
    if new.get("pattern") and new["pattern"] != old.get("pattern"):
        yield f"must match the pattern {new['pattern']} {_before(old.get('pattern'))}"
    if (format_ := _validated_format(new)) and format_ != _validated_format(old):
        yield f"must match the format {new['format']} {_before(old.get('format'))}"
    if old.get("nullable") is True and new.get("nullable") is not True:
        yield "may no longer be null"
    required = {name for name in _list(new, "required") if isinstance(name, str)}
    required -= {name for name in _list(old, "required") if isinstance(name, str)}
    for name in sorted(required):
        yield f"requires the field {name}, which was optional"


def _combinations(old: Json, new: Json) -> Iterator[str]:
    def schemas(schema: Json, key: str) -> list[str]:
        return sorted(canonical_json(item) for item in _list(schema, key))

    if not set(schemas(new, "allOf")) <= set(schemas(old, "allOf")):
        yield "must match allOf, which is stricter than before"
    before, after = schemas(old, "anyOf"), schemas(new, "anyOf")
    is_wider = before and set(before) <= set(after)
    # controller-gen repeats x-kubernetes-int-or-string in this form.
    is_int_or_string = schema_type(new) == INT_OR_STRING and new.get("anyOf") == [
        {"type": "integer"},
        {"type": "string"},
    ]
    if after and not is_wider and not is_int_or_string:
        yield "must match anyOf, which allows less than before"
    before, after = schemas(old, "oneOf"), schemas(new, "oneOf")
    if after and after != before:
        yield "must match oneOf, which has changed"
    if isinstance(new.get("not"), Mapping) and canonical_json(new["not"]) != canonical_json(old.get("not")):
        yield "must not match the schema of not, which has changed"


def _kubernetes_extensions(old: Json, new: Json) -> Iterator[str]:
    def rules(schema: Json) -> list[object]:
        items = _list(schema, "x-kubernetes-validations")
        return [item.get("rule") for item in items if isinstance(item, Mapping)]

    known = {rule for rule in rules(old) if isinstance(rule, str)}
    for rule in rules(new):
        if rule and isinstance(rule, str) and rule not in known:
            yield f"must satisfy the new CEL rule {rule}"
    keys = ("x-kubernetes-list-type", "x-kubernetes-list-map-keys")
    list_type = new.get(keys[0])
    if list_type in ("set", "map") and any(old.get(key) != new.get(key) for key in keys):
        yield f"must be a {list_type}: lists with duplicate items are rejected"
    embedded = "x-kubernetes-embedded-resource"
    if new.get(embedded) is True and old.get(embedded) is not True:
        yield "must be a complete object with apiVersion, kind and metadata"


def _validated_format(schema: Json) -> str:
    """The format without hyphens, "" if the API server does not validate it."""
    format_ = schema.get("format")
    plain = format_.replace("-", "") if isinstance(format_, str) else ""
    return plain if plain in _VALIDATED_FORMATS.get(schema_type(schema), ()) else ""


def _number(schema: Json, key: str) -> float | None:
    value = schema.get(key)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _list(schema: Json, key: str) -> list[Any]:
    value = schema.get(key)
    return value if isinstance(value, list) else []


def _before(value: object) -> str:
    return f"(before: {value if value is not None else 'none'})"
