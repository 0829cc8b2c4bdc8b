"""opm rejects the catalogs for which rules about documents, names, bundles and deprecations have errors."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.everpath.conformance.oracle import Oracle
from tests.support.everpath.documents import text
from tests.support.everpath.opm_refusals import ACCEPTED, REFUSALS

pytestmark = pytest.mark.conformance


@pytest.mark.parametrize("law", REFUSALS)
def test_opm_rejects_catalogs_with_errors(oracle: Oracle, law: str) -> None:
    answer = oracle.ask({"ask": "opm", "catalog": text(REFUSALS[law][1])})
    assert not answer["accepts"]
    assert answer["stage"] == ("validate" if law.startswith("M ") else "convert"), answer["error"]


@pytest.mark.parametrize("name", ACCEPTED)
def test_opm_accepts_catalogs_without_errors(oracle: Oracle, name: str) -> None:
    assert oracle.ask({"ask": "opm", "catalog": text(ACCEPTED[name])})["accepts"]


def test_refusals_are_counted(record_property: Callable[[str, object], None]) -> None:
    record_property(
        "counted", f"opm's laws, a catalog each: {len(REFUSALS)} refused, {len(ACCEPTED)} accepted by both"
    )
    assert len(REFUSALS) > 60
