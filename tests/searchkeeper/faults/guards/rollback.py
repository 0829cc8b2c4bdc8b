"""Guards of the rollback."""

from __future__ import annotations

__all__ = ["GUARDS"]

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

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
from tests.searchkeeper.faults.guards.guard import Guard, Patch, combine, replace_attribute, stub
from tests.searchkeeper.faults.guards.module_paths import (
    CERTIFICATES,
    CLOCK_SKEW,
    COMPLETE_RUN,
    EVICTED_PODS_RUNS,
    FAILED_PODS_RUNS,
    PODS_AND_IMAGES,
    ROLLBACK,
    ROLLBACK_BLOCKERS,
    ROLLBACK_RUNS,
    VOLUMES,
)
from tests.support.searchkeeper import fault_runs as runs
from tests.support.searchkeeper.snapshots import NEW


def ignore_color(patch: Patch) -> None:
    """Delete volumes whatever the color of the engine."""
    original = volumes.needs_empty_disk

    def needs_empty_disk(snapshot: Any, ledger: Any, pod: Any) -> bool:
        return original(replace(snapshot, engine=replace(snapshot.engine, color=Color.GREEN)), ledger, pod)

    patch.setattr(rollout, "needs_empty_disk", needs_empty_disk)


def record_no_upgraded_nodes_in_rollback(patch: Patch) -> None:
    """Record no nodes that start the newer version during a rollback."""
    original = vars(context.ReconcileContext)["upgraded_nodes_changes"].func
    patch.setattr(
        context.ReconcileContext,
        "upgraded_nodes_changes",
        property(lambda ctx: () if ctx.ledger.rollback_to else original(ctx)),
    )


def ignore_segment_replication(patch: Patch) -> None:
    """Treat every index as one that replicates documents."""
    original = rollback._shard_blockers

    def blockers(engine: EngineView, older: frozenset[str]) -> Iterator[str]:
        indices = tuple(replace(index, segment_replication=False) for index in engine.indices)
        return original(replace(engine, indices=indices), older)

    patch.setattr(rollback, "_shard_blockers", blockers)


def ignore_pause(patch: Patch) -> None:
    """Count waits also during a pause."""
    original = rollback.failure

    def failure(snapshot: ClusterSnapshot, ledger: UpgradeLedger) -> str | None:
        spec = snapshot.cluster.spec
        unpaused = replace(spec, upgrade=replace(spec.upgrade, paused=False))
        return original(replace(snapshot, cluster=replace(snapshot.cluster, spec=unpaused)), ledger)

    patch.setattr(rollback, "failure", failure)


def with_pod(**changes: Any) -> Callable[[Patch], None]:
    """Decide about the volume as if the pod had these values."""
    original = volumes.needs_empty_disk
    return replace_attribute(
        rollout,
        "needs_empty_disk",
        lambda snapshot, ledger, pod: original(snapshot, ledger, replace(pod, **changes)),
    )


def treat_all_volumes_as_upgraded(patch: Patch) -> None:
    """Treat every volume as one that a newer version wrote."""
    original = volumes.needs_empty_disk

    def needs_empty_disk(snapshot: ClusterSnapshot, ledger: UpgradeLedger, pod: Pod) -> bool:
        claim = volumes.claim_of(snapshot, pod.name)
        upgraded = None if claim is None else ((pod.name, claim.uid),)
        return original(snapshot, UpgradeLedger.of(ledger.with_changes({UPGRADED_NODES: upgraded})), pod)

    patch.setattr(rollout, "needs_empty_disk", needs_empty_disk)


GUARDS: Final = (
    Guard(
        "the target is not older than a started pod",
        stub(rollback, "_raise_target"),
        EVICTED_PODS_RUNS
        + "test_target_returns_to_the_version_that_a_pod_started_with_just_after_it_was_lowered",
    ),
    Guard(
        "rollback blockers are checked before the start",
        combine(stub(rollback, "rollback_blockers", ()), stub(rollback_action, "rollback_blockers", ())),
        ROLLBACK_RUNS + "test_no_rollback_starts_past_the_point_of_no_return",
        ("Automatic",),
    ),
    Guard(
        "rollback blockers are checked before each step",
        stub(rollout, "_stop_blocked_rollback"),
        ROLLBACK_RUNS + "test_rollback_stops_when_it_becomes_blocked",
    ),
    Guard(
        "a blocked rollback can be left",
        stub(rollback, "_resume_upgrade"),
        ROLLBACK_RUNS + "test_upgrade_resumes_from_a_blocked_rollback_when_the_spec_wants_it",
    ),
    Guard(
        "no step while the direction changes",
        replace_attribute(context.ReconcileContext, "is_changing_direction", False),
        ROLLBACK_RUNS + "test_no_pod_is_upgraded_in_the_reconcile_that_starts_a_rollback",
    ),
    Guard(
        "unreadable volumes are deleted",
        stub(rollout, "delete_volume_before_pod"),
        COMPLETE_RUN,
        (runs.ROLLBACK,),
    ),
    Guard(
        "shards move before their volume is deleted",
        stub(drain, "_is_drained", True),
        ROLLBACK_RUNS + "test_shards_are_moved_before_the_volume_is_deleted",
    ),
    Guard(
        "volumes stay while the engine is red",
        ignore_color,
        FAILED_PODS_RUNS + "test_volume_is_not_deleted_while_the_engine_is_red",
    ),
    Guard(
        "a pod that cannot start gets an empty volume",
        stub(rollout, "_recreate_with_empty_volume"),
        FAILED_PODS_RUNS + "test_node_that_cannot_start_on_its_disk_gets_an_empty_volume_after_the_deadline",
    ),
    Guard(
        "nodes that are upgraded during a rollback are recorded",
        record_no_upgraded_nodes_in_rollback,
        FAILED_PODS_RUNS
        + "test_node_that_first_runs_the_newer_version_during_a_rollback_gets_an_empty_volume",
    ),
    Guard(
        "abandoned versions are recorded",
        stub(upgrade, "was_abandoned", False),
        ROLLBACK_RUNS + "test_abandoned_version_is_not_tried_again",
    ),
    Guard(
        "a rollback request counts once",
        stub(upgrade, "requested_rollback"),
        ROLLBACK_RUNS + "test_old_rollback_request_does_not_roll_back_the_next_upgrade",
    ),
    Guard(
        "waits count from the start of the operator",
        stub(rollback, "_has_just_started", False),
        CLOCK_SKEW + "test_clock_skew_starts_no_rollback",
        (3600,),
    ),
    Guard(
        "errors of the operator start no rollback",
        replace_attribute(rollback, "NOT_COUNTED", frozenset({OPERATION_DENIED})),
        ROLLBACK_RUNS + "test_error_of_the_operator_stalls_an_upgrade_and_starts_no_rollback",
    ),
    Guard(
        "what only a user can fix starts no rollback",
        replace_attribute(rollback, "_USER_REASONS", frozenset()),
        CERTIFICATES + "test_missing_secret_starts_no_rollback",
    ),
    Guard(
        "every shard has an older copy",
        stub(rollback, "_shard_blockers", ()),
        ROLLBACK_BLOCKERS + "test_shard_without_a_copy_on_an_older_node_blocks",
    ),
    Guard(
        "no older copy has newer segments",
        ignore_segment_replication,
        ROLLBACK_BLOCKERS + "test_segment_replication_from_a_newer_primary_blocks",
    ),
    Guard(
        "no index has the newer version",
        stub(rollback, "_index_blockers", ()),
        ROLLBACK_BLOCKERS + "test_index_of_the_newer_version_blocks",
    ),
    Guard(
        "most voters have the older version",
        stub(rollback, "_quorum_blockers", ()),
        ROLLBACK_BLOCKERS + "test_majority_of_newer_voters_blocks",
    ),
    Guard(
        "rollback policy",
        replace_attribute(rollback, "_rollback_cause", rollback.failure),
        ROLLBACK_RUNS + "test_only_the_spec_starts_a_rollback_if_the_policy_is_off",
    ),
    Guard(
        "a paused upgrade has not failed",
        ignore_pause,
        ROLLBACK_RUNS + "test_paused_upgrade_does_not_fail",
    ),
    Guard(
        "only volumes of the newer version are deleted",
        stub(volumes, "is_writable_by", False),
        ROLLBACK_RUNS + "test_node_that_is_replaced_for_another_reason_during_a_rollback_keeps_its_volume",
        ("small", "data-0"),
    ),
    Guard(
        "volumes stay until the health deadline",
        stub(rollout, "failure", "at once"),
        FAILED_PODS_RUNS + "test_volume_is_not_deleted_before_the_deadline",
    ),
    Guard(
        "a drain has time to start",
        stub(drain, "waiting_without_change", (Reason.WAITING_FOR_DRAIN, 3600)),
        ROLLBACK_RUNS + "test_shards_are_moved_before_the_volume_is_deleted",
    ),
    Guard(
        "a rollback does not wait for failed pods",
        stub(gates._GateInput, "ignored_pods", frozenset()),
        PODS_AND_IMAGES + "test_revert_releases_the_lock_although_an_unrelated_pod_is_down",
        (PodFault.CRASH,),
    ),
    Guard(
        "newer nodes are first in a rollback",
        stub(order, "_rolls_back", True),
        ROLLBACK_RUNS + "test_node_that_is_replaced_for_another_reason_during_a_rollback_keeps_its_volume",
        ("small", "data-0"),
    ),
    Guard(
        "pools with newer nodes are first in a rollback",
        stub(order, "_has_newer_version", True),
        ROLLBACK_RUNS + "test_node_that_is_replaced_for_another_reason_during_a_rollback_keeps_its_volume",
        ("apart", "hot-0"),
    ),
    Guard(
        "ready pods keep their volume",
        with_pod(is_ready=False),
        VOLUMES + "test_volume_of_a_ready_terminating_newer_or_never_started_pod_stays",
        ({"is_ready": True},),
    ),
    Guard(
        "pods of the newer version keep their volume",
        with_pod(engine_version="2.19.4"),
        VOLUMES + "test_volume_of_a_ready_terminating_newer_or_never_started_pod_stays",
        ({"engine_version": "3.4.0"},),
    ),
    Guard(
        "pods that never started keep their volume",
        with_pod(has_started=True),
        VOLUMES + "test_volume_of_a_ready_terminating_newer_or_never_started_pod_stays",
        ({"has_started": False},),
    ),
    Guard(
        "terminating pods keep their volume",
        with_pod(is_terminating=False),
        VOLUMES + "test_volume_of_a_ready_terminating_newer_or_never_started_pod_stays",
        ({"is_terminating": True},),
    ),
    Guard(
        "volumes that no newer version wrote stay",
        treat_all_volumes_as_upgraded,
        VOLUMES + "test_volume_that_no_newer_version_wrote_stays",
    ),
    Guard(
        "abandoned versions are not resumed",
        stub(rollback, "was_abandoned", False),
        ROLLBACK + "test_rollback_continues_otherwise",
        (NEW, {"entries": {"given_up": (NEW, 1)}}),
    ),
)
