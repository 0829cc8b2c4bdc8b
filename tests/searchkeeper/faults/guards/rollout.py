"""Guards of the rollout: the order of pods and the size of batches."""

from __future__ import annotations

__all__ = ["GUARDS"]

from typing import Final

from searchkeeper.reconcilers import context, pools, zones
from searchkeeper.snapshot import PoolView
from searchkeeper.testing.fake_kubernetes import kubelet
from searchkeeper.upgrade import order, rollout, statefulset_rollout
from tests.searchkeeper.faults.guards.guard import Guard, Patch, combine, replace_attribute, stub
from tests.searchkeeper.faults.guards.module_paths import (
    BATCHES,
    COMPLETE_RUN,
    FAILED_PODS_RUNS,
    ORDER,
    QUORUM,
    ROLE_REMOVAL_RUNS,
    ROLLBACK_RUNS,
    ROLLOUT,
    STATEFULSET_ROLLOUT,
    UPGRADES,
    ZONES,
)
from tests.support.searchkeeper import fault_runs as runs

# Of dedicated managers and data nodes.
ZONE_POOLS: Final = (
    {"name": "managers", "roles": ["cluster_manager"], "replicas": 3},
    {"name": "data", "roles": ["data"], "replicas": 2},
)


def let_every_pool_be_active(patch: Patch) -> None:
    class AnyPool(str):
        __slots__ = ()

        def __eq__(self, _: object) -> bool:
            return True

        __hash__ = str.__hash__

    patch.setattr(context.ReconcileContext, "active_pool", property(lambda _: AnyPool("any")))


def has_target_version(ctx: context.ReconcileContext, pool: PoolView) -> bool:
    """Compare only the version of a StatefulSet with the target, not its roles."""
    return pool.stateful_set is None or pool.stateful_set.engine_version == ctx.target


def sort_by_readiness_only(patch: Patch) -> None:
    """Sort by readiness first."""
    patch.setattr(
        order, "sorted", lambda pods, **_: sorted(pods, key=lambda pod: pod.is_ready), raising=False
    )


GUARDS: Final = (
    Guard(
        "turn of a pool",
        let_every_pool_be_active,
        "searchkeeper/faults/test_pod_failures.py::test_evicted_pod_of_a_later_pool_keeps_its_version",
        ("logs-managers-0",),
    ),
    Guard(
        "order of pools",
        replace_attribute(context, "pools_in_order", lambda pools, *_, **__: tuple(reversed(pools))),
        COMPLETE_RUN,
        (runs.UPGRADE,),
    ),
    Guard(
        "the elected manager is last",
        lambda patch: patch.setattr(order, "sorted", lambda pods, **_: list(pods), raising=False),
        ORDER + "test_elected_manager_is_last",
    ),
    Guard(
        "current roles decide the order",
        replace_attribute(order, "_runs_managers", lambda pool: pool.spec.votes),
        UPGRADES + "test_order_of_a_major_upgrade_uses_deployed_roles",
        (4,),
    ),
    Guard(
        "the elected manager is last even if it is not ready",
        sort_by_readiness_only,
        ORDER + "test_elected_manager_is_last_even_if_it_is_not_ready",
    ),
    Guard(
        "the pool of the elected manager is last of its kind",
        stub(order, "_elected"),
        ORDER + "test_pool_of_the_elected_manager_is_last_of_its_kind",
    ),
    Guard(
        "the elected manager is last in a rollback",
        stub(order, "is_newer", False),
        ROLLBACK_RUNS + "test_rollback_has_one_election_with_managers_in_several_pools",
    ),
    Guard(
        "voters are replaced one by one",
        replace_attribute(rollout, "_replaces_one_by_one", lambda rollout, _: rollout.is_rollback),
        ROLLOUT + "test_batch_of_voters_has_one_pod",
    ),
    Guard(
        "a rollback replaces pods one by one",
        replace_attribute(rollout, "_replaces_one_by_one", lambda _, pool: pool.spec.votes),
        ROLLOUT + "test_batch_has_one_pod_in_a_rollback",
    ),
    Guard(
        "batches shrink after a failure",
        stub(rollout, "record_batch_failure", ()),
        FAILED_PODS_RUNS + "test_failed_batch_halves_the_next_one",
    ),
    Guard(
        "batches of a StatefulSet shrink after a failure",
        stub(statefulset_rollout, "record_batch_failure", ()),
        FAILED_PODS_RUNS + "test_failed_batch_of_a_statefulset_rollout_halves_the_next_one",
    ),
    Guard(
        "the partition holds pods back",
        stub(pools, "partition", 0),
        UPGRADES + "test_statefulset_replaces_no_pod_before_the_gates_open",
    ),
    Guard(
        "gates of a StatefulSet rollout",
        stub(statefulset_rollout, "first_blocking_gate"),
        UPGRADES + "test_statefulset_replaces_no_pod_before_the_gates_open",
    ),
    Guard(
        "no step towards another version",
        stub(pools, "_deploys_target", True),
        ROLLBACK_RUNS + "test_older_version_at_any_time_is_rolled_back_to_or_refused",
    ),
    Guard(
        "no step towards other roles",
        replace_attribute(pools, "_deploys_target", has_target_version),
        ROLE_REMOVAL_RUNS + "test_only_data_pool_keeps_the_role_and_its_pods",
    ),
    Guard(
        "outdated pods of a batch are not waited for",
        stub(rollout, "_pods_outdated_again", set()),
        ROLLBACK_RUNS + "test_failed_upgrade_is_rolled_back_if_the_policy_is_automatic",
        (kubelet.PodFault.NEVER_READY,),
    ),
    Guard(
        "batch limit",
        stub(rollout, "batch_limit", 99),
        UPGRADES + "test_default_batch_is_one_pod",
    ),
    Guard(
        "batch limit of a StatefulSet",
        combine(stub(statefulset_rollout, "batch_limit", 99), stub(statefulset_rollout, "doubled_batch", 99)),
        UPGRADES + "test_default_statefulset_batch_is_one_pod",
    ),
    Guard(
        "voters of a StatefulSet are replaced one by one",
        stub(statefulset_rollout, "_next_batch_size", 2),
        STATEFULSET_ROLLOUT + "test_batch_with_a_voter_has_one_pod",
    ),
    Guard(
        "a replaced pod is ready and has joined",
        stub(rollout, "_is_replaced", True),
        COMPLETE_RUN,
        (runs.UPGRADE,),
    ),
    Guard(
        "a replaced pod of a StatefulSet is ready and has joined",
        stub(statefulset_rollout, "_is_replaced", True),
        STATEFULSET_ROLLOUT + "test_batch_waits_until_its_pods_are_ready",
    ),
    Guard(
        "replica allocation is disabled while a node restarts",
        stub(rollout, "_preparations_for_restart", ()),
        UPGRADES + "test_replica_allocation_is_disabled_while_a_node_restarts",
    ),
    Guard(
        "the only vote moves before its node restarts",
        stub(rollout, "move_vote"),
        QUORUM + "test_cluster_of_two_managers_is_upgraded_and_transfers_leadership",
        ("3.4.0", "both roles"),
    ),
    Guard(
        "outdated pods of a batch shrink the next one",
        stub(rollout, "record_halved_batch", ()),
        BATCHES + "test_outdated_pod_of_the_batch_is_not_waited_for_and_halves_the_next_batch",
    ),
    Guard(
        "a batch is prepared once",
        stub(rollout, "_preparations", iter(())),
        BATCHES + "test_batch_is_not_extended_with_a_pod_that_needs_preparation",
    ),
    Guard(
        "pods of a StatefulSet rollout are left to it",
        stub(rollout, "uses_statefulset_rollout", False),
        BATCHES + "test_failed_pod_of_a_statefulset_rollout_is_left_to_the_statefulset",
    ),
    Guard(
        "zones before awareness",
        replace_attribute(
            zones.Zones,
            "is_aware",
            property(lambda each: bool(each.snapshot.cluster.spec.topology_key)),
        ),
        ZONES + "test_managers_with_data_become_aware_after_all_have_a_zone",
    ),
    Guard(
        "zones until no manager is aware",
        replace_attribute(
            zones.Zones, "topology_key", property(lambda each: each.snapshot.cluster.spec.topology_key)
        ),
        ZONES + "test_data_nodes_lose_the_zone_after_no_manager_is_aware",
        (ZONE_POOLS,),
    ),
)
