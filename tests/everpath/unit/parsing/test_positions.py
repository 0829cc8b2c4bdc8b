"""The spans of values in YAML and JSON, and the search that finds them in the usual layout of YAML."""

from __future__ import annotations

import pytest

from everpath.loaders.source_positions import locate
from everpath.loaders.sources import Sources
from everpath.model import Place
from everpath.parsing import positions
from everpath.parsing.positions import JsonNode, PositionedDocument, YamlNode, yaml_nodes
from everpath.parsing.yaml_search import find_in_yaml

YAML = b"""---
# comment
schema: olm.channel
entries:
- name: a
  skips:
    - x
    - 'y z'
  # comment
  skipRange: "<1.0.0"  # until one
-
  name: b
properties:
  - type: t
    value:
      text: |-
        name: no

        entries:
      after: https://a.b/c#d
last: two words
"""


def _node(node: JsonNode | YamlNode | None, pointer: tuple[str | int, ...]) -> JsonNode | YamlNode:
    for step in pointer:
        assert node is not None
        node = node.children[step]
    assert node is not None
    return node


@pytest.mark.parametrize(
    ("pointer", "found"),
    [
        (("schema",), b"olm.channel"),
        (("entries",), b"- name: a"),
        (("entries", 0), b"name: a"),
        (("entries", 0, "name"), b"a"),
        (("entries", 0, "skips"), b"- x"),
        (("entries", 0, "skips", 1), b"'y z'"),
        (("entries", 0, "skipRange"), b'"<1.0.0"'),
        (("entries", 1), b"name: b"),
        (("entries", 1, "name"), b"b"),
        (("properties", 0, "value"), b"text: |-"),
        (("properties", 0, "value", "text"), b"|-"),
        (("properties", 0, "value", "after"), b"https://a.b/c#d"),
        (("last",), b"two words"),
    ],
)
def test_search_finds_values_of_block_yaml(pointer: tuple[str | int, ...], found: bytes) -> None:
    span = find_in_yaml(YAML, pointer)
    assert span is not None
    assert YAML[slice(*span)] == found
    assert _node(yaml_nodes(YAML), pointer).start == span[0]


@pytest.mark.parametrize(
    ("text", "pointer"),
    [
        (b"", ("a",)),
        (b"# a\n", ("a",)),
        (b"a: b\n", ("c",)),
        (b"a: b\na: c\n", ("a",)),
        (b"'a': b\n", ("a",)),
        (b"A: b\n", ("a",)),
        (b"a: b\n", (0,)),
        (b"- a\n", ("a",)),
        (b"- a\n", (1,)),
        (b"- a\n", (0, "a")),
        (b"a: {b: c}\n", ("a", "b")),
        (b"a: {b: c}\n", ("a",)),
        (b"a: &x b\n", ("a",)),
        (b"a: !x b\n", ("a",)),
        (b"a: 'b\n  c'\n", ("a",)),
        (b"a:\nb: c\n", ("a",)),
        (b"a b: c\n", ("a b",)),
        (b"a: b\n", ("a", "b")),
    ],
)
def test_search_returns_none_for_other_layouts(text: bytes, pointer: tuple[str | int, ...]) -> None:
    assert find_in_yaml(text, pointer) is None


JSON = '{"a": [1, {"b": "x\\"y", "é": []}, [2, 3]], "c" : {} , "a2": null, "c": true}'


def _json_span(text: str, pointer: tuple[str | int, ...]) -> str | None:
    document = PositionedDocument.from_json(text.encode())
    assert document is not None
    span = document.span(pointer)
    return text.encode()[slice(*span)].decode() if span else None


@pytest.mark.parametrize(
    ("pointer", "found"),
    [
        ((), None),
        (("a",), '[1, {"b": "x\\"y", "é": []}, [2, 3]]'),
        (("a", 0), "1"),
        (("a", 1, "b"), '"x\\"y"'),
        (("a", 1, "é"), "[]"),
        (("a", 2, 1), "3"),
        (("c",), "true"),
        (("a2",), "null"),
        # Absent values: the nearest parent, and a key in another case.
        (("b",), None),
        ((0,), None),
        (("A",), '[1, {"b": "x\\"y", "é": []}, [2, 3]]'),
        (("a", 2, 2), "[2, 3]"),
        (("a", 2, "b"), "[2, 3]"),
        (("a2", "b"), "null"),
    ],
)
def test_the_span_of_a_json_value(pointer: tuple[str | int, ...], found: str | None) -> None:
    assert _json_span(JSON, pointer) == found


@pytest.mark.parametrize(
    "content", [b"", b"a: b", b"[1]", b'{"a": [1', b'{"a": x}', b'{"a": ' + b"[" * 100_000]
)
def test_incomplete_json_is_not_a_json_document(content: bytes) -> None:
    assert PositionedDocument.from_json(content) is None


def test_a_json_document_ends_with_its_first_value() -> None:
    assert _json_span('\n {"a": 1} {"a": 22, "b": 3}', ("a",)) == "1"
    assert _json_span('{"a": 1} {"b": 3}', ("b",)) is None


def test_a_number_of_thousands_of_digits_has_a_span() -> None:
    digits = "7" * 5000
    assert _json_span(f'{{"a": {digits}, "b": 1}}', ("a",)) == digits


@pytest.mark.parametrize(
    ("text", "key", "found"),
    [
        ("Name: 1\nname: 2\n", "name", b"2"),
        ("Name: 1\nname: 2\n", "NAME", b"2"),
        ("Name: 1\nNAME: 2\n", "name", b"1"),
    ],
)
def test_of_keys_that_differ_in_case_the_exact_one_counts(text: str, key: str, found: bytes) -> None:
    span = PositionedDocument(text.encode()).span((key,))
    assert span is not None
    assert text.encode()[slice(*span)] == found


def test_a_broken_yaml_document_has_the_nodes_before_the_error() -> None:
    top = yaml_nodes(b"a: 1\nb: [2, {c: 3\n")
    assert (_node(top, ("a",)).start, _node(top, ("b", 1, "c")).start) == (3, 16)
    assert yaml_nodes(b"") is None


def test_a_node_knows_its_key_its_style_and_its_end() -> None:
    text = b"a:  # why\n  - {b: 1}\n  - *x\n# below\nc: 2\n"
    top = yaml_nodes(text)
    assert top is not None
    listed = top.children["a"]
    assert isinstance(listed, YamlNode)
    assert (listed.kind, listed.is_flow, listed.key_start, listed.start) == ("sequence", False, 0, 12)
    assert text[listed.end :] == b"c: 2\n"
    flow, alias = listed.children[0], listed.children[1]
    assert (flow.kind, flow.is_flow, flow.key_start) == ("mapping", True, flow.start)
    assert (alias.kind, top.children["c"].key_start) == ("alias", listed.end)


def test_a_collection_as_a_key_does_not_shift_the_keys_after_it() -> None:
    top = yaml_nodes(b"? [a, b]\n: c\nd: e\n")
    assert top is not None
    assert list(top.children) == ["", "d"]


def test_the_first_places_of_a_document_are_found_without_parsing_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        pytest.fail("a document was parsed")

    monkeypatch.setattr(positions, "yaml_nodes", never)
    sources = Sources()
    sources.add_content("-", YAML)
    for _ in range(5):
        locate(Place("-", 0, ("entries", 0, "name")), sources)
    with pytest.raises(pytest.fail.Exception):
        locate(Place("-", 0, ("entries", 0, "name")), sources)
