"""The quick way down to a value: taken where a document is laid out as usual, declined where it is not."""

from __future__ import annotations

import pytest

from everpath.loaders.source_positions import locate
from everpath.loaders.sources import Sources
from everpath.model import Place
from everpath.parsing import value_index
from everpath.parsing.json_descent import find_in_json
from everpath.parsing.value_index import index_json, index_yaml
from everpath.parsing.value_search import find_in_yaml

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
def test_a_block_is_descended(pointer: tuple[str | int, ...], found: bytes) -> None:
    span = find_in_yaml(YAML, pointer)
    assert span is not None
    assert YAML[slice(*span)] == found
    assert index_yaml(YAML, 9).by_pointer[pointer][0] == span[0]


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
def test_what_is_laid_out_otherwise_is_declined(text: bytes, pointer: tuple[str | int, ...]) -> None:
    assert find_in_yaml(text, pointer) is None


JSON = '{"a": [1, {"b": "x\\"y", "é": []}, [2, 3]], "c" : {} , "a2": null, "c": true}'


@pytest.mark.parametrize(
    ("pointer", "found"),
    [
        ((), JSON),
        (("a",), '[1, {"b": "x\\"y", "é": []}, [2, 3]]'),
        (("a", 0), "1"),
        (("a", 1, "b"), '"x\\"y"'),
        (("a", 1, "é"), "[]"),
        (("a", 2, 1), "3"),
        (("c",), "true"),
        (("a2",), "null"),
    ],
)
def test_json_is_descended(pointer: tuple[str | int, ...], found: str) -> None:
    span = find_in_json(JSON, pointer)
    assert span is not None
    assert JSON[slice(*span)] == found
    assert index_json(JSON, 9).by_pointer[pointer] == span


@pytest.mark.parametrize(
    ("text", "pointer"),
    [
        (JSON, ("b",)),
        (JSON, ("A",)),
        (JSON, (0,)),
        (JSON, ("a", "b")),
        (JSON, ("a", 3)),
        (JSON, ("a2", "b")),
        ('{"a": [1', ("a", 0)),
        ('{"a": x}', ("a",)),
        ("", ("a",)),
        ('{"a": ' + "[" * 100_000, ("a",)),
    ],
)
def test_json_of_another_shape_is_declined(text: str, pointer: tuple[str | int, ...]) -> None:
    assert find_in_json(text, pointer) is None


def test_spans_end_with_the_first_value() -> None:
    assert index_json('{"a": 1} {"a": 22}', 4).by_pointer == {(): (0, 8), ("a",): (6, 7)}


def test_spans_know_whether_they_are_whole() -> None:
    assert index_json('{"a": [1]}', 4).is_whole
    assert not index_json('{"a": [1', 4).is_whole
    assert not index_json('{"a": "\\x"}', 4).is_whole
    assert not index_yaml(b"a: [\n", 4).is_whole


def test_spans_go_as_deep_as_they_are_asked_to() -> None:
    assert list(index_json('{"a": [{"b": 1}]}', 2).by_pointer) == [(), ("a",), ("a", 0)]


@pytest.mark.parametrize("text", [YAML, b'{"schema": "x", "entries": [{"name": "a"}]}'])
def test_the_first_places_of_a_document_cost_no_index(text: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        pytest.fail("a document was indexed")

    monkeypatch.setattr(value_index, "index_yaml", never)
    monkeypatch.setattr(value_index, "index_json", never)
    sources = Sources()
    sources.add_content("-", text)
    for _ in range(5):
        locate(Place("-", 0, ("entries", 0, "name")), sources)
    with pytest.raises(pytest.fail.Exception):
        locate(Place("-", 0, ("entries", 0, "name")), sources)
