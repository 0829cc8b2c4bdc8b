"""The resolution of one Subscription, and its trace."""

from __future__ import annotations

import pytest

from everpath.graph import ChannelGraph, Edge, EdgeKind
from everpath.model import Place, Property
from everpath.resolvers.resolution import (
    CandidateResult,
    FailureKind,
    InstalledBundle,
    Resolution,
    ResolutionFailure,
    TraceStep,
)
from everpath.resolvers.subscription import CATALOG, SUBSCRIPTION, no_channel_failure, resolve
from everpath.versions import parse
from tests.support.everpath.graphs import channel_graph

CHAIN = "b3: b2\nb2: b1\nb1"


def at(name: str, version: str | None = None) -> InstalledBundle:
    return InstalledBundle(name, parse(version) if version else None)


def traced(
    graph: ChannelGraph, installed: InstalledBundle | None, starting: str | None = None
) -> list[TraceStep]:
    remarks: list[TraceStep] = []
    resolve(graph, installed, starting_csv=starting, trace=remarks.append)
    return remarks


def sentences(
    graph: ChannelGraph, installed: InstalledBundle | None, starting: str | None = None
) -> list[str]:
    return [f"{r.entry} {r.result}: {r.reason}" for r in traced(graph, installed, starting)]


def test_an_entry_updates_to_the_one_that_replaces_it() -> None:
    assert resolve(channel_graph(CHAIN), at("b1")) == Resolution("b2")


def test_the_head_stays() -> None:
    assert resolve(channel_graph(CHAIN), at("b3")) == Resolution(None)


def test_installed_version_outside_of_the_channel_is_matched_by_name() -> None:
    graph = channel_graph("b3: b2\nb2: gone / lost")
    assert resolve(graph, at("gone")) == Resolution("b2")
    assert resolve(graph, at("lost", "7.0.0")) == Resolution("b2")
    assert resolve(graph, at("unheard-of", "7.0.0")) == Resolution(None)


def test_installed_version_outside_of_the_channel_is_matched_by_version() -> None:
    graph = channel_graph("b3: b2 / - / <1.0.0\nb2")
    assert resolve(graph, at("stranger", "0.9.0")) == Resolution("b3")
    assert resolve(graph, at("stranger", "1.0.0")) == Resolution(None)
    assert resolve(graph, at("stranger")) == Resolution(None)


def test_installed_version_counts_not_that_of_the_channel() -> None:
    graph = channel_graph("b3: b2 / - / <0.5.0\nb2: b1\nb1")
    assert resolve(graph, at("b1")) == Resolution("b2")
    assert resolve(graph, at("b1", "0.1.0")) == Resolution("b3")


def test_entry_that_covers_itself_stays() -> None:
    graph = channel_graph("b3: b2\nb2: b1 / - / =2.0.0\nb1: - / - / =2.0.0")
    assert resolve(graph, at("other", "2.0.0")) == Resolution("b2")
    assert resolve(graph, at("b2")) == Resolution("b3")
    assert resolve(channel_graph("b2: b1 / - / =2.0.0\nb1: - / - / =2.0.0"), at("b2")) == Resolution(None)


def test_entry_with_olm_deprecated_is_passed_over() -> None:
    graph = channel_graph("b3: b2 / b1\nb2: - / - / =1.0.0\nb1\n%prohibited b3")
    assert resolve(graph, at("b1")) == Resolution("b2")
    assert resolve(channel_graph("b2: b1\nb1\n%prohibited b2"), at("b1")) == Resolution(None)


def test_new_subscription_gets_the_first_installable_entry() -> None:
    assert resolve(channel_graph(CHAIN), None) == Resolution("b3")
    assert resolve(channel_graph(f"{CHAIN}\n%prohibited b3"), None) == Resolution("b2")


def test_channel_without_installable_entries_fails_with_the_message_of_olm() -> None:
    graph = channel_graph("b3: b2\nb2: b10\nb10\n%prohibited b3\n%prohibited b2\n%prohibited b10")
    failure = resolve(graph, None).failure
    assert failure is not None
    assert (failure.kind, failure.names) == (FailureKind.NOTHING_INSTALLABLE, ("b3", "b2", "b10"))
    assert failure.message.replace(f"{CATALOG}/stable/", "").replace(SUBSCRIPTION, "s") == (
        "constraints not satisfiable: bundle b10 is deprecated, bundle b2 is deprecated, "
        "bundle b3 is deprecated, subscription s exists, "
        "subscription s requires at least one of b3, b2 or b10"
    )
    assert resolve(graph, at("b10")) == Resolution(None)  # who has it keeps it


def test_starting_csv_is_installed_even_if_it_is_skipped() -> None:
    assert resolve(channel_graph("b3: b1 / b2\nb2\nb1"), None, starting_csv="b2") == Resolution("b2")


def test_starting_csv_is_installed_from_an_invalid_channel() -> None:
    assert resolve(channel_graph("b3\nb2\nb1"), None, starting_csv="b1") == Resolution("b1")


def test_starting_csv_is_ignored_for_an_upgrade() -> None:
    assert resolve(channel_graph(CHAIN), at("b1"), starting_csv="b3") == Resolution("b2")


def test_starting_csv_outside_of_the_channel_fails_with_the_message_of_olm() -> None:
    assert resolve(channel_graph(CHAIN), None, starting_csv="b9").failure == ResolutionFailure(
        FailureKind.NO_STARTING_CSV,
        ("b9",),
        (
            "constraints not satisfiable: no operators found with name b9 in channel stable of package p in "
            "the "
            "catalog referenced by subscription <subscription>, subscription <subscription> exists"
        ),
    )


@pytest.mark.parametrize("drawing", ["b1: b1\nb2", "b1: - / b1\nb2"])
def test_starting_csv_that_replaces_or_skips_itself_has_no_head(drawing: str) -> None:
    decision = resolve(channel_graph(drawing), None, starting_csv="b1")
    assert decision.failure is not None
    assert (decision.failure.kind, decision.failure.names) == (FailureKind.NO_HEAD, ("b1",))
    assert decision.failure.message.startswith("no channel heads (")


def test_starting_csv_with_olm_deprecated_fails() -> None:
    decision = resolve(channel_graph("b2: b1\nb1\n%prohibited b1"), None, starting_csv="b1")
    assert decision.failure is not None
    assert decision.failure.kind is FailureKind.NOTHING_INSTALLABLE
    assert decision.failure.message.endswith("requires <catalog>/<namespace>/stable/b1")


@pytest.mark.parametrize("installed", [None, at("b1", "1.0.0")])
def test_a_channel_that_does_not_exist_fails(installed: InstalledBundle | None) -> None:
    assert resolve(None, installed) == Resolution(None, ResolutionFailure(FailureKind.NO_CHANNEL, ()))


def test_channel_without_entries_does_not_exist_for_olm() -> None:
    graph = channel_graph("[beta]\n[stable]\nb1")
    failure = resolve(graph, at("b1", "1.0.0")).failure
    assert failure == no_channel_failure("p", "beta")
    assert failure.message == (
        "constraints not satisfiable: no operators found in channel beta of package p in the catalog "
        "referenced by subscription <subscription>, subscription <subscription> exists"
    )


@pytest.mark.parametrize(
    ("drawing", "expected"),
    [
        (
            "b: a\na: - / b",
            [
                "a refused: is no head: b replaces or skips it",
                "b refused: is no head: a replaces or skips it",
            ],
        ),
        (
            "b\na",
            [
                "a refused: is one of several heads: no entry replaces or skips it",
                "b refused: is one of several heads: no entry replaces or skips it",
            ],
        ),
        (
            "c: b\nb: a\na: b",
            [
                "b refused: is in a cycle: it replaces a",
                "a refused: is in a cycle: it replaces b",
            ],
        ),
    ],
)
@pytest.mark.parametrize("installed", [None, at("a"), at("gone", "7.0.0")])
def test_channel_that_olm_cannot_sort_always_fails(
    drawing: str, expected: list[str], installed: InstalledBundle | None
) -> None:
    graph = channel_graph(drawing)
    assert resolve(graph, installed).next is None
    assert resolve(graph, installed).failure == resolve(graph, None).failure is not None
    assert sentences(graph, installed) == expected


def test_range_that_panics_affects_upgrades_but_not_new_installs() -> None:
    graph = channel_graph("b3: b2\nb2: b1 / - / <1.0.0 || || =9.0.0\nb1: - / - / <0.5.0 || || =9.0.0")
    assert resolve(graph, None) == Resolution("b3")
    assert resolve(graph, at("gone", "0.1.0")) == Resolution("b2")
    for installed in (at("b2"), at("gone", "2.0.0")):
        failure = resolve(graph, installed).failure
        assert failure is not None
        assert (failure.kind, failure.names) == (FailureKind.PANIC, ("b2",))  # the first from the head
        assert failure.message == "runtime error: invalid memory address or nil pointer dereference"
        assert sentences(graph, installed) == [
            "b2 refused: has the skipRange '<1.0.0 || || =9.0.0', on which OLM crashes"
        ]


def test_a_range_that_panics_does_not_affect_unknown_versions() -> None:
    assert resolve(channel_graph("b2: gone / - / <1.0.0 || || =9.0.0"), at("gone")) == Resolution("b2")


def test_the_range_of_a_skipped_entry_is_not_evaluated() -> None:
    assert resolve(channel_graph("b3: - / b2\nb2: - / - / <0.1.0 || || =9.0.0"), at("b2")) == Resolution("b3")


def test_the_trace_has_unsorted_entries_and_then_all_from_the_head_down() -> None:
    graph = channel_graph(
        "b6: b5 / - / <0.5.0\nb5: b4 / b1\nb4: - / b3, b2 / =1.0.0\nb3: - / b1\nb2: b1\nb1\nb0: b9\nb9: b0"
    )
    assert sentences(graph, at("b1")) == [
        "b9 refused: is not on the chain of replaces below b6",
        "b3 refused: is skipped by b4, and OLM v0 never installs a skipped entry",
        "b2 refused: is skipped by b4, and OLM v0 never installs a skipped entry",
        "b1 refused: is skipped by b3, b5, and OLM v0 never installs a skipped entry",
        "b0 refused: is not on the chain of replaces below b6",
        "b6 refused: does not replace or skip b1, and its skipRange '<0.5.0' does not contain 1.0.0",
        "b5 taken: is the nearest to the head",
        "b4 passed over: b5 is nearer to the head",
    ]


def test_a_trace_step_names_its_edge() -> None:
    edges = {r.entry: r.edge for r in traced(channel_graph("b3: b2 / b1\nb2: b1\nb1"), at("b1"))}
    assert edges == {
        "b3": Edge("b3", "b1", EdgeKind.SKIPS),
        "b2": Edge("b2", "b1", EdgeKind.REPLACES),
        "b1": None,
    }
    (first,) = traced(channel_graph("b2: gone / gone / =2.0.0"), at("gone", "2.0.0"))
    assert first.edge == Edge("b2", "gone", EdgeKind.REPLACES)


def test_reasons_for_a_missing_edge() -> None:
    graph = channel_graph("b3: b2 / - / nonsense\nb2: b1 / - / >=9.0.0\nb1")
    assert sentences(graph, at("gone")) == [
        (
            "b3 refused: does not replace or skip gone, and its skipRange 'nonsense' does not parse, "
            "so OLM ignores it"
        ),
        (
            "b2 refused: does not replace or skip gone, and its skipRange '>=9.0.0' does not apply: "
            "the installed version is unknown"
        ),
        "b1 refused: does not replace or skip gone, and has no skipRange",
    ]


def test_entry_that_covers_itself_is_traced_as_taken() -> None:
    graph = channel_graph("b2: b1 / - / =2.0.0\nb1: - / b2")
    assert resolve(graph, at("b2")).failure is not None
    graph = channel_graph("b2: b1 / - / =2.0.0\nb1")
    assert traced(graph, at("b2"))[0] == TraceStep(
        "b2", CandidateResult.TAKEN, "is installed, and stays", Edge("b2", "b2", EdgeKind.RANGE)
    )


def test_an_uninstallable_entry_is_traced_as_refused() -> None:
    graph = channel_graph("b3: b2 / b1\nb2: b1\nb1\n%prohibited b3")
    assert sentences(graph, at("b1"))[-2:] == [
        "b3 refused: carries olm.deprecated",
        "b2 taken: is the nearest to the head",
    ]
    assert sentences(graph, None) == [
        "b1 refused: is skipped by b3, and OLM v0 never installs a skipped entry",
        "b3 refused: carries olm.deprecated",
        "b2 taken: is the first installable entry below the head",
    ]


def test_trace_of_a_new_install_has_the_head_taken_and_others_passed_over() -> None:
    assert sentences(channel_graph("b2: b1\nb1"), None) == [
        "b2 taken: is the head",
        "b1 passed over: b2 is nearer to the head",
    ]


def test_the_trace_of_starting_csv_has_all_other_entries() -> None:
    assert sentences(channel_graph("x@bad\nb1\nb2: b1"), None, "b1") == [
        "b2 refused: is not the startingCSV b1",
        "x refused: is not the startingCSV b1",
        "b1 taken: is the head",
    ]


def test_entries_without_a_version_are_traced_last_and_by_name() -> None:
    drawing = "\n".join(["top", *(f"x{n}?: - / x{n}" for n in (5, 3, 8, 1, 7, 2, 6, 4))])
    remarks = traced(channel_graph(drawing), at("top"))
    assert [r.entry for r in remarks] == [*(f"x{n}" for n in range(1, 9)), "top"]


def test_reason_lists_all_successors_of_an_entry_that_is_no_head() -> None:
    names = [f"x{n}" for n in (5, 3, 8, 1, 7, 2, 6, 4)]
    drawing = "\n".join(["a: - / " + ", ".join(names), *(f"{name}: a" for name in names)])
    [first] = [r for r in traced(channel_graph(drawing), None) if r.entry == "a"]
    above = ", ".join(sorted(names))
    assert first.reason == f"is no head: {above} replaces or skips it"


def test_with_a_repeated_api_the_message_of_olm_is_not_predicted() -> None:
    graph = channel_graph("b2: b1\nb1\n%prohibited b1")
    api = Property("olm.gvk", {"group": "a.io", "version": "v1", "kind": "A"}, Place("f"))
    bundles = tuple(b._replace(properties=(api, api)) if b.name == "b2" else b for b in graph.package.bundles)
    twice = ChannelGraph(graph.channel, graph.package._replace(bundles=bundles))
    assert resolve(twice, None).failure == ResolutionFailure(FailureKind.NOTHING_INSTALLABLE, ("b2", "b1"))
