"""Ten times the findings in one document take at most twelve times as long to locate."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from everpath.loaders import source_positions
from everpath.loaders.source_positions import locate
from everpath.loaders.sources import Sources
from everpath.model import Place
from everpath.parsing import positions
from everpath.parsing.text_offsets import OffsetMap
from tests.support.everpath.operation_counts import lines_run


def _places(count: int, *below: str) -> Iterator[Place]:
    return (Place("-", 0, ("entries", i, *below)) for i in range(count))


def _kept(text: str) -> Sources:
    sources = Sources()
    sources.add_content("-", text.encode())
    return sources


def _work(count: int, *, indent: int | None) -> int:
    """All places of a document that has as many, minified or not."""
    document = {"schema": "olm.channel", "é": "é", "entries": [{"name": "é"} for _ in range(count)]}
    sources = _kept(json.dumps(document, ensure_ascii=False, indent=indent))
    return lines_run(lambda: [locate(place, sources) for place in _places(count, "name")])


@pytest.mark.parametrize("indent", [None, 1])
def test_locating_ten_times_as_many_values_is_ten_times_the_work(indent: int | None) -> None:
    assert _work(600, indent=indent) <= 12 * _work(60, indent=indent)


def test_a_line_is_read_once_for_all_its_places(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[bytes] = []

    class Counting(OffsetMap):
        def __init__(self, text: bytes, errors: str) -> None:
            measured.append(text)
            super().__init__(text, errors)  # type: ignore[arg-type]

    for module in (source_positions, positions):
        monkeypatch.setattr(module, "OffsetMap", Counting)
    sources = _kept(json.dumps({"entries": [{"name": i} for i in range(20)]}))
    assert [locate(place, sources).line for place in _places(20, "name")] == [1] * 20
    # Once as a document, once as a line.
    assert len(measured) == 2


@pytest.mark.parametrize("style", ["json", "yaml"])
def test_deep_places_of_a_document_share_its_nodes(style: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[bytes] = []
    parse = positions.yaml_nodes

    def counted(text: bytes) -> object:
        calls.append(text)
        return parse(text)

    monkeypatch.setattr(positions, "yaml_nodes", counted)
    steps = ("a", "b", "c", "d", "e", "f")
    if style == "json":
        sources = _kept(json.dumps({"a": {"b": {"c": {"d": {"e": {"f": list(range(30))}}}}}}, indent=1))
    else:
        lines = (f"{' ' * depth}{step}:" for depth, step in enumerate(steps))
        sources = _kept("\n".join(("# from 2 on", *lines, *(f"      - {{g: {i}}}" for i in range(30)))))
    places = [Place("-", 0, (*steps, i)) for i in range(30)]
    assert [locate(place, sources).line for place in places] == list(range(8, 38))
    assert len(calls) == (style == "yaml")


def test_a_key_is_looked_for_only_near_its_value() -> None:
    """A search from the start of the document would cost all of it for each key."""
    near, far = (_kept(f"a: # {'x' * length}\n  word\n") for length in (100, 5000))
    place = Place("-").key("a")
    assert [(at.line, at.column) for at in (locate(place, near), locate(place, far))] == [(1, 1), (2, 3)]
