"""A catalog as catalogd stores it."""

from __future__ import annotations

import gzip
import json
from functools import reduce
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everpath.model import OpmError, Place
from everpath.opm_render.blobs import CatalogDocument
from everpath.server.content_api.content import CatalogContent, Meta, meta_from_document


def make_meta(body: Any) -> Meta:
    return meta_from_document(CatalogDocument(Place("catalog.yaml"), body))


def content(*bodies: dict[str, Any]) -> CatalogContent:
    return CatalogContent(map(make_meta, bodies), 1)


def test_a_line_has_sorted_keys_and_no_whitespace() -> None:
    meta = make_meta({"schema": "s", "b": {"d": 1, "c": [True, None]}, "a": "x"})
    assert meta.line == b'{"a":"x","b":{"c":[true,null],"d":1},"schema":"s"}\n'


def test_numbers_are_encoded_as_float64() -> None:
    meta = make_meta({"schema": "s", "n": [1.0, 1.5, 10**21, 123456789012345678, 1e-7]})
    assert meta.line == b'{"n":[1,1.5,1e+21,123456789012345680,1e-7],"schema":"s"}\n'


def test_html_characters_are_not_escaped_and_line_separators_are() -> None:
    assert make_meta({"schema": "<&>\u2028é"}).line == '{"schema":"<&>\\u2028é"}\n'.encode()


def test_keys_are_case_insensitive() -> None:
    meta = make_meta({"Schema": "s", "NAME": "n", "package": "p"})
    assert meta[:3] == ("s", "p", "n")


EMPTY: list[Any] = []


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (["a"], "a document of a catalog is a mapping"),
        ({"name": "a", "Name": "b"}, "opm does not distinguish the keys Name and name"),
        ({"schema": 1}, "schema is not a string"),
        ({"schema": "s", "name": None}, "name is not a string"),
        (
            {"schema": "s", "deep": reduce(lambda inner, _: [inner], range(600), EMPTY)},
            "nested deeper than 400",
        ),
    ],
)
def test_a_document_that_catalogd_refuses_is_refused(body: Any, message: str) -> None:
    with pytest.raises(OpmError, match=message):
        make_meta(body)


def test_a_document_without_a_schema_is_stored_and_never_matches() -> None:
    catalog = content({"name": "n", "package": "p"}, {"schema": "s", "name": "m"})
    assert catalog.select() == catalog.text == b'{"name":"n","package":"p"}\n{"name":"m","schema":"s"}\n'
    assert catalog.select(name="n") == catalog.select(package="p") == b""


def test_an_empty_catalog_is_empty() -> None:
    catalog = content()
    assert (catalog.text, catalog.select(), catalog.select(schema="s")) == (b"", b"", b"")


def test_compression_is_deterministic() -> None:
    one, other = content({"schema": "s" * 5000}), content({"schema": "s" * 5000})
    assert one.gzip_text == other.gzip_text
    assert gzip.decompress(one.gzip_text) == one.text


names = st.sampled_from(["", "a", "b", "c"])


@given(st.lists(st.tuples(names, names, names)), names, names, names)
def test_a_query_returns_matching_documents_in_the_order_of_the_catalog(
    metas: list[tuple[str, str, str]], schema: str, package: str, name: str
) -> None:
    catalog = CatalogContent((Meta(*fields, b'["%d"]\n' % n) for n, fields in enumerate(metas)), 1)
    lines = catalog.select(schema, package, name).splitlines()
    query = (schema, package, name)
    expected = [
        n
        for n, fields in enumerate(metas)
        if not any(query)
        or (fields[0] and all(not want or want == has for want, has in zip(query, fields, strict=True)))
    ]
    assert [int(json.loads(line)[0]) for line in lines] == expected
