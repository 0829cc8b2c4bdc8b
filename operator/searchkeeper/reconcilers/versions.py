"""The versioned reconcilers: the actions of each configuration version, for a cluster and for its pools."""

from __future__ import annotations

__all__ = ["CLUSTER_RECONCILERS", "POOL_RECONCILERS", "deployed_version", "shipped_with"]

from collections.abc import Mapping
from typing import Final, TypeVar

from searchkeeper.desired import names
from searchkeeper.planner import Reconciler
from searchkeeper.reconcilers import objects, pools, rollback, upgrade
from searchkeeper.reconcilers.context import ReconcileContext
from searchkeeper.reconcilers.disruption_budgets import disruption_budgets_applied
from searchkeeper.reconcilers.events import events_emitted
from searchkeeper.reconcilers.migrations import (
    both_labels_set,
    old_configuration_deleted,
    old_revisions_deleted,
    stateful_set_relabelled,
    stateful_set_resized,
)
from searchkeeper.reconcilers.pools import PoolContext
from searchkeeper.reconcilers.scale_in import exclusions_cleared, scale_in_complete
from searchkeeper.reconcilers.volumes import pools_resized, volumes_resized
from searchkeeper.snapshot import ClusterSnapshot
from searchkeeper.versions import Release

W = TypeVar("W")

_ENGINE: Final = (
    upgrade.version_accepted,
    upgrade.upgrade_started,
    rollback.rollback_possible,
    pools.pools_applied,
    pools.storage_unchanged,
    pools.pods_current,
    pools.pools_converged,
    exclusions_cleared,
    scale_in_complete,
    upgrade.engine_healthy,
    upgrade.upgrade_finished,
    objects.dashboards_current,
    events_emitted,
)
_SERVICES: Final = (objects.discovery_service_applied, objects.client_service_applied)
_FIRST: Final = (objects.finalizer_set, objects.configuration_applied, *_SERVICES, *_ENGINE)

_LABELLED_FIRST: Final = (
    objects.finalizer_set,
    objects.configuration_applied,
    both_labels_set,
    *(selecting.after(both_labels_set) for selecting in (*_SERVICES, disruption_budgets_applied)),
    *_ENGINE,
)

CLUSTER_RECONCILERS: Final[Mapping[int, Reconciler[ReconcileContext]]] = {
    1: Reconciler(0, 1, _FIRST),
    2: Reconciler(1, 2, (*_FIRST, old_configuration_deleted)),
    # Version 2 changed in place: it migrates from 1 as before.
    3: Reconciler(1, 3, (*_FIRST, old_configuration_deleted, disruption_budgets_applied)),
    # Not from below 3: pods without a StatefulSet need the disruption budgets of 3.
    4: Reconciler(3, 4, (*_LABELLED_FIRST, old_revisions_deleted)),
    # Not from below 4: the StatefulSets of 4 have the labels already, and no action sets them.
    5: Reconciler(4, 5, (*_LABELLED_FIRST, objects.secrets_found, pools_resized)),
}

_relabelled_first: Final = pools.stateful_set_applied.after(stateful_set_relabelled)

POOL_RECONCILERS: Final[Mapping[int, Reconciler[PoolContext]]] = {
    1: Reconciler(0, 1, (pools.stateful_set_applied, pools.pods_ready)),
    2: Reconciler(1, 2, (pools.stateful_set_applied, pools.pods_ready)),
    3: Reconciler(1, 3, (pools.stateful_set_applied, pools.pods_ready)),
    4: Reconciler(
        3, 4, (stateful_set_relabelled, _relabelled_first, pools.pods_ready.after(_relabelled_first))
    ),
    5: Reconciler(
        4, 5, (pools.stateful_set_applied, volumes_resized, stateful_set_resized, pools.pods_ready)
    ),
}


def shipped_with(configurations: Mapping[int, Reconciler[W]], release: Release) -> tuple[Reconciler[W], ...]:
    """The reconcilers that a release contains."""
    return tuple(configurations[version] for version in release.configurations)


def deployed_version(snapshot: ClusterSnapshot) -> int | None:
    """The configuration version of the deployed objects; None where there are none.

    A cluster that has never converged has the oldest version of any of its objects. An annotation that is no
    version is ignored, and overwritten like any other edit.
    """
    if snapshot.cluster.current_version is not None:
        return snapshot.cluster.current_version
    annotations = (manifest["metadata"].get("annotations") or {} for manifest in snapshot.objects.values())
    versions = (names.configuration_version(each) for each in annotations)
    return min((version for version in versions if version is not None), default=None)
