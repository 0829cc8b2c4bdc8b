"""The OperatorCondition: whether OLM may replace the operator."""

from __future__ import annotations

__all__ = ["GUARDS"]

from typing import Final

from searchkeeper import operator_condition, reconcile
from tests.searchkeeper.faults.guards.guard import (
    Guard,
    Patch,
    patch_without_resource_version,
    replace_attribute,
    stub,
)
from tests.searchkeeper.faults.guards.module_paths import OPERATOR_CONDITION


def count_missing_clusters(patch: Patch) -> None:
    patch.setattr(
        reconcile,
        "upgradeable_patch",
        lambda *of, now, **_: operator_condition.upgradeable_patch(*of, exists=lambda _: True, now=now),
    )


GUARDS: Final = (
    Guard(
        "a step in progress blocks OLM",
        stub(reconcile, "upgradeable_patch"),
        OPERATOR_CONDITION + "test_pod_replacement_blocks_olm",
    ),
    Guard(
        "a denied operation does not block OLM",
        stub(reconcile, "denied_operations", ()),
        OPERATOR_CONDITION + "test_denied_deletion_does_not_block_olm",
        ("0.3.1", "delete StatefulSet"),
    ),
    Guard(
        "a cluster without a usable spec does not block OLM",
        replace_attribute(reconcile, "_runs_no_upgrade", lambda cluster: cluster.is_deleting),
        OPERATOR_CONDITION + "test_invalid_spec_does_not_block_olm",
    ),
    Guard(
        "a pod whose delete is denied does not block OLM",
        stub(operator_condition, "denied_operations", ()),
        OPERATOR_CONDITION + "test_denied_deletion_does_not_block_olm",
        ("0.5.0", "delete Pod"),
    ),
    Guard(
        "orphaned pods block OLM",
        stub(operator_condition, "_is_orphaned", False),
        OPERATOR_CONDITION + "test_orphaned_pods_block_olm",
    ),
    Guard(
        "OLM is blocked before pods are orphaned",
        stub(reconcile, "_pending_operations", ()),
        OPERATOR_CONDITION + "test_olm_is_blocked_before_pods_are_orphaned",
    ),
    Guard(
        "a deleted cluster does not block OLM",
        replace_attribute(reconcile, "_runs_no_upgrade", lambda cluster: cluster.has_no_usable_spec),
        OPERATOR_CONDITION + "test_deleted_cluster_does_not_block_olm",
    ),
    Guard(
        "a cluster that does not exist does not block OLM",
        count_missing_clusters,
        OPERATOR_CONDITION + "test_blocker_of_a_missing_cluster_is_removed",
    ),
    Guard(
        "OLM is blocked while any cluster blocks",
        stub(operator_condition, "_blockers", {}),
        OPERATOR_CONDITION + "test_blocker_of_another_cluster_is_kept",
    ),
    Guard(
        "resourceVersion of an OperatorCondition",
        replace_attribute(operator_condition, "Patch", patch_without_resource_version),
        OPERATOR_CONDITION + "test_stale_read_does_not_remove_the_blocker_of_another_cluster",
    ),
)
