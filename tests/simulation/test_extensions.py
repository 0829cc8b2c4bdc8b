"""OLM v1 over several catalogs, several channels, ranges of versions, and without edges."""

from __future__ import annotations

from everpath.graph import PackageGraph
from everpath.resolvers.cluster_extension import ClusterCatalog
from everpath.simulate import ClusterExtensionOptions, Scenario, simulate_package
from everpath.upgrade_paths.hops import PathEnd
from simulations import answered, brief, simulated, sources

CHAIN = "b3: b2\nb2: b1\nb1"


def under(
    drawing: str, terms: ClusterExtensionOptions, installed: str | None = None, *, fresh: bool = False
) -> list[str]:
    wanted = Scenario(("v1",), new_install=fresh, options=terms)
    return brief(answered(drawing, wanted, installed))


def test_a_range_ends_a_path_at_the_highest_version_in_it() -> None:
    assert under(CHAIN, ClusterExtensionOptions(version_range="<3")) == [
        "v1 b3 error",
        "v1 b2 head",
        "v1 b1 → b2 head",
    ]


def test_a_range_says_what_the_end_is() -> None:
    wanted = Scenario(("v1",), options=ClusterExtensionOptions(version_range="<3"))
    assert [r.reason for r in answered(CHAIN, wanted)][1:] == [
        "is what a new ClusterExtension installs",
        "reaches what a new ClusterExtension installs in 1 hop",
    ]


def test_a_fresh_install_keeps_to_the_range_too() -> None:
    assert under(CHAIN, ClusterExtensionOptions(version_range="<3"), fresh=True) == ["v1 - → b2 head"]


def test_a_range_that_holds_nothing_on_the_way_strands() -> None:
    wanted = Scenario(("v1",), options=ClusterExtensionOptions(version_range="!=2.0.0"))
    stays = answered(CHAIN, wanted, "b1")[0]
    assert stays.end is PathEnd.STRANDED
    assert stays.reason == "clusters on b1 get no further updates: no entry of its channels accepts it"


def test_lower_successors_are_named_where_nothing_leads_on() -> None:
    [row] = answered(
        "b3\nb1: b2\nb2", Scenario(("v1",), options=ClusterExtensionOptions(version_range="<3")), "b2"
    )
    assert row.end is PathEnd.HEAD, "what a fresh install gets is an end, though b3 is the head"
    [row] = answered(
        "b4\nb1: b2\nb2", Scenario(("v1",), options=ClusterExtensionOptions(version_range=">0")), "b2"
    )
    assert row.reason.startswith(
        "clusters on b2 get no further updates: b1 replaces b2, but it is lower than b2"
    )


def test_self_certified_goes_straight_to_the_highest() -> None:
    assert under(CHAIN, ClusterExtensionOptions(self_certified=True)) == [
        "v1 b3 head",
        "v1 b2 → b3 head",
        "v1 b1 → b3 head",
    ]


CHANNELS = "[stable]\nb2: b1\nb1\n[fast]\nb3: b2\nb2"


def test_a_list_of_channels_is_one_graph() -> None:
    assert under(CHANNELS, ClusterExtensionOptions(("stable", "fast"))) == [
        "v1 b3 head",
        "v1 b2 → b3 head",
        "v1 b1 → b2 → b3 head",
    ]
    assert under(CHANNELS, ClusterExtensionOptions(("stable",))) == ["v1 b2 head", "v1 b1 → b2 head"]


def test_an_empty_list_is_all_channels() -> None:
    found = answered(CHANNELS, Scenario(options=ClusterExtensionOptions(channels=())))
    assert {r.channel for r in found} == {"*"}
    assert len(found) == 3, "a Subscription has one channel, so that v0 has no answer"


def test_a_list_of_channels_works_for_one_version_and_for_a_new_installation() -> None:
    assert under(CHANNELS, ClusterExtensionOptions(()), "b1") == ["v1 b1 → b2 → b3 head"]
    assert under(CHANNELS, ClusterExtensionOptions(("stable",)), fresh=True) == ["v1 - → b2 head"]


# Several catalogs


def test_v0_keeps_to_its_catalog_and_v1_crosses() -> None:
    served = sources("b2: b1\nb1", "b3: b2\nb2")
    found = answered(served)
    assert [f"{r.catalog} {line}" for r, line in zip(found, brief(found), strict=True)] == [
        "a v0 b2 head",
        "None v1 b2 error",
        "a v0 b1 → b2 head",
        "None v1 b1 → b2 error",
        "b v0 b3 head",
        "None v1 b3 head",
        "b v0 b2 → b3 head",
    ]


def test_a_path_has_the_catalog_of_each_hop() -> None:
    served = sources("b2: b1\nb1", "b3: b2\nb2", priorities=[0, 10])
    [v0, v1] = answered(served, None, "b1")
    assert (v0.hops, v0.sources) == (("b2",), ("a",))
    assert (v1.hops, v1.sources, v1.end) == (("b2", "b3"), ("a", "b"), PathEnd.HEAD)


def test_the_priority_decides_even_if_the_version_is_lower() -> None:
    served = sources("b1", "b2: b1\nb1", priorities=[10, 0])
    assert brief(answered(served, Scenario(("v1",)), "b1")) == ["v1 b1 head"]


def test_a_tie_is_the_resolvers_error() -> None:
    served = sources("b2: b1\nb1", "b2: b1\nb1")
    [row] = answered(served, Scenario(("v1",)), "b1")
    assert row.reason == (
        'OLM v1 fails: error upgrading from currently installed version "1.0.0": found bundles for package '
        '"p" in channels [stable] in multiple catalogs with the same priority [a b]'
    )


def test_what_is_deprecated_counts_for_nothing_beside_what_is_not() -> None:
    served = sources("b2: b1\nb1\n%deprecated b2: x\n%deprecated b1: x", "b3: b1\nb1", priorities=[10, 0])
    assert brief(answered(served, Scenario(("v1",)), "b1"))[0] == "v1 b1 → b3 head"


def test_a_package_in_one_of_several_catalogs_is_answered_in_bulk_and_named() -> None:
    [source] = sources(CHAIN)
    [sheet] = simulate_package([source], Scenario(), with_catalog_names=True)
    line = sheet.installed[-1]
    assert line.v0 is not None
    assert line.v1 is not None
    assert (sheet.catalog, line.v0.catalog, line.v1.catalog) == ("a", "a", None)
    assert line.v1.sources == ("a", "a")


def test_a_path_of_v1_is_reported_once_for_all_catalogs() -> None:
    served = sources("b1", "b1")
    assert len(simulated(served)) == 2
    assert [r.resolver for r in answered(served)] == ["v0", "v1", "v0"]


def test_v1_alone_is_in_one_channel_result() -> None:
    found = simulated(sources("b2: b1\nb1", "b1\nb0"), Scenario(("v1",)))
    assert [[line.installed for line in sheet.installed] for sheet in found] == [["b2", "b1"], ["b0"]]


def test_a_catalog_of_a_higher_priority_is_a_reason_in_a_sentence() -> None:
    served = sources("b2: b1\nb1", "b1\nb3", priorities=(0, 5))
    [row] = answered(served, Scenario(("v1",)), "b1")
    assert (
        row.reason
        == "clusters on b1 get no further updates: b2 replaces b1, but catalog b has a higher priority"
    )


def test_a_copy_of_a_catalog_changes_no_end() -> None:
    forked = "b4\nb3: b1\nb1"
    ends = [row.end for row in answered(forked, Scenario(("v1",)))]
    assert ends == [PathEnd.HEAD, PathEnd.STRANDED, PathEnd.STRANDED], (
        "with two heads the one that v1 installs afresh"
    )
    copied = sources(forked, forked, priorities=(0, 2))
    assert [row.end for row in answered(copied, Scenario(("v1",)))] == ends


def test_a_path_to_the_head_of_another_catalog_than_a_new_installation_is_stranded() -> None:
    [row] = answered(sources("b1", "b3: b2\nb2", priorities=(0, 5)), Scenario(("v1",)), "b1")
    assert row.end is PathEnd.STRANDED


def test_a_path_to_the_head_of_another_channel_than_a_new_installation_is_stranded() -> None:
    drawing = "[alpha]\na1\n[stable]\nb3: b2\nb2"
    assert under(drawing, ClusterExtensionOptions(())) == ["v1 b3 head", "v1 b2 → b3 head", "v1 a1 stranded"]


def test_where_a_fresh_install_fails_the_head_of_the_own_catalog_is_an_end() -> None:
    [row] = answered(sources("b1", "b3: b2\nb2"), Scenario(("v1",)), "b1")
    assert row.end is PathEnd.HEAD


def test_one_name_has_one_answer_of_v1_though_one_of_two_catalogs_lacks_the_bundle() -> None:
    first, second = sources("b2: b1\nb1", "b2: b1\nb1", priorities=(0, 4))
    assert first.package is not None
    package = first.package.package
    only = PackageGraph(package._replace(bundles=tuple(b for b in package.bundles if b.name == "b1")))
    found = answered([first._replace(package=only), second])
    assert sorted(brief([row for row in found if row.resolver == "v1"])) == ["v1 b1 → b2 head", "v1 b2 head"]
    assert [row.end for row in found if row.resolver == "v0"] == [PathEnd.HEAD] * 4


def test_a_package_that_no_catalog_has_gives_no_result() -> None:
    assert simulated([ClusterCatalog("a", 0, None)]) == []
