"""Hypothesis strategies for versions and ranges, valid and invalid."""

from __future__ import annotations

__all__ = ["any_text", "interval_sets", "range_texts", "version_texts", "versions"]

from hypothesis import strategies as st

from everpath.ranges import IntervalSet
from everpath.versions import Version, parse

_numbers = st.sampled_from(["0", "1", "2", "3", "9", "10", "9223372036854775807", "18446744073709551615"])
_identifiers = st.sampled_from(
    [
        "0",
        "1",
        "2",
        "10",
        "18446744073709551615",
        "a",
        "alpha",
        "alpha-1",
        "b",
        "next",
        "rc",
        "x",
        "-",
        "0a",
        "A",
    ]
)
_dotted = st.lists(_identifiers, min_size=1, max_size=3).map(".".join)
_operators = st.sampled_from(["", "=", "==", "!", "!=", ">", ">=", "<", "<="])
_wildcards = st.sampled_from(["0.x", "1.x", "1.2.x", "1.x.x", "2.0.x", "1.x.2", "1.+1.x", "1.01.x"])


def version_texts() -> st.SearchStrategy[str]:
    """Return valid versions from few numbers and identifiers, so that equal and adjacent ones occur."""
    core = st.lists(_numbers, min_size=3, max_size=3).map(".".join)
    tail = st.one_of(st.just(""), _dotted.map("-".__add__))
    build = st.one_of(st.just(""), st.just(""), _dotted.map("+".__add__))
    return st.tuples(core, tail, build).map("".join)


def versions() -> st.SearchStrategy[Version]:
    return version_texts().map(parse)


def range_texts() -> st.SearchStrategy[str]:
    """Return texts like ranges. Most parse, some do not, and some can panic."""
    version = st.one_of(version_texts(), version_texts(), _wildcards)
    term = st.tuples(_operators, st.sampled_from(["", "", " "]), version).map("".join)
    noise = st.sampled_from(["||", "|", "-", "!", "<", "x"])
    parts = st.lists(st.one_of(term, term, term, st.just("||"), noise), min_size=1, max_size=6)
    return parts.map(" ".join)


def any_text() -> st.SearchStrategy[str]:
    """Return any text, often of the characters of versions and ranges."""
    return st.one_of(st.text(max_size=12), st.text("0123x.-+v <>=!|~", max_size=16), range_texts())


def interval_sets() -> st.SearchStrategy[IntervalSet]:
    """Return sets of a few intervals with all operators."""
    operators = st.sampled_from(["=", "!=", ">", ">=", "<", "<="])
    halves = st.builds(IntervalSet.from_comparison, operators, versions())
    between = st.tuples(halves, halves).map(lambda pair: pair[0] & pair[1])
    return st.lists(between, max_size=4).map(IntervalSet.union)
