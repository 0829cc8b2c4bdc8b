"""Scenarios: new installations, startingCSV, channel switches, and versions that are in no catalog."""

from __future__ import annotations

from everpath.graph import PackageGraph
from everpath.resolvers.cluster_extension import ClusterCatalog
from everpath.simulate import InstalledVersion, Scenario, find_installed
from everpath.upgrade_paths.hops import PathEnd
from graphs import package_graph
from simulations import answered, brief, simulated

CHAIN = "b3: b2\nb2: b1\nb1"
FRESH = Scenario(new_install=True)


# Nothing is installed


def test_a_fresh_install_is_the_head_for_v0_and_the_highest_for_v1() -> None:
    found = answered("b1: b2\nb2", FRESH)
    assert brief(found) == ["v0 - → b1 head", "v1 - → b2 stranded"]
    assert found[0].reason == "a new Subscription installs b1, the head"
    assert found[1].reason.startswith(
        "a new ClusterExtension installs b2; clusters on b2, which a new ClusterExtension installs"
    )
    assert found[0].next == "b1"


def test_a_prohibited_head_gives_a_fresh_install_an_older_version() -> None:
    found = answered(f"{CHAIN}\n%prohibited b3", Scenario(("v0",), new_install=True))
    assert brief(found) == ["v0 - → b2 stranded"]
    assert "b3 carries olm.deprecated" in found[0].reason


def test_a_fresh_install_into_a_broken_channel_fails() -> None:
    [row] = answered("b2\nb1", Scenario(("v0",), new_install=True))
    assert (row.end, row.hops, row.last) == (PathEnd.ERROR, (), None)


def test_there_is_one_fresh_row_a_channel() -> None:
    assert [r.channel for r in answered("[a]\nb1\n[b]\nb2\nb1: b2", Scenario(("v0",), new_install=True))] == [
        "a",
        "b",
    ]


def test_starting_csv_installs_that_and_then_goes_on() -> None:
    found = answered(CHAIN, Scenario(starting_csv="b1"))
    assert brief(found) == ["v0 - → b1 → b2 → b3 head"], "a ClusterExtension has no startingCSV"
    assert found[0].reason == "startingCSV installs b1, then reaches the head in 2 hops"


def test_starting_csv_may_be_skipped_and_a_stranger_is_an_error() -> None:
    assert brief(answered("b2: - / b1\nb1", Scenario(starting_csv="b1"))) == ["v0 - → b1 → b2 head"]
    [row] = answered(CHAIN, Scenario(starting_csv="b9"))
    assert row.end is PathEnd.ERROR
    assert "no operators found with name b9 in channel stable of package p" in row.reason


def test_a_new_installation_may_end_in_an_error_or_a_loop() -> None:
    [late] = answered("b2: b1 / - / <0.1.0 || || >9.0.0\nb1", Scenario(("v0",), starting_csv="b1"))
    assert late.end is PathEnd.ERROR
    assert late.reason.startswith("startingCSV installs b1; at b1 OLM v0 fails: runtime error")
    [round_] = answered("b3: b2\nb2: b1 / - / >=3.0.0\nb1", Scenario(("v0",), new_install=True))
    assert (round_.hops, round_.end) == (("b3", "b2", "b3"), PathEnd.LOOP)
    assert round_.reason == "a new Subscription installs b3; updates in a cycle: b3 → b2 → b3"


# Somebody switches the channel

CHANNELS = "[stable]\nb2: b1\nb1\n[fast]\nb3: b2\nb2: b0\n[old]\nb1\n%default stable"


def switched(out_of: str = "", into: str = "") -> list[str]:
    wanted = Scenario(("v0",), frozenset(out_of.split()), is_switch=True, targets=frozenset(into.split()))
    found = answered(CHANNELS, wanted)
    return [f"{','.join(r.origins)}→{r.channel} {line}" for r, line in zip(found, brief(found), strict=True)]


def test_every_version_can_switch_to_every_other_channel() -> None:
    assert switched() == [
        "stable→fast v0 b2 → b3 head",
        "old,stable→fast v0 b1 stranded",
        "fast→old v0 b3 stranded",
        "fast,stable→old v0 b2 stranded",
        "stable→old v0 b1 head",
        "fast→stable v0 b3 stranded",
        "fast→stable v0 b2 head",
        "old→stable v0 b1 → b2 head",
    ]


def test_a_switch_may_be_out_of_some_channels_and_into_some() -> None:
    assert switched("stable", "fast") == [
        "stable→fast v0 b2 → b3 head",
        "stable→fast v0 b1 stranded",
    ]


def test_a_switch_without_an_edge_stays_under_v0_and_fails_under_v1() -> None:
    found = answered(CHANNELS, Scenario(is_switch=True, targets=frozenset(["fast"])), "b1")
    assert brief(found) == ["v0 b1 stranded", "v1 b1 error"]
    assert found[0].reason == (
        "clusters on b1 get no further updates: no entry of fast replaces or skips it, and no "
        "skipRange covers 1.0.0"
    )
    assert found[1].reason == (
        'OLM v1 fails: error upgrading from currently installed version "1.0.0": '
        'no bundles found for package "p" in channels [fast]'
    )


def test_a_switch_can_be_simulated_for_one_version_even_an_unknown_one() -> None:
    found = answered(CHANNELS, Scenario(("v0",), is_switch=True, targets=frozenset(["fast"])), "b0")
    assert brief(found) == ["v0 b0 → b2 → b3 head"]


# Something is installed that is somewhere, elsewhere, or nowhere


def test_an_installed_name_is_simulated_in_its_channels() -> None:
    assert brief(answered(CHANNELS, Scenario(("v0",)), "b3")) == ["v0 b3 head"]


def test_an_installed_version_is_simulated_like_its_name() -> None:
    assert brief(answered(CHANNELS, Scenario(("v0",)), "3.0.0")) == ["v0 b3 head"]


def test_a_named_channel_answers_also_for_who_is_not_in_it() -> None:
    wanted = Scenario(("v0",), channels=frozenset(["stable"]))
    assert brief(answered(CHANNELS, wanted, "b3")) == ["v0 b3 stranded"]


def test_who_is_nowhere_is_matched_by_name_and_by_range_in_every_channel() -> None:
    drawing = "[a]\nb2: gone.v1.5.0\n[b]\nb3: - / - / >=1.0.0 <2.0.0\n[c]\nb1"
    found = answered(drawing, Scenario(("v0",)), "gone.v1.5.0")
    assert brief(found) == [
        "v0 gone.v1.5.0 → b2 head",
        "v0 gone.v1.5.0 → b3 head",
        "v0 gone.v1.5.0 stranded",
    ]
    assert found[2].reason.endswith("no entry of c replaces or skips it, and no skipRange covers 1.5.0")


def test_of_who_is_nowhere_refused_edges_are_named() -> None:
    [row] = answered("b3: - / b2\nb2: gone\n", Scenario(("v0",)), "gone")
    assert row.reason == (
        "clusters on gone get no further updates: b2 replaces gone, "
        "but b3 skips b2, and OLM v0 never installs a skipped entry"
    )


def asked(drawing: str, text: str, *, guess: bool = True) -> tuple[InstalledVersion, ...]:
    return find_installed([package_graph(drawing)], text, guess=guess)


def test_a_bundle_in_no_channel_is_simulated_in_every_channel() -> None:
    package = package_graph("[a]\nb2: b1\nb1\n[b]\nb3: b1\nb1\n[c]\nb4\n").package
    left = package._replace(channels=tuple(c for c in package.channels if c.name != "c"))
    served = [ClusterCatalog("catalog", 0, PackageGraph(left))]
    found = answered(served, Scenario(("v0",)), "b4")
    assert [(row.channel, row.end) for row in found] == [("a", PathEnd.STRANDED), ("b", PathEnd.STRANDED)]
    assert len(answered(served, Scenario(("v0",), is_switch=True), "b4")) == 2


def test_a_name_is_taken_before_a_version() -> None:
    assert asked("1.0.0@2.0.0\nb1", "1.0.0") == (InstalledVersion("1.0.0", "2.0.0"),)


def test_a_version_means_all_that_have_it_or_those_that_are_written_so() -> None:
    drawing = "x@1.0.0+a\ny@1.0.0+b\nz@2.0.0"
    assert asked(drawing, "v1.0") == (InstalledVersion("x", "1.0.0+a"), InstalledVersion("y", "1.0.0+b"))
    assert asked(drawing, "1.0.0+b") == (InstalledVersion("y", "1.0.0+b"),)


def test_an_entry_without_a_bundle_is_known_and_has_no_version() -> None:
    assert asked("b1?", "b1") == (InstalledVersion("b1", None),)


def test_a_name_that_is_nowhere_has_the_version_it_ends_with() -> None:
    assert asked("b1", "op.v1.2.3-rc.1") == (InstalledVersion("op.v1.2.3-rc.1", "1.2.3-rc.1", False),)
    assert asked("b1", "op") == (InstalledVersion("op", None, False),)


def test_a_version_that_is_nowhere_has_the_name_that_an_edge_or_the_habit_gives_it() -> None:
    assert asked("op.v2.0.0: old-op.v1.0.0", "1.0.0") == (InstalledVersion("old-op.v1.0.0", "1.0.0", False),)
    assert asked("op.v2.0.0", "1.0.0") == (InstalledVersion("op.v1.0.0", "1.0.0", False),)
    assert asked("b2", "1.0.0") == (InstalledVersion("1.0.0", "1.0.0", False),)


def test_without_a_guess_an_unknown_version_gives_nothing() -> None:
    assert asked("b1", "9.9.9", guess=False) == asked("b1", "what", guess=False) == ()


def test_the_two_policies_read_a_version_each_in_its_way() -> None:
    loose = InstalledVersion("b", "v1.0")
    assert str(loose.as_bundle("v0").version) == "1.0.0"
    assert loose.as_bundle("v1").version is None


def test_a_channel_result_has_only_the_selected_versions() -> None:
    assert [len(sheet.installed) for sheet in simulated(CHANNELS, None, "b3")] == [1, 0, 0]
