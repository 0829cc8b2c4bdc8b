"""What is deployed, and what becomes of it in other hands."""

from __future__ import annotations

__all__ = ["GUARDS"]

from typing import Any, Final

from guards.killers import EDITS, MIGRATIONS, NAMESAKES, QUORUM, RUN, VOTES
from guards.taking_away import Guard, Patch, gone, instead, together, unrequired
from searchkeeper import observed, observing, writes
from searchkeeper.configuration import applying, budgets, manifests, migrations, names, objects, pools, scene
from searchkeeper.configuration.applying import apply
from searchkeeper.configuration.deployed import Deployed
from searchkeeper.kernel import done


def budgets_apart(patch: Patch) -> None:
    def made(deployed: Deployed, specs: tuple[Any, ...], _: int | None) -> Any:
        return [
            manifests._budget(
                deployed, f"{deployed.name}-{pool.name}", {"matchLabels": deployed.labels(pool.name)}
            )
            for pool in specs
        ]

    patch.setattr(budgets, "budgets", made)


def edits_unnoticed(patch: Patch) -> None:
    def mark(made: writes.Manifest) -> str | None:
        found: str | None = made["metadata"]["annotations"].get(names.TEMPLATE)
        return found

    def unless_marked(wanted: writes.Manifest, live: writes.Manifest | None) -> Any:
        return None if live is not None and mark(live) == mark(wanted) else apply(wanted, live)

    patch.setattr(pools, "apply", unless_marked)


def shorter_grace(live: dict[str, Any]) -> None:
    live["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = 1


def by_mark(pod: observed.Pod, wanted: observed.SetView) -> bool:
    return pod.template != wanted.template


def by_image(pod: observed.Pod, wanted: observed.SetView) -> bool:
    return (pod.template, pod.engine_version) != (wanted.template, wanted.engine_version)


GUARDS: Final = (
    Guard(
        "who begins a cluster is settled once",
        instead(scene.Scene, "_bootstrapper", None),
        VOTES + "test_another_first_pool_of_managers_restarts_nobody",
    ),
    Guard(
        "more nodes need no turn",
        gone(migrations, "standing", done()),
        MIGRATIONS + "test_more_nodes_of_any_pool_come_also_while_labels_change",
        ("managers",),
    ),
    Guard(
        "one budget over all voters",
        budgets_apart,
        QUORUM + "test_voters_have_one_budget_whatever_their_pools",
    ),
    Guard(
        "one budget over a pod",
        gone(budgets, "gone", done()),
        QUORUM + "test_no_pod_has_two_budgets_for_longer_than_a_cycle",
    ),
    Guard(
        "voters are counted between two sets",
        together(gone(budgets, "_uncounted"), gone(migrations, "_voters_are_counted", True)),
        QUORUM + "test_pods_that_no_stateful_set_counts_do_not_make_room_for_others",
    ),
    Guard(
        "old histories go",
        gone(migrations, "orphaned_revisions", []),
        MIGRATIONS + "test_no_history_of_the_old_labels_stays",
    ),
    Guard(
        "hand edits are taken back",
        edits_unnoticed,
        EDITS + "test_what_is_ours_is_put_back_and_no_pod_is_touched",
        (shorter_grace,),
    ),
    Guard(
        "a pod of an edited image is outdated",
        instead(observed, "_is_stale", by_mark),
        EDITS + "test_a_pod_that_was_made_from_an_edited_image_is_replaced",
    ),
    Guard(
        "nobody is sent back to a disk it cannot read",
        instead(observed, "_is_stale", by_image),
        EDITS + "test_a_node_that_has_run_an_edited_newer_version_is_not_sent_back_to_a_disk_it_cannot_read",
    ),
    Guard(
        "what is not ours is left alone",
        gone(observing, "_is_of", True),
        NAMESAKES + "test_whoever_has_one_of_our_names_is_named_and_left_alone",
        (writes.Key("v1", "Service", "search", "logs"),),
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
        instead(applying, "_SETTLED", frozenset()),
        EDITS + "test_what_an_api_server_makes_of_claims_is_no_difference",
    ),
    Guard(
        "labels are set before anything selects by them",
        unrequired("BothLabelsAreSet"),
        RUN,
        ("0.3.1 → 0.4.0",),
    ),
    Guard(
        "old labels go before a set of new ones comes",
        unrequired("StatefulSetIsRelabelled"),
        "paths/test_every_catalog_path.py::test_a_cluster_follows_its_operator_to_the_end_of_the_road",
        (("0.3.1", "0.4.0"),),
    ),
    Guard(
        "old configuration goes when nobody reads it",
        unrequired("PoolsAreSettled", of="OldConfigurationIsGone"),
        RUN,
        ("0.1.1 → 0.2.0",),
    ),
)
