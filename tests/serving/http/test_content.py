"""A catalog as catalogd keeps it."""

from __future__ import annotations

import gzip
import json
from functools import reduce
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everpath.model import Place
from everpath.opm_render.blobs import CatalogDocument
from everpath.opm_render.refusals import Refusal
from everpath.server.http_content import Content, Meta, meta_of


def of(body: Any) -> Meta:
    return meta_of(CatalogDocument(Place("catalog.yaml"), body))


def content(*bodies: dict[str, Any]) -> Content:
    return Content(map(of, bodies), 1)


def test_a_line_has_sorted_keys_and_nothing_else_of_its_author() -> None:
    made = of({"schema": "s", "b": {"d": 1, "c": [True, None]}, "a": "x"})
    assert made.line == b'{"a":"x","b":{"c":[true,null],"d":1},"schema":"s"}\n'


def test_numbers_have_gone_through_a_float() -> None:
    made = of({"schema": "s", "n": [1.0, 1.5, 10**21, 123456789012345678, 1e-7]})
    assert made.line == b'{"n":[1,1.5,1e+21,123456789012345680,1e-7],"schema":"s"}\n'


def test_marks_of_html_stay_and_line_separators_do_not() -> None:
    assert of({"schema": "<&>\u2028é"}).line == '{"schema":"<&>\\u2028é"}\n'.encode()


def test_keys_count_whatever_their_case() -> None:
    made = of({"Schema": "s", "NAME": "n", "package": "p"})
    assert made[:3] == ("s", "p", "n")


nothing: list[Any] = []


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (["a"], "a document of a catalog is a mapping"),
        ({"name": "a", "Name": "b"}, "opm does not distinguish the keys Name and name"),
        ({"schema": 1}, "schema is not a string"),
        ({"schema": "s", "name": None}, "name is not a string"),
        (
            {"schema": "s", "deep": reduce(lambda inner, _: [inner], range(600), nothing)},
            "nested deeper than 400",
        ),
    ],
)
def test_what_catalogd_would_not_store_is_refused(body: Any, words: str) -> None:
    with pytest.raises(Refusal, match=words):
        of(body)


def test_a_document_without_a_schema_is_stored_and_found_by_nothing() -> None:
    made = content({"name": "n", "package": "p"}, {"schema": "s", "name": "m"})
    assert made.select() == made.text == b'{"name":"n","package":"p"}\n{"name":"m","schema":"s"}\n'
    assert made.select(name="n") == made.select(package="p") == b""


def test_an_empty_catalog_is_empty() -> None:
    made = content()
    assert (made.text, made.select(), made.select(schema="s")) == (b"", b"", b"")


def test_compressing_gives_the_same_bytes_each_time() -> None:
    one, other = content({"schema": "s" * 5000}), content({"schema": "s" * 5000})
    assert one.compressed == other.compressed
    assert gzip.decompress(one.compressed) == one.text


words = st.sampled_from(["", "a", "b", "c"])


@given(st.lists(st.tuples(words, words, words)), words, words, words)
def test_a_query_finds_what_fits_it_in_the_order_of_the_catalog(
    metas: list[tuple[str, str, str]], schema: str, package: str, name: str
) -> None:
    made = Content((Meta(*fields, b'["%d"]\n' % n) for n, fields in enumerate(metas)), 1)
    found = made.select(schema, package, name).splitlines()
    asked = (schema, package, name)
    expected = [
        n
        for n, fields in enumerate(metas)
        if not any(asked)
        or (fields[0] and all(not want or want == has for want, has in zip(asked, fields, strict=True)))
    ]
    assert [int(json.loads(line)[0]) for line in found] == expected
