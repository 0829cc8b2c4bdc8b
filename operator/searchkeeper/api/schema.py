"""Schemas of values: what the API server is told of a field, said once, at the field itself."""

from __future__ import annotations

__all__ = ["FieldSchema", "Int64", "Rule", "Schema", "Timestamp", "camel", "rules_of", "schema_of"]

from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from enum import StrEnum
from types import NoneType, UnionType
from typing import Annotated, Any, Final, NewType, TypeAlias, Union, get_args, get_origin, get_type_hints

Schema: TypeAlias = dict[str, Any]

# A number that counts without end, and a moment as text: the two formats that Python's types do not tell.
Int64 = NewType("Int64", int)
Timestamp = NewType("Timestamp", str)

_SCALARS: Final[Mapping[object, Schema]] = {
    bool: {"type": "boolean"},
    int: {"type": "integer", "format": "int32"},
    Int64: {"type": "integer", "format": "int64"},
    str: {"type": "string"},
    Timestamp: {"type": "string", "format": "date-time"},
}


@dataclass(frozen=True, slots=True)
class Rule:
    """A sentence of CEL that must hold, and what is said where it does not.

    With `oldSelf` in it, it is about changes.
    """

    holds: str
    message: str


@dataclass(frozen=True, slots=True)
class FieldSchema:
    """What a field's type does not tell. `name` is for those that are not the field's own in camel case.

    `key` is the property that tells the items of a list apart; `is_open` keeps what nobody has declared.
    """

    description: str
    name: str | None = None
    minimum: int | None = None
    maximum: int | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    one_of: tuple[str, ...] = ()
    min_items: int | None = None
    max_items: int | None = None
    key: str | None = None
    is_open: bool = False
    rules: tuple[Rule, ...] = ()


def schema_of(kind: object, facts: FieldSchema | None = None) -> Schema:
    """The structural schema of a type, with the facts about the field that has it.

    Dataclasses become objects, frozensets lists without order, tuples lists whose items have a key, mappings
    of strings objects with any property. Raises TypeError for what no schema can tell.
    """
    schema: Schema = {"description": facts.description} if facts else {}
    schema |= _shape(kind, facts or FieldSchema(""))
    return schema | _limits(facts) if facts else schema


def rules_of(rules: tuple[Rule, ...]) -> Schema:
    if not rules:
        return {}
    return {
        "x-kubernetes-validations": [{"rule": rule.holds, "message": rule.message} for rule in rules],
    }


def camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(other.capitalize() for other in others)


def _shape(kind: object, facts: FieldSchema) -> Schema:
    if kind in _SCALARS:
        return {**_SCALARS[kind], **({"enum": list(facts.one_of)} if facts.one_of else {})}
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return {"type": "string", "enum": [str(each) for each in kind]}
    if isinstance(kind, type) and is_dataclass(kind):
        return _object(kind)
    return _generic(get_origin(kind), get_args(kind), facts)


def _generic(origin: object, arguments: tuple[object, ...], facts: FieldSchema) -> Schema:
    if origin in (Union, UnionType):
        [kind] = (each for each in arguments if each is not NoneType)
        return _shape(kind, facts)
    if origin is frozenset:
        items = _shape(arguments[0], facts)
        return {"type": "array", "x-kubernetes-list-type": "set", "items": items}
    if origin is tuple:
        keyed = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [facts.key]}
        told_apart = keyed if facts.key is not None else {"x-kubernetes-list-type": "atomic"}
        return {"type": "array", **told_apart, "items": _shape(arguments[0], FieldSchema(""))}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _shape(arguments[1], FieldSchema(""))}
    raise TypeError(f"no schema for {origin}{arguments}")


def _object(kind: type[Any]) -> Schema:
    hints = get_type_hints(kind, include_extras=True)
    properties: dict[str, Schema] = {}
    required: list[str] = []
    for each in fields(kind):
        facts = _facts(kind, each, hints[each.name])
        name = facts.name or camel(each.name)
        properties[name] = schema_of(get_args(hints[each.name])[0], facts)
        if each.default is MISSING and each.default_factory is MISSING:
            required.append(name)
        else:
            properties[name] |= _default(each, properties[name])
    found: Schema = {
        "type": "object",
        **({"required": required} if required else {}),
        "properties": properties,
    }
    return found | rules_of(getattr(kind, "RULES", ()))


def _facts(kind: type[Any], each: Field[Any], hint: object) -> FieldSchema:
    if get_origin(hint) is Annotated:
        for said in get_args(hint)[1:]:
            if isinstance(said, FieldSchema):
                return said
    raise TypeError(f"nothing is said about {kind.__name__}.{each.name}")


def _default(each: Field[Any], schema: Schema) -> Schema:
    """An object whose properties have defaults is there by default, so that they are."""
    if each.default is not MISSING:
        default = str(each.default) if isinstance(each.default, StrEnum) else each.default
        return {} if default is None or isinstance(default, tuple | frozenset) else {"default": default}
    has_defaults = any("default" in inner for inner in schema.get("properties", {}).values())
    return {"default": {}} if has_defaults else {}


def _limits(facts: FieldSchema) -> Schema:
    limits = {
        "minimum": facts.minimum,
        "maximum": facts.maximum,
        "minLength": facts.min_length,
        "maxLength": facts.max_length,
        "pattern": facts.pattern,
        "minItems": facts.min_items,
        "maxItems": facts.max_items,
        "x-kubernetes-preserve-unknown-fields": True if facts.is_open else None,
    }
    return {name: limit for name, limit in limits.items() if limit is not None} | rules_of(facts.rules)
