"""Fast checks agree with complete ones, or decline."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everpath.go_types import type_mismatches
from everpath.go_types.properties import PROPERTY_TYPES, has_only_strings
from everpath.loaders.fbc.document_splitter import JsonChunk
from everpath.loaders.fbc.file_loader import _json_values
from everpath.loaders.fbc.partial_json import PartialJsonParser
from everpath.model import UNREAD, Bundle, Place, Property
from everpath.parsing import json_parser
from everpath.resolvers import olm_v0
from tests.support.everpath.catalog_texts import Style, documents, dumped, styles
from tests.support.tiers import examples

HERE = Place("here.yaml")

_WORDS = st.sampled_from(("", "a", "b", "v1"))
_KEYS = st.sampled_from(("group", "version", "kind", "Group", "KIND", "packageName", "label", "priority"))
_VALUES = st.one_of(_WORDS, st.none(), st.booleans(), st.integers(0, 2), st.lists(_WORDS, max_size=1))
_TRIPLES = st.fixed_dictionaries({"group": _WORDS, "version": _WORDS, "kind": _WORDS})
_MAPPINGS = st.one_of(_TRIPLES, _TRIPLES, st.dictionaries(_KEYS, _VALUES, max_size=4))
_ANYTHING = st.one_of(_MAPPINGS, _MAPPINGS, _VALUES, st.just(UNREAD))


@given(st.lists(_ANYTHING, max_size=5))
def test_an_api_is_provided_twice_if_an_earlier_property_provides_it(values: list[object]) -> None:
    properties = tuple(Property("olm.gvk", value, HERE.at(i)) for i, value in enumerate(values))
    apis = [olm_v0.parse_gvk(value) for value in values]
    repeated = [(api, properties[i]) for i, api in enumerate(apis) if api is not None and api in apis[:i]]
    assert list(olm_v0.repeated_apis(Bundle("a", "op", "1.0.0", HERE, properties=properties))) == repeated


@given(st.sampled_from(sorted(PROPERTY_TYPES)), _ANYTHING)
def test_value_that_fits_has_no_type_error(kind: str, value: object) -> None:
    if has_only_strings(value, kind):
        assert list(type_mismatches(value, PROPERTY_TYPES[kind], allow_unknown_fields=False)) == []


def test_usual_values_fit() -> None:
    assert has_only_strings({"group": "a.b", "kind": "Thing", "version": "v1"}, "olm.gvk")
    assert has_only_strings({"packageName": "op", "version": "1.0.0"}, "olm.package")


@st.composite
def json_slips(draw: st.DrawFn) -> bytes:
    """Return a JSON document with an error: a line that is missing, duplicated, truncated or foreign."""
    style = Style(True, draw(st.sampled_from((2, 4))), False, draw(st.booleans()), 80)
    lines = dumped(draw(documents)[:1], style).split(b"\n")
    i = draw(st.integers(0, len(lines) - 1))
    slip = draw(
        st.sampled_from(("none", "lose", "double", "cut", "tabs", "return", "nest", "closed", "comma"))
    )
    edited = {
        "none": [lines[i]],
        "lose": [],
        "double": [lines[i]] * 2,
        "cut": [lines[i][: len(lines[i]) // 2]],
        "tabs": [lines[i].replace(b"  ", b"\t")],
        "return": [lines[i] + b"\r"],
        "nest": [lines[i].replace(b": ", b': {"type": "olm.csv.metadata", "value": {}}, "x": ', 1)],
        "closed": [lines[i] + b"}"],
        "comma": [lines[i] + b","],
    }
    return b"\n".join([*lines[:i], *edited[slip], *lines[i + 1 :]])


def _small(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document as the lazy reader returns it, without large values and with optional fields."""
    for stated in document["properties"]:
        if stated["type"] in ("olm.csv.metadata", "olm.bundle.object"):
            stated["value"] = UNREAD
    return {"image": "", "relatedImages": [], **document}


@settings(max_examples=examples(500))
@given(json_slips())
def test_json_skeleton_agrees_with_a_parser(text: bytes) -> None:
    skeleton = PartialJsonParser().parse(memoryview(text))
    if skeleton is not None:
        # Unread values are parsed too: a text that does not parse has no skeleton.
        assert skeleton.value == _small(json_parser.parse(text).value)


@given(documents, styles.filter(lambda style: style.is_json))
def test_every_usual_bundle_in_json_has_a_skeleton(written: list[dict[str, Any]], style: Style) -> None:
    bundles = [one for one in written if one["schema"] == "olm.bundle" and _is_text_throughout(one)]
    for bundle in bundles:
        skeleton = PartialJsonParser().parse(dumped([bundle], style))
        assert skeleton is not None
        assert skeleton.value == _small(json.loads(json.dumps(bundle)))


_GAPS = st.sampled_from((b"\n", b"\n", b"\n", b"", b" ", b"\r\n", b"\n\n", b" \n\t", b",\n", b"\n}\n{"))


@st.composite
def json_streams(draw: st.DrawFn) -> bytes:
    """Return a sequence of objects, mostly on separate lines, with any content in large values."""
    style = Style(True, draw(st.sampled_from((2, 4))), False, draw(st.booleans()), 80)
    text = b""
    big = {"type": "olm.csv.metadata", "value": ["}\n{", "}", {}, {"a": {}}]}
    for written in draw(documents):
        more = [big] * draw(st.integers(0, 2)) if "properties" in written else []
        whole = {**written, "properties": [*written["properties"], *more]} if more else written
        text += dumped([whole], style).strip() + draw(_GAPS)
    return text


@settings(max_examples=examples(300))
@given(json_streams())
def test_objects_decoded_at_once_agree_with_a_parser(text: bytes) -> None:
    at_once = PartialJsonParser().parse_all(text)
    if at_once is None:
        return
    found = list(at_once)
    parsed = [(value.value, offset) for value, offset in _json_values(JsonChunk(0, memoryview(text)))]
    assert [(json_parser.parse(chunk.text).value, chunk.offset) for chunk, _ in found] == parsed
    assert [skeleton for _, skeleton in found] == [
        PartialJsonParser().parse(chunk.view) for chunk, _ in found
    ]


def test_tens_of_thousands_of_objects_are_not_decoded_at_once() -> None:
    assert PartialJsonParser().parse_all(b'{"schema": "a"}\n' * 20_000) is not None
    assert PartialJsonParser().parse_all(b'{"schema": "a"}\n' * 20_001) is None


@pytest.mark.parametrize("text", [b"", b" \n\t"], ids=["nothing", "white space"])
def test_file_that_was_emptied_meanwhile_is_not_decoded_at_once(text: bytes) -> None:
    assert PartialJsonParser().parse_all(text) is None


@pytest.mark.parametrize("between", [b"\n", b"\r\n", b"\n\n"])
def test_usual_stream_is_decoded_at_once(between: bytes) -> None:
    big = {"type": "olm.csv.metadata", "value": {"a": [{}, {}]}}
    bundle = {"schema": "olm.bundle", "name": "op.v1", "package": "op", "properties": [big, big]}
    channel = {"schema": "olm.channel", "name": "stable", "package": "op", "entries": [{"name": "op.v1"}]}
    text = between.join(json.dumps(one, indent=4).encode() for one in (channel, bundle, bundle, channel))
    found = PartialJsonParser().parse_all(text)
    assert found is not None
    assert [skeleton is not None for _, skeleton in found] == [False, True, True, False]


@pytest.mark.parametrize("between", [b"", b" ", b"\t", b","])
def test_objects_that_share_a_line_are_not_decoded_at_once(between: bytes) -> None:
    objects = [b'{"schema": "olm.package"}'] * 3
    assert PartialJsonParser().parse_all(between.join(objects)) is None
    assert PartialJsonParser().parse_all(b"\n".join([between.join(objects[:2]), objects[2]])) is None


def _is_text_throughout(bundle: dict[str, Any]) -> bool:
    """Return whether all fields have the types of opm, without unusual numbers and characters."""
    texts = [bundle[key] for key in ("name", "package", "image") if key in bundle]
    texts += [text for image in bundle.get("relatedImages", ()) for text in image.values()]
    is_plain = re.search(r"\d{16}|\\ud[89a-f]", json.dumps(bundle)) is None
    return is_plain and all(type(text) is str for text in texts)
