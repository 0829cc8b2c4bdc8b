"""What blang/semver v4.0.0 itself made of texts as versions, recorded: its String() or null for an error."""

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
def test_a_version_is_read_as_blang_does(case: dict[str, str]) -> None:
    assert _read(parse, case["text"]) == case["strict"]
    assert _read(parse_tolerant, case["text"]) == case["tolerant"]


def _read(reader: Callable[[str], Version], text: str) -> str | None:
    try:
        return str(reader(text))
    except VersionError:
        return None
