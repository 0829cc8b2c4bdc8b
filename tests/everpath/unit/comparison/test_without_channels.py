"""ClusterExtensions without `channels`, the default of OLM v1."""

from __future__ import annotations

import pytest

from everpath.comparison import Change, Comparison, ComparisonScope, compare
from everpath.comparison.matrix import compare_sequence
from everpath.loaders.notation import parse
from everpath.model import Catalog
from tests.support.everpath.comparisons import changed, changes, comparison

#: Two minor versions, the second of which takes over from the first.
TWO = "[s1]\nb1: a\na@0.1.0\n[s2]\nb3: b2\nb2: b1"
CUT = "[s1]\nb1: a\na@0.1.0\n[s2]\nb3: b2\nb2"


def _changes_without_channels(found: Comparison) -> list[Change]:
    return [change for change in found.changes if change.channel is None and change.resolvers]


def _outcomes(found: Comparison) -> dict[str, str]:
    return {row.installed: row.outcome.value for row in found.without_channels}


def test_lost_edge_between_channels_strands_an_extension_without_channels() -> None:
    [change] = _changes_without_channels(comparison(TWO, CUT))
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


def test_lost_edge_between_channels_changes_nothing_for_an_extension_with_channels() -> None:
    found = comparison(TWO, CUT)
    assert {row.outcome.value for row in found.rows} == {"same"}
    assert found.regression_count == 0
    assert found.errors == 1


def test_new_channel_may_change_the_path_without_channels() -> None:
    old, new = "[s1]\nb1: a\na@0.1.0", "[s1]\nb1: a\na@0.1.0\n[fast]\nb9: - / - / <9.0.0"
    [change] = changes(old, new, "different-path")
    assert (
        change.message
        == "Clusters on a take a different upgrade path under OLM v1 without channels in the ClusterExtension"
    )
    assert change.new_path == "a → b9 (head of a channel)"
    assert comparison(old, new).changed_path_count == 1


def test_change_that_a_channel_shows_is_not_reported_again_without_channels() -> None:
    old = "[x]\nc: b\nb: a\na\n[y]\nc: b\nb: a\na"
    assert not _changes_without_channels(comparison(old, "[x]\nc: b\nb\n[y]\nc: b\nb"))
    assert not _changes_without_channels(
        comparison(old, "[x]\nd: b / c\nc: b\nb: a\na\n[y]\nd: b / c\nc: b\nb: a\na")
    )


def test_removed_channel_strands_no_version_without_channels() -> None:
    old, new = "[x]\nb: a\na\n[y]\nb: a\na", "[x]\nb: a\na"
    assert _outcomes(comparison(old, new)) == {"a": "same", "b": "same"}
    assert changed(old, new, "channel-gone")


def test_renamed_channel_strands_no_version_without_channels() -> None:
    found = comparison("[x]\nb: a\na", "[y]\nb: a\na")
    assert set(_outcomes(found).values()) == {"same"}
    assert not _changes_without_channels(found)


def test_edge_that_another_channel_has_is_not_lost() -> None:
    old, new = "[x]\nb: a\na\n[y]\nb: a\na", "[x]\nb: a\na\n[y]\nb\na"
    assert _outcomes(comparison(old, new)) == {"a": "same", "b": "same"}


def test_bundle_in_no_channel_is_a_candidate_without_channels() -> None:
    found = comparison("[x]\nb: a\na", "[x]\nb: a", "v1")
    assert not found.without_channels
    old = parse("[x]\nc: b\nb: a\na")
    package = old.packages[0]
    channels = (parse("[x]\nb: a\na").packages[0].channels[0],)
    new = Catalog("new", (type(package)(package.name, package.declarations, channels, package.bundles),))
    rows = {row.installed: row for row in compare(old, new).without_channels}
    assert rows["c"].outcome.value == "same"
    assert rows["c"].new.failure is None


def test_package_with_one_channel_has_no_rows_without_channels() -> None:
    assert not comparison("c: b\nb: a\na", "c: b\nb").without_channels


@pytest.mark.parametrize(
    "scope",
    [ComparisonScope(resolvers=("v0",)), ComparisonScope(channels=frozenset(("s1", "s2")))],
    ids=["v0", "channels"],
)
def test_rows_without_channels_need_v1_and_all_channels(scope: ComparisonScope) -> None:
    found = compare(parse(TWO), parse(CUT), scope)
    assert not found.without_channels
    assert not _changes_without_channels(found)


def test_edges_lost_in_two_channels_are_one_edit() -> None:
    old = "[x]\nc: a\na\n[y]\nc: b\nb: a\na\n[z]\nd: c"
    new = "[x]\na\n[y]\nc: b\nb: a\na\n[z]\nd"
    [change] = _changes_without_channels(comparison(old, new))
    assert [edit.description for edit in change.edits] == ["d no longer replaces or skips c in any channel"]


def test_new_edge_that_changes_the_path_is_the_cause() -> None:
    old = "[x]\nb: a\na\n[y]\nd"
    new = "[x]\nb: a\na\n[y]\nd: a"
    [change] = _changes_without_channels(comparison(old, new))
    assert (change.kind.value, change.installed) == ("different-path", ("a",))
    assert [edit.description for edit in change.edits] == ["d now replaces or skips a in a channel"]


def test_matrix_has_rows_without_channels() -> None:
    found = compare_sequence([parse(TWO), parse(TWO), parse(CUT)])
    assert [len(update.changes) for update in found.updates] == [0, 1]
    assert [update.regression_count for update in found.updates] == [0, 0]
    assert found.errors == 1
    [row] = [row for row in found.without_channels if row.installed == "b1"]
    assert row.channel is None
    assert [path.last for path in row.paths if path is not None] == ["b3", "b3", "b1"]
    assert [outcome for outcome in row.outcomes if outcome] == ["same", "stranded"]


def test_removed_package_fails_the_rows_without_channels() -> None:
    found = compare_sequence([parse(TWO), Catalog("empty"), parse(TWO)])
    assert {row.outcomes for row in found.without_channels} == {("failing", "fixed")}
    assert [change.kind.value for change in found.updates[0].changes] == ["package-gone"]


def test_removed_entry_is_no_candidate_without_channels() -> None:
    old = "[x]\nd@1.0.0: c\nc@3.0.0: d\n[y]\nc@3.0.0"
    new = "[x]\na@1.0.0: a\n[y]\nc@2.0.0\nd@3.0.0"
    assert _outcomes(comparison(old, new, "v1")) == {"c": "further", "d": "stranded"}


def test_edges_of_an_added_entry_are_described_as_replaces_or_skips() -> None:
    old, new = "[s1]\nb1: a\na@0.1.0", "[s1]\nb1: a\na@0.1.0\n[fast]\nb9: b1 / a"
    [change] = changes(old, new, "different-path")
    assert [edit.description for edit in change.edits] == ["b9 was added; it replaces or skips b1 and a"]
