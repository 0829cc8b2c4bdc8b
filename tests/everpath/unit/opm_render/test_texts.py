"""JSON and YAML of catalogs, byte for byte as Go writes them."""

from __future__ import annotations

from typing import Any

import pytest

from everpath.loaders.fbc.catalog_writer import catalog_text
from everpath.model import Place
from everpath.opm_render import Blob
from everpath.opm_render.blobs import CatalogDocument, decode_blob, sort_blobs
from everpath.opm_render.go_json import format_float, json_text, keep_html_escapes, sort_keys
from everpath.parsing.yaml_writer import yaml_text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1.0, "1"),
        (-0.0, "-0"),
        (1.10, "1.1"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (1e-7, "1e-7"),
        (0.000001, "0.000001"),
        (2**63 - 1, "9223372036854775807"),
        (2**64, "18446744073709552000"),
        (123456789012345680000.0, "123456789012345680000"),
        (True, "true"),
        (None, "null"),
    ],
)
def test_numbers_are_written_as_go_writes_them(number: object, text: str) -> None:
    assert json_text(number) == text


def test_large_integers_are_rounded_with_floats() -> None:
    assert json_text(2**53 + 1) == "9007199254740993"
    assert json_text(2**53 + 1, floats=True) == "9007199254740992"


@pytest.mark.parametrize(
    ("number", "text"),
    [(1e6, "1e+06"), (100000.0, "100000"), (0.0001, "0.0001"), (1.5e-5, "1.5e-05"), (1e300, "1e+300")],
)
def test_format_float_uses_an_exponent_from_six_digits(number: float, text: str) -> None:
    assert format_float(number) == text


def test_a_float32_has_fewer_digits() -> None:
    assert format_float(4.1, single=True) == "4.1"
    assert format_float(1.23456789012, single=True) == "1.2345679"
    assert format_float(-1e300, single=True) == "-Inf"


def test_strings_are_escaped_as_in_go() -> None:
    assert json_text('<a&b>\u2028\n\x01é"') == '"<a&b>\\u2028\\n\\u0001é\\""'
    assert json_text("<a&b>", html=True) == '"\\u003ca\\u0026b\\u003e"'
    assert json_text(keep_html_escapes({"<": "&"})) == '{"\\u003c":"\\u0026"}'


def test_empty_containers_are_written_on_one_line() -> None:
    assert (
        json_text({"a": [], "b": {}, "c": [1]}, indent="  ")
        == '{\n  "a": [],\n  "b": {},\n  "c": [\n    1\n  ]\n}'
    )


def test_sort_keys_sorts_nested_mappings() -> None:
    assert json_text(sort_keys({"b": [{"d": 1, "c": 2}], "a": 3})) == '{"a":3,"b":[{"c":2,"d":1}]}'


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain words", "plain words"),
        ("", '""'),
        ("yes", '"yes"'),
        ("1.0", '"1.0"'),
        ("2020-01-02", '"2020-01-02"'),
        ("2020-13-02", "2020-13-02"),
        ("1:30", '"1:30"'),
        ("a: b", "'a: b'"),
        ("a:b", "a:b"),
        ("it's", "it's"),
        ("'quoted'", "'''quoted'''"),
        ("#c", "'#c'"),
        ("a #c", "'a #c'"),
        (" a", "' a'"),
        ("-", "'-'"),
        ("-a", "-a"),
        ("tab\t", '"tab\\t"'),
        ("😀", '"\\U0001F600"'),
        ("é", "é"),
        ("a\nb", "|-\n  a\n  b"),
        ("a\nb\n", "|\n  a\n  b"),
        ("a\n\n", "|+\n  a\n"),
        (" a\nb", "|2-\n   a\n  b"),
        ("a \nb", '"a \\nb"'),
        (None, "null"),
        (1.5, "1.5"),
        (1e21, "1e+21"),
        ({}, "{}"),
        ([], "[]"),
        (True, "true"),
        ("<<", "<<"),
        ("\ufeffa", '"\\uFEFF\\x61"'),
    ],
)
def test_yaml_scalars_are_quoted_as_in_go(value: object, text: str) -> None:
    assert yaml_text({"k": value}) == f"k: {text}\n"


def test_yaml_lists_are_not_indented_below_their_key() -> None:
    assert yaml_text({"a": [{"b": 1, "c": [2, [3]]}]}) == "a:\n- b: 1\n  c:\n  - 2\n  - - 3\n"


def test_yaml_keys_are_in_natural_order() -> None:
    assert yaml_text({"a10": 1, "a2": 1, "b": 1, "A": 1, "1": 1}) == '"1": 1\nA: 1\na2: 1\na10: 1\nb: 1\n'


def test_long_yaml_lines_are_folded_after_column_80() -> None:
    words = " ".join(["word"] * 20)
    first, second = yaml_text({"key": words}).splitlines()
    assert (first + second[1:], second[:2], len(first)) == (f"key: {words}", "  ", 84)


def test_a_yaml_key_of_more_than_128_characters_is_explicit() -> None:
    assert yaml_text({"k" * 129: {"a": 1}}) == f"? {'k' * 129}\n: a: 1\n"


def decode(**fields: Any) -> dict[str, Any]:
    return decode_blob(CatalogDocument(Place("c.yaml"), fields))


def test_empty_fields_are_dropped_and_unknown_fields_come_last() -> None:
    found = decode(
        zeal=1, Name="c", entries=[{"skips": [], "more": 1, "name": "e"}], package="op", schema="olm.channel"
    )
    assert list(found) == ["schema", "name", "package", "entries", "zeal"]
    assert found["entries"] == [{"name": "e", "more": 1}]


def test_blobs_are_sorted_as_in_opm() -> None:
    blobs: list[Blob] = [
        {"schema": "custom", "n": 1},
        {"schema": "olm.deprecations", "package": "a", "entries": []},
        {"schema": "custom.b", "package": "a"},
        {"schema": "custom.a", "package": "a"},
        {"schema": "olm.bundle", "name": "y", "package": "a", "image": ""},
        {"schema": "olm.bundle", "name": "x", "package": "a", "image": ""},
        {"schema": "olm.channel", "name": "z", "package": "a", "entries": []},
        {"schema": "olm.package", "name": "b", "defaultChannel": ""},
        {"schema": "olm.package", "name": "a", "defaultChannel": ""},
    ]
    order = [8, 6, 5, 4, 3, 2, 1, 7, 0]
    assert sort_blobs(blobs) == [blobs[i] for i in order]


def test_a_catalog_is_written_as_separate_documents() -> None:
    blobs: list[Blob] = [
        {"schema": "olm.package", "name": "a", "defaultChannel": "c"},
        {"schema": "custom", "x": 1},
    ]
    assert (
        "".join(catalog_text(blobs, "yaml"))
        == "---\ndefaultChannel: c\nname: a\nschema: olm.package\n---\nschema: custom\nx: 1\n"
    )
    assert list(catalog_text(blobs, "json"))[1] == '{\n    "schema": "custom",\n    "x": 1\n}\n'
