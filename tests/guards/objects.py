"""What is deployed, and what becomes of it in other hands."""

from __future__ import annotations

__all__ = ["GUARDS"]

from typing import Any, Final

from guards.killers import EDITS, MIGRATIONS, NAMESAKES, QUORUM, RUN, VOTES
from guards.taking_away import Guard, Patch, gone, instead, together, unrequired
from searchkeeper import observe, snapshot
from searchkeeper.desired import apply as apply_module
from searchkeeper.desired import manifests, names
from searchkeeper.desired.apply import apply
from searchkeeper.desired.cluster import DesiredCluster
from searchkeeper.kubernetes import operations
from searchkeeper.planner import done
from searchkeeper.reconcilers import context, disruption_budgets, migrations, objects, pools


def budgets_apart(patch: Patch) -> None:
    def made(deployed: DesiredCluster, specs: tuple[Any, ...], _: int | None) -> Any:
        return [
            manifests._budget(
                deployed, f"{deployed.name}-{pool.name}", {"matchLabels": deployed.labels(pool.name)}
            )
            for pool in specs
        ]

    patch.setattr(disruption_budgets, "disruption_budgets", made)


def edits_unnoticed(patch: Patch) -> None:
    def mark(made: operations.Manifest) -> str | None:
        found: str | None = made["metadata"]["annotations"].get(names.TEMPLATE)
        return found

    def unless_marked(wanted: operations.Manifest, live: operations.Manifest | None) -> Any:
        return None if live is not None and mark(live) == mark(wanted) else apply(wanted, live)

    patch.setattr(pools, "apply", unless_marked)


def shorter_grace(live: dict[str, Any]) -> None:
    live["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = 1


def by_mark(pod: snapshot.Pod, wanted: snapshot.StatefulSetView) -> bool:
    return pod.template != wanted.template


def by_image(pod: snapshot.Pod, wanted: snapshot.StatefulSetView) -> bool:
    return (pod.template, pod.engine_version) != (wanted.template, wanted.engine_version)


GUARDS: Final = (
    Guard(
        "who begins a cluster is settled once",
        instead(context.ReconcileContext, "_bootstrapper", None),
        VOTES + "test_another_first_pool_of_managers_restarts_nobody",
    ),
    Guard(
        "more nodes need no turn",
        gone(migrations, "keep_last_applied", done()),
        MIGRATIONS + "test_scale_out_works_during_the_relabelling",
        ("managers",),
    ),
    Guard(
        "one budget over all voters",
        budgets_apart,
        QUORUM + "test_voters_have_one_budget_whatever_their_pools",
    ),
    Guard(
        "one budget over a pod",
        gone(disruption_budgets, "delete_all", done()),
        QUORUM + "test_no_pod_has_two_budgets_for_longer_than_a_cycle",
    ),
    Guard(
        "voters are counted between two sets",
        together(gone(disruption_budgets, "_uncounted"), gone(migrations, "_voters_are_counted", True)),
        QUORUM + "test_pods_that_no_stateful_set_counts_do_not_make_room_for_others",
    ),
    Guard(
        "old histories go",
        gone(migrations, "orphaned_revisions", []),
        MIGRATIONS + "test_revisions_with_the_old_labels_are_deleted",
    ),
    Guard(
        "hand edits are taken back",
        edits_unnoticed,
        EDITS + "test_edited_stateful_set_is_reverted_without_restarts",
        (shorter_grace,),
    ),
    Guard(
        "a pod of an edited image is outdated",
        instead(snapshot, "_is_stale", by_mark),
        EDITS + "test_pod_of_an_edited_image_is_replaced",
    ),
    Guard(
        "nobody is sent back to a disk it cannot read",
        instead(snapshot, "_is_stale", by_image),
        EDITS + "test_pod_that_ran_an_edited_newer_version_is_kept",
    ),
    Guard(
        "what is not ours is left alone",
        gone(observe, "_is_of", True),
        NAMESAKES + "test_whoever_has_one_of_our_names_is_named_and_left_alone",
        (operations.Key("v1", "Service", "search", "logs"),),
    ),
    Guard(
        "Dashboards are waited for",
        gone(objects, "_is_available", True),
        "stories/test_dashboards.py::test_they_are_waited_for_until_they_are_ready",
    ),
    Guard(
        "a set of voters is let go when its pods are counted",
        gone(migrations, "_voters_are_counted", True),
        QUORUM + "test_no_set_of_voters_lets_its_pods_go_while_nobody_may_count_them",
    ),
    Guard(
        "claims are as they were made",
        instead(apply_module, "_SETTLED", frozenset()),
        EDITS + "test_normalised_claim_sizes_are_ignored",
    ),
    Guard(
        "labels are set before anything selects by them",
        unrequired("BothLabelsSet"),
        RUN,
        ("0.3.1 → 0.4.0",),
    ),
    Guard(
        "old labels go before a set of new ones comes",
        unrequired("StatefulSetRelabelled"),
        "paths/test_every_catalog_path.py::test_a_cluster_follows_its_operator_to_the_end_of_the_road",
        (("0.3.1", "0.4.0"),),
    ),
    Guard(
        "old configuration goes when nobody reads it",
        unrequired("PoolsConverged", of="OldConfigurationDeleted"),
        RUN,
        ("0.1.1 → 0.2.0",),
    ),
)
