"""Entries at which an upgrade path ends well."""

from __future__ import annotations

import pytest

from everpath.upgrade_path.goals import path_goals
from tests.support.everpath.graphs import channel_graph


def test_head_is_the_only_goal_under_v0() -> None:
    assert path_goals(channel_graph("b@2.0.0: a\na@1.0.0"), "v0") == ("b",)
    assert path_goals(channel_graph("b@2.0.0\na@1.0.0"), "v0") == ()


def test_new_install_is_a_goal_under_v1() -> None:
    assert path_goals(channel_graph("b@2.0.0\na@1.0.0"), "v1") == ("b",)
    assert path_goals(channel_graph("b@1.0.0: a\na@1.0.0+1\nc@3.0.0"), "v1") == ("c",)


@pytest.mark.parametrize("edge", ["b@1.0.0: a", "b@1.0.0: - / a"])
def test_entry_that_a_lower_version_replaces_or_skips_is_no_goal(edge: str) -> None:
    assert path_goals(channel_graph(f"{edge}\na@2.0.0"), "v1") == ("b",)


def test_entry_that_only_a_deprecated_one_replaces_is_a_goal() -> None:
    """v1 installs b because c is deprecated, not because c were lower."""
    assert path_goals(channel_graph("c@2.0.0: b\nb@1.0.0\n%deprecated c: old"), "v1") == ("c", "b")


def test_self_edge_does_not_withdraw_an_entry() -> None:
    assert path_goals(channel_graph("a@1.0.0: - / a"), "v1") == ("a",)
    assert path_goals(channel_graph("a@1.0.0: a"), "v1") == ("a",)


def test_entry_that_only_one_without_a_bundle_replaces_is_a_goal() -> None:
    assert path_goals(channel_graph("b?: a\na@1.0.0"), "v1") == ("b", "a")
