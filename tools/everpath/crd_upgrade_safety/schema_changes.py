"""Changes of a schema that can break existing objects.

A new optional field, a wider range or another enum value breaks nothing and is not reported. A changed
default is reported, because it changes what an existing object means.
"""

from __future__ import annotations

__all__ = ["SchemaChange", "SchemaChangeKind", "compare_schemas"]

from collections.abc import Iterator, Mapping
from typing import Final, Literal, NamedTuple

from everpath.crd_upgrade_safety.constraints import (
    INT_OR_STRING,
    Json,
    canonical_json,
    is_equal,
    new_constraints,
    preserves_unknown_fields,
    schema_type,
)

SchemaChangeKind = Literal["field-removed", "field-retyped", "validation-tightened", "default-changed"]

#: Pairs of types of which the second accepts every value of the first.
_WIDER_TYPES: Final = {
    ("integer", "number"),
    ("integer", INT_OR_STRING),
    ("string", INT_OR_STRING),
}


class SchemaChange(NamedTuple):
    """A change at `path`, in which `[]` stands for the items of a list and `*` for the entries of a map.

    `is_validated` is False if schema validation does not reject objects for it: it ignores CEL rules, and it
    does not see pruned fields.
    """

    kind: SchemaChangeKind
    path: str
    message: str
    is_validated: bool


def compare_schemas(old: Json, new: Json, path: str = "") -> Iterator[SchemaChange]:
    """Yield every change that can break objects, in order of path. Cost: the size of the smaller schema."""
    if is_equal(old, new):
        return
    name = path or "the object"
    yield from _type_changes(old, new, path, name)
    for constraint in new_constraints(old, new):
        message = f"{name} {constraint.message}"
        yield SchemaChange("validation-tightened", path, message, constraint.is_validated)
    default, new_default = old.get("default"), new.get("default")
    if default is not None and canonical_json(default) != canonical_json(new_default):
        removed = f"the default {default!r} of {name} is removed"
        changed = f"the default of {name} changes from {default!r} to {new_default!r}"
        yield SchemaChange("default-changed", path, removed if new_default is None else changed, False)
    yield from _property_changes(old, new, path)
    items, new_items = _schema(old, "items"), _schema(new, "items")
    if items is not None and new_items is not None:
        yield from compare_schemas(items, new_items, f"{path}[]")
    entries, new_entries = _undeclared_field(old), _schema(new, "additionalProperties")
    if entries is not None and new_entries is not None:
        yield from compare_schemas(entries, new_entries, f"{path}.*")
    elif _schema(old, "additionalProperties") is not None and not preserves_unknown_fields(new):
        message = f"the entries of {name} are removed: they are pruned from objects"
        yield SchemaChange("field-removed", f"{path}.*", message, False)


def _type_changes(old: Json, new: Json, path: str, name: str) -> Iterator[SchemaChange]:
    before, after = schema_type(old), schema_type(new)
    if before and after and before != after and (before, after) not in _WIDER_TYPES:
        message = f"{name} changes type from {before} to {after}: objects with the old type are rejected"
        yield SchemaChange("field-retyped", path, message, True)
    elif after and not before and path:  # at the top every stored value is an object
        message = f"{name} accepted any value and must now be of type {after}"
        yield SchemaChange("validation-tightened", path, message, True)
    accepts_fields = preserves_unknown_fields(new) or _schema(new, "additionalProperties") is not None
    if before and preserves_unknown_fields(old) and not accepts_fields and after in ("", "object"):
        message = f"{name} accepted any field and now only those it declares: others are pruned"
        yield SchemaChange("validation-tightened", path, message, False)


def _property_changes(old: Json, new: Json, path: str) -> Iterator[SchemaChange]:
    prefix = f"{path}." if path else ""
    before, after = _properties(old), _properties(new)
    entries = _schema(new, "additionalProperties")
    for name in sorted(before):
        field = f"{prefix}{name}"
        if name in after:
            yield from compare_schemas(before[name], after[name], field)
        elif entries is not None:
            yield from compare_schemas(before[name], entries, field)
        elif not preserves_unknown_fields(new):
            message = f"the field {field} is removed: its values are pruned from objects"
            yield SchemaChange("field-removed", field, message, False)
    undeclared = _undeclared_field(old)
    if undeclared is not None:
        for name in sorted(after.keys() - before.keys()):
            yield from compare_schemas(undeclared, after[name], f"{prefix}{name}")


def _properties(schema: Json) -> dict[str, Json]:
    properties = _schema(schema, "properties") or {}
    return {name: inner for name, inner in properties.items() if isinstance(inner, Mapping)}


def _undeclared_field(schema: Json) -> Json | None:
    """The schema of a field that the schema does not declare; None if such a field is pruned."""
    entries = _schema(schema, "additionalProperties")
    return {} if entries is None and preserves_unknown_fields(schema) else entries


def _schema(schema: Json, key: str) -> Json | None:
    value = schema.get(key)
    return value if isinstance(value, Mapping) else None
