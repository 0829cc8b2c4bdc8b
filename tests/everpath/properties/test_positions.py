"""A search finds a value where the parser finds it, or finds nothing."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from everpath.parsing import json_parser, yaml_parser
from everpath.parsing.positions import JsonNode, PositionedDocument, YamlNode, yaml_nodes
from everpath.parsing.text_offsets import OffsetMap
from everpath.parsing.yaml_search import find_in_yaml
from tests.support.everpath.catalog_texts import Style, documents, dumped, styles
from tests.support.tiers import examples


@settings(max_examples=examples(200))
@given(st.data(), documents, styles.filter(lambda style: not style.is_json))
def test_a_search_finds_what_the_parser_finds(
    data: st.DataObject, documents: list[dict[str, Any]], style: Style
) -> None:
    text = dumped(documents[:1], style)
    nodes = _nodes(yaml_nodes(text))
    pointer = data.draw(st.sampled_from(sorted((p for p in nodes if p), key=str)))
    found = find_in_yaml(text, pointer)
    if found is None:
        return
    offsets = OffsetMap(text, "surrogateescape")
    start, end = (offsets.bytes(count) for count in (nodes[pointer].start, nodes[pointer].end))
    assert found == (start, min(end, text.index(b"\n", start)))


@given(documents, styles)
def test_every_value_of_a_document_has_a_node(documents: list[dict[str, Any]], style: Style) -> None:
    text = dumped(documents[:1], style)
    # What a parser makes of the text, not what was written: a lone U+0085 does not survive every writer.
    value = documents[0] if style.is_json else yaml_parser.parse(text).value
    decoded = text.decode()
    top = JsonNode(decoded, 0, len(decoded)) if style.is_json else yaml_nodes(text)
    assert set(_pointers(value)) <= _nodes(top).keys()


@given(st.data(), documents, styles.filter(lambda style: style.is_json))
def test_the_span_of_a_json_value_is_its_text(
    data: st.DataObject, documents: list[dict[str, Any]], style: Style
) -> None:
    text = dumped(documents[:1], style)
    pointer = data.draw(st.sampled_from([p for p in _pointers(documents[0]) if p]))
    document = PositionedDocument.from_json(text)
    span = document.span(pointer) if document else None
    assert span is not None
    value = documents[0]
    for step in pointer:
        value = value[step]  # type: ignore[index]
    assert json_parser.parse(text[slice(*span)]).value == value


def _nodes(
    node: JsonNode | YamlNode | None, above: tuple[str | int, ...] = ()
) -> dict[tuple[str | int, ...], JsonNode | YamlNode]:
    if node is None:
        return {}
    below = [_nodes(child, (*above, step)) for step, child in node.children.items()]
    return {above: node} | {pointer: found for nodes in below for pointer, found in nodes.items()}


def _pointers(value: Any, above: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [above, *(pointer for step, child in below for pointer in _pointers(child, (*above, step)))]
