"""Properties of the comparison of schemas."""

from __future__ import annotations

from typing import Any

from hypothesis import event, given
from hypothesis import strategies as st
from jsonschema import Draft4Validator  # type: ignore[import-untyped]

from everpath.crd_upgrade_safety import find_unsafe_changes
from everpath.crd_upgrade_safety.crd import parse_crd
from everpath.crd_upgrade_safety.schema_changes import compare_schemas
from everpath.model import Place
from everpath.model.bundle_contents import Manifest

NAMES = st.sampled_from(["a", "b", "c"])
INTEGERS = st.fixed_dictionaries(
    {"type": st.just("integer")},
    optional={"minimum": st.integers(-2, 3), "maximum": st.integers(-2, 3)},
)
STRINGS = st.fixed_dictionaries(
    {"type": st.just("string")},
    optional={
        "minLength": st.integers(0, 2),
        "maxLength": st.integers(0, 2),
        "enum": st.lists(st.sampled_from(["", "x", "xy"]), min_size=1, unique=True),
        "pattern": st.sampled_from(["^x", "y$"]),
    },
)
LEAVES = st.one_of(INTEGERS, STRINGS, st.just({"type": "boolean"}))
SCHEMAS: st.SearchStrategy[dict[str, Any]] = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.fixed_dictionaries(
            {"type": st.just("object"), "properties": st.dictionaries(NAMES, inner, max_size=3)},
            # The API server prunes unknown fields; JSON Schema allows them.
            optional={"required": st.lists(NAMES, min_size=1, unique=True)},
        ).map(lambda schema: {**schema, "additionalProperties": False}),
        st.fixed_dictionaries(
            {"type": st.just("array"), "items": inner},
            optional={"minItems": st.integers(0, 2), "maxItems": st.integers(0, 2)},
        ),
    ),
    max_leaves=6,
)
VALUES = st.recursive(
    st.integers(-3, 4) | st.sampled_from(["", "x", "xy"]) | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)


PAIRS = st.one_of(*(st.tuples(kind, kind) for kind in (INTEGERS, STRINGS, SCHEMAS)))


SCALARS = (*range(-3, 5), "", "x", "xy", True, False)


@given(PAIRS, st.lists(VALUES, max_size=5))
def test_a_schema_that_rejects_a_valid_value_is_reported(
    pair: tuple[dict[str, Any], dict[str, Any]], values: list[object]
) -> None:
    old, new = map(Draft4Validator, pair)
    rejected = [v for v in (*SCALARS, *values) if old.is_valid(v) and not new.is_valid(v)]
    event(f"rejected: {bool(rejected)}")
    if rejected:
        assert list(compare_schemas(*pair))


@given(SCHEMAS)
def test_a_schema_compared_with_itself_has_no_changes(schema: dict[str, Any]) -> None:
    assert list(compare_schemas(schema, schema)) == []


@given(SCHEMAS, NAMES)
def test_an_additional_optional_field_is_not_reported(schema: dict[str, Any], name: str) -> None:
    wider = {**schema, "properties": {**schema.get("properties", {}), f"new-{name}": {"type": "string"}}}
    assert list(compare_schemas(schema, wider)) == []


KEYWORDS = (
    "type", "format", "default", "maximum", "minimum", "maxLength", "pattern", "enum", "required", "items",
    "allOf", "anyOf", "oneOf", "not", "properties", "additionalProperties", "nullable", "multipleOf",
    "exclusiveMaximum", "uniqueItems", "x-kubernetes-validations", "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys", "x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields",
    "description", "x-acme",
)  # fmt: skip
ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-1, 2)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "a", "object"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYWORDS), inner, max_size=3),
    max_leaves=8,
)


MALFORMED_PAIRS = st.sampled_from(KEYWORDS).flatmap(
    lambda key: st.tuples(ANYTHING.map(lambda old: {key: old}), ANYTHING.map(lambda new: {key: new}))
)


@given(MALFORMED_PAIRS, st.booleans())
def test_crds_of_any_shape_can_be_compared(pair: tuple[Any, Any], served: bool) -> None:
    """Values of the wrong type are reported by other rules and must not stop the comparison."""
    before, after = (_crd(schema, served) for schema in pair)
    found = list(find_unsafe_changes([before], [after], {"w": frozenset({"v1"})}))
    assert list(find_unsafe_changes([before], [after], {"w": frozenset({"v1"})})) == found


def _crd(schema: Any, served: bool) -> Any:
    versions = [
        {"name": name, "served": served, "storage": name == "v1", "schema": {"openAPIV3Schema": schema}}
        for name in ("v1", "v2")
    ]
    return parse_crd(Manifest(Place(""), {"metadata": {"name": "w"}, "spec": {"versions": versions}}))
