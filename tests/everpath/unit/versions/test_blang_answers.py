"""Versions parse as in blang/semver v4.0.0.

blang_answers.jsonl has the String() of the versions that blang parsed, or null for an error.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from everpath.versions import Version, VersionError, parse, parse_tolerant

_CASES = [
    json.loads(line) for line in Path(__file__).with_name("blang_answers.jsonl").read_text().splitlines()
]


@pytest.mark.parametrize("case", _CASES, ids=lambda case: ascii(case["text"]))
def test_version_parses_as_in_blang(case: dict[str, str]) -> None:
    assert _parse_text(parse, case["text"]) == case["strict"]
    assert _parse_text(parse_tolerant, case["text"]) == case["tolerant"]


def _parse_text(parser: Callable[[str], Version], text: str) -> str | None:
    try:
        return str(parser(text))
    except VersionError:
        return None
