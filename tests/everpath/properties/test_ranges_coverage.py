"""Coverage agrees with the membership in each of its sets."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from everpath.ranges import Coverage, IntervalSet
from everpath.versions import Version
from tests.support.everpath.version_strategies import interval_sets, versions

_many = st.lists(interval_sets(), max_size=8).map(lambda sets: {f"s{i}": each for i, each in enumerate(sets)})


@given(_many, versions())
def test_covering_sets_are_those_that_contain_the_version(
    sets: dict[str, IntervalSet], version: Version
) -> None:
    expected = tuple(name for name, each in sets.items() if version in each)
    coverage = Coverage(sets)
    assert coverage.covering(version) == expected
    assert coverage.count(version) == len(expected)
    assert set(coverage.lowest_covering(version, 2)) <= set(expected)
    assert len(coverage.lowest_covering(version, 2)) == min(2, len(expected))


@given(_many, versions(), st.randoms(use_true_random=False))
def test_chosen_set_has_the_lowest_rank_of_those_that_contain_the_version(
    sets: dict[str, IntervalSet], version: Version, chance: Random
) -> None:
    names = sorted(sets)
    chance.shuffle(names)
    rank = {name: i for i, name in enumerate(names[: len(names) // 2 + 1])}
    expected = [name for name in rank if version in sets[name]]
    assert Coverage(sets).chooser(rank)(version) == (expected[0] if expected else None)
