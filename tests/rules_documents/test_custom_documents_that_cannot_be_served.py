"""opm validates custom documents that it cannot serve afterwards."""

from __future__ import annotations

import pytest

from documents import bundle, catalog, channel, package
from everpath.model import Catalog
from everpath.rules.findings import Severity
from graphs import findings, parse_report


def custom(schema: str, owner: str = "op") -> Catalog:
    return catalog(
        package(), channel("op.v1.0.0"), bundle(), {"schema": schema, "package": owner, "name": "x"}
    )


@pytest.mark.parametrize("schema", ["example.com/x", "_x", "-x", "x y", "ü"])
def test_a_schema_that_is_no_plain_word_is_not_served(schema: str) -> None:
    assert findings(custom(schema), "unserved-schema") == [
        f"EP012 op: the catalog pod does not start: schema {schema!r} has a character that opm cannot serve"
    ]


def test_what_keeps_the_pod_from_starting_is_an_error() -> None:
    assert [f.severity for f in parse_report(custom("a/b"), "EP012")] == [Severity.ERROR]


def test_nor_is_a_package_with_a_slash() -> None:
    assert findings(custom("x", "a/b"), "EP012") == [
        "EP012 a/b: the catalog pod does not start: package 'a/b' has a character that opm cannot serve"
    ]


def test_a_document_of_no_package_is_reported_for_none() -> None:
    assert findings(custom("a/b", ""), "EP012")[0].startswith("EP012 -: ")


@pytest.mark.parametrize(("schema", "owner"), [("x_-.y", "A_b.c"), ("0", ""), ("olm.x", "op")])
def test_letters_digits_dots_dashes_and_underscores_are_served(schema: str, owner: str) -> None:
    assert findings(custom(schema, owner), "EP012") == []
