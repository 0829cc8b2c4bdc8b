"""The real opm loads and rejects the texts as `catalog_streams` says."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.everpath.conformance.oracle import Oracle
from tests.support.everpath.catalog_streams import STREAMS

pytestmark = pytest.mark.conformance

# A question is JSON and has only text; binary files were tested with opm separately.
_TEXTS = {
    name: stream
    for name, stream in STREAMS.items()
    if stream.text.decode("utf-8", "ignore").encode() == stream.text
}


@pytest.mark.parametrize("name", _TEXTS)
def test_opm_loads_the_expected_texts(oracle: Oracle, name: str) -> None:
    answer = oracle.ask({"ask": "opm", "catalog": _TEXTS[name].text.decode()})
    assert (answer.get("stage") != "load") == _TEXTS[name].opm, answer


def test_streams_are_counted(record_property: Callable[[str, object], None]) -> None:
    taken = sum(stream.opm for stream in _TEXTS.values())
    record_property("counted", f"odd texts: {taken} loaded, {len(_TEXTS) - taken} refused by opm as we say")
    assert len(_TEXTS) > 100
