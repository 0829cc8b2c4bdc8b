"""Who goes when, and how many together."""

from __future__ import annotations

__all__ = ["GUARDS"]

from typing import Final

from guards.guard import Guard, Patch, gone, instead, together
from guards.killers import (
    BATCHES,
    FAILED_PODS_RUNS,
    ORDER,
    QUORUM,
    ROLE_REMOVAL_RUNS,
    ROLLBACK_RUNS,
    ROLLOUT,
    RUN,
    STATEFULSET_ROLLOUT,
    UPGRADE,
    UPGRADES,
)
from searchkeeper.reconcilers import context, pools
from searchkeeper.snapshot import PoolView
from searchkeeper.testing.fake_kubernetes import kubelet
from searchkeeper.upgrade import order, rollout, statefulset_rollout


def everybodys_turn(patch: Patch) -> None:
    class Anybody(str):
        __slots__ = ()

        def __eq__(self, _: object) -> bool:
            return True

        __hash__ = str.__hash__

    patch.setattr(context.ReconcileContext, "active_pool", property(lambda _: Anybody("anybody")))


def has_target(at: context.ReconcileContext, pool: PoolView) -> bool:
    """Pods are replaced by whatever their StatefulSet makes, if only the version is right."""
    return pool.stateful_set is None or pool.stateful_set.engine_version == at.target


def first_if_not_ready(patch: Patch) -> None:
    """Sort by readiness first."""
    patch.setattr(
        order, "sorted", lambda pods, **_: sorted(pods, key=lambda pod: pod.is_ready), raising=False
    )


GUARDS: Final = (
    Guard(
        "turn",
        everybodys_turn,
        "faults/test_pod_failures.py::test_evicted_pod_of_a_later_pool_keeps_its_version",
        ("logs-managers-0",),
    ),
    Guard(
        "order of pools",
        instead(context, "pools_in_order", lambda pools, *_, **__: tuple(reversed(pools))),
        RUN,
        (UPGRADE,),
    ),
    Guard(
        "the elected manager last",
        lambda patch: patch.setattr(order, "sorted", lambda found, **_: list(found), raising=False),
        ORDER + "test_elected_manager_comes_last",
    ),
    Guard(
        "the order is that of what nodes are",
        instead(order, "_runs_managers", lambda pool: pool.spec.votes),
        UPGRADES + "test_order_of_a_major_upgrade_uses_deployed_roles",
        (4,),
    ),
    Guard(
        "the elected manager last even if it is not ready",
        first_if_not_ready,
        ORDER + "test_elected_manager_comes_last_even_if_it_is_not_ready",
    ),
    Guard(
        "its pool last of its kind",
        gone(order, "_elected"),
        ORDER + "test_pool_of_the_elected_manager_comes_last_of_its_kind",
    ),
    Guard(
        "the elected manager last on the way back",
        gone(order, "is_newer", False),
        ROLLBACK_RUNS + "test_rollback_of_several_manager_pools_needs_one_election",
    ),
    Guard(
        "voters go alone",
        instead(rollout, "_replaces_one_by_one", lambda rollout, _: rollout.is_rollback),
        ROLLOUT + "test_voters_are_replaced_one_by_one",
    ),
    Guard(
        "on the way back everybody goes alone",
        instead(rollout, "_replaces_one_by_one", lambda _, pool: pool.spec.votes),
        ROLLOUT + "test_rollback_replaces_pods_one_by_one",
    ),
    Guard(
        "batches shrink after a failure",
        gone(rollout, "record_batch_failure", ()),
        FAILED_PODS_RUNS + "test_failed_batch_halves_the_next",
    ),
    Guard(
        "those of Kubernetes do too",
        gone(statefulset_rollout, "record_batch_failure", ()),
        FAILED_PODS_RUNS + "test_failed_batch_of_a_statefulset_rollout_halves_the_next",
    ),
    Guard(
        "Kubernetes waits for its turn",
        gone(pools, "partition", 0),
        UPGRADES + "test_statefulset_replaces_no_pod_before_the_gates_open",
    ),
    Guard(
        "the gates of Kubernetes",
        gone(statefulset_rollout, "first_blocking_gate"),
        UPGRADES + "test_statefulset_replaces_no_pod_before_the_gates_open",
    ),
    Guard(
        "no step towards another version",
        gone(pools, "_deploys_target", True),
        ROLLBACK_RUNS + "test_revert_at_any_moment_rolls_back_or_is_refused",
    ),
    Guard(
        "no step towards other roles",
        instead(pools, "_deploys_target", has_target),
        ROLE_REMOVAL_RUNS + "test_only_data_pool_keeps_its_role_and_its_pods",
    ),
    Guard(
        "nobody waits for an outdated pod",
        gone(rollout, "_pods_outdated_again", set()),
        ROLLBACK_RUNS + "test_failed_upgrade_rolls_back_if_the_policy_is_automatic",
        (kubelet.PodFault.NEVER_READY,),
    ),
    Guard(
        "no batch is larger than its policy allows",
        gone(rollout, "batch_limit", 99),
        UPGRADES + "test_default_batch_is_one_pod",
    ),
    Guard(
        "nor is one of Kubernetes",
        together(
            gone(statefulset_rollout, "batch_limit", 99), gone(statefulset_rollout, "doubled_batch", 99)
        ),
        UPGRADES + "test_default_statefulset_batch_is_one_pod",
    ),
    Guard(
        "of Kubernetes' pods voters go alone too",
        gone(statefulset_rollout, "_next_batch_size", 2),
        STATEFULSET_ROLLOUT + "test_voters_are_replaced_one_by_one",
    ),
    Guard(
        "who comes back is ready and has joined",
        gone(rollout, "_is_replaced", True),
        RUN,
        (UPGRADE,),
    ),
    Guard(
        "of Kubernetes' pods too",
        gone(statefulset_rollout, "_is_replaced", True),
        STATEFULSET_ROLLOUT + "test_batch_waits_until_pods_are_ready",
    ),
    Guard(
        "shards are kept where they are while a node restarts",
        gone(rollout, "_preparations_for_restart", ()),
        UPGRADES + "test_replica_allocation_is_disabled_while_a_node_restarts",
    ),
    Guard(
        "the only vote moves before its owner restarts",
        gone(rollout, "move_vote"),
        QUORUM + "test_cluster_of_two_managers_is_upgraded_and_transfers_leadership",
        ("3.4.0", "both roles"),
    ),
    Guard(
        "what came back outdated makes the next batch smaller",
        gone(rollout, "record_halved_batch", ()),
        BATCHES + "test_pod_that_is_outdated_again_halves_the_next_batch",
    ),
    Guard(
        "shards are kept for a batch as a whole",
        gone(rollout, "_preparations", iter(())),
        BATCHES + "test_pod_that_needs_preparation_does_not_join_a_batch",
    ),
    Guard(
        "what Kubernetes replaces is left to it",
        gone(rollout, "uses_statefulset_rollout", False),
        BATCHES + "test_failed_pod_of_a_statefulset_rollout_is_left_to_the_controller",
    ),
)
