"""When a cluster blocks the operator's upgrade, and when the OperatorCondition is patched."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from searchkeeper.api.codec import format_timestamp
from searchkeeper.kubernetes.operations import Delete, Key, Manifest, Patch
from searchkeeper.operator_condition import (
    OPERATOR_CONDITION,
    UPGRADE_BLOCKERS,
    upgrade_blocker,
    upgradeable_patch,
)
from searchkeeper.planner import Ledger
from searchkeeper.planner.denied_operations import denied_entry
from searchkeeper.snapshot import ClusterSnapshot
from searchkeeper.upgrade.ledger import REPLACED_PODS
from tests.support.searchkeeper.action_contexts import manifest, with_objects
from tests.support.searchkeeper.snapshots import cluster_snapshot, pool

DATA = pool("data", 2)
SNAPSHOT = cluster_snapshot(DATA)
POD = Key("v1", "Pod", "search", "data-0")
STATEFUL_SET = Key("apps/v1", "StatefulSet", "search", "logs-data")
REPLACED: Ledger = Ledger.of({REPLACED_PODS: (("data-0", "uid-data-0"),)})


def with_denial(ledger: Ledger, operation: Delete) -> Ledger:
    key, entry = denied_entry("PodsCurrent", operation, "exceeded quota")
    return ledger.with_changes({key: entry})


def test_pod_that_is_being_replaced_blocks() -> None:
    assert upgrade_blocker(SNAPSHOT, REPLACED, ()) == "data-0 is being replaced"
    assert upgrade_blocker(SNAPSHOT, Ledger(), ()) is None


def test_pod_whose_delete_is_denied_does_not_block_while_it_is_present() -> None:
    denied = with_denial(REPLACED, Delete(POD, "uid-data-0", "1"))
    assert upgrade_blocker(SNAPSHOT, denied, ()) is None
    assert upgrade_blocker(replace(SNAPSHOT, pools=()), denied, ()) == "data-0 is being replaced"
    other = with_denial(REPLACED, Delete(POD._replace(name="data-1"), "uid-data-1", "1"))
    assert upgrade_blocker(SNAPSHOT, other, ()) == "data-0 is being replaced"


def test_only_an_orphaning_delete_blocks() -> None:
    assert upgrade_blocker(SNAPSHOT, Ledger(), [Delete(STATEFUL_SET, "u", "1", orphan=True)])
    assert upgrade_blocker(SNAPSHOT, Ledger(), [Delete(STATEFUL_SET, "u", "1")]) is None


OWNED = {"ownerReferences": [{"kind": "StatefulSet", "name": "logs-data"}]}


@pytest.mark.parametrize(
    ("object_", "blocks"),
    [
        (manifest("apps/v1", "StatefulSet", "logs-data", deletionTimestamp="now"), True),
        (manifest("apps/v1", "StatefulSet", "logs-data"), False),
        (manifest("v1", "Pod", "data-0"), True),
        (manifest("v1", "Pod", "data-0", **OWNED), False),
        (manifest("v1", "Service", "logs", deletionTimestamp="now"), False),
    ],
    ids=["deleted StatefulSet", "StatefulSet", "orphaned pod", "owned pod", "deleted Service"],
)
def test_pods_between_two_stateful_sets_block(object_: Manifest, blocks: bool) -> None:
    snapshot: ClusterSnapshot = with_objects(SNAPSHOT, object_)
    assert (upgrade_blocker(snapshot, Ledger(), ()) is not None) is blocks


CLUSTER = SNAPSHOT.cluster.key
NOW = 1000


def condition(**more: Any) -> Manifest:
    """Return an OperatorCondition as OLM creates it."""
    return {**manifest(*OPERATOR_CONDITION, "searchkeeper"), **more}


def patch_of(before: Manifest, blocker: str | None, now: int = NOW) -> Patch | None:
    return upgradeable_patch(before, CLUSTER, blocker, exists=lambda _: True, now=now)


def patched_condition(before: Manifest, blocker: str | None, now: int = NOW) -> Manifest:
    """Return the OperatorCondition after the patch."""
    patch = patch_of(before, blocker, now)
    assert patch is not None
    note = patch.changes["metadata"]["annotations"]
    metadata = {**before["metadata"], "annotations": {} if note[UPGRADE_BLOCKERS] is None else note}
    return {**before, "metadata": metadata, "spec": patch.changes["spec"]}


def summary(before: Manifest) -> tuple[str, str, str]:
    [only] = before["spec"]["conditions"]
    return only["status"], only["reason"], only["lastTransitionTime"]


def test_unchanged_condition_is_not_patched() -> None:
    for blocker in ("data-0 is being replaced", None):
        assert patch_of(patched_condition(condition(), blocker), blocker, NOW + 1) is None


def test_last_transition_changes_only_with_the_status() -> None:
    blocked = patched_condition(condition(spec={}), "data-0 is being replaced")
    assert summary(blocked) == ("False", "UpgradeStepInProgress", format_timestamp(NOW))
    later = patched_condition(blocked, "data-1 is being replaced", NOW + 5)
    assert summary(later) == ("False", "UpgradeStepInProgress", format_timestamp(NOW))
    assert summary(patched_condition(later, None, NOW + 9)) == (
        "True",
        "NoUpgradeStepInProgress",
        format_timestamp(NOW + 9),
    )


def test_removed_annotation_is_restored() -> None:
    """Without it the operator would not know which other clusters block."""
    blocker = "data-0 is being replaced"
    before = patched_condition(condition(), blocker)
    bare = {**before, "metadata": {**before["metadata"], "annotations": None}}
    assert patched_condition(bare, blocker) == before
