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
    Guard("NotPaused", gate("NotPaused"), GATES + "test_a_paused_upgrade_takes_no_pod"),
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
        GATES + "test_an_engine_that_does_not_answer_is_waited_for",
    ),
    Guard("PodsReady", gate("PodsReady"), GATES + "test_one_pod_that_is_not_ready_stops_every_other"),
    Guard(
        "NodesJoined",
        gate("NodesJoined"),
        GATES + "test_a_ready_pod_whose_node_has_not_joined_stops_every_other",
    ),
    Guard("EngineHealthy", gate("EngineHealthy"), GATES + "test_a_red_cluster_loses_no_further_pod"),
    Guard("QuorumSafe", gate("QuorumSafe"), GATES + "test_with_one_voter_away_no_other_goes"),
    Guard(
        "the state of the cluster is somewhere",
        gone(gates, "_cluster_state_blocker"),
        MIGRATIONS + "test_migration_keeps_the_only_manager_on_ephemeral_storage",
    ),
    Guard("LastCopySafe", gate("LastCopySafe"), GATES + "test_the_last_copy_of_a_shard_is_not_taken_away"),
    Guard(
        "copies on pods that go are none",
        instead(
            ClusterSnapshot,
            "present",
            property(lambda snapshot: frozenset(pod.name for pod in snapshot.pods)),
        ),
        GATES + "test_a_copy_on_a_pod_that_is_on_its_way_out_is_no_copy",
    ),
    Guard("BatchSafe", gate("BatchSafe"), GATES + "test_pods_that_share_a_shard_do_not_go_together"),
    Guard(
        "a broken pod needs no gate",
        gone(gates, "is_not_in_cluster", False),
        GATES + "test_a_broken_pod_may_always_be_replaced",
    ),
    Guard(
        "a slow pod is not a broken one",
        gone(gates, "is_not_in_cluster", True),
        GATES + "test_a_pod_that_is_not_ready_but_serves_shards_is_not_broken",
    ),
    Guard(
        "the gates of a roll",
        gone(rollout, "first_blocking_gate"),
        QUORUM + "test_no_pod_is_replaced_while_an_evicted_pod_is_missing",
    ),
    Guard(
        "a pod that only starts is not a broken one",
        instead(gates, "is_not_in_cluster", lambda candidate, _: not candidate.pod.is_ready),
        GATES + "test_where_no_node_answers_a_pod_that_only_starts_is_waited_for",
    ),
    Guard(
        "shards that move from or to a pod are waited for",
        gone(gates, "_moving_shards_blocker"),
        GATES + "test_shards_that_move_from_or_to_the_pod_are_waited_for",
    ),
    Guard(
        "yellow that may turn green is waited for",
        gone(gates, "_yellow_blocker"),
        GATES + "test_a_yellow_cluster_is_waited_for",
    ),
    Guard(
        "what is held back for a pod does not hold it up",
        never_ours,
        GATES + "test_yellow_that_is_excused_stays_so_when_we_hold_replicas_back_for_this_pod",
    ),
    Guard(
        "a vote is left to somebody",
        gone(gates, "nodes_keeping_role", frozenset({"somebody"})),
        GATES + "test_whoever_votes_does_not_come_back_without_a_vote_where_nobody_keeps_one",
    ),
    Guard(
        "a voter without the role is none to count on",
        counted_by_name,
        GATES + "test_a_voter_that_has_come_back_without_the_role_is_none_to_count_on",
    ),
    Guard(
        "no shard is left on who loses the role data",
        gone(gates, "_data_role_blocker"),
        GATES + "test_whoever_loses_the_role_data_goes_without_any_shard",
    ),
)
