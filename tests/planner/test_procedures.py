"""Which reconciler is chosen for what is deployed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchkeeper.planner import Action, Reconciler, UnsupportedVersion, choose_reconciler, done
from searchkeeper.planner.actions import CyclicPrerequisites


def procedure(least: int, version: int) -> Reconciler[None]:
    return Reconciler(least, version, ())


def chosen(configurations: list[Reconciler[None]], deployed: int | None) -> int | str:
    found = choose_reconciler(configurations, deployed)
    return str(found) if isinstance(found, UnsupportedVersion) else found.version


def test_where_nothing_is_deployed_the_newest_is_chosen() -> None:
    assert chosen([procedure(0, 1), procedure(3, 4)], None) == 4


def test_the_newest_that_can_start_from_what_is_deployed_is_chosen() -> None:
    known = [procedure(1, 3), procedure(3, 4)]
    assert [chosen(known, deployed) for deployed in (1, 2, 3, 4)] == [3, 3, 4, 4]


def test_a_procedure_edited_in_place_reaches_back_further_than_the_version_before() -> None:
    assert chosen([procedure(2, 4)], 2) == chosen([procedure(2, 4)], 3) == 4


def test_a_jump_that_nobody_knows_is_refused_with_the_ways_that_are_known() -> None:
    known = [procedure(3, 4), procedure(2, 3)]
    assert chosen(known, 1) == "configuration 1 is deployed; this operator knows the ways 2 to 3, 3 to 4"


def test_what_is_deployed_is_never_taken_downwards() -> None:
    assert isinstance(choose_reconciler([procedure(1, 2), procedure(2, 3)], 4), UnsupportedVersion)


def test_a_procedure_leads_upwards() -> None:
    with pytest.raises(ValueError, match="cannot lead from 3 to 2"):
        procedure(3, 2)


def test_a_procedure_is_refused_when_its_actions_wait_for_each_other() -> None:
    a: Action[None] = Action("a", lambda _: done())
    object.__setattr__(a, "requires", (a,))
    with pytest.raises(CyclicPrerequisites):
        Reconciler(0, 1, (a,))


VERSIONS = st.integers(0, 8)
PROCEDURES = st.lists(
    st.tuples(VERSIONS, VERSIONS).map(sorted).map(lambda pair: procedure(*pair)), min_size=1
)


@given(PROCEDURES, VERSIONS)
def test_the_chosen_one_starts_at_or_below_what_is_deployed_and_ends_at_or_above(
    configurations: list[Reconciler[None]], deployed: int
) -> None:
    found = choose_reconciler(configurations, deployed)
    if not isinstance(found, UnsupportedVersion):
        assert found.min_version <= deployed <= found.version
        assert not any(p.takes(deployed) and p.version > found.version for p in configurations)
    else:
        assert not any(p.takes(deployed) for p in configurations)
