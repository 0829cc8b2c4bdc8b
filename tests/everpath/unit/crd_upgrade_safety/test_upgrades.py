"""Which upgrades are compared, and which versions a cluster may have stored."""

from __future__ import annotations

import pytest

from everpath.crd_upgrade_safety import HopChannels, check_upgrades
from everpath.crd_upgrade_safety.crd import CrdVersion, CustomResourceDefinition
from everpath.model import Place


def crds(*versions: str) -> tuple[CustomResourceDefinition, ...]:
    """A CRD with these versions; the first is the storage version."""
    by_name = {name: CrdVersion(name, True, name == versions[0], {}, Place("")) for name in versions}
    return (CustomResourceDefinition("widgets.acme.io", "Namespaced", "None", by_name, Place("")),)


def hops(text: str) -> HopChannels:
    pairs = [pair.split(">") for pair in text.split()]
    return {a: {b: (("v0", "stable"),) for before, b in pairs if before == a} for a, _ in pairs}


def test_each_hop_between_known_bundles_is_compared_once() -> None:
    known = {"a": crds("v1"), "b": crds("v1"), "c": crds("v1")}
    upgrades = [(u.before, u.after) for u in check_upgrades(hops("a>b b>c a>c x>c c>y"), known)]
    assert upgrades == [("a", "b"), ("a", "c"), ("b", "c")]


def test_removing_a_version_that_an_earlier_bundle_stored_is_unsafe() -> None:
    known = {"a": crds("v1alpha1", "v1"), "b": crds("v1", "v1alpha1"), "c": crds("v1")}
    kinds = {(u.before, u.after): [c.kind for c in u.changes] for u in check_upgrades(hops("a>b b>c"), known)}
    assert kinds == {("a", "b"): [], ("b", "c"): ["stored-removed"]}


def test_removing_a_version_that_no_earlier_bundle_stored_only_stops_serving_it() -> None:
    known = {"b": crds("v1", "v1alpha1"), "c": crds("v1")}
    [upgrade] = check_upgrades(hops("b>c"), known)
    assert [change.kind for change in upgrade.changes] == ["served-removed"]


def test_a_cycle_of_hops_terminates() -> None:
    known = {"a": crds("v1"), "b": crds("v2")}
    assert [u.changes[0].kind for u in check_upgrades(hops("a>b b>a"), known)] == ["stored-removed"] * 2


def test_upgrades_are_sorted_by_name() -> None:
    known = dict.fromkeys("abc", crds("v1"))
    upgrades = [(u.before, u.after) for u in check_upgrades(hops("b>c a>c a>b"), known)]
    assert upgrades == [("a", "b"), ("a", "c"), ("b", "c")]


@pytest.mark.parametrize(
    "path", ["a>b b>c c>z", "a>c b>c c>z", "a>x a>b x>z b>z", "z>y y>a a>b b>z", "a>b a>c c>z", "a>? ?>z"]
)
def test_a_stored_version_is_remembered_along_every_upgrade_path(path: str) -> None:
    old, new = crds("v1alpha1", "v1"), crds("v1", "v1alpha1")
    known = {**dict.fromkeys("bcxyz", new), "a": old, "end": crds("v1")}
    upgrades = check_upgrades(hops(f"{path} z>end"), known)
    [last] = [u for u in upgrades if (u.before, u.after) == ("z", "end")]
    assert [change.kind for change in last.changes] == ["stored-removed"]


def test_stored_versions_are_kept_per_crd() -> None:
    [widgets], [others] = crds("v1alpha1", "v1"), crds("v1", "v1alpha1")
    gears = others._replace(name="gears.acme.io")
    known = {"a": (widgets,), "b": (gears,), "c": (*crds("v1"), gears._replace(versions={}))}
    last = list(check_upgrades(hops("a>b b>c"), known))[-1]
    assert [(change.crd, change.kind, change.version) for change in last.changes][:2] == [
        ("gears.acme.io", "stored-removed", "v1"),
        ("gears.acme.io", "served-removed", "v1alpha1"),
    ]


def test_a_crd_without_a_storage_version_removes_no_stored_version() -> None:
    """The CRD is invalid, but no object can be stored."""
    not_stored = CrdVersion("v1", True, False, {}, Place(""))
    crd = CustomResourceDefinition("widgets.acme.io", "Namespaced", "None", {"v1": not_stored}, Place(""))
    [upgrade] = check_upgrades(hops("a>b"), {"a": (crd,), "b": (crd,)})
    assert upgrade.changes == ()
