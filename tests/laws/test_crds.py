"""Laws of the comparison of schemas."""

from __future__ import annotations

from typing import Any

from hypothesis import event, given
from hypothesis import strategies as st
from jsonschema import Draft4Validator  # type: ignore[import-untyped]

from everpath.crds.schemas import changes

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
            # OpenAPI prunes fields it does not know; JSON Schema keeps them, unless told otherwise.
            optional={"required": st.lists(NAMES, min_size=1, unique=True)},
        ).map(lambda made: {**made, "additionalProperties": False}),
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
def test_an_object_that_the_new_schema_refuses_is_announced(
    pair: tuple[dict[str, Any], dict[str, Any]], values: list[object]
) -> None:
    old, new = map(Draft4Validator, pair)
    refused = [v for v in (*SCALARS, *values) if old.is_valid(v) and not new.is_valid(v)]
    event(f"refused: {bool(refused)}")
    if refused:
        assert list(changes(*pair))


@given(SCHEMAS)
def test_a_schema_does_not_narrow_itself(schema: dict[str, Any]) -> None:
    assert list(changes(schema, schema)) == []


@given(SCHEMAS, NAMES)
def test_an_optional_field_more_narrows_nothing(schema: dict[str, Any], name: str) -> None:
    wider = {**schema, "properties": {**schema.get("properties", {}), f"new-{name}": {"type": "string"}}}
    assert list(changes(schema, wider)) == []
