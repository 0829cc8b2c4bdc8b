"""Ranges match versions as in blang/semver v4.0.0.

blang_answers.jsonl has the results of blang for hand-picked and random ranges. Each letter of `answers` is
the result for a version: yes, no or panic. "error" means that the range does not parse.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from everpath.ranges import Range, RangeError, RangePanic
from everpath.versions import Version, parse

_HEADER, *_CASES = map(json.loads, Path(__file__).with_name("blang_answers.jsonl").read_text().splitlines())
_VERSIONS = [parse(text) for text in _HEADER["versions"]]


@pytest.mark.parametrize("case", _CASES, ids=lambda case: ascii(case["range"]))
def test_range_matches_as_in_blang(case: dict[str, str]) -> None:
    assert _results(case["range"]) == case["answers"]


def _results(text: str) -> str:
    try:
        version_range = Range.parse(text)
    except RangeError:
        return "error"
    return "".join(_letter(version_range, version) for version in _VERSIONS)


def _letter(version_range: Range, version: Version) -> str:
    try:
        return "y" if version_range.contains(version) else "n"
    except RangePanic:
        return "p"
