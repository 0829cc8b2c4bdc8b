"""Which upgrades are compared, and what a cluster may have stored by then."""

from __future__ import annotations

import pytest

from everpath.crd_upgrade_safety import Moves, upgrades
from everpath.crd_upgrade_safety.definitions import Definition, Version
from everpath.model import Place


def definition(*versions: str) -> tuple[Definition, ...]:
    """A kind with these versions; the first is the storage version."""
    made = {name: Version(name, True, name == versions[0], {}, Place("")) for name in versions}
    return (Definition("widgets.acme.io", "Widget", "Namespaced", "None", made, Place("")),)


def moves(text: str) -> Moves:
    pairs = [pair.split(">") for pair in text.split()]
    return {a: {b: (("v0", "stable"),) for one, b in pairs if one == a} for a, _ in pairs}


def test_each_move_between_known_releases_is_compared_once() -> None:
    known = {"a": definition("v1"), "b": definition("v1"), "c": definition("v1")}
    found = [(u.before, u.after) for u in upgrades(moves("a>b b>c a>c x>c c>y"), known)]
    assert found == [("a", "b"), ("a", "c"), ("b", "c")]


def test_a_version_stored_two_releases_ago_breaks_the_upgrade_that_drops_it() -> None:
    known = {"a": definition("v1alpha1", "v1"), "b": definition("v1", "v1alpha1"), "c": definition("v1")}
    broken = {(u.before, u.after): [b.kind for b in u.breaches] for u in upgrades(moves("a>b b>c"), known)}
    assert broken == {("a", "b"): [], ("b", "c"): ["stored-removed"]}


def test_a_release_that_nobody_comes_to_from_there_may_drop_it() -> None:
    known = {"b": definition("v1", "v1alpha1"), "c": definition("v1")}
    [found] = upgrades(moves("b>c"), known)
    assert [b.kind for b in found.breaches] == ["served-removed"]


def test_releases_that_move_in_a_circle_end_the_sweep() -> None:
    known = {"a": definition("v1"), "b": definition("v2")}
    assert [u.breaches[0].kind for u in upgrades(moves("a>b b>a"), known)] == ["stored-removed"] * 2


def test_upgrades_come_in_order_of_name() -> None:
    known = dict.fromkeys("abc", definition("v1"))
    found = [(u.before, u.after) for u in upgrades(moves("b>c a>c a>b"), known)]
    assert found == [("a", "b"), ("a", "c"), ("b", "c")]


@pytest.mark.parametrize(
    "way", ["a>b b>c c>z", "a>c b>c c>z", "a>x a>b x>z b>z", "z>y y>a a>b b>z", "a>b a>c c>z", "a>? ?>z"]
)
def test_what_was_stored_anywhere_on_the_way_is_remembered_to_its_end(way: str) -> None:
    old, new = definition("v1alpha1", "v1"), definition("v1", "v1alpha1")
    known = {**dict.fromkeys("bcxyz", new), "a": old, "end": definition("v1")}
    found = upgrades(moves(f"{way} z>end"), known)
    [last] = [u for u in found if (u.before, u.after) == ("z", "end")]
    assert [breach.kind for breach in last.breaches] == ["stored-removed"]


def test_every_definition_has_its_own_memory() -> None:
    [widgets], [others] = definition("v1alpha1", "v1"), definition("v1", "v1alpha1")
    gears = others._replace(name="gears.acme.io")
    known = {"a": (widgets,), "b": (gears,), "c": (*definition("v1"), gears._replace(versions={}))}
    last = list(upgrades(moves("a>b b>c"), known))[-1]
    assert [(b.definition, b.kind, b.version) for b in last.breaches][:2] == [
        ("gears.acme.io", "stored-removed", "v1"),
        ("gears.acme.io", "served-removed", "v1alpha1"),
    ]


def test_a_definition_that_stores_nothing_drops_nothing() -> None:
    """It is broken, but no object of it can be lying anywhere."""
    stored_in_none = Version("v1", True, False, {}, Place(""))
    made = Definition("widgets.acme.io", "Widget", "Namespaced", "None", {"v1": stored_in_none}, Place(""))
    [found] = upgrades(moves("a>b"), {"a": (made,), "b": (made,)})
    assert found.breaches == ()
