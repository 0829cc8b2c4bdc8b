"""What blang/semver v4.0.0 itself answered, recorded: ranges, hand-picked and random, against fixed versions.

In `answers` each letter is one version's: yes, no, or a panic; "error" means that the range did not parse.
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
def test_a_range_answers_as_blang_does(case: dict[str, str]) -> None:
    assert _answers(case["range"]) == case["answers"]


def _answers(text: str) -> str:
    try:
        span = Range.parse(text)
    except RangeError:
        return "error"
    return "".join(_letter(span, version) for version in _VERSIONS)


def _letter(span: Range, version: Version) -> str:
    try:
        return "y" if span.contains(version) else "n"
    except RangePanic:
        return "p"
