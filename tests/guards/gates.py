"""What is asked before a pod is taken away."""

from __future__ import annotations

__all__ = ["GUARDS"]

from collections.abc import Callable
from typing import Final

from guards.killers import GATES, MIGRATIONS, UPGRADES
from guards.taking_away import Guard, Patch, gone, instead
from searchkeeper.configuration import scene, upgrades
from searchkeeper.observed import Observed
from searchkeeper.upgrade import gates


def gate(name: str) -> Callable[[Patch], None]:
    """A gate that is always open."""
    plain = gates._verdict

    def verdict(each: str, objection: str | None, patience: int) -> gates.Verdict:
        return plain(each, None if each == name else objection, patience)

    return instead(gates, "_verdict", verdict)


GUARDS: Final = (
    Guard("NotPaused", gate("NotPaused"), GATES + "test_a_paused_upgrade_takes_no_pod"),
    Guard(
        "a pause comes before the first step",
        gone(upgrades, "_is_paused", False),
        UPGRADES + "test_an_upgrade_that_is_paused_from_the_start_does_not_begin",
    ),
    Guard(
        "a pause keeps templates as they are",
        gone(scene.Scene, "is_held_back", False),
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
    Guard("Healthy", gate("Healthy"), GATES + "test_a_red_cluster_loses_no_further_pod"),
    Guard("QuorumSafe", gate("QuorumSafe"), GATES + "test_with_one_voter_away_no_other_goes"),
    Guard(
        "the state of the cluster is somewhere",
        gone(gates, "_state_left_behind"),
        MIGRATIONS + "test_a_migration_does_not_restart_the_only_manager_that_would_forget_the_cluster",
    ),
    Guard("LastCopySafe", gate("LastCopySafe"), GATES + "test_the_last_copy_of_a_shard_is_not_taken_away"),
    Guard(
        "copies on pods that go are none",
        instead(Observed, "present", property(lambda seen: frozenset(pod.name for pod in seen.pods))),
        GATES + "test_a_copy_on_a_pod_that_is_on_its_way_out_is_no_copy",
    ),
    Guard("BatchSafe", gate("BatchSafe"), GATES + "test_pods_that_share_a_shard_do_not_go_together"),
    Guard(
        "a broken pod needs no gate",
        gone(gates, "is_lost_already", False),
        GATES + "test_a_broken_pod_may_always_be_replaced",
    ),
    Guard(
        "a slow pod is not a broken one",
        gone(gates, "is_lost_already", True),
        GATES + "test_a_pod_that_is_not_ready_but_serves_shards_is_not_broken",
    ),
)
