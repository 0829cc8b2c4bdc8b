"""Package files: what makes a package of folders in the package-manifest format."""

from __future__ import annotations

from typing import Any

import pytest

from everpath.model import Place
from everpath.rules.contents.subject import PackageFile
from everpath.rules.registry import rules_about

GOOD = {
    "packageName": "acme",
    "defaultChannel": "stable",
    "channels": [{"name": "stable", "currentCSV": "acme.v2"}, {"name": "old", "currentCSV": "acme.v1"}],
}


def said(body: dict[str, Any]) -> list[str]:
    rules = rules_about({"package file"})
    flaws = [(rule.id, flaw) for rule in rules for flaw in rule.check(PackageFile(Place("p.yaml"), body))]
    assert all(flaw.fix for _, flaw in flaws)
    return [f"{rule} {flaw.message}" for rule, flaw in flaws]


def test_nothing_is_wrong_with_a_good_one() -> None:
    assert said(GOOD) == []


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"packageName": ""}, "EP691 the package file names no package"),
        ({"channels": []}, "EP692 the package file lists no channels"),
        ({"channels": [{"name": "stable"}]}, "EP692 the channel 'stable' has no currentCSV"),
        ({"channels": [{"currentCSV": "a"}]}, "EP692 channel number 0 has no name"),
        ({"channels": GOOD["channels"] * 2}, "EP692 the channel 'stable' is listed twice"),  # type: ignore[operator]
        ({"defaultChannel": ""}, "EP693 the package file names no default channel"),
        ({"defaultChannel": "new"}, "EP693 the default channel 'new' is none of the channels"),
    ],
)
def test_a_fault_is_named(change: dict[str, Any], expected: str) -> None:
    assert expected in said(GOOD | change)


def test_one_channel_needs_no_default() -> None:
    assert said({"packageName": "acme", "channels": [{"name": "stable", "currentCSV": "acme.v2"}]}) == []
