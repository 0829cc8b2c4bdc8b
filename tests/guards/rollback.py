"""Upgrades that fail, and the way back."""

from __future__ import annotations

__all__ = ["GUARDS"]

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

from guards.guard import Guard, Patch, gone, instead, together
from guards.killers import (
    BACK,
    CLOCKS,
    EVICTED_PODS_RUNS,
    FAILED_PODS_RUNS,
    PODS,
    ROLLBACK,
    ROLLBACK_BLOCKERS,
    ROLLBACK_RUNS,
    RUN,
    VOLUMES,
)
from searchkeeper.api.reasons import Reason
from searchkeeper.opensearch.view import Color, EngineView
from searchkeeper.planner import OPERATION_DENIED
from searchkeeper.reconcilers import context, upgrade
from searchkeeper.reconcilers import rollback as rollback_action
from searchkeeper.snapshot import ClusterSnapshot, Pod
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from searchkeeper.upgrade import (
    drain,
    gates,
    order,
    rollback,
    rollout,
    volumes,
)
from searchkeeper.upgrade.ledger import UPGRADED_NODES, UpgradeLedger
from worlds import NEW


def any_colour(patch: Patch) -> None:
    plain = volumes.needs_empty_disk

    def needs(snapshot: Any, ledger: Any, pod: Any) -> bool:
        return plain(replace(snapshot, engine=replace(snapshot.engine, color=Color.GREEN)), ledger, pod)

    patch.setattr(rollout, "needs_empty_disk", needs)


def nobody_crosses_late(patch: Patch) -> None:
    plain = vars(context.ReconcileContext)["upgraded_nodes_changes"].func
    patch.setattr(
        context.ReconcileContext,
        "upgraded_nodes_changes",
        property(lambda ctx: () if ctx.ledger.rollback_to else plain(ctx)),
    )


def replicating_documents(patch: Patch) -> None:
    """No index replicates segments."""
    plain = rollback._shard_blockers

    def blockers(engine: EngineView, old: frozenset[str]) -> Iterator[str]:
        indices = tuple(replace(each, segment_replication=False) for each in engine.indices)
        return plain(replace(engine, indices=indices), old)

    patch.setattr(rollback, "_shard_blockers", blockers)


def never_paused(patch: Patch) -> None:
    """Waits count also while a person has stopped what is waited for."""
    plain = rollback.failure

    def failure(snapshot: ClusterSnapshot, its: UpgradeLedger) -> str | None:
        spec = snapshot.cluster.spec
        going_on = replace(spec, upgrade=replace(spec.upgrade, paused=False))
        return plain(replace(snapshot, cluster=replace(snapshot.cluster, spec=going_on)), its)

    patch.setattr(rollback, "failure", failure)


def taken_for(**differences: Any) -> Callable[[Patch], None]:
    """Whose disk goes is asked of a pod that differs from the one there is."""
    plain = volumes.needs_empty_disk
    return instead(
        rollout,
        "needs_empty_disk",
        lambda snapshot, its, pod: plain(snapshot, its, replace(pod, **differences)),
    )


def crossed_anyhow(patch: Patch) -> None:
    """Whatever volume it is, a newer version has written to it."""
    plain = volumes.needs_empty_disk

    def needs(snapshot: ClusterSnapshot, its: UpgradeLedger, pod: Pod) -> bool:
        claim = volumes.claim_of(snapshot, pod.name)
        written = None if claim is None else ((pod.name, claim.uid),)
        return plain(snapshot, UpgradeLedger.of(its.with_changes({UPGRADED_NODES: written})), pod)

    patch.setattr(rollout, "needs_empty_disk", needs)


GUARDS: Final = (
    Guard(
        "the target is not older than a started pod",
        gone(rollback, "_raise_target"),
        EVICTED_PODS_RUNS
        + "test_target_returns_to_the_version_that_a_pod_started_with_just_after_it_was_lowered",
    ),
    Guard(
        "the way back is open",
        together(gone(rollback, "rollback_blockers", ()), gone(rollback_action, "rollback_blockers", ())),
        ROLLBACK_RUNS + "test_past_the_point_of_no_return_nothing_goes_back",
        ("Automatic",),
    ),
    Guard(
        "the way back is still open",
        gone(rollout, "_stop_blocked_rollback"),
        ROLLBACK_RUNS + "test_no_step_back_is_taken_when_the_way_closes_meanwhile",
    ),
    Guard(
        "a way back that has closed may be left",
        gone(rollback, "_resume_upgrade"),
        ROLLBACK_RUNS + "test_where_the_way_back_has_closed_the_upgrade_goes_on_when_it_is_asked_for_again",
    ),
    Guard(
        "no step while the course changes",
        instead(context.ReconcileContext, "is_changing_direction", False),
        ROLLBACK_RUNS + "test_no_pod_goes_forward_in_the_cycle_that_turns_back",
    ),
    Guard(
        "a volume that cannot be read goes",
        gone(rollout, "delete_volume_before_pod"),
        RUN,
        (BACK,),
    ),
    Guard(
        "shards leave before the volume",
        gone(drain, "_is_drained", True),
        ROLLBACK_RUNS + "test_its_shards_live_elsewhere_before_its_volume_goes",
    ),
    Guard(
        "a volume stays where it may be all there is",
        any_colour,
        FAILED_PODS_RUNS + "test_it_keeps_its_disk_where_that_may_be_all_there_is",
    ),
    Guard(
        "whoever cannot start begins anew",
        gone(rollout, "_give_failed_pod_an_empty_volume"),
        FAILED_PODS_RUNS
        + "test_a_node_that_cannot_start_on_what_it_wrote_begins_anew_when_waiting_has_not_helped",
    ),
    Guard(
        "who crosses on the way back is noted too",
        nobody_crosses_late,
        FAILED_PODS_RUNS
        + "test_a_node_that_first_runs_the_newer_version_on_the_way_back_begins_anew_as_well",
    ),
    Guard(
        "what has failed is remembered",
        gone(upgrade, "was_abandoned", False),
        ROLLBACK_RUNS + "test_what_has_failed_does_not_begin_again_by_itself",
    ),
    Guard(
        "an order counts once",
        gone(upgrade, "requested_rollback"),
        ROLLBACK_RUNS + "test_an_order_from_earlier_days_does_not_turn_the_next_upgrade",
    ),
    Guard(
        "patience begins with whoever looks",
        gone(rollback, "_has_just_started", False),
        CLOCKS + "test_clock_skew_starts_no_rollback",
        (3600,),
    ),
    Guard(
        "a fault of ours is no version's",
        instead(rollback, "NOT_COUNTED", frozenset({OPERATION_DENIED})),
        ROLLBACK_RUNS + "test_a_fault_of_the_operator_stalls_an_upgrade_and_turns_none_back",
    ),
    Guard(
        "every shard has an older copy",
        gone(rollback, "_shard_blockers", ()),
        ROLLBACK_BLOCKERS + "test_a_shard_without_one_closes_it",
    ),
    Guard(
        "no older copy is of newer segments",
        replicating_documents,
        ROLLBACK_BLOCKERS + "test_segments_of_a_newer_primary_close_it",
    ),
    Guard(
        "no index is of the newer version",
        gone(rollback, "_index_blockers", ()),
        ROLLBACK_BLOCKERS + "test_an_index_of_the_newer_version_closes_it",
    ),
    Guard(
        "most voters are of the older version",
        gone(rollback, "_quorum_blockers", ()),
        ROLLBACK_BLOCKERS + "test_a_newer_majority_closes_it",
    ),
    Guard(
        "who does not want to go back does not",
        instead(rollback, "_rollback_cause", rollback.failure),
        ROLLBACK_RUNS + "test_where_rollback_is_off_nothing_turns_it_but_the_spec",
    ),
    Guard(
        "a paused upgrade has not failed",
        never_paused,
        ROLLBACK_RUNS + "test_a_paused_upgrade_has_not_failed",
    ),
    Guard(
        "only who has run the newer version begins anew",
        gone(drain, "is_writable_by", False),
        ROLLBACK_RUNS + "test_nor_does_one_that_is_replaced_on_the_way_back_for_another_reason",
        ("small", "data-0"),
    ),
    Guard(
        "nobody begins anew before waiting has not helped",
        gone(rollout, "failure", "at once"),
        FAILED_PODS_RUNS + "test_it_has_its_time_to_start_before_its_disk_goes",
    ),
    Guard(
        "an engine has time to begin to move shards",
        gone(drain, "waiting_without_change", (Reason.WAITING_FOR_DRAIN, 3600)),
        ROLLBACK_RUNS + "test_its_shards_live_elsewhere_before_its_volume_goes",
    ),
    Guard(
        "on the way back who is down for good is not waited for",
        gone(gates._GateInput, "ignored_pods", frozenset()),
        PODS + "test_revert_releases_the_lock_although_an_unrelated_pod_is_down",
        (PodFault.CRASH,),
    ),
    Guard(
        "on the way back newer nodes go first",
        gone(order, "_rolls_back", True),
        ROLLBACK_RUNS + "test_nor_does_one_that_is_replaced_on_the_way_back_for_another_reason",
        ("small", "data-0"),
    ),
    Guard(
        "so do pools of newer nodes",
        gone(order, "_has_newer_version", True),
        ROLLBACK_RUNS + "test_nor_does_one_that_is_replaced_on_the_way_back_for_another_reason",
        ("apart", "hot-0"),
    ),
    Guard(
        "whoever is ready keeps its disk",
        taken_for(is_ready=False),
        VOLUMES + "test_whoever_runs_or_leaves_or_never_tried_keeps_its_disk",
        ({"is_ready": True},),
    ),
    Guard(
        "whoever is of the newer version keeps it for now",
        taken_for(engine_version="2.19.4"),
        VOLUMES + "test_whoever_runs_or_leaves_or_never_tried_keeps_its_disk",
        ({"engine_version": "3.4.0"},),
    ),
    Guard(
        "whoever has never run keeps it",
        taken_for(has_started=True),
        VOLUMES + "test_whoever_runs_or_leaves_or_never_tried_keeps_its_disk",
        ({"has_started": False},),
    ),
    Guard(
        "whoever is on its way out keeps it for now",
        taken_for(is_terminating=False),
        VOLUMES + "test_whoever_runs_or_leaves_or_never_tried_keeps_its_disk",
        ({"is_terminating": True},),
    ),
    Guard(
        "a volume that no newer version has written to stays",
        crossed_anyhow,
        VOLUMES + "test_a_volume_that_no_newer_version_has_written_to_stays",
    ),
    Guard(
        "what was given up is not gone on with",
        gone(rollback, "was_abandoned", False),
        ROLLBACK + "test_otherwise_a_way_back_is_gone_to_its_end",
        (NEW, {"lines": {"given_up": (NEW, 1)}}),
    ),
)
