"""The procedures: which actions make each configuration version, for a cluster and for each of its pools."""

from __future__ import annotations

__all__ = ["CLUSTER", "POOL", "deployed_version", "shipped"]

from collections.abc import Mapping
from typing import Final, TypeVar

from searchkeeper.configuration import names, objects, pools, rollbacks, upgrades
from searchkeeper.configuration.budgets import budgets_stand
from searchkeeper.configuration.leaving import exclusions_are_undone, nodes_have_left
from searchkeeper.configuration.migrations import (
    both_labels_are_set,
    old_configuration_is_gone,
    old_revisions_are_gone,
    stateful_set_is_relabelled,
)
from searchkeeper.configuration.news import people_are_told
from searchkeeper.configuration.pools import PoolScene
from searchkeeper.configuration.scene import Scene
from searchkeeper.kernel import Procedure
from searchkeeper.observed import Observed
from searchkeeper.versions import Release

W = TypeVar("W")

_ENGINE: Final = (
    upgrades.version_is_accepted,
    upgrades.upgrade_is_begun,
    rollbacks.rollback_is_possible,
    pools.pools_exist,
    pools.storage_is_unchanged,
    pools.pods_are_current,
    pools.pools_are_settled,
    exclusions_are_undone,
    nodes_have_left,
    upgrades.engine_is_healthy,
    upgrades.upgrade_is_finished,
    objects.dashboards_are_current,
    people_are_told,
)
_SERVICES: Final = (objects.discovery_exists, objects.client_service_exists)
_FIRST: Final = (objects.finalizer_is_set, objects.configuration_is_applied, *_SERVICES, *_ENGINE)

CLUSTER: Final[Mapping[int, Procedure[Scene]]] = {
    1: Procedure(0, 1, _FIRST),
    2: Procedure(1, 2, (*_FIRST, old_configuration_is_gone)),
    # 2, edited in place: whatever could take over from 1 still can.
    3: Procedure(1, 3, (*_FIRST, old_configuration_is_gone, budgets_stand)),
    # Beside 3: a StatefulSet that is between two selectors needs the budgets that 3 has set up.
    4: Procedure(
        3,
        4,
        (
            objects.finalizer_is_set,
            objects.configuration_is_applied,
            both_labels_are_set,
            *(each.after(both_labels_are_set) for each in (*_SERVICES, budgets_stand)),
            *_ENGINE,
            old_revisions_are_gone,
        ),
    ),
}

_relabelled: Final = pools.stateful_set_is_applied.after(stateful_set_is_relabelled)

POOL: Final[Mapping[int, Procedure[PoolScene]]] = {
    1: Procedure(0, 1, (pools.stateful_set_is_applied, pools.pods_are_ready)),
    2: Procedure(1, 2, (pools.stateful_set_is_applied, pools.pods_are_ready)),
    3: Procedure(1, 3, (pools.stateful_set_is_applied, pools.pods_are_ready)),
    4: Procedure(3, 4, (stateful_set_is_relabelled, _relabelled, pools.pods_are_ready.after(_relabelled))),
}


def shipped(procedures: Mapping[int, Procedure[W]], release: Release) -> tuple[Procedure[W], ...]:
    """Those that a release has."""
    return tuple(procedures[version] for version in release.procedures)


def deployed_version(seen: Observed) -> int | None:
    """The configuration version of what is there; None where nothing is.

    A cluster that has never converged is taken for the oldest version that any of its objects is of. What
    somebody else has written there is put right like any other edit.
    """
    if seen.cluster.current_version is not None:
        return seen.cluster.current_version
    marks = (each["metadata"].get("annotations") or {} for each in seen.objects.values())
    return min((found for each in marks if (found := names.configuration_in(each)) is not None), default=None)
