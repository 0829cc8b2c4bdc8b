"""Guards of objects: how they are applied, migrated and protected from edits."""

from __future__ import annotations

__all__ = ["GUARDS"]

from typing import Any, Final

from guards.guard import Guard, Patch, gone, instead, together, unrequired
from guards.killers import EDITS, MIGRATIONS, NAME_CONFLICTS, QUORUM, RUN, SCALE_IN_VOTES
from searchkeeper import observe, snapshot
from searchkeeper.desired import apply as apply_module
from searchkeeper.desired import manifests, names
from searchkeeper.desired.apply import apply
from searchkeeper.desired.cluster import DesiredCluster
from searchkeeper.kubernetes import operations
from searchkeeper.planner import done
from searchkeeper.reconcilers import context, disruption_budgets, migrations, objects, pools


def one_budget_a_pool(patch: Patch) -> None:
    def made(deployed: DesiredCluster, specs: tuple[Any, ...], _: int | None) -> Any:
        return [
            manifests._disruption_budget(
                deployed, f"{deployed.name}-{pool.name}", {"matchLabels": deployed.labels(pool.name)}
            )
            for pool in specs
        ]

    patch.setattr(disruption_budgets, "disruption_budgets", made)


def edits_ignored(patch: Patch) -> None:
    def template(made: operations.Manifest) -> str | None:
        found: str | None = made["metadata"]["annotations"].get(names.TEMPLATE)
        return found

    def unless_same_template(wanted: operations.Manifest, live: operations.Manifest | None) -> Any:
        return None if live is not None and template(live) == template(wanted) else apply(wanted, live)

    patch.setattr(pools, "apply", unless_same_template)


def shorter_grace(live: dict[str, Any]) -> None:
    live["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = 1


def by_template(pod: snapshot.Pod, wanted: snapshot.StatefulSetView) -> bool:
    return pod.template != wanted.template


def by_image(pod: snapshot.Pod, wanted: snapshot.StatefulSetView) -> bool:
    return (pod.template, pod.engine_version) != (wanted.template, wanted.engine_version)


GUARDS: Final = (
    Guard(
        "one bootstrap",
        instead(context.ReconcileContext, "_bootstrapper", None),
        SCALE_IN_VOTES + "test_new_first_manager_pool_restarts_no_node",
    ),
    Guard(
        "scale-out of pending pools",
        gone(migrations, "keep_last_applied", done()),
        MIGRATIONS + "test_scale_out_works_during_the_relabelling",
        ("managers",),
    ),
    Guard(
        "one budget for all voters",
        one_budget_a_pool,
        QUORUM + "test_one_budget_covers_the_voters_of_all_pools",
    ),
    Guard(
        "one budget for a pod",
        gone(disruption_budgets, "delete_all", done()),
        QUORUM + "test_pod_has_two_budgets_for_one_reconcile_at_most",
    ),
    Guard(
        "voters without a StatefulSet are counted",
        together(
            gone(disruption_budgets, "_voters_without_owner"),
            gone(migrations, "_budget_counts_orphans", True),
        ),
        QUORUM + "test_orphaned_voters_allow_no_second_eviction",
    ),
    Guard(
        "old revisions are deleted",
        gone(migrations, "orphaned_revisions", []),
        MIGRATIONS + "test_revisions_with_the_old_labels_are_deleted",
    ),
    Guard(
        "edits are reverted",
        edits_ignored,
        EDITS + "test_edited_stateful_set_is_reverted_without_restarts",
        (shorter_grace,),
    ),
    Guard(
        "pods of an edited image",
        instead(snapshot, "_is_outdated", by_template),
        EDITS + "test_pod_of_an_edited_image_is_replaced",
    ),
    Guard(
        "no downgrade on a written disk",
        instead(snapshot, "_is_outdated", by_image),
        EDITS + "test_pod_that_ran_an_edited_newer_version_is_kept",
    ),
    Guard(
        "foreign objects",
        gone(observe, "_is_owned", True),
        NAME_CONFLICTS + "test_foreign_object_is_reported_and_left_unchanged",
        (operations.Key("v1", "Service", "search", "logs"),),
    ),
    Guard(
        "available Dashboards",
        gone(objects, "_is_available", True),
        "stories/test_dashboards.py::test_cluster_waits_for_available_dashboards",
    ),
    Guard(
        "budget before orphaning",
        gone(migrations, "_budget_counts_orphans", True),
        QUORUM + "test_voters_are_not_orphaned_while_the_budget_patch_is_denied",
    ),
    Guard(
        "immutable volume claim templates",
        instead(apply_module, "_IMMUTABLE", frozenset()),
        EDITS + "test_normalised_claim_sizes_are_ignored",
    ),
    Guard(
        "labels before selectors",
        unrequired("BothLabelsSet"),
        RUN,
        ("0.3.1 → 0.4.0",),
    ),
    Guard(
        "relabelled StatefulSet",
        unrequired("StatefulSetRelabelled"),
        "paths/test_every_catalog_path.py::test_cluster_is_migrated_along_every_upgrade_path",
        (("0.3.1", "0.4.0"),),
    ),
    Guard(
        "old configuration is deleted last",
        unrequired("PoolsConverged", of="OldConfigurationDeleted"),
        RUN,
        ("0.1.1 → 0.2.0",),
    ),
)
