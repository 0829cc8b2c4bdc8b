"""What opm, OLM v0 and OLM v1 do with a channel, with their messages."""

from __future__ import annotations

from itertools import product

import pytest

from everpath.graph import ChannelGraph, Edge, EdgeKind
from everpath.model import Place, Property
from everpath.resolvers import olm_v0, olm_v1, opm
from everpath.resolvers.resolution import FailureKind, ResolutionFailure
from everpath.upgrade_path.hops import LastEntry, PathEnd, hops_from, last_entries
from everpath.versions import parse
from tests.support.everpath.graphs import channel_graph

# opm


def test_opm_follows_the_replaces_chain_from_the_head() -> None:
    verdict = opm.validate_channel(channel_graph("c: b\nb: a\na"))
    assert verdict == opm.ChannelValidation(("c",), ("c", "b", "a"))
    assert verdict.is_valid


def test_opm_follows_replaces_to_a_name_that_is_no_entry_and_ends_there() -> None:
    assert opm.validate_channel(channel_graph("b: gone")).chain == ("b", "gone")


def test_opm_stops_before_the_first_skipped_name() -> None:
    verdict = opm.validate_channel(channel_graph("d: c\nc: b\nb: a\na: - / b"))
    assert verdict.chain == ("d", "c")
    assert verdict.stranded == ("a",)
    assert not verdict.is_valid


def test_opm_has_no_chain_without_a_single_head() -> None:
    assert opm.validate_channel(channel_graph("b\na")) == opm.ChannelValidation(("a", "b"))
    assert opm.validate_channel(channel_graph("b: a\na: b")) == opm.ChannelValidation(())
    assert not opm.validate_channel(channel_graph("b\na")).is_valid


def test_opm_names_the_cycle_from_where_it_closes() -> None:
    verdict = opm.validate_channel(channel_graph("d: c\nc: b\nb: a\na: c"))
    assert verdict.chain == ("d", "c", "b", "a")
    assert verdict.cycle == ("c", "b", "a", "c")
    assert verdict.stranded == ()
    assert not verdict.is_valid


def test_opm_sorts_stranded_entries_and_exempts_skipped_ones() -> None:
    verdict = opm.validate_channel(channel_graph("d\nc: b\nb: c\na: b / a"))
    assert verdict.stranded == ("b", "c")


@pytest.mark.parametrize(
    ("drawing", "words"),
    [
        ("b: a\na", None),
        ("[stable]", "channel must contain at least one bundle"),
        ("b: a\na: b", "no channel head found in graph"),
        ("b\na", "multiple channel heads found in graph: a, b"),
        ("c: b\nb: a\na: b", "detected cycle in replaces chain of upgrade graph: b -> a -> b"),
        ("d\nc: b\nb: c", "channel contains one or more stranded bundles: b, c"),
    ],
)
def test_error_has_the_message_of_opm(drawing: str, words: str | None) -> None:
    assert opm.validate_channel(channel_graph(drawing)).error == words


# OLM v0


def test_v0_orders_the_chain_without_skipped_entries() -> None:
    assert olm_v0.sort_channel(channel_graph("d: c\nc: b / b\nb: a\na")).chain == ("d", "c", "a")


def test_v0_stops_at_a_name_that_is_no_entry() -> None:
    assert olm_v0.sort_channel(channel_graph("b: gone")).chain == ("b",)


@pytest.mark.parametrize(
    ("drawing", "failure"),
    [
        (
            "b: a\na: b",
            ResolutionFailure(
                FailureKind.NO_HEAD,
                ("a", "b"),
                'no channel heads (entries not replaced by another entry) found in channel "stable" of '
                'package "p"',
            ),
        ),
        (
            "b\na",
            ResolutionFailure(
                FailureKind.SEVERAL_HEADS,
                ("a", "b"),
                "a unique replacement chain within a channel is required to determine the relative order "
                'between channel entries, but 2 replacement chains were found in channel "stable" of package '
                '"p": a, b',
            ),
        ),
        (
            "d: c\nc: b\nb: a\na: c",
            ResolutionFailure(
                FailureKind.CYCLE,
                ("c", "b", "a", "c"),
                'a cycle exists in the chain of replacement beginning with "d" in channel "stable" of '
                'package "p"',
            ),
        ),
        (
            "z\nc: b\nb: a\na: b",
            ResolutionFailure(
                FailureKind.CYCLE,
                ("b", "a", "b"),
                'a cycle exists in the chain of replacement beginning with "c" in channel "stable" of '
                'package "p"',
            ),
        ),
    ],
)
def test_failure_of_v0_affects_the_whole_channel(drawing: str, failure: ResolutionFailure) -> None:
    graph = channel_graph(drawing)
    assert olm_v0.sort_channel(graph) == olm_v0.SortedChannel(failure=failure)
    assert olm_v0.next_hops(graph) == olm_v0.ChannelHops(failure=failure)


def test_v0_message_has_the_ends_of_each_chain_without_skipped_entries() -> None:
    failure = olm_v0.sort_channel(channel_graph("e: d\nd: c\nc: b\nb: a\na\nz: b\ny: - / a, d\nx: a")).failure
    assert failure is not None
    assert failure.message.endswith(": e...b, x, y, z...b")


def test_v0_message_has_the_end_of_a_chain_that_joins_another() -> None:
    failure = olm_v0.sort_channel(channel_graph("e: c\nc: a\na\nz: y\ny: c")).failure
    assert failure is not None
    assert failure.message.endswith(": e...a, z...a")


def test_v0_installs_the_head() -> None:
    assert olm_v0.new_install(channel_graph("c: b\nb: a\na")) == "c"


def test_v0_installs_no_entry_with_olm_deprecated() -> None:
    graph = channel_graph("c: b\nb: a\na\n%prohibited c")
    assert olm_v0.uninstallable(graph) == {"c": "carries olm.deprecated"}
    assert olm_v0.new_install(graph) == "b"
    assert olm_v0.new_install(channel_graph("a\n%prohibited a")) is None


def providing(*kinds: object) -> ChannelGraph:
    """b: a, where the bundle of b has these values of olm.gvk."""
    graph = channel_graph("b: a\na")
    stated = tuple(Property("olm.gvk", kind, Place("f")) for kind in kinds)
    bundles = tuple(b._replace(properties=stated if b.name == "b" else ()) for b in graph.package.bundles)
    return ChannelGraph(graph.channel, graph.package._replace(bundles=bundles))


API = {"group": "a.io", "version": "v1", "kind": "A"}


@pytest.mark.parametrize("again", [API, {"Group": "a.io", "VERSION": "v1", "kind": "A", "more": 1}])
def test_v0_installs_no_entry_that_provides_an_api_twice(again: dict[str, object]) -> None:
    graph = providing(API, again)
    assert olm_v0.uninstallable(graph) == {"b": "provides a.io/v1 A twice"}
    assert olm_v0.new_install(graph) == "a"
    assert olm_v0.next_hops(graph).next == {"b": None, "a": None}


def test_value_that_go_decodes_to_empty_strings_is_an_api() -> None:
    assert "b" in olm_v0.uninstallable(providing({}, None))
    assert "b" in olm_v0.uninstallable(providing({"kind": "A"}, {"kind": "A", "group": None}))
    assert "b" in olm_v0.uninstallable(providing({**API, "group": ""}, {**API, "group": None}))


def test_key_in_another_case_can_make_two_apis_equal() -> None:
    """To Go the sign of Kelvin is a k, and the last key of a name counts."""
    others = [{**API, "kind": kind, "\u212aind": "A"} for kind in "BC"]
    assert "b" in olm_v0.uninstallable(providing(API, others[0]))
    assert "b" in olm_v0.uninstallable(providing(*others))


def test_different_apis_are_not_repeated() -> None:
    assert olm_v0.uninstallable(providing(API, {**API, "kind": "B"}, {**API, "group": "b.io"})) == {}


@pytest.mark.parametrize("other", [{**API, "version": "v2"}, {**API, "kind": 0}, "A", ["A"]])
def test_another_or_invalid_api_is_not_repeated(other: object) -> None:
    assert olm_v0.uninstallable(providing(API, other, "A", ["A"])) == {}


def test_required_api_is_not_counted_as_provided() -> None:
    graph = providing(API)
    required = Property("olm.gvk.required", API, Place("f"))
    bundles = tuple(b._replace(properties=(*b.properties, required)) for b in graph.package.bundles)
    assert olm_v0.uninstallable(ChannelGraph(graph.channel, graph.package._replace(bundles=bundles))) == {}


def test_new_v1_installation_can_get_either_of_two_equal_versions() -> None:
    graph = channel_graph("c@2.0.0+2\nb@2.0.0+1\na@1.0.0")
    assert olm_v1.new_install(graph) == "c"
    assert olm_v1.new_installs(graph) == ("c", "b")


def test_invalid_api_does_not_hide_a_later_repetition() -> None:
    assert "b" in olm_v0.uninstallable(providing("A", API, API))


def test_v0_installs_nothing_from_a_channel_it_cannot_sort() -> None:
    assert olm_v0.new_install(channel_graph("b\na")) is None


def test_v0_does_not_update_to_an_entry_with_olm_deprecated() -> None:
    graph = channel_graph("c: b / - / <3.0.0\nb: a\na\n%prohibited c")
    assert olm_v0.next_hops(graph).next == {"c": None, "b": None, "a": "b"}
    assert list(olm_v0.candidates(graph, "b")) == []


def test_v0_candidates_are_sorted_by_distance_to_the_head() -> None:
    graph = channel_graph("b3: b2 / - / >=1.0.0 <3.0.0\nb2: b1\nb1")
    assert list(olm_v0.candidates(graph, "b1")) == [
        Edge("b3", "b1", EdgeKind.RANGE),
        Edge("b2", "b1", EdgeKind.REPLACES),
    ]


def test_v0_has_candidates_for_a_version_outside_of_the_channel() -> None:
    graph = channel_graph("b3: b2 / - / <1.0.0\nb2: b1\nb1")
    assert [e.successor for e in olm_v0.candidates(graph, "old", parse("0.5.0"))] == ["b3"]


def test_v0_does_not_update_an_entry_that_covers_itself() -> None:
    graph = channel_graph("b2: b1 / - / >=2.0.0\nb1: - / - / <=1.0.0")
    assert olm_v0.next_hops(graph).next == {"b2": None, "b1": "b2"}


def test_v0_panics_for_versions_on_which_a_candidates_range_panics() -> None:
    graph = channel_graph("b3: b2 / - / <1.5.0 || || =9.0.0\nb2: b1 / - / <0.1.0 || || =9.0.0\nb1")
    panics = olm_v0.next_hops(graph).failures
    assert panics == {
        "b3": olm_v0.panic_failure("b3"),
        "b2": olm_v0.panic_failure("b3"),
        "b1": olm_v0.panic_failure("b2"),
    }
    assert panics["b1"].kind is FailureKind.PANIC
    assert panics["b1"].names == ("b2",)


def test_v0_does_not_evaluate_the_range_of_a_skipped_entry() -> None:
    assert olm_v0.next_hops(channel_graph("b3: - / b2\nb2: - / - / <0.1.0 || || =9.0.0")).failures == {}


def test_v0_does_not_panic_for_versions_that_the_first_arm_contains() -> None:
    assert olm_v0.next_hops(channel_graph("b2: b1 / - / <9.0.0 || || =9.0.0\nb1")).failures == {}


def test_gvk_is_parsed_as_in_go() -> None:
    whole = {"group": "a.io", "version": "v1", "kind": "A"}
    assert olm_v0.parse_gvk(whole) == ("a.io", "v1", "A")
    assert olm_v0.parse_gvk({key.upper(): value for key, value in whole.items()}) == ("a.io", "v1", "A")
    assert olm_v0.parse_gvk({"kind": "A", "group": None, "extra": 1}) == ("", "", "A")
    assert olm_v0.parse_gvk({}) == olm_v0.parse_gvk(None) == ("", "", "")
    assert olm_v0.parse_gvk("a.io/v1 A") is None


def test_gvk_with_a_value_that_is_not_a_string_is_invalid() -> None:
    for values in product(("a", 1), repeat=3):
        read = olm_v0.parse_gvk(dict(zip(("group", "version", "kind"), values, strict=True)))
        assert read == (values if 1 not in values else None)
    assert olm_v0.parse_gvk({"kind": 1}) is None


@pytest.mark.parametrize("other", ["GROUP", "gRoup"])
def test_last_key_in_byte_order_wins(other: str) -> None:
    assert olm_v0.parse_gvk({"group": "b.io", other: "a.io"}) == ("b.io", "", "")
    # The Kelvin sign is a k to Go, and comes behind it.
    assert olm_v0.parse_gvk({"group": "a.io", "version": "v1", "kind": "A", "\N{KELVIN SIGN}ind": "B"}) == (
        "a.io",
        "v1",
        "B",
    )


# OLM v1


def test_v1_ranks_by_version_and_deprecated_bundles_last() -> None:
    graph = channel_graph("b1\nb3\nb2\nb4\n%deprecated b4: old\n%deprecated b3: old")
    assert olm_v1.ranking(graph) == {"b2": 0, "b1": 1, "b4": 2, "b3": 3}
    assert olm_v1.new_install(graph) == "b2"


def test_v1_does_not_rank_entries_without_a_bundle() -> None:
    graph = channel_graph("b2?: b1\nb1")
    assert olm_v1.ranking(graph) == {"b1": 0}
    assert olm_v1.next_hops(graph) == {"b2": None, "b1": None}


def test_v1_ranks_an_invalid_version_lowest() -> None:
    assert list(olm_v1.ranking(channel_graph("x@one\nb1"))) == ["b1", "x"]


def test_v1_keeps_the_order_of_equal_entries() -> None:
    assert list(olm_v1.ranking(channel_graph("b@1.0.0\na@1.0.0\nc@1.0.0"))) == ["b", "a", "c"]


def test_v1_orders_equal_versions_by_build_metadata_as_releases() -> None:
    builds = ["1.0.0", "1.0.0+1", "1.0.0+2", "1.0.0+10", "1.0.0+10.1", "1.0.0+a", "1.0.0+b", "1.0.0+b.1"]
    graph = channel_graph("\n".join(f"n{i}@{build}" for i, build in enumerate(builds)))
    assert list(olm_v1.ranking(graph)) == [f"n{i}" for i in reversed(range(len(builds)))]


def test_v1_installs_nothing_without_a_bundle() -> None:
    assert olm_v1.new_install(channel_graph("b2?")) is None


def test_v1_candidates_are_sorted_by_version_and_above_the_installed() -> None:
    graph = channel_graph("b4: b2\nb3: b2 / - / >=1.0.0 <3.0.0\nb2: b1\nb1: b2")
    assert list(olm_v1.candidates(graph, "b2")) == [
        Edge("b4", "b2", EdgeKind.REPLACES),
        Edge("b3", "b2", EdgeKind.REPLACES),
        Edge("b3", "b2", EdgeKind.RANGE),
    ]


def test_v1_has_candidates_for_a_version_outside_of_the_channel() -> None:
    graph = channel_graph("b3: - / - / <1.0.0\nb1: - / - / <1.0.0")
    found = olm_v1.candidates(graph, "old", parse("0.5.0"))
    assert [e.successor for e in found] == ["b3", "b1"]


def test_v1_updates_from_an_entry_without_a_bundle() -> None:
    assert olm_v1.next_hops(channel_graph("b2: b1\nb1?"))["b1"] == "b2"


def test_v1_updates_a_deprecated_entry_to_a_lower_one() -> None:
    graph = channel_graph("b2: b1\nb1: - / b2\n%deprecated b2: old")
    assert olm_v1.next_hops(graph) == {"b2": "b1", "b1": None}


@pytest.mark.parametrize(
    ("drawing", "target"),
    [
        ("t@1.0.0\nu@1.0.0\nx@1.0.0", "t"),  # the first of equals
        ("y@2.0.0: x\nx@1.0.0\nt@1.0.0\n%deprecated y: old", "t"),  # rather than another deprecated one
        ("y@1.0.0: x\nx@1.0.0\nt@1.0.0\n%deprecated y: old", "t"),
        ("z@0.9.0: - / x\nx@1.0.0\nt@1.0.0", "t"),  # rather than down
        ("w@2.0.0: x\nx@1.0.0\nt@1.0.0", "w"),  # but not rather than up
        ("t@1.0.0\nu@1.0.0: x\nx@1.0.0", "u"),  # nor than to an equal one that has an edge
        ("t@2.0.0\nx@1.0.0", None),
        ("t@1.0.0\nx@one", None),
    ],
)
def test_v1_updates_a_deprecated_entry_to_one_of_the_same_version(drawing: str, target: str | None) -> None:
    assert olm_v1.next_hops(channel_graph(f"{drawing}\n%deprecated x: old"))["x"] == target


# Walks


def test_hops_from_an_entry_are_followed_to_the_last() -> None:
    assert hops_from({"a": "b", "b": "c", "c": None}, "a") == ("b", "c")
    assert hops_from({"a": None}, "a") == ()
    assert hops_from({}, "a") == ()


def test_hops_in_a_loop_end_with_the_first_repeated_entry() -> None:
    hops = {"a": "b", "b": "c", "c": "b"}
    assert hops_from(hops, "a") == ("b", "c", "b")
    assert hops_from(hops, "b") == ("c", "b")


def test_last_entries_are_arrived_stranded_or_in_a_loop() -> None:
    hops = {"a": "b", "b": None, "c": "d", "d": None, "e": "f", "f": "g", "g": "f"}
    assert last_entries(hops, ("b",), hops) == {
        "a": LastEntry("b", PathEnd.HEAD),
        "b": LastEntry("b", PathEnd.HEAD),
        "c": LastEntry("d", PathEnd.STRANDED),
        "d": LastEntry("d", PathEnd.STRANDED),
        "e": LastEntry("f", PathEnd.LOOP),
        "f": LastEntry("f", PathEnd.LOOP),
        "g": LastEntry("f", PathEnd.LOOP),
    }


def test_a_path_that_joins_another_has_the_same_last_entry() -> None:
    hops = {"b": None, "a": "b", "z": "a", "f": "g", "g": "f", "e": "g"}
    ends = last_entries(hops, (), hops)
    assert ends["z"] == LastEntry("b", PathEnd.STRANDED)
    assert ends["e"] == ends["g"] == LastEntry("f", PathEnd.LOOP)


def test_a_path_ends_at_an_entry_for_which_the_resolver_fails() -> None:
    hops = {"a": "b", "b": "c", "c": None}
    ends = last_entries(hops, ("b", "c"), hops, failures={"b"})
    assert ends["a"] == ends["b"] == LastEntry("b", PathEnd.ERROR)
    assert ends["c"] == LastEntry("c", PathEnd.HEAD)


def test_only_given_entries_and_those_on_their_paths_have_a_last_entry() -> None:
    hops = {"a": "b", "b": "c", "c": None, "d": None}
    assert last_entries(hops, ("c",), ["a"]).keys() == {"a", "b", "c"}


def test_values_of_ends_and_failures_are_stable() -> None:
    assert [end.value for end in PathEnd] == ["head", "stranded", "loop", "error"]
    assert [kind.value for kind in FailureKind] == [
        "no head",
        "several heads",
        "cycle",
        "panic",
        "no channel",
        "no startingCSV",
        "nothing installable",
        "no bundles",
        "several catalogs",
        "has dependencies",
        "unreadable version range",
        "unreadable version",
    ]
