"""Guards of the gates, which are checked before a pod is deleted."""

from __future__ import annotations

__all__ = ["GUARDS"]

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from searchkeeper.reconcilers import context, upgrade
from searchkeeper.snapshot import ClusterSnapshot
from searchkeeper.upgrade import gates, rollout
from searchkeeper.upgrade.ledger import UpgradeLedger
from tests.searchkeeper.faults.guards.guard import Guard, Patch, replace_attribute, stub
from tests.searchkeeper.faults.guards.module_paths import (
    CERTIFICATES,
    DISK_SPACE,
    GATES,
    MIGRATIONS,
    QUORUM,
    RESTARTS,
    UPGRADES,
)


def open_gate(name: str) -> Callable[[Patch], None]:
    """Keep a gate always open."""
    original = gates._result

    def result(gate: gates.Gate, blocker: Any, deadline: int) -> gates.GateResult:
        return original(gate, None if gate == name else blocker, deadline)

    return replace_attribute(gates, "_result", result)


def ignore_own_setting(patch: Patch) -> None:
    """Count the setting of the operator as a setting of a user."""
    original = gates._yellow_blocker
    patch.setattr(gates, "_yellow_blocker", lambda engine, _: original(engine, UpgradeLedger()))


def count_voters_without_the_role(patch: Patch) -> None:
    """Count every voter, also one without the role."""
    original = gates._CHECKS[gates.Gate.QUORUM_SAFE]

    def check(gate_input: Any) -> Any:
        managers = tuple(
            replace(node, roles=node.roles | {"cluster_manager"}) for node in gate_input.engine.nodes
        )
        return original(replace(gate_input, engine=replace(gate_input.engine, nodes=managers)))

    patch.setitem(gates._CHECKS, gates.Gate.QUORUM_SAFE, check)


GUARDS: Final = (
    Guard("NotPaused", open_gate("NotPaused"), GATES + "test_pause_blocks_every_pod"),
    Guard(
        "a paused upgrade does not start",
        stub(upgrade, "_is_paused", False),
        UPGRADES + "test_paused_upgrade_does_not_start",
    ),
    Guard(
        "a pause keeps templates unchanged",
        stub(context.ReconcileContext, "is_paused", False),
        UPGRADES + "test_evicted_pod_keeps_its_version_while_paused",
    ),
    Guard(
        "EngineReachable",
        open_gate("EngineReachable"),
        GATES + "test_unreachable_engine_blocks",
    ),
    Guard(
        "SecretsFound",
        open_gate("SecretsFound"),
        CERTIFICATES + "test_no_pod_is_replaced_while_a_secret_is_missing",
        ("2.19.5",),
    ),
    Guard("PodsStable", open_gate("PodsStable"), GATES + "test_pod_that_restarted_lately_blocks_other_pods"),
    Guard(
        "pods that restart come first",
        stub(rollout, "recent_restarts"),
        RESTARTS + "test_outdated_pod_that_restarts_is_replaced_first",
    ),
    Guard("PodsReady", open_gate("PodsReady"), GATES + "test_pod_that_is_not_ready_blocks_other_pods"),
    Guard(
        "NodesJoined",
        open_gate("NodesJoined"),
        GATES + "test_ready_pod_whose_node_has_not_joined_blocks_other_pods",
    ),
    Guard(
        "IndicesCompatible",
        open_gate("IndicesCompatible"),
        GATES + "test_index_that_the_new_version_cannot_open_blocks",
    ),
    Guard("EngineHealthy", open_gate("EngineHealthy"), GATES + "test_red_cluster_blocks"),
    Guard(
        "QuorumSafe", open_gate("QuorumSafe"), GATES + "test_voter_is_blocked_while_another_voter_is_missing"
    ),
    Guard(
        "the cluster state is kept",
        stub(gates, "has_other_manager", True),
        MIGRATIONS + "test_migration_keeps_the_only_manager_on_ephemeral_storage",
    ),
    Guard(
        "DiskSpaceSufficient",
        open_gate("DiskSpaceSufficient"),
        DISK_SPACE + "test_ephemeral_node_is_not_drained_while_its_shards_do_not_fit",
    ),
    Guard("LastCopySafe", open_gate("LastCopySafe"), GATES + "test_last_copy_of_a_shard_blocks"),
    Guard(
        "copies on terminating pods do not count",
        replace_attribute(
            ClusterSnapshot,
            "present",
            property(lambda snapshot: frozenset(pod.name for pod in snapshot.pods)),
        ),
        GATES + "test_copy_on_a_terminating_pod_does_not_count",
    ),
    Guard(
        "BatchSafe", open_gate("BatchSafe"), GATES + "test_pod_that_shares_a_shard_with_the_batch_is_blocked"
    ),
    Guard(
        "a failed pod passes the gates",
        stub(gates, "is_not_in_cluster", False),
        GATES + "test_failed_pod_passes_while_other_pods_are_not_ready",
    ),
    Guard(
        "a slow pod has not failed",
        stub(gates, "is_not_in_cluster", True),
        GATES + "test_pod_that_is_not_ready_but_has_joined_has_not_failed",
    ),
    Guard(
        "gates of a rollout",
        stub(rollout, "first_blocking_gate"),
        QUORUM + "test_no_pod_is_replaced_while_an_evicted_pod_is_missing",
    ),
    Guard(
        "a starting pod has not failed",
        replace_attribute(gates, "is_not_in_cluster", lambda candidate, _: not candidate.pod.is_ready),
        GATES + "test_starting_pod_is_blocked_while_the_engine_is_unreachable",
    ),
    Guard(
        "shards that move from or to the pod block",
        stub(gates, "_moving_shards_blocker"),
        GATES + "test_shards_that_move_from_or_to_the_pod_block",
    ),
    Guard(
        "yellow that may turn green blocks",
        stub(gates, "_yellow_blocker"),
        GATES + "test_yellow_cluster_that_may_turn_green_blocks",
    ),
    Guard(
        "disabled allocation does not block the rollout",
        ignore_own_setting,
        GATES + "test_allocation_that_the_operator_disabled_does_not_block",
    ),
    Guard(
        "a manager remains for the vote",
        stub(gates, "nodes_keeping_role", frozenset({"another"})),
        GATES + "test_voter_that_loses_the_role_is_blocked_if_no_node_keeps_it",
    ),
    Guard(
        "a voter without the role does not count",
        count_voters_without_the_role,
        GATES + "test_voter_that_restarted_without_the_role_does_not_count",
    ),
    Guard(
        "no shards on a node that loses the data role",
        stub(gates, "loses_role", False),
        GATES + "test_node_that_loses_the_data_role_is_blocked_while_it_holds_shards",
    ),
)
