"""Rules about package manifests."""

from __future__ import annotations

from typing import Any

import pytest

from everpath.model import Place
from everpath.model.bundle_contents import PackageManifest
from everpath.rules.findings import Severity
from everpath.rules.registry import rules_for_subjects

GOOD = {
    "packageName": "acme",
    "defaultChannel": "stable",
    "channels": [{"name": "stable", "currentCSV": "acme.v2"}, {"name": "old", "currentCSV": "acme.v1"}],
}


def messages(body: dict[str, Any]) -> list[str]:
    rules = rules_for_subjects({"package file"})
    flaws = [(rule.id, flaw) for rule in rules for flaw in rule.check(PackageManifest(Place("p.yaml"), body))]
    assert all(flaw.fix for _, flaw in flaws)
    return [f"{rule} {flaw.message}" for rule, flaw in flaws]


def test_valid_package_manifest_has_no_findings() -> None:
    assert messages(GOOD) == []


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"packageName": ""}, "EP691 validators reject the package manifest: it has no packageName"),
        ({"channels": []}, "EP692 validators reject the package manifest: it has no channels"),
        (
            {"channels": [{"name": "stable"}]},
            "EP692 the channel 'stable' has no bundles: it has no currentCSV",
        ),
        ({"channels": [{"currentCSV": "a"}]}, "EP692 channels[0] has no name"),
        ({"channels": GOOD["channels"] * 2}, "EP692 the channel 'stable' is listed twice"),  # type: ignore[operator]
        (
            {"defaultChannel": ""},
            "EP693 a Subscription without a channel fails: the package manifest has no defaultChannel",
        ),
        (
            {"defaultChannel": "new"},
            "EP693 a Subscription without a channel fails: the default channel 'new' does not exist",
        ),
    ],
)
def test_every_fault_is_reported(change: dict[str, Any], expected: str) -> None:
    assert expected in messages(GOOD | change)


def test_one_channel_needs_no_default() -> None:
    assert messages({"packageName": "acme", "channels": [{"name": "stable", "currentCSV": "acme.v2"}]}) == []


@pytest.mark.parametrize(
    ("body", "places"),
    [
        ({"channels": GOOD["channels"], "defaultChannel": "old"}, [("packageName",)]),
        ({"packageName": "acme"}, [("channels",)]),
        ({**GOOD, "channels": [{"name": "stable"}, {}]}, [("channels", 0), ("channels", 1), ("channels", 1)]),
        (
            {**GOOD, "channels": [{"name": "stable", "currentCSV": "a"}] * 3},
            [("channels", 1), ("channels", 2)],
        ),
        ({**GOOD, "defaultChannel": "new"}, [("defaultChannel",)]),
        ({**GOOD, "defaultChannel": ""}, [("defaultChannel",)]),
        ({"packageName": "acme", "defaultChannel": "new"}, [("channels",)]),
    ],
)
def test_every_fault_is_reported_with_its_position(
    body: dict[str, Any], places: list[tuple[str | int, ...]]
) -> None:
    rules = rules_for_subjects({"package file"})
    flaws = [flaw for rule in rules for flaw in rule.check(PackageManifest(Place("p.yaml"), body))]
    assert [flaw.place.pointer for flaw in flaws] == places


def test_default_is_an_existing_channel() -> None:
    [rule] = [rule for rule in rules_for_subjects({"package file"}) if rule.id == "EP693"]
    for default in ("", "new"):
        [flaw] = rule.check(PackageManifest(Place("p.yaml"), GOOD | {"defaultChannel": default}))
        assert flaw.fix == "set it to one of stable and old"


def test_rules_for_package_manifests_belong_to_their_validator() -> None:
    assert [(r.id, r.name, r.severity, r.validators) for r in rules_for_subjects({"package file"})] == [
        ("EP691", "package-file-name", Severity.ERROR, ("packagemanifest",)),
        ("EP692", "package-file-channels", Severity.ERROR, ("packagemanifest",)),
        ("EP693", "package-file-default", Severity.ERROR, ("packagemanifest",)),
    ]
