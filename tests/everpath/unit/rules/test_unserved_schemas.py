"""Custom documents that opm accepts but cannot serve."""

from __future__ import annotations

import pytest

from everpath.model import Catalog
from everpath.rules.findings import Severity
from tests.support.everpath.documents import bundle, catalog, channel, package
from tests.support.everpath.graphs import findings, parse_report


def custom(schema: str, owner: str = "op") -> Catalog:
    return catalog(
        package(), channel("op.v1.0.0"), bundle(), {"schema": schema, "package": owner, "name": "x"}
    )


@pytest.mark.parametrize("schema", ["example.com/x", "_x", "-x", "x y", "ü"])
def test_schema_with_other_characters_is_reported(schema: str) -> None:
    assert findings(custom(schema), "unserved-schema") == [
        f"EP012 op: the catalog pod does not start: schema {schema!r} has a character that opm cannot serve"
    ]


def test_schema_that_opm_cannot_serve_is_an_error() -> None:
    assert [f.severity for f in parse_report(custom("a/b"), "EP012")] == [Severity.ERROR]


def test_package_with_a_slash_is_reported() -> None:
    assert findings(custom("x", "a/b"), "EP012") == [
        "EP012 a/b: the catalog pod does not start: package 'a/b' has a character that opm cannot serve"
    ]


def test_finding_about_a_document_without_a_package_has_none() -> None:
    assert findings(custom("a/b", ""), "EP012")[0].startswith("EP012 -: ")


@pytest.mark.parametrize(("schema", "owner"), [("x_-.y", "A_b.c"), ("0", ""), ("olm.x", "op")])
def test_letters_digits_dots_dashes_and_underscores_are_served(schema: str, owner: str) -> None:
    assert findings(custom(schema, owner), "EP012") == []
