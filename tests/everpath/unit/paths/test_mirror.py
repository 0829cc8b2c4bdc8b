"""The fewest bundles that a mirror must keep."""

from __future__ import annotations

from itertools import combinations

import pytest

from everpath.graph import ChannelGraph
from everpath.paths import mirror_v0 as chain
from everpath.paths import set_cover
from everpath.paths.bundle_list import as_bundle_list
from everpath.paths.mirror import reaching, reduced_channel
from everpath.paths.mirror_v0 import mirror_v0
from everpath.paths.mirror_v1 import mirror_v1
from everpath.paths.resolver_hops import next_hops
from everpath.versions import parse
from tests.support.everpath.graphs import channel_graph, package_graph


def _serves(graph: ChannelGraph, kept: tuple[str, ...], served: tuple[str, ...], goal: str) -> bool:
    everyone = {name: graph.versions.get(name) for name in graph.entries}
    hops = next_hops(reduced_channel(graph, kept), "v0", everyone)
    return goal in kept and set(served) <= reaching(hops, (goal,))


def test_v0_keeps_the_chain_down_to_the_entry_that_accepts_the_last_version() -> None:
    mirror = mirror_v0([channel_graph("d: c / - / >=2.0.0 <4.0.0\nc: b\nb: a\na")])
    [kept] = mirror.channels
    assert mirror.bundles == kept.entries == ("d", "c", "b")
    assert kept.needed_by == {"b": ("a",)}
    assert mirror.is_smallest


def test_v1_leaves_out_the_middle() -> None:
    mirror = mirror_v1([channel_graph("d: c / - / >=2.0.0 <4.0.0\nc: b\nb: a\na")])
    assert mirror.bundles == ("d", "b")
    assert mirror.channels[0].needed_by["b"] == ("a",)


def test_a_head_that_accepts_all_versions_is_enough() -> None:
    graph = channel_graph("c: b / - / <3.0.0\nb: a\na")
    assert mirror_v0([graph]).bundles == mirror_v1([graph]).bundles == ("c",)


def test_only_installable_versions_are_served() -> None:
    graph = channel_graph("d: c / - / >=2.0.0 <4.0.0\nc: b\nb: a\na")
    assert mirror_v0([graph], parse("2.0.0")).bundles == ("d",)
    assert mirror_v1([graph], parse("2.0.0")).bundles == ("d",)


def test_a_version_without_a_path_is_reported_and_needs_no_entry() -> None:
    graph = channel_graph("c: b\nb\nz@0.1.0: - / - / -\nx@5.0.0: c / z")
    [kept] = mirror_v0([channel_graph("c: b / x\nb\nx: a\na")]).channels
    assert kept.cut_off == ("a",)
    assert kept.entries == ("c",)
    assert mirror_v1([graph]).channels[0].cut_off == ()


def test_a_skipped_entry_of_the_run_is_kept_because_the_chain_goes_through_it() -> None:
    [kept] = mirror_v0([channel_graph("d: c / c / >=2.0.0 <3.0.0\nc: b\nb: a\na")]).channels
    assert kept.entries == ("d", "c", "b")
    assert kept.served == ("d", "c", "b", "a")


ASTRAY = """
    b1: b4
    b2: b6 / b6, b5
    b3: b5 / - / <3.0.0
    b4
    b5: b1 / - / <4.0.0
    b6: b2 / - / <6.0.0
"""


def test_an_entry_beside_the_chain_is_kept_when_it_skips_what_would_lead_astray() -> None:
    """b2 and b6 skip and replace one another; without them b5, which b2 skips, becomes a target again."""
    graph = channel_graph(ASTRAY)
    mirror = mirror_v0([graph])
    [kept] = mirror.channels
    assert kept.goals == ("b3",)
    assert kept.entries == ("b6", "b5", "b3", "b2", "b1")
    assert mirror.is_smallest
    assert _serves(graph, kept.entries, kept.served, "b3")
    fewer = [names for size in range(5) for names in combinations(graph.entries, size)]
    assert not any(_serves(graph, names, kept.served, "b3") for names in fewer)


def test_a_search_that_is_cut_short_returns_a_working_mirror_and_a_lower_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(chain, "MOST_TRIALS", 1)
    graph = channel_graph(ASTRAY)
    mirror = mirror_v0([graph])
    assert set(mirror.bundles) == set(graph.entries)
    assert not mirror.is_smallest
    assert mirror.at_least < 5


def test_what_the_mirror_would_offer_again_is_named() -> None:
    """x skips b, and is itself skipped; a mirror without x has b as a target."""
    drawing = "d: b / x / >=1.0.0 <2.0.0\nx: - / b\nb: a\na: z\nz@0.5.0"
    [kept] = mirror_v0([channel_graph(drawing)]).channels
    assert kept.entries == ("d", "b", "a")
    assert kept.offered == ("b",)


def test_all_is_kept_where_v0_resolves_nothing() -> None:
    mirror = mirror_v0([channel_graph("c: a\nb: a\na")])
    assert mirror.bundles == mirror.channels[0].entries == ("c", "b", "a")
    assert mirror.is_smallest
    assert mirror.channels[0].goals == ()
    assert mirror.channels[0].cut_off == ("c", "b", "a")


def test_a_prohibited_head_is_no_goal_and_its_users_keep_what_they_have() -> None:
    mirror = mirror_v0([channel_graph("b: a\na\n%prohibited b")])
    assert mirror.channels[0].goals == ()
    assert mirror.bundles == ("b", "a")


def test_the_whole_channel_is_kept_if_a_resolver_fails() -> None:
    """The range of c crashes both resolvers."""
    graph = channel_graph("c: b / - / <1.0.0 || || >5.0.0\nb: a\na")
    for mirror in mirror_v0([graph]), mirror_v1([graph]):
        assert mirror.channels[0].goals == ()
        assert mirror.bundles == ("c", "b", "a")


def test_channels_share_what_they_keep() -> None:
    """Either of b and c would serve a in the first channel; the second one needs c anyway."""
    package = package_graph("[one]\nd: - / b, c\nc: - / a\nb: - / a\na\n[two]\nc: b\nb: a\na")
    mirror = mirror_v1(package.channels)
    assert mirror.bundles == ("d", "c", "b")
    assert [kept.channel for kept in mirror.channels] == ["one", "two"]
    assert mirror_v0(package.channels).is_smallest


def test_a_deprecated_entry_goes_to_one_that_is_not_and_that_must_go_on() -> None:
    """v1 brings c, which is deprecated, down to b; b is older than asked for, and needs d all the same."""
    graph = channel_graph("e: d\nd: b\nb: c\nc\n%deprecated c: old")
    mirror = mirror_v1([graph], parse("3.0.0"))
    assert mirror.bundles == ("e", "d", "b")
    assert mirror.channels[0].served == ("e", "d", "c")


def test_a_list_of_names_keeps_every_chain_whole() -> None:
    """a is kept for the first channel; in the second it would be a head of its own without b."""
    package = package_graph("[one]\nd: a\na: z\nz@0.5.0\n[two]\nc: b / - / <2.0.0\nb: a\na")
    mirror = mirror_v0(package.channels)
    assert mirror.bundles == ("d", "c", "a")
    named, torn = as_bundle_list(package.channels, mirror)
    assert named.bundles == ("d", "c", "b", "a")
    assert torn == ()
    assert not named.is_smallest


def test_a_list_of_names_may_cut_off_versions() -> None:
    """x is kept for the second channel. In the first, paths that v1 leads there end."""
    package = package_graph("[one]\nd: - / a, b\nx@3.0.0: - / a\nb: - / a\na\n[two]\nx@3.0.0: a\na")
    mirror = mirror_v1(package.channels)
    assert as_bundle_list(package.channels, mirror)[1] == ()
    package = package_graph("[one]\nd: b\nx@3.0.0: - / a\nb: - / a\na\n[two]\nx@3.0.0: a\na")
    [torn] = as_bundle_list(package.channels, mirror_v1(package.channels))[1]
    assert torn == ("one", ("a",))


def test_a_cover_is_exact_in_time_and_honest_after() -> None:
    demands = [0b0011, 0b0110, 0b1100, 0b1001]
    assert set_cover.smallest_cover(demands, {}) == set_cover.Cover(0b0101, 2)
    rows = [(1 << i) | (1 << (i + 1) % 9) for i in range(9)]
    assert set_cover.smallest_cover(rows, {}).at_least == 5
    cut = set_cover.smallest_cover(rows, {}, most=0)
    assert cut.at_least == 4
    assert all(cut.members & row for row in rows)
    assert not cut.is_smallest


def test_a_member_brings_its_own_constraints() -> None:
    assert set_cover.smallest_cover([0b01], {0b01: [0b10]}).members == 0b11
    assert set_cover.smallest_cover([0b011], {0b001: [0b100], 0b010: []}).members == 0b010


def test_the_v1_mirror_keeps_a_deprecated_head_and_what_v1_installs_in_its_stead() -> None:
    """Without b, which v1 stays at, its users would be sent on to c, which is deprecated."""
    mirror = mirror_v1([channel_graph("c: b\nb: a\na\n%deprecated c: old")])
    [kept] = mirror.channels
    assert kept.goals == ("c", "b")
    assert mirror.bundles == ("c", "b")
    assert kept.served == ("c", "b", "a")


def test_the_v1_mirror_leaves_out_what_is_withdrawn() -> None:
    for withdrawal in ("b / - / <1.0.0", "- / b / <1.0.0"):
        [kept] = mirror_v1([channel_graph(f"c@1.0.0: {withdrawal}\nb@2.0.0: a\na@0.1.0")]).channels
        assert (kept.goals, kept.entries, kept.cut_off) == (("c",), ("c",), ("b",))
        assert kept.served == ("c", "a")


def test_one_of_several_equal_versions_is_enough_for_v1() -> None:
    mirror = mirror_v1([channel_graph("c@2.0.0: a\nb@2.0.0: a\na@1.0.0")])
    [kept] = mirror.channels
    assert set(kept.goals) == {"b", "c"}
    assert len(mirror.bundles) == 1
    assert set(kept.served) == {"a", "b", "c"}
    assert mirror.is_smallest


def test_v1_replaces_a_deprecated_bundle_by_an_equal_one_without_an_edge() -> None:
    mirror = mirror_v1([channel_graph("d@2.0.0: c\nc@1.0.0\nb@1.0.0\n%deprecated b: old")])
    [kept] = mirror.channels
    assert set(kept.served) == {"d", "c", "b"}
    assert mirror.bundles == ("d", "c")
