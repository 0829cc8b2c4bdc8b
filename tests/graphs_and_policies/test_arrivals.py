"""Entries at which a path ends well."""

from __future__ import annotations

import pytest

from everpath.upgrade_paths.goals import path_goals
from graphs import channel_graph


def test_the_head_is_the_goal_and_without_one_there_is_none() -> None:
    assert path_goals(channel_graph("b@2.0.0: a\na@1.0.0"), "v0") == ("b",)
    assert path_goals(channel_graph("b@2.0.0\na@1.0.0"), "v0") == ()


def test_under_v1_what_a_new_installation_gets_is_a_goal_too() -> None:
    assert path_goals(channel_graph("b@2.0.0\na@1.0.0"), "v1") == ("b",)
    assert path_goals(channel_graph("b@1.0.0: a\na@1.0.0+1\nc@3.0.0"), "v1") == ("c",)


@pytest.mark.parametrize("edge", ["b@1.0.0: a", "b@1.0.0: - / a"])
def test_what_a_lower_version_replaces_or_skips_was_withdrawn(edge: str) -> None:
    assert path_goals(channel_graph(f"{edge}\na@2.0.0"), "v1") == ("b",)


def test_what_only_a_deprecated_one_replaces_was_not_withdrawn() -> None:
    """v1 installs b because c is deprecated, not because c were lower."""
    assert path_goals(channel_graph("c@2.0.0: b\nb@1.0.0\n%deprecated c: old"), "v1") == ("c", "b")


def test_who_replaces_or_skips_itself_has_not_withdrawn_itself() -> None:
    assert path_goals(channel_graph("a@1.0.0: - / a"), "v1") == ("a",)
    assert path_goals(channel_graph("a@1.0.0: a"), "v1") == ("a",)


def test_what_only_an_entry_without_a_bundle_replaces_was_not_withdrawn() -> None:
    assert path_goals(channel_graph("b?: a\na@1.0.0"), "v1") == ("b", "a")
