"""The upgrade path of every entry of a channel: hops, end and reason."""

from __future__ import annotations

from everpath.graph import PackageGraph
from everpath.model import Property
from everpath.resolvers.cluster_extension import ClusterCatalog
from everpath.simulate import ChannelResult, ClusterExtensionOptions, Scenario
from everpath.upgrade_path.hops import PathEnd
from tests.support.everpath.graphs import package_graph
from tests.support.everpath.simulations import (
    channel_results,
    short_texts,
    sources,
    upgrade_path,
    upgrade_paths,
)

CHAIN = "b3: b2\nb2: b1\nb1"


def test_every_entry_has_a_path_in_every_channel_under_both_resolvers() -> None:
    found = upgrade_paths("[stable]\nb2: b1\nb1\n[fast]\nb3: b1\nb1")
    assert {(r.channel, r.installed, r.resolver) for r in found} == {
        (channel, entry, resolver)
        for channel, entries in (("stable", "b1 b2"), ("fast", "b1 b3"))
        for entry in entries.split()
        for resolver in ("v0", "v1")
    }
    assert len(found) == 8


def test_hops_start_after_the_installed_version_and_the_first_is_next() -> None:
    row = upgrade_path(CHAIN, "b1", "v0")
    assert (row.next, row.hops, row.end, row.last) == ("b2", ("b2", "b3"), PathEnd.HEAD, "b3")
    assert row.reason == "reaches the head in 2 hops"


def test_a_cluster_at_the_head_stays() -> None:
    row = upgrade_path(CHAIN, "b3", "v1")
    assert (row.next, row.hops, row.end, row.last) == (None, (), PathEnd.HEAD, "b3")
    assert row.reason == "is the head"


def test_paths_are_sorted_by_version() -> None:
    assert [r.installed for r in upgrade_paths("b1\nx?\nb10: b2\nb2: b1", Scenario(("v0",)))] == [
        "b10",
        "b2",
        "b1",
        "x",
    ]


def test_only_the_selected_resolver_is_simulated() -> None:
    assert short_texts(upgrade_paths("b2: b1\nb1", Scenario(("v1",)))) == ["v1 b2 head", "v1 b1 → b2 head"]


def test_only_selected_channels_are_simulated() -> None:
    drawing = "[stable]\nb1\n[fast]\nb2"
    assert {r.channel for r in upgrade_paths(drawing, Scenario(channels=frozenset(["fast"])))} == {"fast"}


def test_channels_are_sorted_by_name() -> None:
    found = channel_results("[z]\nb1\n[a]\nb1\n%default z")
    assert [(sheet.channel, sheet.is_default) for sheet in found] == [("a", False), ("z", True)]


def test_v0_never_installs_a_skipped_entry_and_v1_does() -> None:
    drawing = "b3: - / b2\nb2: - / b1\nb1"
    assert short_texts([upgrade_path(drawing, "b1", "v0"), upgrade_path(drawing, "b1", "v1")]) == [
        "v0 b1 stranded",
        "v1 b1 → b2 → b3 head",
    ]
    assert upgrade_path(drawing, "b1", "v0").reason == (
        "clusters on b1 get no further updates: b2 skips b1, but b3 skips b2, and OLM v0 never "
        "installs a skipped entry"
    )


def test_result_of_each_version_has_its_difference() -> None:
    [sheet] = channel_results("b3: - / b2\nb2: - / b1\nb1")
    assert [(line.installed, line.differs) for line in sheet.installed] == [
        ("b3", False),
        ("b2", False),
        ("b1", True),
    ]
    [sheet] = channel_results("b2: b1\nb1", Scenario(("v0",)))
    assert not any(line.differs for line in sheet.installed)


def test_an_entry_without_successor_is_stranded() -> None:
    row = upgrade_path("b2: - / c1\nb1@1.0.0: c1", "b1", "v1")
    assert row.end is PathEnd.STRANDED
    assert row.reason == (
        "clusters on b1 get no further updates: no entry of stable replaces or skips it, and no "
        "skipRange covers 1.0.0"
    )


def test_a_path_may_be_stranded_after_some_hops() -> None:
    row = upgrade_path("b4: b3 / b3\nb3: b2\nb2: b1\nb1", "b1", "v0")
    assert (row.hops, row.end) == (("b2",), PathEnd.STRANDED)
    assert row.reason.startswith("clusters on b2 get no further updates: b3 replaces b2, but b4 skips b3")


def test_entry_whose_own_range_covers_it_is_stranded_under_v0() -> None:
    assert upgrade_path("b3: b2\nb2: b1 / - / <=2.0.0\nb1", "b2", "v0").hops == ("b3",)
    assert upgrade_path("b3: b2\nb2: b1 / - / <=2.0.0\nb1\n%prohibited b3", "b2", "v0").reason == (
        "clusters on b2 get no further updates: "
        "its own skipRange covers it, so OLM v0 considers it up to date"
    )


def test_reason_names_an_uninstallable_successor() -> None:
    assert upgrade_path("b2: b1\nb1\n%prohibited b2", "b1", "v0").reason == (
        "clusters on b1 get no further updates: b2 replaces b1, "
        "but b2 carries olm.deprecated, so OLM v0 never installs it"
    )


def test_reason_says_that_v1_does_not_downgrade() -> None:
    drawing = "b1: b2\nb2"
    row = upgrade_path(drawing, "b2", "v1")
    assert row.reason == (
        "clusters on b2, which a new ClusterExtension installs although b1 is the head, get no "
        "further updates: "
        "b1 replaces b2, but b1 is not a higher version"
    )


def test_reason_names_a_version_that_v1_cannot_parse() -> None:
    row = upgrade_path("b2@v1.0: b1\nb1@0.9.0", "b1", "v1")
    assert row.end is PathEnd.HEAD
    assert row.reason.endswith("but OLM v1 cannot parse the version of b2 and ranks it last")


def test_goal_of_v1_is_a_new_installation_if_the_head_is_not_installable() -> None:
    deprecated = upgrade_path("b2: b1\nb1\n%deprecated b2: old", "b1", "v1")
    afresh = "is what a new ClusterExtension installs; does not reach the head b2: b2 replaces b1"
    assert deprecated.end is PathEnd.HEAD
    assert deprecated.reason == f"{afresh}, but b2 is deprecated and b1 is not"
    assert upgrade_path("b2?: b1\nb1", "b1", "v1").reason == f"{afresh}, but the catalog has no bundle b2"


def test_result_of_one_channel_tells_the_head_from_other_goals() -> None:
    drawing = "b2: b1\nb1\n%deprecated b2: old"

    def other_goals(result: ChannelResult) -> list[tuple[str, str | None]]:
        paths = [path for installed in result.installed for path in installed.paths]
        return [(path.resolver, path.installed) for path in paths if result.ends_at_other_goal(path)]

    [result] = channel_results(drawing)
    assert other_goals(result) == [("v1", "b1")]
    joint = Scenario(("v1",), options=ClusterExtensionOptions(channels=()))
    several = [*channel_results(drawing, joint), *channel_results(sources(drawing, "b1"))]
    assert [other_goals(result) for result in several] == [[], [], []]
    [unfinished] = channel_results("b1@1.0.0: b2\nb2@2.0.0")
    assert other_goals(unfinished) == []


def test_a_withdrawn_version_that_v1_installs_is_no_goal() -> None:
    for drawing in ("b1@1.0.0: b2\nb2@2.0.0", "b1@1.0.0: - / b2\nb2@2.0.0"):
        assert upgrade_path(drawing, "b2", "v1").end is PathEnd.STRANDED
    two_heads = "b3@3.0.0\nb1@1.0.0: b3 / - / -\nb2@2.0.0"
    assert [upgrade_path(two_heads, name, "v1").end for name in ("b3", "b2", "b1")] == [PathEnd.STRANDED] * 3


def test_goal_of_v1_with_several_heads_is_the_highest() -> None:
    assert upgrade_path("b3\nb2: b1\nb1", "b3", "v1").reason == "is what a new ClusterExtension installs"
    assert upgrade_path("b3\nb2: b1\nb1", "b1", "v1").end is PathEnd.STRANDED


def test_each_of_two_equal_versions_is_a_goal_of_v1() -> None:
    assert [upgrade_path("b3@2.0.0\nb2@2.0.0", name, "v1").end for name in ("b3", "b2")] == [PathEnd.HEAD] * 2


def test_a_path_that_repeats_is_a_loop() -> None:
    drawing = "b3: b2\nb2: b1 / - / >=3.0.0\nb1"
    row = upgrade_path(drawing, "b1", "v0")
    assert (row.end, row.hops) == (PathEnd.LOOP, ("b2", "b3", "b2"))
    assert row.reason == "updates in a cycle: b2 → b3 → b2"
    assert upgrade_path(drawing, "b3", "v0").reason == "updates in a cycle: b3 → b2 → b3"


def test_the_reason_of_a_long_loop_names_some_entries() -> None:
    chain = "\n".join(f"b{i}: b{i - 1}" for i in range(9, 2, -1))
    row = upgrade_path(f"{chain}\nb2: b1 / - / >=9.0.0\nb1", "b1", "v0")
    assert len(row.hops) == 9
    assert row.reason == "updates in a cycle: b2 → b3 → b4 → b5 → b6 → b7 → … → b2"


def test_reason_names_at_most_three_successors() -> None:
    skipped = [f"s{i}@1.0.{i}: - / - / =0.1.0" for i in range(1, 9)]
    names = ", ".join(f"s{i}" for i in range(1, 9))
    reason = upgrade_path(
        "\n".join([f"h@2.0.0: b / {names}", *skipped, "b@0.1.0\n%prohibited h"]), "b", "v0"
    ).reason
    assert reason.startswith(
        "clusters on b get no further updates: h replaces b, but h carries olm.deprecated"
    )
    assert reason.count("but") == 3
    assert reason.endswith("; 6 more entries accept it and cannot be installed either")


def test_failure_of_v0_without_one_head_has_the_message_of_olm() -> None:
    row = upgrade_path("b2\nb1", "b1", "v0")
    assert (row.end, row.next) == (PathEnd.ERROR, None)
    assert row.reason == (
        "OLM v0 fails for the whole namespace: a unique replacement chain within a channel is required to "
        "determine the relative order between channel entries, but 2 replacement chains were found in "
        'channel "stable" of package "p": b1, b2'
    )


def test_a_range_that_panics_is_an_error_for_versions_it_is_evaluated_for() -> None:
    drawing = "b3: b2 / - / <2.0.0 || || >9.0.0\nb2: b1\nb1"
    assert upgrade_path(drawing, "b1", "v0").hops == ("b3",)
    failing = upgrade_path(drawing, "b2", "v0")
    assert failing.end is PathEnd.ERROR
    assert failing.reason == (
        "OLM v0 fails: runtime error: invalid memory address or nil pointer dereference"
    )


def test_error_after_some_hops_names_the_entry() -> None:
    row = upgrade_path("b3: b2 / - / <2.0.0 || || >9.0.0\nb2: b1\nb1\n%prohibited b3", "b1", "v0")
    assert (row.hops, row.end) == (("b2",), PathEnd.ERROR)
    assert row.reason.startswith("at b2 OLM v0 fails: runtime error")


def test_range_that_panics_is_an_error_under_v1() -> None:
    row = upgrade_path("b3: - / - / <1.0.0 || || >9.0.0\nb2: b1\nb1", "b1", "v1")
    assert (row.hops, row.end) == ((), PathEnd.ERROR)


def test_bundle_that_v1_refuses_is_an_error() -> None:
    package = package_graph(CHAIN).package
    needy = tuple(
        b._replace(properties=(*b.properties, Property("olm.gvk.required", {}, b.place)))
        if b.name == "b2"
        else b
        for b in package.bundles
    )
    graph = PackageGraph(package._replace(bundles=needy))
    found = upgrade_paths([ClusterCatalog("c", 0, graph)], Scenario(("v1",)))
    assert short_texts(found) == ["v1 b3 head", "v1 b2 → b3 head", "v1 b1 error"]
    assert found[2].reason.startswith('OLM v1 fails: validating bundle "b2": bundle "b2" has a dependency')
