"""What is asked before a pod is taken away."""

from __future__ import annotations

__all__ = ["GUARDS"]

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from guards.guard import Guard, Patch, gone, instead
from guards.killers import GATES, MIGRATIONS, QUORUM, UPGRADES
from searchkeeper.reconcilers import context, upgrade
from searchkeeper.snapshot import ClusterSnapshot
from searchkeeper.upgrade import gates, rollout
from searchkeeper.upgrade.ledger import UpgradeLedger


def gate(name: str) -> Callable[[Patch], None]:
    """A gate that is always open."""
    plain = gates._result

    def result(gate: gates.Gate, blocker: Any, deadline: int) -> gates.GateResult:
        return plain(gate, None if gate == name else blocker, deadline)

    return instead(gates, "_result", result)


def never_ours(patch: Patch) -> None:
    """The setting of the operator counts as a setting of a user."""
    plain = gates._yellow_blocker
    patch.setattr(gates, "_yellow_blocker", lambda engine, _: plain(engine, UpgradeLedger()))


def counted_by_name(patch: Patch) -> None:
    """Whoever has a vote could cast it."""
    plain = gates._CHECKS[gates.Gate.QUORUM_SAFE]

    def check(given: Any) -> Any:
        managers = tuple(replace(node, roles=node.roles | {"cluster_manager"}) for node in given.engine.nodes)
        return plain(replace(given, engine=replace(given.engine, nodes=managers)))

    patch.setitem(gates._CHECKS, gates.Gate.QUORUM_SAFE, check)


GUARDS: Final = (
    Guard("NotPaused", gate("NotPaused"), GATES + "test_pause_blocks_every_pod"),
    Guard(
        "a pause comes before the first step",
        gone(upgrade, "_is_paused", False),
        UPGRADES + "test_an_upgrade_that_is_paused_from_the_start_does_not_begin",
    ),
    Guard(
        "a pause keeps templates as they are",
        gone(context.ReconcileContext, "is_paused", False),
        UPGRADES + "test_whoever_is_evicted_while_an_upgrade_is_paused_comes_back_as_it_was",
    ),
    Guard(
        "EngineReachable",
        gate("EngineReachable"),
        GATES + "test_unreachable_engine_blocks",
    ),
    Guard("PodsReady", gate("PodsReady"), GATES + "test_pod_that_is_not_ready_blocks_other_pods"),
    Guard(
        "NodesJoined",
        gate("NodesJoined"),
        GATES + "test_ready_pod_whose_node_has_not_joined_blocks_other_pods",
    ),
    Guard("EngineHealthy", gate("EngineHealthy"), GATES + "test_red_cluster_blocks"),
    Guard("QuorumSafe", gate("QuorumSafe"), GATES + "test_voter_is_blocked_while_another_voter_is_missing"),
    Guard(
        "the state of the cluster is somewhere",
        gone(gates, "_cluster_state_blocker"),
        MIGRATIONS + "test_migration_keeps_the_only_manager_on_ephemeral_storage",
    ),
    Guard("LastCopySafe", gate("LastCopySafe"), GATES + "test_last_copy_of_a_shard_blocks"),
    Guard(
        "copies on pods that go are none",
        instead(
            ClusterSnapshot,
            "present",
            property(lambda snapshot: frozenset(pod.name for pod in snapshot.pods)),
        ),
        GATES + "test_copy_on_a_terminating_pod_does_not_count",
    ),
    Guard("BatchSafe", gate("BatchSafe"), GATES + "test_pod_that_shares_a_shard_with_the_batch_is_blocked"),
    Guard(
        "a broken pod needs no gate",
        gone(gates, "is_not_in_cluster", False),
        GATES + "test_failed_pod_passes_while_other_pods_are_not_ready",
    ),
    Guard(
        "a slow pod is not a broken one",
        gone(gates, "is_not_in_cluster", True),
        GATES + "test_pod_that_is_not_ready_but_has_joined_has_not_failed",
    ),
    Guard(
        "the gates of a roll",
        gone(rollout, "first_blocking_gate"),
        QUORUM + "test_no_pod_is_replaced_beside_one_that_was_evicted",
    ),
    Guard(
        "a pod that only starts is not a broken one",
        instead(gates, "is_not_in_cluster", lambda candidate, _: not candidate.pod.is_ready),
        GATES + "test_starting_pod_is_blocked_while_the_engine_is_unreachable",
    ),
    Guard(
        "shards that move from or to a pod are waited for",
        gone(gates, "_moving_shards_blocker"),
        GATES + "test_shards_that_move_from_or_to_the_pod_block",
    ),
    Guard(
        "yellow that may turn green is waited for",
        gone(gates, "_yellow_blocker"),
        GATES + "test_yellow_cluster_that_may_turn_green_blocks",
    ),
    Guard(
        "what is held back for a pod does not hold it up",
        never_ours,
        GATES + "test_allocation_that_the_operator_disabled_does_not_block",
    ),
    Guard(
        "a vote is left to somebody",
        gone(gates, "nodes_keeping_role", frozenset({"somebody"})),
        GATES + "test_voter_that_loses_the_role_is_blocked_if_no_node_keeps_it",
    ),
    Guard(
        "a voter without the role is none to count on",
        counted_by_name,
        GATES + "test_voter_that_restarted_without_the_role_does_not_count",
    ),
    Guard(
        "no shard is left on who loses the role data",
        gone(gates, "_data_role_blocker"),
        GATES + "test_node_that_loses_the_data_role_is_blocked_while_it_holds_shards",
    ),
)
