"""What else is said of two catalogs."""

from __future__ import annotations

from comparisons import changed, changes, comparison
from everpath.compare import Scope, compare
from everpath.formats.notation import parse
from everpath.model import Catalog

CHAIN = "c: b\nb: a\na"


def test_a_channel_that_is_gone_may_have_been_renamed() -> None:
    [change] = changes(f"[alpha]\n{CHAIN}", f"[stable]\n{CHAIN}", "channel-gone")
    assert "was it renamed to stable, which has 3 of its 3 entries?" in change.message
    assert change.because[0] == (
        "nobody is moved to stable by OLM v0; changed by hand, 3 of 3 versions could go on there"
    )
    assert change.fix is not None
    assert change.fix.startswith("keep the channel alpha beside stable")


def test_a_channel_is_not_taken_for_one_that_was_there_before() -> None:
    [change] = changes(f"[one]\n{CHAIN}\n[other]\nz", "[other]\nz", "channel-gone")
    assert "renamed" not in change.message


def test_a_package_that_is_gone_is_told_once() -> None:
    old, new = parse(CHAIN, "my-op"), parse(CHAIN, "my-opp")
    comparison = compare(old, new)
    [gone, added] = comparison.changes
    assert gone.message == (
        "the package is gone: 3 versions in 1 channel can no longer be resolved; "
        "did you mean my-opp, which is new? OLM does not follow a renamed package"
    )
    assert added.message == "the package is new, with 1 channel"
    assert comparison.stranded == 6


def test_a_name_that_is_gone_and_still_referred_to_is_told() -> None:
    assert changed(CHAIN, "d: c\nc: b\nb: a", "vanished") == ["gone from the package: a; b replaces a"]


def test_a_new_release_that_nobody_can_reach_is_told() -> None:
    new = "c: d / - / <3.0.0\nd@9.0.0: b\nb: a\na"
    [change] = changes("b: a\na", new, "unreachable-release")
    assert (change.installed, change.policies) == (("d",), ("v0",))
    assert change.message == "d is new, and no road of OLM v0 leads there from any version of the old catalog"


def test_a_release_whose_coming_strands_somebody_is_told_once() -> None:
    assert changes("b: a\na", "c\nb: a\na", "failing")
    assert not changes("b: a\na", "c\nb: a\na", "unreachable-release")


def test_a_new_release_that_a_newer_one_stands_in_for_is_not_told() -> None:
    new = "d: b / c / <4.0.0\nc: b / - / <3.0.0\nb: a\na"
    assert not changed("b: a\na", new, "unreachable-release")


def test_the_same_name_with_another_version_is_told() -> None:
    assert changed("a@1.0.0", "a@1.0.1", "republished") == [
        "a was 1.0.0 and is now 1.0.1: whoever has a keeps what it was"
    ]


def test_a_channel_that_opm_refuses_now_is_told() -> None:
    assert len(changes(CHAIN, f"d\n{CHAIN}", "refused-by-opm")) == 1
    assert not changes(f"d\n{CHAIN}", f"d\n{CHAIN}", "refused-by-opm")


def test_another_default_channel_is_told() -> None:
    old, new = "%default x\n[x]\na\n[y]\na", "%default y\n[x]\na\n[y]\na"
    assert changed(old, new, "default-channel") == ["the default channel is now y, no longer x"]


def test_a_catalog_that_opm_refuses_is_compared_all_the_same() -> None:
    assert comparison("b\na", "c: b\nb: a\na", "v0").counts == {"mended": 2}


def test_only_what_is_asked_for_is_compared() -> None:
    def both(drawing: str) -> Catalog:
        return Catalog("both", tuple(p for name in "pq" for p in parse(drawing, name).packages))

    scope = Scope(packages=frozenset("q"), channels=frozenset(("x",)))
    found = compare(both("[x]\na\n[y]\na"), both("[x]\na"), scope)
    assert {(row.package, row.channel) for row in found.rows} == {("q", "x")}
    assert not found.stranded


def test_the_properties_are_counted() -> None:
    held = comparison(CHAIN, "d: c\nc: a\na", "v0").properties
    assert (held.found_in_old, held.found_in_new) == ((3, 1), (3, 0))


def test_a_z_stream_release_should_go_straight_to_the_latest_of_its_stream() -> None:
    chain = "p.v1.0.2: p.v1.0.1\np.v1.0.1: p.v1.0.0\np.v1.0.0"
    assert comparison(chain, chain, "v0").properties.z_streams == (2, 1)
    ranged = "p.v1.0.2: p.v1.0.1 / - / <1.0.2\np.v1.0.1: p.v1.0.0\np.v1.0.0"
    assert comparison(chain, ranged, "v0").properties.z_streams == (2, 0)


def test_a_z_stream_that_is_left_upwards_needs_no_latest() -> None:
    old = "p.v1.0.1: p.v1.0.0\np.v1.0.0"
    new = "p.v1.1.0: p.v1.0.1 / - / <1.1.0\np.v1.0.1: p.v1.0.0\np.v1.0.0"
    assert comparison(old, new, "v0").properties.z_streams == (1, 0)
