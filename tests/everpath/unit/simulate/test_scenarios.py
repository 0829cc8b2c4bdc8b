"""Scenarios: new installations, startingCSV, channel switches, and versions that are in no catalog."""

from __future__ import annotations

from everpath.graph import PackageGraph
from everpath.resolvers.cluster_extension import ClusterCatalog
from everpath.simulate import InstalledVersion, Scenario, find_installed
from everpath.upgrade_path.hops import PathEnd
from tests.support.everpath.graphs import package_graph
from tests.support.everpath.simulations import channel_results, short_texts, upgrade_paths

CHAIN = "b3: b2\nb2: b1\nb1"
FRESH = Scenario(new_install=True)


# New installations


def test_new_installation_is_the_head_for_v0_and_the_highest_version_for_v1() -> None:
    found = upgrade_paths("b1: b2\nb2", FRESH)
    assert short_texts(found) == ["v0 - → b1 head", "v1 - → b2 stranded"]
    assert found[0].reason == "a new Subscription installs b1, the head"
    assert found[1].reason.startswith(
        "a new ClusterExtension installs b2; clusters on b2, which a new ClusterExtension installs"
    )
    assert found[0].next == "b1"


def test_new_installation_passes_over_an_uninstallable_head() -> None:
    found = upgrade_paths(f"{CHAIN}\n%prohibited b3", Scenario(("v0",), new_install=True))
    assert short_texts(found) == ["v0 - → b2 stranded"]
    assert "b3 carries olm.deprecated" in found[0].reason


def test_new_installation_fails_in_a_channel_without_one_head() -> None:
    [row] = upgrade_paths("b2\nb1", Scenario(("v0",), new_install=True))
    assert (row.end, row.hops, row.last) == (PathEnd.ERROR, (), None)


def test_new_installation_has_one_path_for_each_channel_and_resolver() -> None:
    assert [
        r.channel for r in upgrade_paths("[a]\nb1\n[b]\nb2\nb1: b2", Scenario(("v0",), new_install=True))
    ] == [
        "a",
        "b",
    ]


def test_starting_csv_is_the_first_hop() -> None:
    found = upgrade_paths(CHAIN, Scenario(starting_csv="b1"))
    assert short_texts(found) == ["v0 - → b1 → b2 → b3 head"], "a ClusterExtension has no startingCSV"
    assert found[0].reason == "startingCSV installs b1, then reaches the head in 2 hops"


def test_starting_csv_may_be_skipped_and_must_be_an_entry() -> None:
    assert short_texts(upgrade_paths("b2: - / b1\nb1", Scenario(starting_csv="b1"))) == [
        "v0 - → b1 → b2 head"
    ]
    [row] = upgrade_paths(CHAIN, Scenario(starting_csv="b9"))
    assert row.end is PathEnd.ERROR
    assert "no operators found with name b9 in channel stable of package p" in row.reason


def test_a_new_installation_may_end_in_an_error_or_a_loop() -> None:
    [late] = upgrade_paths("b2: b1 / - / <0.1.0 || || >9.0.0\nb1", Scenario(("v0",), starting_csv="b1"))
    assert late.end is PathEnd.ERROR
    assert late.reason.startswith("startingCSV installs b1; at b1 OLM v0 fails: runtime error")
    [round_] = upgrade_paths("b3: b2\nb2: b1 / - / >=3.0.0\nb1", Scenario(("v0",), new_install=True))
    assert (round_.hops, round_.end) == (("b3", "b2", "b3"), PathEnd.LOOP)
    assert round_.reason == "a new Subscription installs b3; updates in a cycle: b3 → b2 → b3"


# Channel switches

CHANNELS = "[stable]\nb2: b1\nb1\n[fast]\nb3: b2\nb2: b0\n[old]\nb1\n%default stable"


def switch_paths(out_of: str = "", into: str = "") -> list[str]:
    wanted = Scenario(("v0",), frozenset(out_of.split()), is_switch=True, targets=frozenset(into.split()))
    found = upgrade_paths(CHANNELS, wanted)
    return [
        f"{','.join(r.origins)}→{r.channel} {line}" for r, line in zip(found, short_texts(found), strict=True)
    ]


def test_every_version_can_switch_to_every_other_channel() -> None:
    assert switch_paths() == [
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
    assert switch_paths("stable", "fast") == [
        "stable→fast v0 b2 → b3 head",
        "stable→fast v0 b1 stranded",
    ]


def test_a_switch_without_an_edge_stays_under_v0_and_fails_under_v1() -> None:
    found = upgrade_paths(CHANNELS, Scenario(is_switch=True, targets=frozenset(["fast"])), "b1")
    assert short_texts(found) == ["v0 b1 stranded", "v1 b1 error"]
    assert found[0].reason == (
        "clusters on b1 get no further updates: no entry of fast replaces or skips it, and no "
        "skipRange covers 1.0.0"
    )
    assert found[1].reason == (
        'OLM v1 fails: error upgrading from currently installed version "1.0.0": '
        'no bundles found for package "p" in channels [fast]'
    )


def test_a_switch_can_be_simulated_for_one_version_even_an_unknown_one() -> None:
    found = upgrade_paths(CHANNELS, Scenario(("v0",), is_switch=True, targets=frozenset(["fast"])), "b0")
    assert short_texts(found) == ["v0 b0 → b2 → b3 head"]


# Installed versions, in a catalog or not


def test_an_installed_name_is_simulated_in_its_channels() -> None:
    assert short_texts(upgrade_paths(CHANNELS, Scenario(("v0",)), "b3")) == ["v0 b3 head"]


def test_an_installed_version_is_simulated_like_its_name() -> None:
    assert short_texts(upgrade_paths(CHANNELS, Scenario(("v0",)), "3.0.0")) == ["v0 b3 head"]


def test_selected_channel_is_simulated_for_versions_of_other_channels() -> None:
    wanted = Scenario(("v0",), channels=frozenset(["stable"]))
    assert short_texts(upgrade_paths(CHANNELS, wanted, "b3")) == ["v0 b3 stranded"]


def test_unknown_version_is_matched_by_name_and_range_in_every_channel() -> None:
    drawing = "[a]\nb2: gone.v1.5.0\n[b]\nb3: - / - / >=1.0.0 <2.0.0\n[c]\nb1"
    found = upgrade_paths(drawing, Scenario(("v0",)), "gone.v1.5.0")
    assert short_texts(found) == [
        "v0 gone.v1.5.0 → b2 head",
        "v0 gone.v1.5.0 → b3 head",
        "v0 gone.v1.5.0 stranded",
    ]
    assert found[2].reason.endswith("no entry of c replaces or skips it, and no skipRange covers 1.5.0")


def test_reason_for_an_unknown_version_names_rejected_edges() -> None:
    [row] = upgrade_paths("b3: - / b2\nb2: gone\n", Scenario(("v0",)), "gone")
    assert row.reason == (
        "clusters on gone get no further updates: b2 replaces gone, "
        "but b3 skips b2, and OLM v0 never installs a skipped entry"
    )


def find(drawing: str, text: str, *, guess: bool = True) -> tuple[InstalledVersion, ...]:
    return find_installed([package_graph(drawing)], text, guess=guess)


def test_a_bundle_in_no_channel_is_simulated_in_every_channel() -> None:
    package = package_graph("[a]\nb2: b1\nb1\n[b]\nb3: b1\nb1\n[c]\nb4\n").package
    left = package._replace(channels=tuple(c for c in package.channels if c.name != "c"))
    served = [ClusterCatalog("catalog", 0, PackageGraph(left))]
    found = upgrade_paths(served, Scenario(("v0",)), "b4")
    assert [(row.channel, row.end) for row in found] == [("a", PathEnd.STRANDED), ("b", PathEnd.STRANDED)]
    assert len(upgrade_paths(served, Scenario(("v0",), is_switch=True), "b4")) == 2


def test_name_precedes_version() -> None:
    assert find("1.0.0@2.0.0\nb1", "1.0.0") == (InstalledVersion("1.0.0", "2.0.0"),)


def test_version_stands_for_all_bundles_that_have_it() -> None:
    drawing = "x@1.0.0+a\ny@1.0.0+b\nz@2.0.0"
    assert find(drawing, "v1.0") == (InstalledVersion("x", "1.0.0+a"), InstalledVersion("y", "1.0.0+b"))
    assert find(drawing, "1.0.0+b") == (InstalledVersion("y", "1.0.0+b"),)


def test_an_entry_without_a_bundle_is_known_and_has_no_version() -> None:
    assert find("b1?", "b1") == (InstalledVersion("b1", None),)


def test_unknown_name_has_the_version_of_its_suffix() -> None:
    assert find("b1", "op.v1.2.3-rc.1") == (InstalledVersion("op.v1.2.3-rc.1", "1.2.3-rc.1", False),)
    assert find("b1", "op") == (InstalledVersion("op", None, False),)


def test_unknown_version_has_the_name_of_an_edge_or_of_other_bundles() -> None:
    assert find("op.v2.0.0: old-op.v1.0.0", "1.0.0") == (InstalledVersion("old-op.v1.0.0", "1.0.0", False),)
    assert find("op.v2.0.0", "1.0.0") == (InstalledVersion("op.v1.0.0", "1.0.0", False),)
    assert find("b2", "1.0.0") == (InstalledVersion("1.0.0", "1.0.0", False),)


def test_without_a_guess_an_unknown_version_gives_nothing() -> None:
    assert find("b1", "9.9.9", guess=False) == find("b1", "what", guess=False) == ()


def test_v0_parses_versions_tolerantly_and_v1_strictly() -> None:
    loose = InstalledVersion("b", "v1.0")
    assert str(loose.as_bundle("v0").version) == "1.0.0"
    assert loose.as_bundle("v1").version is None


def test_a_channel_result_has_only_the_selected_versions() -> None:
    assert [len(sheet.installed) for sheet in channel_results(CHANNELS, None, "b3")] == [1, 0, 0]
