"""OLM v1 over several catalogs, several channels, ranges of versions, and without edges."""

from __future__ import annotations

from everpath.graph import PackageGraph
from everpath.resolvers.cluster_extension import ClusterCatalog
from everpath.simulate import ClusterExtensionOptions, Scenario, simulate_package
from everpath.upgrade_path.hops import PathEnd
from tests.support.everpath.simulations import channel_results, short_texts, sources, upgrade_paths

CHAIN = "b3: b2\nb2: b1\nb1"


def v1_paths(
    drawing: str, terms: ClusterExtensionOptions, installed: str | None = None, *, fresh: bool = False
) -> list[str]:
    wanted = Scenario(("v1",), new_install=fresh, options=terms)
    return short_texts(upgrade_paths(drawing, wanted, installed))


def test_version_range_ends_a_path_at_its_highest_version() -> None:
    assert v1_paths(CHAIN, ClusterExtensionOptions(version_range="<3")) == [
        "v1 b3 error",
        "v1 b2 head",
        "v1 b1 → b2 head",
    ]


def test_reason_names_the_goal_of_a_version_range() -> None:
    wanted = Scenario(("v1",), options=ClusterExtensionOptions(version_range="<3"))
    assert [r.reason for r in upgrade_paths(CHAIN, wanted)][1:] == [
        "is what a new ClusterExtension installs",
        "reaches what a new ClusterExtension installs in 1 hop",
    ]


def test_new_installation_stays_in_the_version_range() -> None:
    assert v1_paths(CHAIN, ClusterExtensionOptions(version_range="<3"), fresh=True) == ["v1 - → b2 head"]


def test_version_range_without_a_reachable_version_is_an_error() -> None:
    wanted = Scenario(("v1",), options=ClusterExtensionOptions(version_range="!=2.0.0"))
    stays = upgrade_paths(CHAIN, wanted, "b1")[0]
    assert stays.end is PathEnd.STRANDED
    assert stays.reason == "clusters on b1 get no further updates: no entry of its channels accepts it"


def test_reason_names_lower_successors() -> None:
    [row] = upgrade_paths(
        "b3\nb1: b2\nb2", Scenario(("v1",), options=ClusterExtensionOptions(version_range="<3")), "b2"
    )
    assert row.end is PathEnd.HEAD, "what a fresh install gets is an end, though b3 is the head"
    [row] = upgrade_paths(
        "b4\nb1: b2\nb2", Scenario(("v1",), options=ClusterExtensionOptions(version_range=">0")), "b2"
    )
    assert row.reason.startswith(
        "clusters on b2 get no further updates: b1 replaces b2, but it is lower than b2"
    )


def test_self_certified_installs_the_highest_version() -> None:
    assert v1_paths(CHAIN, ClusterExtensionOptions(self_certified=True)) == [
        "v1 b3 head",
        "v1 b2 → b3 head",
        "v1 b1 → b3 head",
    ]


CHANNELS = "[stable]\nb2: b1\nb1\n[fast]\nb3: b2\nb2"


def test_a_list_of_channels_is_one_graph() -> None:
    assert v1_paths(CHANNELS, ClusterExtensionOptions(("stable", "fast"))) == [
        "v1 b3 head",
        "v1 b2 → b3 head",
        "v1 b1 → b2 → b3 head",
    ]
    assert v1_paths(CHANNELS, ClusterExtensionOptions(("stable",))) == ["v1 b2 head", "v1 b1 → b2 head"]


def test_an_empty_list_is_all_channels() -> None:
    found = upgrade_paths(CHANNELS, Scenario(options=ClusterExtensionOptions(channels=())))
    assert {r.channel for r in found} == {"*"}
    assert len(found) == 3, "a Subscription has one channel, so v0 has no path"


def test_a_list_of_channels_works_for_one_version_and_for_a_new_installation() -> None:
    assert v1_paths(CHANNELS, ClusterExtensionOptions(()), "b1") == ["v1 b1 → b2 → b3 head"]
    assert v1_paths(CHANNELS, ClusterExtensionOptions(("stable",)), fresh=True) == ["v1 - → b2 head"]


# Several catalogs


def test_v0_stays_in_its_catalog_and_v1_uses_all() -> None:
    served = sources("b2: b1\nb1", "b3: b2\nb2")
    found = upgrade_paths(served)
    assert [f"{r.catalog} {line}" for r, line in zip(found, short_texts(found), strict=True)] == [
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
    [v0, v1] = upgrade_paths(served, None, "b1")
    assert (v0.hops, v0.sources) == (("b2",), ("a",))
    assert (v1.hops, v1.sources, v1.end) == (("b2", "b3"), ("a", "b"), PathEnd.HEAD)


def test_priority_precedes_version() -> None:
    served = sources("b1", "b2: b1\nb1", priorities=[10, 0])
    assert short_texts(upgrade_paths(served, Scenario(("v1",)), "b1")) == ["v1 b1 head"]


def test_equal_priorities_are_an_error() -> None:
    served = sources("b2: b1\nb1", "b2: b1\nb1")
    [row] = upgrade_paths(served, Scenario(("v1",)), "b1")
    assert row.reason == (
        'OLM v1 fails: error upgrading from currently installed version "1.0.0": found bundles for package '
        '"p" in channels [stable] in multiple catalogs with the same priority [a b]'
    )


def test_deprecated_candidate_is_dropped_if_there_is_another() -> None:
    served = sources("b2: b1\nb1\n%deprecated b2: x\n%deprecated b1: x", "b3: b1\nb1", priorities=[10, 0])
    assert short_texts(upgrade_paths(served, Scenario(("v1",)), "b1"))[0] == "v1 b1 → b3 head"


def test_package_in_one_of_several_catalogs_has_catalog_names() -> None:
    [source] = sources(CHAIN)
    [sheet] = simulate_package([source], Scenario(), with_catalog_names=True)
    line = sheet.installed[-1]
    assert line.v0 is not None
    assert line.v1 is not None
    assert (sheet.catalog, line.v0.catalog, line.v1.catalog) == ("a", "a", None)
    assert line.v1.sources == ("a", "a")


def test_a_path_of_v1_is_reported_once_for_all_catalogs() -> None:
    served = sources("b1", "b1")
    assert len(channel_results(served)) == 2
    assert [r.resolver for r in upgrade_paths(served)] == ["v0", "v1", "v0"]


def test_v1_alone_is_in_one_channel_result() -> None:
    found = channel_results(sources("b2: b1\nb1", "b1\nb0"), Scenario(("v1",)))
    assert [[line.installed for line in sheet.installed] for sheet in found] == [["b2", "b1"], ["b0"]]


def test_reason_names_the_catalog_of_higher_priority() -> None:
    served = sources("b2: b1\nb1", "b1\nb3", priorities=(0, 5))
    [row] = upgrade_paths(served, Scenario(("v1",)), "b1")
    assert (
        row.reason
        == "clusters on b1 get no further updates: b2 replaces b1, but catalog b has a higher priority"
    )


def test_a_copy_of_a_catalog_changes_no_end() -> None:
    forked = "b4\nb3: b1\nb1"
    ends = [row.end for row in upgrade_paths(forked, Scenario(("v1",)))]
    assert ends == [PathEnd.HEAD, PathEnd.STRANDED, PathEnd.STRANDED], (
        "with two heads the one that v1 installs afresh"
    )
    copied = sources(forked, forked, priorities=(0, 2))
    assert [row.end for row in upgrade_paths(copied, Scenario(("v1",)))] == ends


def test_a_path_to_the_head_of_another_catalog_than_a_new_installation_is_stranded() -> None:
    [row] = upgrade_paths(sources("b1", "b3: b2\nb2", priorities=(0, 5)), Scenario(("v1",)), "b1")
    assert row.end is PathEnd.STRANDED


def test_a_path_to_the_head_of_another_channel_than_a_new_installation_is_stranded() -> None:
    drawing = "[alpha]\na1\n[stable]\nb3: b2\nb2"
    assert v1_paths(drawing, ClusterExtensionOptions(())) == [
        "v1 b3 head",
        "v1 b2 → b3 head",
        "v1 a1 stranded",
    ]


def test_head_of_the_own_catalog_is_a_goal_if_a_new_installation_fails() -> None:
    [row] = upgrade_paths(sources("b1", "b3: b2\nb2"), Scenario(("v1",)), "b1")
    assert row.end is PathEnd.HEAD


def test_v1_has_one_path_if_one_of_two_catalogs_lacks_the_bundle() -> None:
    first, second = sources("b2: b1\nb1", "b2: b1\nb1", priorities=(0, 4))
    assert first.package is not None
    package = first.package.package
    only = PackageGraph(package._replace(bundles=tuple(b for b in package.bundles if b.name == "b1")))
    found = upgrade_paths([first._replace(package=only), second])
    assert sorted(short_texts([row for row in found if row.resolver == "v1"])) == [
        "v1 b1 → b2 head",
        "v1 b2 head",
    ]
    assert [row.end for row in found if row.resolver == "v0"] == [PathEnd.HEAD] * 4


def test_a_package_that_no_catalog_has_gives_no_result() -> None:
    assert channel_results([ClusterCatalog("a", 0, None)]) == []
