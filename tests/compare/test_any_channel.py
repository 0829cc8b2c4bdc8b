"""Whoever names no channel, which is OLM v1's default."""

from __future__ import annotations

import pytest

from comparisons import changed, changes, comparison
from everpath.compare import Change, Comparison, Scope, compare
from everpath.compare.matrix import compare_sequence
from everpath.loaders.notation import parse
from everpath.model import Catalog

#: Two minor versions, the second of which takes over from the first.
TWO = "[s1]\nb1: a\na@0.1.0\n[s2]\nb3: b2\nb2: b1"
CUT = "[s1]\nb1: a\na@0.1.0\n[s2]\nb3: b2\nb2"


def _unnamed(found: Comparison) -> list[Change]:
    return [change for change in found.changes if change.channel is None and change.resolvers]


def _outcomes(found: Comparison) -> dict[str, str]:
    return {row.installed: row.outcome.value for row in found.without_channels}


def test_an_edge_between_channels_that_is_lost_strands_without_channels() -> None:
    [change] = _unnamed(comparison(TWO, CUT))
    assert change.message == (
        "Clusters on a and b1 can no longer be upgraded to b3 under OLM v1 "
        "without channels in the ClusterExtension"
    )
    assert (change.old_path, change.new_path) == (
        "a → b1 → b2 → b3 (head of a channel)",
        "a → b1 (head of a channel)",
    )
    assert change.reasons == (
        "nothing in any channel of the new package replaces b1, skips it or covers 1.0.0",
    )
    assert [edit.description for edit in change.edits] == ["b2 no longer replaces or skips b1 in any channel"]
    assert change.fix == "add b1 to the skips of b3 in channel s2"
    assert change.resolvers == ("v1",)


def test_whoever_names_a_channel_is_as_well_as_before() -> None:
    found = comparison(TWO, CUT)
    assert {row.outcome.value for row in found.rows} == {"same"}
    assert found.stranded == 0
    assert found.errors == 1


def test_a_new_channel_may_send_them_another_way() -> None:
    old, new = "[s1]\nb1: a\na@0.1.0", "[s1]\nb1: a\na@0.1.0\n[fast]\nb9: - / - / <9.0.0"
    [change] = changes(old, new, "different-path")
    assert (
        change.message
        == "Clusters on a take a different upgrade path under OLM v1 without channels in the ClusterExtension"
    )
    assert change.new_path == "a → b9 (head of a channel)"
    assert comparison(old, new).changed_paths == 1


def test_what_a_channel_says_already_is_not_said_again() -> None:
    old = "[x]\nc: b\nb: a\na\n[y]\nc: b\nb: a\na"
    assert not _unnamed(comparison(old, "[x]\nc: b\nb\n[y]\nc: b\nb"))
    assert not _unnamed(comparison(old, "[x]\nd: b / c\nc: b\nb: a\na\n[y]\nd: b / c\nc: b\nb: a\na"))


def test_a_channel_less_hurts_no_version_who_names_none() -> None:
    old, new = "[x]\nb: a\na\n[y]\nb: a\na", "[x]\nb: a\na"
    assert _outcomes(comparison(old, new)) == {"a": "same", "b": "same"}
    assert changed(old, new, "channel-gone")


def test_a_renamed_channel_hurts_no_version_who_names_none() -> None:
    found = comparison("[x]\nb: a\na", "[y]\nb: a\na")
    assert set(_outcomes(found).values()) == {"same"}
    assert not _unnamed(found)


def test_an_edge_that_another_channel_states_is_still_there() -> None:
    old, new = "[x]\nb: a\na\n[y]\nb: a\na", "[x]\nb: a\na\n[y]\nb\na"
    assert _outcomes(comparison(old, new)) == {"a": "same", "b": "same"}


def test_a_bundle_in_no_channel_is_taken_all_the_same() -> None:
    found = comparison("[x]\nb: a\na", "[x]\nb: a", "v1")
    assert not found.without_channels
    old = parse("[x]\nc: b\nb: a\na")
    package = old.packages[0]
    channels = (parse("[x]\nb: a\na").packages[0].channels[0],)
    loose = Catalog("new", (type(package)(package.name, package.declarations, channels, package.bundles),))
    rows = {row.installed: row for row in compare(old, loose).without_channels}
    assert rows["c"].outcome.value == "same"
    assert rows["c"].new.failure is None


def test_a_package_of_one_channel_is_not_followed_twice() -> None:
    assert not comparison("c: b\nb: a\na", "c: b\nb").without_channels


@pytest.mark.parametrize(
    "scope", [Scope(resolvers=("v0",)), Scope(channels=frozenset(("s1", "s2")))], ids=["v0", "channels"]
)
def test_no_version_asks_for_them(scope: Scope) -> None:
    found = compare(parse(TWO), parse(CUT), scope)
    assert not found.without_channels
    assert not _unnamed(found)


def test_edges_of_two_channels_that_are_lost_together_are_one_edit() -> None:
    old = "[x]\nc: a\na\n[y]\nc: b\nb: a\na\n[z]\nd: c"
    new = "[x]\na\n[y]\nc: b\nb: a\na\n[z]\nd"
    [change] = _unnamed(comparison(old, new))
    assert [edit.description for edit in change.edits] == ["d no longer replaces or skips c in any channel"]


def test_a_new_edge_that_leads_astray_is_named() -> None:
    old = "[x]\nb: a\na\n[y]\nd"
    new = "[x]\nb: a\na\n[y]\nd: a"
    [change] = _unnamed(comparison(old, new))
    assert (change.kind.value, change.installed) == ("different-path", ("a",))
    assert [edit.description for edit in change.edits] == ["d now replaces or skips a in a channel"]


def test_a_matrix_follows_them_too() -> None:
    found = compare_sequence([parse(TWO), parse(TWO), parse(CUT)])
    assert [len(move.changes) for move in found.updates] == [0, 1]
    assert [move.stranded for move in found.updates] == [0, 0]
    assert found.errors == 1
    [row] = [row for row in found.without_channels if row.installed == "b1"]
    assert row.channel is None
    assert [road.last for road in row.paths if road is not None] == ["b3", "b3", "b1"]
    assert [outcome for outcome in row.outcomes if outcome] == ["same", "stranded"]


def test_a_package_that_is_gone_is_gone_for_them_too() -> None:
    found = compare_sequence([parse(TWO), Catalog("empty"), parse(TWO)])
    assert {row.outcomes for row in found.without_channels} == {("failing", "fixed")}
    assert [change.kind.value for change in found.updates[0].changes] == ["package-gone"]


def test_what_a_trial_takes_out_is_not_there_for_it() -> None:
    old = "[x]\nd@1.0.0: c\nc@3.0.0: d\n[y]\nc@3.0.0"
    new = "[x]\na@1.0.0: a\n[y]\nc@2.0.0\nd@3.0.0"
    assert _outcomes(comparison(old, new, "v1")) == {"c": "further", "d": "stranded"}


def test_an_edge_of_an_added_entry_is_reported_as_what_it_may_be_in_its_channels() -> None:
    old, new = "[s1]\nb1: a\na@0.1.0", "[s1]\nb1: a\na@0.1.0\n[fast]\nb9: b1 / a"
    [change] = changes(old, new, "different-path")
    assert [edit.description for edit in change.edits] == ["b9 was added; it replaces or skips b1 and a"]
