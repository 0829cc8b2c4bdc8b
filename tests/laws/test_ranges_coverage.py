"""A look-up among many sets answers what each of them would."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from everpath.ranges import Coverage, IntervalSet
from everpath.versions import Version
from version_strategies import interval_sets, versions

_many = st.lists(interval_sets(), max_size=8).map(lambda sets: {f"s{i}": each for i, each in enumerate(sets)})


@given(_many, versions())
def test_the_sets_found_are_those_that_contain_the_version(
    sets: dict[str, IntervalSet], version: Version
) -> None:
    having = tuple(name for name, each in sets.items() if version in each)
    coverage = Coverage(sets)
    assert coverage.covering(version) == having
    assert coverage.count(version) == len(having)
    assert set(coverage.lowest_covering(version, 2)) <= set(having)
    assert len(coverage.lowest_covering(version, 2)) == min(2, len(having))


@given(_many, versions(), st.randoms(use_true_random=False))
def test_the_set_chosen_is_the_one_of_lowest_rank_that_contains_the_version(
    sets: dict[str, IntervalSet], version: Version, chance: Random
) -> None:
    names = sorted(sets)
    chance.shuffle(names)
    rank = {name: i for i, name in enumerate(names[: len(names) // 2 + 1])}
    having = [name for name in rank if version in sets[name]]
    assert Coverage(sets).chooser(rank)(version) == (having[0] if having else None)
