"""Single decisions about a cluster that is being deleted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from searchkeeper.api.reasons import Reason
from searchkeeper.desired import names
from searchkeeper.kubernetes.operations import Delete, EmitEvent, Key, Patch
from searchkeeper.opensearch.calls import Exclude
from searchkeeper.opensearch.view import Unreachable
from searchkeeper.planner import Result
from searchkeeper.planner.ledger import Entry
from searchkeeper.reconcilers.deletion import engine_settings_restored, finalizer_removed, orphans_deleted
from searchkeeper.snapshot import ClusterSnapshot
from searchkeeper.upgrade.ledger import DELETING, EXCLUDED
from tests.support.searchkeeper.action_contexts import context, manifest, with_objects
from tests.support.searchkeeper.rollouts import engine_calls, ledger_changes
from tests.support.searchkeeper.snapshots import cluster_snapshot, engine, pod, pool

DATA = pool("data", 2)
SET: dict[str, Entry] = {"engine__excluded": ("data-0",)}


def snapshot_with(
    *, is_unreachable: bool = False, observing_since: int = 0, **differences: Any
) -> ClusterSnapshot:
    view = Unreachable("timed out") if is_unreachable else engine([DATA], excluded=frozenset({"data-0"}))
    return replace(cluster_snapshot(DATA, view=view), observing_since=observing_since, **differences)


def restore_settings(snapshot: ClusterSnapshot, **lines: Any) -> Result:
    return engine_settings_restored.run(context(snapshot, **lines))


def test_no_recorded_setting_needs_no_restore() -> None:
    assert restore_settings(snapshot_with()).is_true


def test_start_of_the_restore_is_recorded_first() -> None:
    """A time in the future was recorded by another clock."""
    assert ledger_changes(restore_settings(snapshot_with(), **SET)) == {DELETING: 1000}
    assert ledger_changes(restore_settings(snapshot_with(), **SET, deleting=1001)) == {DELETING: 1000}
    assert engine_calls(restore_settings(snapshot_with(), **SET, deleting=1000)) == [Exclude(frozenset())]


def test_unreachable_engine_delays_deletion_only_until_the_deadline() -> None:
    found = restore_settings(snapshot_with(is_unreachable=True), **SET, deleting=100)
    [event] = found.operations
    assert isinstance(event, EmitEvent)
    assert ledger_changes(found) == {EXCLUDED: None}
    assert (
        restore_settings(snapshot_with(is_unreachable=True), **SET, deleting=101).reason
        == "EngineUnreachable"
    )


def test_new_operator_waits_the_whole_deadline_itself() -> None:
    assert (
        restore_settings(snapshot_with(is_unreachable=True, observing_since=101), **SET, deleting=0).reason
        == "EngineUnreachable"
    )


def with_pods(*owned: str) -> ClusterSnapshot:
    """Both pods, of which these have a StatefulSet as owner."""
    owner = [{"kind": "StatefulSet", "name": "logs-data"}]
    made = [
        manifest("v1", "Pod", each.name, **({"ownerReferences": owner} if each.name in owned else {}))
        for each in DATA.pods
    ]
    return with_objects(snapshot_with(), *made)


def test_only_orphaned_pods_are_deleted() -> None:
    """I8."""
    [write] = orphans_deleted.run(context(with_pods("data-0"))).operations
    assert write == Delete(Key("v1", "Pod", "search", "data-1"), "uid-data-1", "1")
    assert orphans_deleted.run(context(with_pods("data-0", "data-1"))).is_true


def test_terminating_pod_is_not_deleted_again() -> None:
    terminating = replace(DATA, pods=(DATA.pods[0], pod("data-1", is_terminating=True)))
    assert orphans_deleted.run(context(replace(with_pods("data-0"), pools=(terminating,)))).is_true


@pytest.mark.parametrize(("metadata", "waits"), [({"deletionTimestamp": "now"}, True), ({}, False)], ids=str)
def test_deletion_waits_for_a_stateful_set_that_orphans_its_pods(
    metadata: dict[str, str], waits: bool
) -> None:
    """Its pods have no owner after that."""
    stateful_set = manifest("apps/v1", "StatefulSet", "logs-data", **metadata)
    found = orphans_deleted.run(context(with_objects(with_pods("data-0", "data-1"), stateful_set)))
    assert (found.reason == Reason.ORPHANING_PODS) is waits
    another = manifest("v1", "Service", "logs", **metadata)
    assert orphans_deleted.run(context(with_objects(with_pods("data-0", "data-1"), another))).is_true


def test_finalizers_of_other_controllers_stay() -> None:
    snapshot = snapshot_with()
    cluster = replace(snapshot, cluster=replace(snapshot.cluster, finalizers=("others", names.FINALIZER)))
    [patch] = finalizer_removed.run(context(cluster)).operations
    assert isinstance(patch, Patch)
    assert patch.changes == {"metadata": {"finalizers": ["others"]}}
    assert finalizer_removed.run(context(snapshot)).is_true
