"""Generation of OpenAPI schemas from dataclasses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any

import pytest

from searchkeeper.api.schema import FieldSchema, Int64, Rule, Timestamp, openapi_schema


class Taste(StrEnum):
    SWEET = "Sweet"
    SOUR = "Sour"


@dataclass(frozen=True)
class Seed:
    name: Annotated[str, FieldSchema("Its name.")]
    weight: Annotated[int, FieldSchema("In grams.", minimum=1)] = 3


@dataclass(frozen=True)
class Fruit:
    taste: Annotated[Taste, FieldSchema("How it tastes.")]
    inner_seed: Annotated[Seed | None, FieldSchema("Inside.", name="kernel")] = None
    seeds: Annotated[tuple[Seed, ...], FieldSchema("All.", key="name", max_items=3)] = ()
    colours: Annotated[frozenset[str], FieldSchema("Seen.", enum=("red", "blue"))] = frozenset()
    labels: Annotated[Mapping[str, str] | None, FieldSchema("Any.")] = None
    picked: Annotated[Timestamp | None, FieldSchema("When.")] = None
    count: Annotated[Int64 | None, FieldSchema("How often.")] = None
    is_ripe: Annotated[bool, FieldSchema("Whether.", rules=(Rule("self", "only ripe ones"),))] = False


def properties(python_type: object) -> dict[str, Any]:
    schemas: dict[str, Any] = openapi_schema(python_type)["properties"]
    return schemas


def test_field_without_a_default_is_required() -> None:
    assert openapi_schema(Fruit)["required"] == ["taste"]


def test_name_is_in_camel_case_or_overridden() -> None:
    assert list(properties(Fruit)) == [
        "taste",
        "kernel",
        "seeds",
        "colours",
        "labels",
        "picked",
        "count",
        "isRipe",
    ]


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("taste", {"type": "string", "enum": ["Sweet", "Sour"]}),
        ("labels", {"type": "object", "additionalProperties": {"type": "string"}}),
        ("picked", {"type": "string", "format": "date-time"}),
        ("count", {"type": "integer", "format": "int64"}),
        (
            "colours",
            {
                "type": "array",
                "x-kubernetes-list-type": "set",
                "items": {"type": "string", "enum": ["red", "blue"]},
            },
        ),
        (
            "isRipe",
            {
                "type": "boolean",
                "default": False,
                "x-kubernetes-validations": [{"rule": "self", "message": "only ripe ones"}],
            },
        ),
    ],
)
def test_schema_of_a_type(name: str, schema: object) -> None:
    generated = {key: value for key, value in properties(Fruit)[name].items() if key != "description"}
    assert generated == schema


def test_tuple_with_a_key_is_a_list_map() -> None:
    seeds = properties(Fruit)["seeds"]
    assert (seeds["x-kubernetes-list-type"], seeds["x-kubernetes-list-map-keys"]) == ("map", ["name"])
    assert seeds["maxItems"] == 3
    assert seeds["items"]["properties"]["weight"] == {
        "description": "In grams.",
        "type": "integer",
        "format": "int32",
        "minimum": 1,
        "default": 3,
    }


def test_object_whose_properties_have_defaults_has_an_empty_default() -> None:
    @dataclass(frozen=True)
    class Peel:
        thick: Annotated[bool, FieldSchema("Is it.")] = False

    @dataclass(frozen=True)
    class Name:
        latin: Annotated[str | None, FieldSchema("In Latin.")] = None

    @dataclass(frozen=True)
    class Orange:
        peel: Annotated[Peel, FieldSchema("Outside.")] = field(default_factory=Peel)
        name: Annotated[Name, FieldSchema("Of it.")] = field(default_factory=Name)

    Orange.__annotations__.update(
        peel=Annotated[Peel, FieldSchema("Outside.")], name=Annotated[Name, FieldSchema("Of it.")]
    )
    Peel.__annotations__.update(thick=Annotated[bool, FieldSchema("Is it.")])
    Name.__annotations__.update(latin=Annotated[str | None, FieldSchema("In Latin.")])
    assert properties(Orange)["peel"]["default"] == {}
    assert "default" not in properties(Orange)["name"]


def test_field_without_a_field_schema_raises() -> None:
    @dataclass(frozen=True)
    class Bare:
        word: str

    with pytest.raises(TypeError, match=r"Bare\.word has no FieldSchema"):
        openapi_schema(Bare)


def test_type_without_a_schema_raises() -> None:
    with pytest.raises(TypeError, match="no schema for"):
        openapi_schema(list[str])
