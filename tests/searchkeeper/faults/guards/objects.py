"""Guards of objects: how they are applied, migrated and protected from edits."""

from __future__ import annotations

__all__ = ["GUARDS"]

from typing import Any, Final

from searchkeeper import observe, snapshot
from searchkeeper.desired import apply as apply_module
from searchkeeper.desired import manifests, names
from searchkeeper.desired.apply import apply
from searchkeeper.desired.cluster import DesiredCluster
from searchkeeper.kubernetes import operations
from searchkeeper.planner import done
from searchkeeper.reconcilers import context, disruption_budgets, migrations, objects, pools, volumes
from tests.searchkeeper.faults.guards.guard import (
    Guard,
    Patch,
    combine,
    drop_prerequisite,
    replace_attribute,
    stub,
)
from tests.searchkeeper.faults.guards.module_paths import (
    COMPLETE_RUN,
    HAND_EDITS,
    MIGRATIONS,
    NAME_CONFLICTS,
    QUORUM,
    SCALE_IN_VOTES,
    SINGLE_FAULTS,
    STORAGE,
)


def create_one_budget_per_pool(patch: Patch) -> None:
    def budgets(deployed: DesiredCluster, specs: tuple[Any, ...], _: int | None) -> Any:
        return [
            manifests._disruption_budget(
                deployed, f"{deployed.name}-{pool.name}", {"matchLabels": deployed.labels(pool.name)}
            )
            for pool in specs
        ]

    patch.setattr(disruption_budgets, "disruption_budgets", budgets)


def ignore_edits(patch: Patch) -> None:
    def template(manifest: operations.Manifest) -> str | None:
        found: str | None = manifest["metadata"]["annotations"].get(names.TEMPLATE)
        return found

    def apply_other_template(wanted: operations.Manifest, live: operations.Manifest | None) -> Any:
        return None if live is not None and template(live) == template(wanted) else apply(wanted, live)

    patch.setattr(pools, "apply", apply_other_template)


def shorten_grace_period(live: dict[str, Any]) -> None:
    live["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = 1


def has_other_template(pod: snapshot.Pod, wanted: snapshot.StatefulSetView) -> bool:
    return pod.template != wanted.template


def has_other_template_or_version(pod: snapshot.Pod, wanted: snapshot.StatefulSetView) -> bool:
    return (pod.template, pod.engine_version) != (wanted.template, wanted.engine_version)


def replace_any_stateful_set(ctx: context.ReconcileContext, pool: snapshot.PoolView) -> bool:
    """Replace the StatefulSets of all pools with larger volumes at once."""
    return ctx.active_pool is None and migrations._has_larger_volumes(ctx, pool)


def replace_first_stateful_set(ctx: context.ReconcileContext, pool: snapshot.PoolView) -> bool:
    """Replace the StatefulSet of the first pool with larger volumes at any time."""
    ready = (each.spec.name for each in ctx.pools if migrations._has_larger_volumes(ctx, each))
    return next(ready, None) == pool.spec.name


def is_next_in_order(ctx: context.ReconcileContext, pool: snapshot.PoolView) -> bool:
    """Ignore that a StatefulSet is being deleted."""
    return ctx.active_pool is None and replace_first_stateful_set(ctx, pool)


def may_always_resize(ctx: context.ReconcileContext, pool: snapshot.PoolView) -> bool:
    return pool.is_wanted and ctx.desired.has_expandable_volumes


GUARDS: Final = (
    Guard(
        "one bootstrap",
        replace_attribute(context.ReconcileContext, "_bootstrapper", None),
        SCALE_IN_VOTES + "test_new_first_manager_pool_restarts_no_node",
    ),
    Guard(
        "scale-out of pending pools",
        stub(migrations, "keep_last_applied", done()),
        MIGRATIONS + "test_scale_out_works_during_the_relabelling",
        ("managers",),
    ),
    Guard(
        "one budget for all voters",
        create_one_budget_per_pool,
        QUORUM + "test_one_budget_covers_the_voters_of_all_pools",
    ),
    Guard(
        "one budget for a pod",
        stub(disruption_budgets, "delete_all", done()),
        QUORUM + "test_pod_has_two_budgets_for_one_reconcile_at_most",
    ),
    Guard(
        "voters without a StatefulSet are counted",
        combine(
            stub(disruption_budgets, "_voters_without_owner"),
            stub(migrations, "_budget_counts_orphans", True),
        ),
        QUORUM + "test_orphaned_voters_allow_no_second_eviction",
    ),
    Guard(
        "old revisions are deleted",
        stub(migrations, "orphaned_revisions", []),
        MIGRATIONS + "test_revisions_with_the_old_labels_are_deleted",
    ),
    Guard(
        "edits are reverted",
        ignore_edits,
        HAND_EDITS + "test_edited_stateful_set_is_reverted_without_restarts",
        (shorten_grace_period,),
    ),
    Guard(
        "pods of an edited image",
        replace_attribute(snapshot, "_is_outdated", has_other_template),
        HAND_EDITS + "test_pod_of_an_edited_image_is_replaced",
    ),
    Guard(
        "no downgrade on a written disk",
        replace_attribute(snapshot, "_is_outdated", has_other_template_or_version),
        HAND_EDITS + "test_pod_that_ran_an_edited_newer_version_is_kept",
    ),
    Guard(
        "foreign objects",
        stub(observe, "_is_owned", True),
        NAME_CONFLICTS + "test_foreign_object_is_reported_and_left_unchanged",
        (operations.Key("v1", "Service", "search", "logs"),),
    ),
    Guard(
        "available Dashboards",
        stub(objects, "_is_available", True),
        "searchkeeper/scenarios/test_dashboards.py::test_cluster_waits_for_available_dashboards",
    ),
    Guard(
        "budget before orphaning",
        stub(migrations, "_budget_counts_orphans", True),
        QUORUM + "test_voters_are_not_orphaned_while_the_budget_patch_is_denied",
    ),
    Guard(
        "immutable volume claim templates",
        replace_attribute(apply_module, "_IMMUTABLE", frozenset()),
        HAND_EDITS + "test_normalised_claim_sizes_are_ignored",
    ),
    Guard(
        "labels before selectors",
        drop_prerequisite("BothLabelsSet"),
        COMPLETE_RUN,
        ("0.3.1 → 0.4.0",),
    ),
    Guard(
        "relabelled StatefulSet",
        drop_prerequisite("StatefulSetRelabelled"),
        "searchkeeper/scenarios/test_every_catalog_path.py::test_cluster_is_migrated_along_every_upgrade_path",
        (("0.3.1", "0.4.0"),),
    ),
    Guard(
        "old configuration is deleted last",
        drop_prerequisite("PoolsConverged", of="OldConfigurationDeleted"),
        COMPLETE_RUN,
        ("0.1.1 → 0.2.0",),
    ),
    Guard(
        "volumes before claim templates",
        stub(migrations, "resize_volumes"),
        STORAGE + "test_claim_templates_follow_the_volumes",
    ),
    Guard(
        "the SearchPool has the size first",
        stub(migrations, "is_less", False),
        STORAGE + "test_stateful_set_is_kept_while_its_search_pool_cannot_get_the_size",
    ),
    Guard(
        "one StatefulSet at a time",
        replace_attribute(migrations, "is_replaced_next", replace_any_stateful_set),
        STORAGE + "test_stateful_sets_are_replaced_one_after_the_other",
    ),
    Guard(
        "no replacement during a rollout",
        replace_attribute(migrations, "is_replaced_next", replace_first_stateful_set),
        STORAGE + "test_other_template_is_rolled_out_before_the_stateful_set_is_replaced",
    ),
    Guard(
        "pods of a deleted StatefulSet are counted",
        replace_attribute(disruption_budgets, "is_replaced_next", is_next_in_order),
        STORAGE + "test_voters_are_counted_if_an_upgrade_starts_while_they_are_orphaned",
    ),
    Guard(
        "a replaced StatefulSet owns its pods",
        stub(migrations, "_wait_for_adoption"),
        SINGLE_FAULTS + "test_converged_operator_writes_nothing",
        ("10Gi → 20Gi",),
    ),
    Guard(
        "additions outlive an expansion",
        stub(pools, "_is_being_replaced", False),
        STORAGE + "test_limits_that_users_added_outlive_the_expansion",
    ),
    Guard(
        "no expansion during an upgrade",
        replace_attribute(context.ReconcileContext, "may_resize", may_always_resize),
        STORAGE + "test_expansion_waits_for_an_upgrade_that_starts_meanwhile",
    ),
    Guard(
        "no expansion while paused",
        stub(volumes, "paused"),
        STORAGE + "test_nothing_grows_while_paused",
    ),
    Guard(
        "no replacement while paused",
        stub(migrations, "paused"),
        STORAGE + "test_stateful_set_is_not_replaced_while_paused",
    ),
    Guard(
        "refused expansions stop nothing else",
        replace_attribute(pools, "_RESIZE_ACTIONS", frozenset()),
        STORAGE + "test_refused_expansion_stops_neither_an_upgrade_nor_a_scale_in",
    ),
)
