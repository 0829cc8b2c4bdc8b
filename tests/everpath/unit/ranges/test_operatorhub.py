"""The skip ranges that OperatorHub has published."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from everpath.ranges import HazardKind, Range

pytestmark = pytest.mark.corpus


@pytest.fixture(scope="module")
def published(corpus: Path) -> frozenset[str]:
    with gzip.open(corpus / "corpus-k8s-graph.json.gz", "rt") as lines:
        entries = (entry for line in lines for entry in json.loads(line).get("entries", ()))
        return frozenset(entry["skipRange"] for entry in entries if "skipRange" in entry)


def test_every_published_range_parses(published: frozenset[str]) -> None:
    assert len(published) == 710
    assert all(Range.parse(text).text == text for text in published)


def test_published_ranges_have_no_hazards(published: frozenset[str]) -> None:
    found = [(text, hazard.kind) for text in published for hazard in Range.parse(text).hazards]
    assert found == [(">=1.7.0 <1.7.0", HazardKind.NEVER)]
