"""The quick way to a value leads where the slow way leads, or declines."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from catalog_texts import Style, documents, dumped, styles
from everpath.parsing import yaml_parser
from everpath.parsing.json_descent import find_in_json
from everpath.parsing.text_offsets import byte_offset
from everpath.parsing.value_index import index_json, index_yaml
from everpath.parsing.value_search import find_in_yaml


@settings(max_examples=200)
@given(st.data(), documents, styles)
def test_the_quick_way_leads_where_the_slow_way_leads(
    data: st.DataObject, documents: list[dict[str, Any]], style: Style
) -> None:
    text = dumped(documents[:1], style)
    decoded = text.decode()
    spans = index_json(decoded, 8) if style.is_json else index_yaml(text, 8)
    pointer = data.draw(st.sampled_from(sorted((p for p in spans.by_pointer if p), key=str)))
    found = find_in_json(decoded, pointer) if style.is_json else find_in_yaml(text, pointer)
    if found is None:
        return
    start, end = spans.by_pointer[pointer]
    if not style.is_json:
        start, end = byte_offset(text, start), byte_offset(text, end)
        end = min(end, text.index(b"\n", start))
    assert found == (start, end)


@given(documents, styles)
def test_every_value_of_a_document_has_a_span(documents: list[dict[str, Any]], style: Style) -> None:
    text = dumped(documents[:1], style)
    spans = index_json(text.decode(), 99) if style.is_json else index_yaml(text, 99)
    assert spans.is_whole
    # What a parser makes of the text, not what was written: a lone U+0085 does not survive every writer.
    value = documents[0] if style.is_json else yaml_parser.parse(text).value
    assert set(_pointers(value)) <= spans.by_pointer.keys()


def _pointers(value: Any, above: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [above, *(pointer for step, child in below for pointer in _pointers(child, (*above, step)))]
