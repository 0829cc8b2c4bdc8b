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
from snapshots import NEW


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
        ROLLBACK_RUNS + "test_no_rollback_starts_past_the_point_of_no_return",
        ("Automatic",),
    ),
    Guard(
        "the way back is still open",
        gone(rollout, "_stop_blocked_rollback"),
        ROLLBACK_RUNS + "test_rollback_stops_when_it_becomes_blocked",
    ),
    Guard(
        "a way back that has closed may be left",
        gone(rollback, "_resume_upgrade"),
        ROLLBACK_RUNS + "test_upgrade_resumes_from_a_blocked_rollback_when_the_spec_wants_it",
    ),
    Guard(
        "no step while the course changes",
        instead(context.ReconcileContext, "is_changing_direction", False),
        ROLLBACK_RUNS + "test_no_pod_is_upgraded_in_the_reconcile_that_starts_a_rollback",
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
        ROLLBACK_RUNS + "test_shards_are_moved_before_the_volume_is_deleted",
    ),
    Guard(
        "a volume stays where it may be all there is",
        any_colour,
        FAILED_PODS_RUNS + "test_volume_is_not_deleted_while_the_engine_is_red",
    ),
    Guard(
        "whoever cannot start begins anew",
        gone(rollout, "_give_failed_pod_an_empty_volume"),
        FAILED_PODS_RUNS + "test_node_that_cannot_start_on_its_disk_gets_an_empty_volume_after_the_deadline",
    ),
    Guard(
        "who crosses on the way back is noted too",
        nobody_crosses_late,
        FAILED_PODS_RUNS
        + "test_node_that_first_runs_the_newer_version_during_a_rollback_gets_an_empty_volume",
    ),
    Guard(
        "what has failed is remembered",
        gone(upgrade, "was_abandoned", False),
        ROLLBACK_RUNS + "test_abandoned_version_is_not_tried_again",
    ),
    Guard(
        "an order counts once",
        gone(upgrade, "requested_rollback"),
        ROLLBACK_RUNS + "test_old_rollback_request_does_not_roll_back_the_next_upgrade",
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
        ROLLBACK_RUNS + "test_error_of_the_operator_stalls_an_upgrade_and_starts_no_rollback",
    ),
    Guard(
        "every shard has an older copy",
        gone(rollback, "_shard_blockers", ()),
        ROLLBACK_BLOCKERS + "test_shard_without_a_copy_on_an_older_node_blocks",
    ),
    Guard(
        "no older copy is of newer segments",
        replicating_documents,
        ROLLBACK_BLOCKERS + "test_segment_replication_from_a_newer_primary_blocks",
    ),
    Guard(
        "no index is of the newer version",
        gone(rollback, "_index_blockers", ()),
        ROLLBACK_BLOCKERS + "test_index_of_the_newer_version_blocks",
    ),
    Guard(
        "most voters are of the older version",
        gone(rollback, "_quorum_blockers", ()),
        ROLLBACK_BLOCKERS + "test_majority_of_newer_voters_blocks",
    ),
    Guard(
        "who does not want to go back does not",
        instead(rollback, "_rollback_cause", rollback.failure),
        ROLLBACK_RUNS + "test_only_the_spec_starts_a_rollback_if_the_policy_is_off",
    ),
    Guard(
        "a paused upgrade has not failed",
        never_paused,
        ROLLBACK_RUNS + "test_paused_upgrade_does_not_fail",
    ),
    Guard(
        "only who has run the newer version begins anew",
        gone(drain, "is_writable_by", False),
        ROLLBACK_RUNS + "test_node_that_is_replaced_for_another_reason_during_a_rollback_keeps_its_volume",
        ("small", "data-0"),
    ),
    Guard(
        "nobody begins anew before waiting has not helped",
        gone(rollout, "failure", "at once"),
        FAILED_PODS_RUNS + "test_volume_is_not_deleted_before_the_deadline",
    ),
    Guard(
        "an engine has time to begin to move shards",
        gone(drain, "waiting_without_change", (Reason.WAITING_FOR_DRAIN, 3600)),
        ROLLBACK_RUNS + "test_shards_are_moved_before_the_volume_is_deleted",
    ),
    Guard(
        "on the way back who is down for good is not waited for",
        gone(gates._GateInput, "ignored_pods", frozenset()),
        PODS + "test_whoever_reverts_gets_the_lock_back_although_a_pod_is_down",
        (PodFault.CRASH,),
    ),
    Guard(
        "on the way back newer nodes go first",
        gone(order, "_rolls_back", True),
        ROLLBACK_RUNS + "test_node_that_is_replaced_for_another_reason_during_a_rollback_keeps_its_volume",
        ("small", "data-0"),
    ),
    Guard(
        "so do pools of newer nodes",
        gone(order, "_has_newer_version", True),
        ROLLBACK_RUNS + "test_node_that_is_replaced_for_another_reason_during_a_rollback_keeps_its_volume",
        ("apart", "hot-0"),
    ),
    Guard(
        "whoever is ready keeps its disk",
        taken_for(is_ready=False),
        VOLUMES + "test_volume_of_a_ready_terminating_newer_or_never_started_pod_stays",
        ({"is_ready": True},),
    ),
    Guard(
        "whoever is of the newer version keeps it for now",
        taken_for(engine_version="2.19.4"),
        VOLUMES + "test_volume_of_a_ready_terminating_newer_or_never_started_pod_stays",
        ({"engine_version": "3.4.0"},),
    ),
    Guard(
        "whoever has never run keeps it",
        taken_for(has_started=True),
        VOLUMES + "test_volume_of_a_ready_terminating_newer_or_never_started_pod_stays",
        ({"has_started": False},),
    ),
    Guard(
        "whoever is on its way out keeps it for now",
        taken_for(is_terminating=False),
        VOLUMES + "test_volume_of_a_ready_terminating_newer_or_never_started_pod_stays",
        ({"is_terminating": True},),
    ),
    Guard(
        "a volume that no newer version has written to stays",
        crossed_anyhow,
        VOLUMES + "test_volume_that_no_newer_version_wrote_stays",
    ),
    Guard(
        "what was given up is not gone on with",
        gone(rollback, "was_abandoned", False),
        ROLLBACK + "test_rollback_continues_otherwise",
        (NEW, {"entries": {"given_up": (NEW, 1)}}),
    ),
)
