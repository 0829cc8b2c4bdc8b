"""Every entry of a channel: where it goes, where it ends, and why."""

from __future__ import annotations

from everpath.graph import PackageGraph
from everpath.model import Property
from everpath.resolvers.cluster_extension import ClusterCatalog
from everpath.simulate import Scenario
from everpath.upgrade_paths.hops import PathEnd
from graphs import package_graph
from simulations import answer, answered, brief, simulated

CHAIN = "b3: b2\nb2: b1\nb1"


def test_there_is_a_row_for_every_channel_entry_and_policy() -> None:
    found = answered("[stable]\nb2: b1\nb1\n[fast]\nb3: b1\nb1")
    assert {(r.channel, r.installed, r.resolver) for r in found} == {
        (channel, entry, policy)
        for channel, entries in (("stable", "b1 b2"), ("fast", "b1 b3"))
        for entry in entries.split()
        for policy in ("v0", "v1")
    }
    assert len(found) == 8


def test_hops_start_after_the_installed_version_and_the_first_is_next() -> None:
    row = answer(CHAIN, "b1", "v0")
    assert (row.next, row.hops, row.end, row.last) == ("b2", ("b2", "b3"), PathEnd.HEAD, "b3")
    assert row.reason == "reaches the head in 2 hops"


def test_a_cluster_at_the_head_stays() -> None:
    row = answer(CHAIN, "b3", "v1")
    assert (row.next, row.hops, row.end, row.last) == (None, (), PathEnd.HEAD, "b3")
    assert row.reason == "is the head"


def test_rows_come_newest_first_whatever_was_written_first() -> None:
    assert [r.installed for r in answered("b1\nx?\nb10: b2\nb2: b1", Scenario(("v0",)))] == [
        "b10",
        "b2",
        "b1",
        "x",
    ]


def test_only_the_selected_resolver_is_simulated() -> None:
    assert brief(answered("b2: b1\nb1", Scenario(("v1",)))) == ["v1 b2 head", "v1 b1 → b2 head"]


def test_only_selected_channels_are_simulated() -> None:
    drawing = "[stable]\nb1\n[fast]\nb2"
    assert {r.channel for r in answered(drawing, Scenario(channels=frozenset(["fast"])))} == {"fast"}


def test_channels_come_in_the_order_of_names_and_the_default_is_known() -> None:
    found = simulated("[z]\nb1\n[a]\nb1\n%default z")
    assert [(sheet.channel, sheet.is_default) for sheet in found] == [("a", False), ("z", True)]


def test_a_skipped_entry_is_no_stop_for_v0_and_one_for_v1() -> None:
    drawing = "b3: - / b2\nb2: - / b1\nb1"
    assert brief([answer(drawing, "b1", "v0"), answer(drawing, "b1", "v1")]) == [
        "v0 b1 stranded",
        "v1 b1 → b2 → b3 head",
    ]
    assert answer(drawing, "b1", "v0").reason == (
        "clusters on b1 get no further updates: b2 skips b1, but b3 skips b2, and OLM v0 never "
        "installs a skipped entry"
    )


def test_the_difference_between_the_policies_is_known_line_by_line() -> None:
    [sheet] = simulated("b3: - / b2\nb2: - / b1\nb1")
    assert [(line.installed, line.differs) for line in sheet.installed] == [
        ("b3", False),
        ("b2", False),
        ("b1", True),
    ]
    [sheet] = simulated("b2: b1\nb1", Scenario(("v0",)))
    assert not any(line.differs for line in sheet.installed)


def test_an_entry_without_successor_is_stranded() -> None:
    row = answer("b2: - / c1\nb1@1.0.0: c1", "b1", "v1")
    assert row.end is PathEnd.STRANDED
    assert row.reason == (
        "clusters on b1 get no further updates: no entry of stable replaces or skips it, and no "
        "skipRange covers 1.0.0"
    )


def test_a_path_may_be_stranded_after_some_hops() -> None:
    row = answer("b4: b3 / b3\nb3: b2\nb2: b1\nb1", "b1", "v0")
    assert (row.hops, row.end) == (("b2",), PathEnd.STRANDED)
    assert row.reason.startswith("clusters on b2 get no further updates: b3 replaces b2, but b4 skips b3")


def test_an_entry_whose_own_range_covers_it_takes_itself_for_its_successor() -> None:
    assert answer("b3: b2\nb2: b1 / - / <=2.0.0\nb1", "b2", "v0").hops == ("b3",)
    assert answer("b3: b2\nb2: b1 / - / <=2.0.0\nb1\n%prohibited b3", "b2", "v0").reason == (
        "clusters on b2 get no further updates: "
        "its own skipRange covers it, so OLM v0 considers it up to date"
    )


def test_a_prohibited_successor_is_named_with_its_obstacle() -> None:
    assert answer("b2: b1\nb1\n%prohibited b2", "b1", "v0").reason == (
        "clusters on b1 get no further updates: b2 replaces b1, "
        "but b2 carries olm.deprecated, so OLM v0 never installs it"
    )


def test_v1_does_not_go_down_and_says_so() -> None:
    drawing = "b1: b2\nb2"
    row = answer(drawing, "b2", "v1")
    assert row.reason == (
        "clusters on b2, which a new ClusterExtension installs although b1 is the head, get no "
        "further updates: "
        "b1 replaces b2, but b1 is no higher version"
    )


def test_a_version_that_v1_cannot_read_is_called_so() -> None:
    row = answer("b2@v1.0: b1\nb1@0.9.0", "b1", "v1")
    assert row.end is PathEnd.HEAD
    assert row.reason.endswith("but OLM v1 cannot parse the version of b2 and ranks it last")


def test_where_v1_does_not_go_to_a_head_that_is_deprecated_or_absent_what_it_installs_is_its_goal() -> None:
    deprecated = answer("b2: b1\nb1\n%deprecated b2: old", "b1", "v1")
    afresh = "is what a new ClusterExtension installs; does not reach the head b2: b2 replaces b1"
    assert deprecated.end is PathEnd.HEAD
    assert deprecated.reason == f"{afresh}, but b2 is deprecated and b1 is not"
    assert answer("b2?: b1\nb1", "b1", "v1").reason == f"{afresh}, but the catalog has no bundle b2"


def test_a_withdrawn_version_that_v1_installs_is_no_goal() -> None:
    for drawing in ("b1@1.0.0: b2\nb2@2.0.0", "b1@1.0.0: - / b2\nb2@2.0.0"):
        assert answer(drawing, "b2", "v1").end is PathEnd.STRANDED
    two_heads = "b3@3.0.0\nb1@1.0.0: b3 / - / -\nb2@2.0.0"
    assert [answer(two_heads, name, "v1").end for name in ("b3", "b2", "b1")] == [PathEnd.STRANDED] * 3


def test_with_several_heads_one_arrives_under_v1_at_the_one_it_would_install() -> None:
    assert answer("b3\nb2: b1\nb1", "b3", "v1").reason == "is what a new ClusterExtension installs"
    assert answer("b3\nb2: b1\nb1", "b1", "v1").end is PathEnd.STRANDED


def test_of_equal_versions_v1_may_install_either_so_that_one_arrives_at_each() -> None:
    assert [answer("b3@2.0.0\nb2@2.0.0", name, "v1").end for name in ("b3", "b2")] == [PathEnd.HEAD] * 2


def test_a_path_that_repeats_is_a_loop() -> None:
    drawing = "b3: b2\nb2: b1 / - / >=3.0.0\nb1"
    row = answer(drawing, "b1", "v0")
    assert (row.end, row.hops) == (PathEnd.LOOP, ("b2", "b3", "b2"))
    assert row.reason == "updates in a cycle: b2 → b3 → b2"
    assert answer(drawing, "b3", "v0").reason == "updates in a cycle: b3 → b2 → b3"


def test_the_reason_of_a_long_loop_names_some_entries() -> None:
    chain = "\n".join(f"b{i}: b{i - 1}" for i in range(9, 2, -1))
    row = answer(f"{chain}\nb2: b1 / - / >=9.0.0\nb1", "b1", "v0")
    assert len(row.hops) == 9
    assert row.reason == "updates in a cycle: b2 → b3 → b4 → b5 → b6 → b7 → … → b2"


def test_of_many_who_accept_a_stranded_entry_three_are_named() -> None:
    skipped = [f"s{i}@1.0.{i}: - / - / =0.1.0" for i in range(1, 9)]
    names = ", ".join(f"s{i}" for i in range(1, 9))
    reason = answer(
        "\n".join([f"h@2.0.0: b / {names}", *skipped, "b@0.1.0\n%prohibited h"]), "b", "v0"
    ).reason
    assert reason.startswith(
        "clusters on b get no further updates: h replaces b, but h carries olm.deprecated"
    )
    assert reason.count("but") == 3
    assert reason.endswith("; 6 more entries accept it and cannot be installed either")


def test_a_channel_without_one_head_fails_under_v0_in_its_own_words() -> None:
    row = answer("b2\nb1", "b1", "v0")
    assert (row.end, row.next) == (PathEnd.ERROR, None)
    assert row.reason == (
        "OLM v0 fails for the whole namespace: a unique replacement chain within a channel is required to "
        "determine the relative order between channel entries, but 2 replacement chains were found in "
        'channel "stable" of package "p": b1, b2'
    )


def test_a_range_that_panics_is_an_error_for_versions_it_is_evaluated_for() -> None:
    drawing = "b3: b2 / - / <2.0.0 || || >9.0.0\nb2: b1\nb1"
    assert answer(drawing, "b1", "v0").hops == ("b3",)
    failing = answer(drawing, "b2", "v0")
    assert failing.end is PathEnd.ERROR
    assert failing.reason == (
        "OLM v0 fails: runtime error: invalid memory address or nil pointer dereference"
    )


def test_an_error_on_the_way_says_where() -> None:
    row = answer("b3: b2 / - / <2.0.0 || || >9.0.0\nb2: b1\nb1\n%prohibited b3", "b1", "v0")
    assert (row.hops, row.end) == (("b2",), PathEnd.ERROR)
    assert row.reason.startswith("at b2 OLM v0 fails: runtime error")


def test_a_range_that_crashes_v1_crashes_it() -> None:
    row = answer("b3: - / - / <1.0.0 || || >9.0.0\nb2: b1\nb1", "b1", "v1")
    assert (row.hops, row.end) == ((), PathEnd.ERROR)


def test_what_v1_refuses_in_a_chosen_bundle_is_an_error() -> None:
    package = package_graph(CHAIN).package
    needy = tuple(
        b._replace(properties=(*b.properties, Property("olm.gvk.required", {}, b.place)))
        if b.name == "b2"
        else b
        for b in package.bundles
    )
    graph = PackageGraph(package._replace(bundles=needy))
    found = answered([ClusterCatalog("c", 0, graph)], Scenario(("v1",)))
    assert brief(found) == ["v1 b3 head", "v1 b2 → b3 head", "v1 b1 error"]
    assert found[2].reason.startswith('OLM v1 fails: validating bundle "b2": bundle "b2" has a dependency')
