"""Chains of replaces: a chain continues to lower versions and branches off where another one has been."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from everpath.layout.replaces_chains import ReplacesChain, replaces_chains


def test_a_chain_is_one_line() -> None:
    assert replaces_chains([2, 1, 0], {2: 1, 1: 0}) == (ReplacesChain((2, 1, 0)),)


def test_a_second_replacer_branches_off_at_the_one_it_replaces() -> None:
    assert replaces_chains([2, 1, 0], {2: 0, 1: 0}) == (ReplacesChain((2, 0)), ReplacesChain((1,), joint=0))


def test_an_edge_to_a_higher_version_ends_the_line() -> None:
    assert replaces_chains([0, 1], {0: 1}) == (ReplacesChain((0,)), ReplacesChain((1,)))


def test_a_chain_does_not_follow_a_cycle() -> None:
    assert replaces_chains([1, 0], {1: 0, 0: 1}) == (ReplacesChain((1, 0)),)


def test_the_reach_of_a_branch_begins_at_its_joint() -> None:
    assert ReplacesChain((5, 3), joint=1).reach == (1, 5)


@given(st.dictionaries(st.integers(0, 9), st.integers(0, 9)), st.permutations(range(10)))
def test_every_column_is_in_exactly_one_line(replaces: dict[int, int], starts: list[int]) -> None:
    columns = [column for line in replaces_chains(starts, replaces) for column in line.columns]
    assert sorted(columns) == list(range(10))
