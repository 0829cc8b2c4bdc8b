"""Partial and complete loading give the same catalog."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from everpath.loaders.fbc.partial_yaml import PartialYamlParser
from everpath.parsing import yaml_parser
from tests.support.everpath.catalog_texts import Style, documents, dumped, styles
from tests.support.everpath.loaded_catalogs import read, read_lazily, without_metadata
from tests.support.tiers import examples


@settings(max_examples=examples(200))
@given(documents, styles)
def test_lazy_and_complete_loading_agree(documents: list[dict[str, Any]], style: Style) -> None:
    text = dumped(documents, style)
    assert without_metadata(read_lazily(text)) == without_metadata(read(text, thorough=True))


@given(documents, styles, styles)
def test_the_model_does_not_depend_on_how_a_catalog_is_written(
    documents: list[dict[str, Any]], style: Style, other: Style
) -> None:
    one, two = read(dumped(documents, style)), read(dumped(documents, other))
    assert [(p.name, len(p.channels), len(p.bundles)) for p in one.packages] == [
        (p.name, len(p.channels), len(p.bundles)) for p in two.packages
    ]
    assert [p.message for p in one.problems] == [p.message for p in two.problems]


_BIG = ("olm.csv.metadata", "olm.bundle.object")


@st.composite
def slips(draw: st.DrawFn) -> bytes:
    """Return a YAML document with an error: a missing, duplicated or indented line, or a stray quote."""
    style = draw(styles.filter(lambda style: not style.is_json))
    lines = dumped(draw(documents)[:1], style).split(b"\n")
    i = draw(st.integers(0, len(lines) - 1))
    slip = draw(st.sampled_from(("lose", "double", "indent", "outdent", "quote", "apostrophe", "alien")))
    edited = {
        "lose": [],
        "double": [lines[i]] * 2,
        "indent": [b" " + lines[i]],
        "outdent": [lines[i].removeprefix(b" ").removeprefix(b" ")],
        "quote": [lines[i] + b'"'],
        "apostrophe": [lines[i].replace(b": ", b": '", 1)],
        "alien": [lines[i], b"  alien: true"],
    }
    return b"\n".join([*lines[:i], *edited[slip], *lines[i + 1 :]])


def _small(value: Any) -> Any:
    """Return the document as the lazy reader returns it, without large values."""
    for stated in value.get("properties") or ():
        if isinstance(stated, dict) and stated.get("type") in _BIG:
            stated["value"] = {}
    return value


@settings(max_examples=examples(500))
@given(slips())
def test_skeleton_agrees_with_a_parser(text: bytes) -> None:
    skeleton = PartialYamlParser().parse(text)
    if skeleton is None:
        return
    try:
        parsed = yaml_parser.parse(text)
    except yaml_parser.ParseError:
        # The error is in an unread value; `yaml11.check` finds it.
        assert not skeleton.is_complete
        return
    assert _small(skeleton.value) == _small(parsed.value)
    assert not skeleton.is_complete or not parsed.warnings
