"""Which upgrades are compared, and what a cluster may have stored by then."""

from __future__ import annotations

from everpath.crds import Moves, upgrades
from everpath.crds.definitions import Definition, Version
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
