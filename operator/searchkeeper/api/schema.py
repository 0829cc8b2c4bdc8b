"""Generates OpenAPI schemas from dataclasses whose fields are annotated with a FieldSchema."""

from __future__ import annotations

__all__ = [
    "FieldSchema",
    "Int64",
    "JsonObject",
    "Rule",
    "Schema",
    "Timestamp",
    "camel_case",
    "openapi_schema",
    "validations",
]

from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from enum import StrEnum
from types import NoneType, UnionType
from typing import Annotated, Any, Final, NewType, TypeAlias, Union, get_args, get_origin, get_type_hints

Schema: TypeAlias = dict[str, Any]

# Types for the formats `int64` and `date-time`, which Python's types cannot express.
Int64 = NewType("Int64", int)
Timestamp = NewType("Timestamp", str)
# An object as canonical JSON text: values of a spec are hashable.
JsonObject = NewType("JsonObject", str)

_SCALARS: Final[Mapping[object, Schema]] = {
    bool: {"type": "boolean"},
    int: {"type": "integer", "format": "int32"},
    Int64: {"type": "integer", "format": "int64"},
    str: {"type": "string"},
    Timestamp: {"type": "string", "format": "date-time"},
    JsonObject: {"type": "object"},
}


@dataclass(frozen=True, slots=True)
class Rule:
    """A CEL validation rule. A rule that uses `oldSelf` is a transition rule."""

    expression: str
    message: str


@dataclass(frozen=True, slots=True)
class FieldSchema:
    """The schema of a field beyond its type.

    `name` overrides the JSON name, `key` is the map key of a list, `is_open` preserves unknown fields, and
    `content` is the schema of the fields of a JsonObject.
    """

    description: str
    name: str | None = None
    minimum: int | None = None
    maximum: int | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    enum: tuple[str, ...] = ()
    min_items: int | None = None
    max_items: int | None = None
    key: str | None = None
    is_open: bool = False
    content: Schema = field(default_factory=dict, hash=False)
    rules: tuple[Rule, ...] = ()


def openapi_schema(python_type: object, field_schema: FieldSchema | None = None) -> Schema:
    """The structural schema of a type. Raises TypeError for a type that has none.

    A dataclass becomes an object, a frozenset a list of type set, a tuple a list of type map or atomic, and a
    mapping an object with additional properties.
    """
    if field_schema is None:
        return _type_schema(python_type, FieldSchema(""))
    limits = {
        "minimum": field_schema.minimum,
        "maximum": field_schema.maximum,
        "minLength": field_schema.min_length,
        "maxLength": field_schema.max_length,
        "pattern": field_schema.pattern,
        "minItems": field_schema.min_items,
        "maxItems": field_schema.max_items,
        "x-kubernetes-preserve-unknown-fields": True if field_schema.is_open else None,
    }
    return {
        "description": field_schema.description,
        **_type_schema(python_type, field_schema),
        **field_schema.content,
        **{name: limit for name, limit in limits.items() if limit is not None},
        **validations(field_schema.rules),
    }


def validations(rules: tuple[Rule, ...]) -> Schema:
    """The property `x-kubernetes-validations`; empty without rules."""
    if not rules:
        return {}
    return {
        "x-kubernetes-validations": [{"rule": rule.expression, "message": rule.message} for rule in rules]
    }


def camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(other.capitalize() for other in others)


def _type_schema(  # noqa: PLR0911 - one return for each kind of type
    python_type: object, field_schema: FieldSchema
) -> Schema:
    if python_type in _SCALARS:
        return {**_SCALARS[python_type], **({"enum": list(field_schema.enum)} if field_schema.enum else {})}
    if isinstance(python_type, type) and issubclass(python_type, StrEnum):
        return {"type": "string", "enum": [str(member) for member in python_type]}
    if isinstance(python_type, type) and is_dataclass(python_type):
        return _object_schema(python_type)
    origin, arguments = get_origin(python_type), get_args(python_type)
    if origin in (Union, UnionType):
        [optional_type] = (argument for argument in arguments if argument is not NoneType)
        return _type_schema(optional_type, field_schema)
    if origin is frozenset:
        items = _type_schema(arguments[0], field_schema)
        return {"type": "array", "x-kubernetes-list-type": "set", "items": items}
    if origin is tuple:
        list_type: Schema = {"x-kubernetes-list-type": "atomic"}
        if field_schema.key is not None:
            list_type = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [field_schema.key]}
        return {"type": "array", **list_type, "items": openapi_schema(arguments[0])}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": openapi_schema(arguments[1])}
    raise TypeError(f"no schema for {origin}{arguments}")


def _object_schema(dataclass_type: type[Any]) -> Schema:
    hints = get_type_hints(dataclass_type, include_extras=True)
    properties: dict[str, Schema] = {}
    required: list[str] = []
    for each in fields(dataclass_type):
        hint = hints[each.name]
        extras = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
        field_schema = next((extra for extra in extras if isinstance(extra, FieldSchema)), None)
        if field_schema is None:
            raise TypeError(f"{dataclass_type.__name__}.{each.name} has no FieldSchema")
        name = field_schema.name or camel_case(each.name)
        properties[name] = openapi_schema(get_args(hint)[0], field_schema)
        if each.default is MISSING and each.default_factory is MISSING:
            required.append(name)
        else:
            properties[name] |= _default(each, properties[name])
    return {
        "type": "object",
        **({"required": required} if required else {}),
        "properties": properties,
        **validations(getattr(dataclass_type, "RULES", ())),
    }


def _default(dataclass_field: Field[Any], schema: Schema) -> Schema:
    """The property `default`. An object gets `{}` if its properties have defaults: otherwise none applies."""
    default = dataclass_field.default
    if default is not MISSING:
        default = str(default) if isinstance(default, StrEnum) else default
        return {} if default is None or isinstance(default, tuple | frozenset) else {"default": default}
    has_defaults = any("default" in inner for inner in schema.get("properties", {}).values())
    return {"default": {}} if has_defaults else {}
