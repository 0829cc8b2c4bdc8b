"""Hops for which rules compare the CRDs of two releases."""

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
    catalog = parse(drawing)
    crds = {package.name: stored_apart(package) for package in catalog.packages}
    return lint_catalog(catalog, asked, None, crds).findings


def moves(drawing: str, **selection: Any) -> dict[str, str]:
    """Return the checked hops, each with its resolvers and channels."""
    hops: dict[str, str] = {}
    for finding in found(drawing, **selection):
        ways = (because.partition(", and ")[0] for because in finding.because)
        taken_by = ", ".join(way.removeprefix("OLM ").replace(" selects this hop in", "") for way in ways)
        hops[finding.message.partition(":")[0]] = taken_by
    return hops


def test_every_hop_is_checked_with_its_resolvers_and_channels() -> None:
    assert moves(CHANNELS) == {
        "b1 to b2": "v0 stable, v1 stable",
        "b2 to b3": "v0 stable, v1 stable, v0 fast, v1 fast",
        "b3 to b4": "v0 fast, v1 fast",
    }


def test_only_hops_in_selected_channels_are_checked() -> None:
    assert moves(CHANNELS, channels=frozenset({"stable"})) == {
        "b1 to b2": "v0 stable, v1 stable",
        "b2 to b3": "v0 stable, v1 stable",
    }


@pytest.mark.parametrize(("resolver", "taken"), [("v0", "b1 to b2"), ("v1", "b1 to b3")])
def test_only_hops_of_the_selected_resolver_are_checked(resolver: str, taken: str) -> None:
    apart = "b2: b3 / b1\nb3: b1\nb1"
    assert [move for move in moves(apart, resolver=resolver) if move.startswith("b1")] == [taken]
    assert moves(apart)[taken] == f"{resolver} stable"


def test_finding_about_a_hop_has_the_package_and_the_successor() -> None:
    [finding] = found("b2: b1\nb1")
    assert (finding.package, finding.channel, finding.entry) == ("p", None, "b2")


def test_hops_are_not_checked_without_crds() -> None:
    asked = Selection(subjects=CATALOG_SUBJECTS | {"upgrade"})
    assert lint_catalog(parse("b2: b1\nb1"), asked).findings == ()
