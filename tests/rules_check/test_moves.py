"""Which moves of OLM are judged by what the two releases define."""

from __future__ import annotations

from typing import Any

import pytest

from everpath.crd_upgrade_safety.crd import CrdVersion, CustomResourceDefinition
from everpath.loaders.notation import parse
from everpath.model import Package, Place
from everpath.rules.findings import Finding
from everpath.rules.lint import CATALOG_SUBJECTS, Selection, lint_catalog

CHANNELS = "[stable]\nb3: b2\nb2: b1\nb1\n[fast]\nb4: b3\nb3: b2\nb2"


def stored_apart(package: Package) -> dict[str, tuple[CustomResourceDefinition, ...]]:
    """Every bundle drops the version that objects of all others are stored in."""
    versions = {b.name: CrdVersion(b.name, True, True, {}, Place("")) for b in package.bundles}
    return {
        name: (CustomResourceDefinition("widgets.acme.io", "Namespaced", "None", {name: version}, Place("")),)
        for name, version in versions.items()
    }


def found(drawing: str, **selection: Any) -> tuple[Finding, ...]:
    asked = Selection(frozenset({"EP701"}), subjects=CATALOG_SUBJECTS | {"upgrade"}, **selection)
    return lint_catalog(parse(drawing), asked, None, stored_apart).findings


def moves(drawing: str, **selection: Any) -> dict[str, str]:
    """The moves that are judged, each with the policies and channels that take it."""
    told: dict[str, str] = {}
    for finding in found(drawing, **selection):
        ways = (because.partition(", and ")[0] for because in finding.because)
        said = ", ".join(way.removeprefix("OLM ").replace(" selects this hop in", "") for way in ways)
        told[finding.message.partition(":")[0]] = said
    return told


def test_every_move_is_judged_with_all_who_take_it() -> None:
    assert moves(CHANNELS) == {
        "b1 to b2": "v0 stable, v1 stable",
        "b2 to b3": "v0 stable, v1 stable, v0 fast, v1 fast",
        "b3 to b4": "v0 fast, v1 fast",
    }


def test_only_moves_in_the_selected_channels_are_judged() -> None:
    assert moves(CHANNELS, channels=frozenset({"stable"})) == {
        "b1 to b2": "v0 stable, v1 stable",
        "b2 to b3": "v0 stable, v1 stable",
    }


@pytest.mark.parametrize(("policy", "taken"), [("v0", "b1 to b2"), ("v1", "b1 to b3")])
def test_only_moves_of_the_selected_policy_are_judged(policy: str, taken: str) -> None:
    apart = "b2: b3 / b1\nb3: b1\nb1"
    assert [move for move in moves(apart, policy=policy) if move.startswith("b1")] == [taken]
    assert moves(apart)[taken] == f"{policy} stable"


def test_a_finding_about_a_move_is_of_the_package_and_of_the_release_it_leads_to() -> None:
    [finding] = found("b2: b1\nb1")
    assert (finding.package, finding.channel, finding.entry) == ("p", None, "b2")


def test_no_move_is_judged_where_nobody_says_what_the_releases_define() -> None:
    asked = Selection(subjects=CATALOG_SUBJECTS | {"upgrade"})
    assert lint_catalog(parse("b2: b1\nb1"), asked).findings == ()
