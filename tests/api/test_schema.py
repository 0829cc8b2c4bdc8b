"""Types become schemas, and say everything at the field itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any

import pytest

from searchkeeper.api.schema import FieldSchema, Int64, Rule, Timestamp, schema_of


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
    colours: Annotated[frozenset[str], FieldSchema("Seen.", one_of=("red", "blue"))] = frozenset()
    labels: Annotated[Mapping[str, str] | None, FieldSchema("Any.")] = None
    picked: Annotated[Timestamp | None, FieldSchema("When.")] = None
    count: Annotated[Int64 | None, FieldSchema("How often.")] = None
    is_ripe: Annotated[bool, FieldSchema("Whether.", rules=(Rule("self", "only ripe ones"),))] = False


def properties(kind: object) -> dict[str, Any]:
    found: dict[str, Any] = schema_of(kind)["properties"]
    return found


def test_a_field_without_a_default_is_required() -> None:
    assert schema_of(Fruit)["required"] == ["taste"]


def test_a_name_is_in_camel_case_or_as_the_facts_say() -> None:
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
def test_a_type_has_its_schema(name: str, schema: object) -> None:
    found = {key: text for key, text in properties(Fruit)[name].items() if key != "description"}
    assert found == schema


def test_items_of_a_list_are_told_apart_by_their_key() -> None:
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


def test_an_object_whose_properties_have_defaults_is_there_by_default() -> None:
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


def test_a_field_that_nothing_is_said_of_is_refused() -> None:
    @dataclass(frozen=True)
    class Silent:
        word: str

    with pytest.raises(TypeError, match=r"nothing is said about Silent\.word"):
        schema_of(Silent)


def test_what_no_schema_can_tell_is_refused() -> None:
    with pytest.raises(TypeError, match="no schema for"):
        schema_of(list[str])
