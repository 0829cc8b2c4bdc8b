"""The resolution of a ClusterExtension over catalogs, with OLM's messages, and its trace."""

from __future__ import annotations

import pytest

from everpath.graph import Edge, EdgeKind, PackageGraph
from everpath.model import Package
from everpath.resolvers import olm_v1
from everpath.resolvers.cluster_extension import ClusterCatalog, ClusterExtension, resolve
from everpath.resolvers.resolution import (
    CandidateResult,
    FailureKind,
    InstalledBundle,
    Resolution,
    ResolutionFailure,
    TraceStep,
)
from everpath.versions import parse_or_none
from tests.support.everpath.documents import Document, bundle, catalog, channel, deprecations
from tests.support.everpath.documents import package as declared
from tests.support.everpath.graphs import channel_graph, package_graph

CHAIN = "b3: b2\nb2: b1\nb1"


def source(drawing: str, name: str = "c", priority: int = 0) -> ClusterCatalog:
    return ClusterCatalog(name, priority, package_graph(drawing))


def written(*documents: Document) -> ClusterCatalog:
    return ClusterCatalog("c", 0, PackageGraph(catalog(*documents).by_name["op"]))


def installed(name: str, version: str = "") -> InstalledBundle:
    return InstalledBundle(name, parse_or_none(version or f"{name[1:]}.0.0"))


def asking(
    name: str = "", *channels: str, within: str = "", version: str = "", free: bool = False
) -> ClusterExtension:
    """For package p, with something installed, if it is named."""
    return ClusterExtension("p", channels, within, free, installed(name, version) if name else None)


def words(decision: Resolution) -> str:
    assert decision.failure is not None, decision
    return decision.failure.message


def traced(sources: list[ClusterCatalog], extension: ClusterExtension) -> list[str]:
    steps: list[TraceStep] = []
    resolve(sources, extension, steps.append)
    return [f"{r.result} {r.entry} of {r.catalog}: {r.reason}" for r in steps]


# One catalog


def test_a_fresh_install_gets_the_highest_version() -> None:
    assert resolve([source("b1: b2\nb2")], asking()) == Resolution("b2", None, "c")


def test_an_upgrade_follows_an_edge_and_not_further() -> None:
    assert resolve([source(CHAIN)], asking("b1")).next == "b2"


def test_the_highest_version_is_chosen_again_and_stays() -> None:
    assert resolve([source(CHAIN)], asking("b3")) == Resolution(None, None, "c")


def test_name_with_another_version_is_installed_again() -> None:
    drawing = "b1@1.1.0: - / - / <1.1.0"
    assert resolve([source(drawing)], asking("b1")).next == "b1"
    assert resolve([source(drawing)], asking("b1", version="1.1.0")).next is None


def test_version_without_edges_that_no_catalog_has_is_an_error() -> None:
    assert resolve([source(CHAIN)], asking("b9")) == Resolution(
        None,
        ResolutionFailure(
            FailureKind.NO_BUNDLES,
            (),
            'error upgrading from currently installed version "9.0.0": no bundles found for package "p"',
        ),
    )


def test_the_same_version_under_another_name_needs_no_edge() -> None:
    assert resolve([source("other@1.0.0")], asking("b1")).next == "other"


def test_only_selected_channels_have_bundles_and_edges() -> None:
    drawing = "[stable]\nb2\nb1\n[fast]\nb3: b1\nb2: b1\nb1"
    assert resolve([source(drawing)], asking("b1")).next == "b3"
    assert resolve([source(drawing)], asking("b1", "fast")).next == "b3"
    # In fast there is an edge to b2, which is in stable too.
    assert resolve([source(drawing)], asking("b1", "stable")).next is None


def test_several_channels_are_one_graph() -> None:
    drawing = "[stable]\nb2: b1\nb1\n[fast]\nb3: b1"
    assert resolve([source(drawing)], asking("b1", "stable", "fast")).next == "b3"


def test_version_range_can_exclude_the_installed_version() -> None:
    assert resolve([source("b3: b1\nb2: b1\nb1")], asking("b1", within="<3")).next == "b2"
    assert words(resolve([source(CHAIN)], asking("b1", "stable", "beta", within="1.5 || >4"))) == (
        'error upgrading from currently installed version "1.0.0": no bundles found for package "p" '
        'matching version "1.5 || >4" in channels [stable beta]'
    )


def test_version_range_can_cause_a_downgrade() -> None:
    assert resolve([source("b2\nb1: b2")], asking("b2", within="<2")).next == "b1"


def test_self_certified_needs_no_edge_in_either_direction() -> None:
    assert resolve([source(CHAIN)], asking("b1", free=True)).next == "b3"
    assert resolve([source(CHAIN)], asking("b3", within="1", free=True)).next == "b1"


def test_range_that_does_not_parse_has_the_message_of_operator_controller() -> None:
    decision = resolve([source(CHAIN)], asking(within='foo\t"bar"'))
    assert decision.failure == ResolutionFailure(
        FailureKind.UNREADABLE_RANGE,
        (),
        'desired version range "foo\\t\\"bar\\"" is invalid: improper constraint: foo\t"bar"',
    )


@pytest.mark.parametrize(
    ("character", "quoted"),
    [("\x01", "\\x01"), ("\x7f", "\\x7f"), ("\u00a0", "\\u00a0"), ("é", "é"), ("\U000e0001", "\\U000e0001")],
)
def test_strings_are_quoted_as_in_go(character: str, quoted: str) -> None:
    assert f'"{quoted}"' in words(resolve([], asking(within=f"{character}")))


def test_deprecated_bundles_rank_last() -> None:
    drawing = "b3: b1\nb2: b1\nb1\n%deprecated b3: old"
    assert resolve([source(drawing)], asking("b1")) == Resolution("b2", None, "c", "c")
    assert resolve([source("b2\nb1: - / b2\n%deprecated b2: old")], asking("b2")).next == "b1"
    assert resolve([source("b2: b1\n%deprecated b2: old")], asking("b1")).next == "b2"


@pytest.mark.parametrize(
    ("drawing", "reason"),
    [
        ("b2?: b1\nb1", "the catalog has no bundle b2"),
        ("b2@two: b1\nb1", "OLM v1 cannot parse the version of b2 and ranks it last"),
        ("b2: b1\nb1\n%deprecated b2", "b2 is deprecated and b1 is not"),
        ("b2@0.9.0: b1\nb1\n%deprecated b2\n%deprecated b1", "b2 is not a higher version"),
        ("b2@0.9.0: b1\nb1", "b2 is not a higher version"),
    ],
)
def test_an_edge_that_is_not_followed_has_the_first_reason_against_it(drawing: str, reason: str) -> None:
    assert olm_v1.rejection_reason(channel_graph(drawing), "b1", "b2") == reason


def test_a_deprecated_channel_or_package_changes_nothing() -> None:
    steps = deprecations(("olm.package", "", "old"), ("olm.channel", "op.v2.0.0", "old"))
    chain = [declared(), channel("op.v1.0.0", "op.v2.0.0"), bundle("op.v1.0.0"), bundle("op.v2.0.0"), steps]
    assert resolve([written(*chain)], ClusterExtension("op")).next == "op.v2.0.0"


def test_a_bundle_with_dependencies_is_chosen_and_then_refused() -> None:
    needy = bundle(
        "op.v2.0.0", "", {"type": "olm.gvk", "value": {}}, {"type": "olm.gvk.required", "value": {}}
    )
    chain = [declared(), channel("op.v1.0.0", "op.v2.0.0"), bundle("op.v1.0.0"), needy]
    decision = resolve([written(*chain)], ClusterExtension("op"))
    assert decision.failure == ResolutionFailure(
        FailureKind.HAS_DEPENDENCIES,
        ("op.v2.0.0",),
        'validating bundle "op.v2.0.0": bundle "op.v2.0.0" has a dependency declared via property '
        '"olm.gvk.required" which is currently not supported',
    )
    assert resolve([written(*chain)], ClusterExtension("op", version_range="<2")).next == "op.v1.0.0"


def test_version_that_does_not_parse_ranks_last_and_is_refused() -> None:
    assert resolve([source("x@v9.0.0\nb1")], asking()).next == "b1"
    assert words(resolve([source("x@v9.0.0\nb1")], asking(within=">1"))).startswith("no bundles found")
    decision = resolve([source("x@v9.0.0")], asking())
    assert decision.failure is not None
    assert (decision.failure.kind, decision.failure.names) == (FailureKind.UNREADABLE_VERSION, ("x",))


def test_installed_version_that_does_not_parse_fails_unless_self_certified() -> None:
    unreadable = asking("b1", version="v1")
    assert resolve([source(CHAIN)], unreadable).failure == ResolutionFailure(
        FailureKind.UNREADABLE_VERSION, ("b1",)
    )
    assert resolve([source(CHAIN)], unreadable._replace(self_certified=True)).next == "b3"
    assert words(resolve([ClusterCatalog("c", 0, None)], unreadable)) == ""


def test_a_range_with_an_empty_arm_crashes_the_resolver_unless_another_edge_comes_first() -> None:
    crashing = "<0.1.0 || || >5.0.0"
    assert resolve([source(f"b2: - / - / {crashing}\nb1")], asking("b1")).failure == ResolutionFailure(
        FailureKind.PANIC, ("b2",)
    )
    assert resolve([source(f"b2: b1 / - / {crashing}\nb1")], asking("b1")).next == "b2"
    assert resolve([source(f"[x]\nb2: b1\n[y]\nb2: - / - / {crashing}")], asking("b1")).next == "b2"
    assert resolve([source(f"[x]\nb2: - / - / {crashing}\n[y]\nb2: b1")], asking("b1")).failure
    assert resolve([source(f"b2: - / - / {crashing}\nb1")], asking("b1", within="1")).next is None
    assert resolve([source(f"b2: - / - / {crashing}\nb1")], asking("b1", free=True)).next == "b2"


def test_last_of_two_documents_with_one_name_counts() -> None:
    lower, higher = bundle("op.v2.0.0", "0.1.0"), bundle("op.v1.0.0")
    documents = [declared(), channel("op.v1.0.0", "op.v2.0.0"), bundle("op.v2.0.0"), lower, higher]
    assert resolve([written(*documents)], ClusterExtension("op")).next == "op.v1.0.0"
    forgotten = channel({"name": "op.v1.0.0"})
    running = InstalledBundle("op.v0.1.0", parse_or_none("0.1.0"))
    first = channel({"name": "op.v1.0.0", "replaces": "op.v0.1.0"})
    moved = [declared(), first, higher]
    assert resolve([written(*moved)], ClusterExtension("op", installed=running)).next == "op.v1.0.0"
    assert resolve([written(*moved, forgotten)], ClusterExtension("op", installed=running)).failure


def test_last_olm_deprecations_document_counts() -> None:
    old = deprecations(("olm.bundle", "op.v2.0.0", "old"))
    documents = [declared(), channel("op.v1.0.0", "op.v2.0.0"), bundle("op.v1.0.0"), bundle("op.v2.0.0"), old]
    assert resolve([written(*documents)], ClusterExtension("op")).next == "op.v1.0.0"
    assert resolve([written(*documents, deprecations())], ClusterExtension("op")).next == "op.v2.0.0"


def test_duplicate_entry_has_the_edges_of_both() -> None:
    twice = channel(
        {"name": "op.v2.0.0", "replaces": "op.v0.1.0"},
        {"name": "op.v2.0.0", "replaces": "op.v1.0.0"},
        {"name": "op.v2.0.0"},
    )
    there = written(declared(), twice, bundle("op.v2.0.0"))
    for name in ("op.v0.1.0", "op.v1.0.0"):
        running = InstalledBundle(name, parse_or_none(name[4:]))
        assert resolve([there], ClusterExtension("op", installed=running)).next == "op.v2.0.0"


def test_equal_versions_are_ranked_by_edge_then_release() -> None:
    twins = "b2@1.0.0+2\nb3@1.0.0+3\nb1@1.0.0+1"
    assert resolve([source(twins)], asking("b1", version="1.0.0+1")).next is None
    assert resolve([source(f"{twins}: b2\n")], asking("b2", version="1.0.0+2")).next is None
    assert resolve([source("b2@1.0.0+2: b1\nb1@1.0.0+1")], asking("b1", version="1.0.0+1")).next == "b2"
    assert resolve([source(twins)], asking()).next == "b3"
    assert resolve([source(twins)], asking("gone", version="1.0.0")).next == "b3"


def test_a_deprecated_bundle_updates_to_another_of_its_version_without_an_edge() -> None:
    twins = "b2@1.0.0+2\nb1@1.0.0+1\n%deprecated b1: old"
    assert resolve([source(twins)], asking("b1", version="1.0.0+1")).next == "b2"
    assert olm_v1.next_hops(channel_graph(twins)) == {"b2": None, "b1": "b2"}
    linked = "b3@1.0.0+3\nb2@1.0.0+2: b1\nb1@1.0.0+1\n%deprecated b1: old"
    assert resolve([source(linked)], asking("b1", version="1.0.0+1")).next == "b2"
    assert olm_v1.next_hops(channel_graph(linked))["b1"] == "b2"


def test_sort_key_starts_with_not_deprecated() -> None:
    found = olm_v1.sort_keys(channel_graph("b2\nb1\n%deprecated b2: old"))
    assert [(name, standing[0]) for name, standing in found.items()] == [("b1", True), ("b2", False)]


def test_versions_of_a_channel_are_parsed_strictly() -> None:
    assert olm_v1.new_install(channel_graph("x@v9.0.0\nb1")) == "b1"
    unreadable = channel_graph("x@v9.0.0\ny@one\n%deprecated x: old")
    assert olm_v1.next_hops(unreadable) == {"x": None, "y": None}


# Several catalogs


def test_catalog_without_the_package_has_no_candidates() -> None:
    assert resolve([ClusterCatalog("a", 9, None), source(CHAIN)], asking("b1")).next == "b2"
    only_referred_to = resolve(
        [ClusterCatalog("a", 9, PackageGraph(Package("p")))], asking("b1", version="v1")
    )
    assert only_referred_to.failure == ResolutionFailure(FailureKind.NO_BUNDLES, ())
    assert words(resolve([ClusterCatalog("a", 9, None)], asking())) == 'no bundles found for package "p"'


def test_priority_of_a_catalog_counts_before_the_version() -> None:
    sources = [source("b9: b1", "low", -1), source("b2: b1", "high", 0)]
    assert resolve(sources, asking("b1")) == Resolution("b2", None, "high")


def test_equal_priorities_are_an_error_with_all_catalogs() -> None:
    sources = [
        source("b2: b1", "z", 1),
        source("b2: b1", "a", 1),
        source("b3: b1", "m", 0),
        source("b8", "n", 5),
    ]
    assert resolve(sources, asking("b1", "stable", within=">=2")).failure == ResolutionFailure(
        FailureKind.SEVERAL_CATALOGS,
        ("a", "m", "z"),
        'error upgrading from currently installed version "1.0.0": found bundles for package "p" '
        'matching version ">=2" in channels [stable] in multiple catalogs with the same priority [a m z]',
    )


def test_deprecated_candidate_loses_at_any_priority() -> None:
    old, living = source("b9: b1\n%deprecated b9: old", "old", 9), source("b2: b1", "living", 0)
    for sources in ([old, living], [living, old]):
        assert resolve(sources, asking("b1")) == Resolution("b2", None, "living")
    assert resolve([old], asking("b1")).next == "b9"


def test_deprecations_are_those_of_the_last_catalog_with_a_candidate() -> None:
    chosen = source("b2: b1\n%deprecated b1: old", "chosen", 1)
    last, none = source("b2: b1\n%deprecated b1: old", "last", 0), source("b2: b1", "none", 0)
    assert resolve([chosen, last], asking("b1")).deprecations == "last"
    assert resolve([last, chosen], asking("b1")).deprecations == "chosen"
    assert resolve([chosen, none], asking("b1")).deprecations is None


# The trace


def test_every_refused_candidate_has_a_reason() -> None:
    drawing = "[stable]\nb5: b1\nb4\nb3: b1\nb2-rc@2.0.0-rc.1: b1\nb1\nx@?: b1\n[fast]\nb6: b1"
    drawing = drawing.replace("x@?", "x@v2")
    assert traced([source(drawing)], asking("b1", "stable", within="<5")) == [
        "refused b5 of c: is outside the version range '<5'",
        "refused b4 of c: no edge leads to it from b1",
        "refused b2-rc of c: is a pre-release, and the version range '<5' names none",
        "refused x of c: has no valid version, so no version range contains it",
        "refused b6 of c: is in none of the channels stable",
        "passed over b1 of c: is lower than b3: 1.0.0 and 3.0.0",
        "taken b3 of c: ranks first",
    ]


def test_passed_over_candidate_has_a_reason() -> None:
    drawing = "b3: b1\nb2: b1\nb1\ny@3.0.0: b1\nx@v2: b1\n%deprecated b2: old"
    assert traced([source(drawing)], asking("b1")) == [
        "passed over y of c: has the same version as b3: OLM 1.2.0 takes either, later releases take b3",
        "passed over b1 of c: is lower than b3: 1.0.0 and 3.0.0",
        "passed over x of c: has no valid version, and OLM v1 ranks it last",
        "passed over b2 of c: is deprecated, and b3 is not",
        "taken b3 of c: ranks first",
    ]


def test_prerelease_outside_a_range_with_prereleases_has_its_own_reason() -> None:
    steps = traced([source("b2-rc@2.0.0-rc.1: b1\nb1\nb3: b1")], asking("b1", within=">=3.0.0-rc.1"))
    assert "refused b2-rc of c: is outside the version range '>=3.0.0-rc.1'" in steps


def test_among_deprecated_candidates_the_reason_is_the_version() -> None:
    drawing = "b3: b1\nb2: b1\nb1\n%deprecated b3: old\n%deprecated b2: old\n%deprecated b1: old"
    steps = traced([source(drawing)], asking("b1"))
    assert steps[0] == "passed over b2 of c: is lower than b3: 2.0.0 and 3.0.0"


def test_the_trace_has_edges_of_every_channel() -> None:
    steps = traced([source("[x]\nb1\n[y]\nb2: b1")], asking("b1"))
    assert steps[-1] == "taken b2 of c: ranks first"


def test_the_trace_says_that_the_installed_bundle_stays() -> None:
    assert traced([source("b1")], asking("b1")) == ["taken b1 of c: is installed, and stays"]


def test_a_trace_step_has_its_edge() -> None:
    steps: list[TraceStep] = []
    resolve([source("b2: b1\nb1")], asking("b1"), steps.append)
    assert [(r.entry, r.result, r.edge) for r in steps] == [
        ("b1", CandidateResult.PASSED_OVER, None),
        ("b2", CandidateResult.TAKEN, Edge("b2", "b1", EdgeKind.REPLACES)),
    ]


def test_the_trace_has_catalogs_that_were_not_chosen() -> None:
    old = source("b9: b1\n%deprecated b9: old", "old", 9)
    sources = [old, source("b2: b1", "low", 0), source("b2: b1", "high", 1)]
    assert traced(sources, asking("b1")) == [
        "passed over b9 of old: is deprecated, and catalog low has one that is not",
        "passed over b2 of low: catalog high has a higher priority",
        "taken b2 of high: ranks first",
    ]
    assert traced([source("b2: b1", "x"), source("b2: b1", "y")], asking("b1")) == [
        "refused b2 of x: several catalogs with the highest priority have a candidate",
        "refused b2 of y: several catalogs with the highest priority have a candidate",
    ]


def test_the_trace_has_the_message_of_a_refused_choice() -> None:
    needy = bundle("op.v2.0.0", "", {"type": "olm.constraint", "value": {}})
    steps = traced([written(declared(), channel("op.v2.0.0"), needy)], ClusterExtension("op"))
    sentence = (
        'refused op.v2.0.0 of c: validating bundle "op.v2.0.0": bundle "op.v2.0.0" has a dependency declared '
        'via property "olm.constraint" which is currently not supported'
    )
    assert steps == [sentence]


@pytest.mark.parametrize("kind", ["olm.package.required", "olm.gvk.required", "olm.constraint"])
def test_a_bundle_with_a_requirement_of_any_kind_is_refused(kind: str) -> None:
    needing = bundle("op.v2.0.0", "", {"type": kind, "value": {}})
    decision = resolve([written(declared(), channel("op.v2.0.0"), needing)], ClusterExtension("op"))
    assert decision.failure is not None
    assert decision.failure.kind is FailureKind.HAS_DEPENDENCIES


def test_the_trace_has_every_catalog_that_was_not_chosen() -> None:
    low = [source("b2", name, priority) for name, priority in (("one", 1), ("two", 2), ("three", 0))]
    steps = traced([*low, source("b1", "high", 9)], asking())
    assert [s for s in steps if "priority" in s] == [
        f"passed over b2 of {name}: catalog high has a higher priority" for name in ("two", "one", "three")
    ]


def test_the_trace_has_every_deprecated_candidate() -> None:
    old = [source("b2\n%deprecated b2: old", name, 9) for name in ("one", "two")]
    steps = traced([*old, source("b1", "living")], asking())
    assert [s for s in steps if "that is not" in s] == [
        f"passed over b2 of {name}: is deprecated, and catalog living has one that is not"
        for name in ("one", "two")
    ]
