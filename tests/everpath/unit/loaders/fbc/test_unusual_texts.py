"""Every odd text of `catalog_streams` gives the problems listed there, and never a traceback."""

from __future__ import annotations

import pytest

from everpath.model import ProblemKind
from tests.support.everpath.catalog_streams import STREAMS
from tests.support.everpath.loaded_catalogs import read

# What opm takes in silence although it drops or changes part of it, or we bound more tightly.
_KNOWN_DIFFERENCES = {
    "carriage returns alone",
    "text after the end of a document",
    "JSON that is not UTF-8",
    "JSON twice behind a byte order mark",
    "UTF-16, big end first",
    "brackets nested 600 deep",
}
_ACCEPTED_BY_OPM = {"duplicate-key", "lossy-number", "misspelled-key"}


@pytest.mark.parametrize("name", STREAMS)
def test_the_problems_of_an_odd_text(name: str) -> None:
    stream = STREAMS[name]
    assert tuple(problem.kind for problem in read(stream.text).problems) == stream.kinds


@pytest.mark.parametrize("name", STREAMS)
def test_a_thorough_reading_reports_the_same(name: str) -> None:
    stream = STREAMS[name]
    assert tuple(problem.kind for problem in read(stream.text, thorough=True).problems) == stream.kinds


def test_opm_and_everpath_refuse_the_same_texts_but_for_a_known_few() -> None:
    ours = {name for name, stream in STREAMS.items() if set(stream.kinds) - _ACCEPTED_BY_OPM}
    theirs = {name for name, stream in STREAMS.items() if not stream.opm}
    assert ours - theirs == _KNOWN_DIFFERENCES
    assert theirs - ours == set()


def test_every_kind_of_problem_has_its_rule() -> None:
    assert {kind for stream in STREAMS.values() for kind in stream.kinds} <= {*ProblemKind}
