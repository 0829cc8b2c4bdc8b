"""Which reconciler is chosen for the deployed configuration version."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchkeeper.planner import Action, Reconciler, UnsupportedVersion, choose_reconciler, done
from searchkeeper.planner.actions import CyclicPrerequisites


def reconciler(min_version: int, version: int) -> Reconciler[None]:
    return Reconciler(min_version, version, ())


def chosen_version(reconcilers: list[Reconciler[None]], deployed: int | None) -> int | str:
    choice = choose_reconciler(reconcilers, deployed)
    return str(choice) if isinstance(choice, UnsupportedVersion) else choice.version


def test_new_cluster_gets_the_newest_reconciler() -> None:
    assert chosen_version([reconciler(0, 1), reconciler(3, 4)], None) == 4


def test_newest_reconciler_that_supports_the_deployed_version_is_chosen() -> None:
    known = [reconciler(1, 3), reconciler(3, 4)]
    assert [chosen_version(known, deployed) for deployed in (1, 2, 3, 4)] == [3, 3, 4, 4]


def test_reconciler_may_skip_versions() -> None:
    assert chosen_version([reconciler(2, 4)], 2) == chosen_version([reconciler(2, 4)], 3) == 4


def test_unsupported_version_lists_the_supported_ones() -> None:
    known = [reconciler(3, 4), reconciler(2, 3)]
    assert chosen_version(known, 1) == "configuration 1 is deployed; this operator supports 2 to 3, 3 to 4"


def test_configuration_is_never_downgraded() -> None:
    assert isinstance(choose_reconciler([reconciler(1, 2), reconciler(2, 3)], 4), UnsupportedVersion)


def test_reconciler_to_a_lower_version_is_rejected() -> None:
    with pytest.raises(ValueError, match="cannot lead from 3 to 2"):
        reconciler(3, 2)


def test_reconciler_with_cyclic_prerequisites_is_rejected() -> None:
    a: Action[None] = Action("a", lambda _: done())
    object.__setattr__(a, "requires", (a,))
    with pytest.raises(CyclicPrerequisites):
        Reconciler(0, 1, (a,))


VERSIONS = st.integers(0, 8)
RECONCILERS = st.lists(
    st.tuples(VERSIONS, VERSIONS).map(sorted).map(lambda pair: reconciler(*pair)), min_size=1
)


@given(RECONCILERS, VERSIONS)
def test_chosen_reconciler_is_the_newest_that_supports_the_deployed_version(
    reconcilers: list[Reconciler[None]], deployed: int
) -> None:
    choice = choose_reconciler(reconcilers, deployed)
    if not isinstance(choice, UnsupportedVersion):
        assert choice.min_version <= deployed <= choice.version
        assert not any(p.supports(deployed) and p.version > choice.version for p in reconcilers)
    else:
        assert not any(p.supports(deployed) for p in reconcilers)
