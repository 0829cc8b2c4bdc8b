"""OperatorCondition: OLM does not replace the operator in the middle of a step."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from operator_runs import (
    CLUSTER,
    CountingPorts,
    edit_spec,
    pool,
    reconcile_once,
    reconcile_steps,
    reconcile_until_converged,
    status,
    try_reconcile,
)
from operator_scenarios import RecordingPorts, delete_cluster, running_cluster, unavailable_pods
from searchkeeper.kubernetes.api import ApiError, Conflict, Rejected, Unavailable
from searchkeeper.kubernetes.operations import Delete, Key, Manifest, Patch
from searchkeeper.operator_condition import OPERATOR_CONDITION, UPGRADE_BLOCKERS
from searchkeeper.reconcile import reconcile
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes.manifests import annotation
from searchkeeper.testing.fake_kubernetes.object_store import ObjectStore
from searchkeeper.testing.invariants.recorder import InvariantRecorder

CONDITION = Key(*OPERATOR_CONDITION, "operators", "searchkeeper.v0.5.0")
PODS = {"data-0", "data-1", "managers-0", "managers-1", "managers-2"}


def with_operator_condition(world: FakeCluster) -> FakeCluster:
    """Add the OperatorCondition that OLM creates for the operator."""
    metadata = {"name": CONDITION.name, "namespace": CONDITION.namespace}
    world.create({"apiVersion": CONDITION.api, "kind": CONDITION.kind, "metadata": metadata, "spec": {}})
    return world


def operator_condition(world: FakeCluster) -> Manifest:
    manifest = world.get(CONDITION)
    assert manifest is not None
    return manifest


def upgradeable(world: FakeCluster) -> str | None:
    conditions = operator_condition(world)["spec"].get("conditions", ())
    return next((each["status"] for each in conditions if each["type"] == "Upgradeable"), None)


def reconciles(world: FakeCluster, version: str = "0.5.0") -> Iterator[FakeCluster]:
    return reconcile_steps(world, version, operator_condition=CONDITION)


def test_converged_cluster_does_not_block_olm() -> None:
    world = with_operator_condition(running_cluster())
    assert [upgradeable(each) for each in reconciles(world)][-1] == "True"


def test_pod_replacement_blocks_olm() -> None:
    world = edit_spec(with_operator_condition(running_cluster()), version="3.4.0")
    statuses = set()
    for current in reconciles(world):
        statuses.add(upgradeable(current))
        if unavailable_pods(current, PODS):
            assert upgradeable(current) == "False"
    assert statuses == {"True", "False"}
    assert upgradeable(world) == "True"


def orphans(cluster: ObjectStore) -> list[str]:
    return [
        key.name
        for key, each in cluster.objects.items()
        if key.kind == "Pod" and not each["metadata"].get("ownerReferences")
    ]


def test_orphaned_pods_block_olm() -> None:
    world = with_operator_condition(running_cluster(version="0.3.1"))
    times = 0
    for current in reconciles(world):
        if orphans(current.state.cluster):
            times += 1
            assert upgradeable(current) == "False"
    assert times
    assert upgradeable(world) == "True"


def test_olm_is_blocked_before_a_pod_is_deleted() -> None:
    """Otherwise OLM could replace the operator in between."""
    world = edit_spec(with_operator_condition(running_cluster()), version="3.4.0")

    class CheckingPorts(RecordingPorts):
        def delete(self, delete: object) -> None:
            assert upgradeable(world) == "False"
            super().delete(delete)  # type: ignore[arg-type]

    ports = CheckingPorts(world)
    for _ in reconcile_steps(world, ports=ports, operator_condition=CONDITION):
        pass
    assert len(ports.deleted) == 5


def test_olm_is_blocked_before_pods_are_orphaned() -> None:
    world = with_operator_condition(running_cluster(version="0.3.1"))
    statuses = []

    class CheckingPorts(RecordingPorts):
        def delete(self, delete: Delete) -> None:
            statuses.extend([upgradeable(world)] if delete.orphan else [])
            super().delete(delete)

    for _ in reconcile_steps(world, ports=CheckingPorts(world), operator_condition=CONDITION):
        pass
    assert statuses == ["False", "False"]


def test_transition_time_changes_only_with_the_status() -> None:
    world = edit_spec(with_operator_condition(running_cluster()), version="3.4.0")
    last = None
    for current in reconciles(world):
        for each in operator_condition(current)["spec"].get("conditions", ()):
            if last is not None and last["status"] == each["status"]:
                assert last["lastTransitionTime"] == each["lastTransitionTime"]
            last = each


def test_nothing_is_written_without_an_operator_condition() -> None:
    world = running_cluster()
    ports = CountingPorts(world)
    reconcile(ports, ports, CLUSTER, release("0.5.0"), world.state.now, operator_condition=CONDITION)
    assert ports.writes == 0


def test_converged_cluster_does_not_write_the_operator_condition() -> None:
    world = with_operator_condition(running_cluster())
    for _ in reconciles(world):
        pass
    ports = CountingPorts(world)
    reconcile(ports, ports, CLUSTER, release("0.5.0"), world.state.now, operator_condition=CONDITION)
    assert ports.writes == 0


def with_blockers(world: FakeCluster, text: str) -> FakeCluster:
    conditions = [
        {"type": "Upgradeable", "status": "False", "reason": "x", "message": "", "lastTransitionTime": "t"}
    ]
    changes = {"metadata": {"annotations": {UPGRADE_BLOCKERS: text}}, "spec": {"conditions": conditions}}
    world.patch(Patch(CONDITION, changes, ""))
    return world


def test_blocker_of_another_cluster_is_kept() -> None:
    world = with_blockers(
        with_operator_condition(running_cluster()), '{"search/other": "other-0 is being replaced"}'
    )
    metadata = {"name": "other", "namespace": "search"}
    world.create({"apiVersion": CLUSTER.api, "kind": CLUSTER.kind, "metadata": metadata, "spec": {}})
    for _ in reconciles(world):
        pass
    assert upgradeable(world) == "False"


def test_stale_read_does_not_remove_the_blocker_of_another_cluster() -> None:
    """Two clusters are reconciled at the same time, and both write to one OperatorCondition."""
    world = with_operator_condition(running_cluster())
    before = operator_condition(world)
    with_blockers(world, '{"search/other": "other-0 is being replaced"}')

    class StalePorts(CountingPorts):
        def get(self, key: Key) -> Manifest | None:
            return before if key == CONDITION else super().get(key)

    with pytest.raises(Conflict):
        reconcile_once(StalePorts(world), world, "0.5.0", operator_condition=CONDITION)
    assert upgradeable(world) == "False"


def test_blocker_of_a_missing_cluster_is_removed() -> None:
    world = with_blockers(
        with_operator_condition(running_cluster()), '{"search/missing": "missing-0 is being replaced"}'
    )
    for _ in reconciles(world):
        pass
    assert upgradeable(world) == "True"
    assert annotation(operator_condition(world), UPGRADE_BLOCKERS) is None


def test_conditions_of_other_writers_are_kept() -> None:
    world = with_operator_condition(running_cluster())
    other = {"type": "Other", "status": "True", "reason": "x", "message": "", "lastTransitionTime": "t"}
    world.patch(Patch(CONDITION, {"spec": {"conditions": [other]}}, ""))
    for _ in reconciles(world):
        pass
    assert other in operator_condition(world)["spec"]["conditions"]


def test_deleted_cluster_does_not_block_olm() -> None:
    world = edit_spec(with_operator_condition(running_cluster()), version="3.4.0")
    next(each for each in reconciles(world) if upgradeable(each) == "False")
    delete_cluster(world)
    for _ in reconciles(world):
        if CLUSTER not in world.state.cluster.objects:
            break
    assert upgradeable(world) == "True"


def test_operator_replaced_while_blocking_finishes_the_upgrade() -> None:
    world = edit_spec(with_operator_condition(running_cluster()), version="3.4.0")
    next(each for each in reconciles(world) if upgradeable(each) == "False")
    reconcile_until_converged(world, "0.5.0")
    assert status(world)["engineVersion"] == "3.4.0"
    for _ in reconciles(world):
        pass
    assert upgradeable(world) == "True"


@pytest.mark.parametrize("text", ["{", "[]", "null", "7"])
def test_invalid_blocker_annotation_does_not_block_olm(text: str) -> None:
    world = with_operator_condition(running_cluster())
    world.patch(Patch(CONDITION, {"metadata": {"annotations": {UPGRADE_BLOCKERS: text}}}, ""))
    assert [upgradeable(each) for each in reconciles(world)][-1] == "True"


def failing_ports(world: FakeCluster, write: str, error: ApiError) -> RecordingPorts:
    """Return ports to an API server that fails the deletes that begin with this text."""

    class FailingPorts(RecordingPorts):
        def delete(self, delete: Delete) -> None:
            if str(delete).startswith(write):
                raise error
            super().delete(delete)

    return FailingPorts(InvariantRecorder(world, CLUSTER, release("0.5.0")))


@pytest.mark.parametrize(
    ("version", "write"),
    [("0.5.0", "delete Pod"), ("0.3.1", "delete StatefulSet")],
    ids=["pod", "StatefulSet"],
)
def test_denied_deletion_does_not_block_olm(version: str, write: str) -> None:
    # Guard: a denied operation does not block OLM.
    world = with_operator_condition(running_cluster(version=version))
    edit_spec(world, pools=[pool("data", 2, "data", "ingest"), pool("managers", 3, "cluster_manager")])
    ports = failing_ports(world, write, Rejected("forbidden"))
    for _ in range(60):
        if not reconcile_once(ports, world, "0.5.0", operator_condition=CONDITION).wrote:
            world.tick()
    assert f"cannot {write}" in str(status(world)["conditions"])
    assert upgradeable(world) == "True"


def test_invalid_spec_does_not_block_olm() -> None:
    # Guard: a cluster without a usable spec does not block OLM.
    world = with_operator_condition(running_cluster())
    edit_spec(world, pools=[pool("data", 2, "data", "ingest"), pool("managers", 3, "cluster_manager")])
    next(each for each in reconciles(world) if unavailable_pods(each, PODS))
    assert upgradeable(world) == "False"
    edit_spec(world, upgrade={"rollback": "Sometimes"})
    for _ in range(10):
        reconcile_once(world, world, "0.5.0", operator_condition=CONDITION)
        world.tick()
    assert upgradeable(world) == "True"


def test_repeated_failure_does_not_rewrite_the_operator_condition() -> None:
    """A webhook may stay unavailable for any length of time."""
    world = with_operator_condition(running_cluster(version="0.3.1"))
    ports = failing_ports(world, "delete StatefulSet", Unavailable("failed calling webhook"))
    for _ in range(60):
        outcome = try_reconcile(ports, world, "0.5.0", operator_condition=CONDITION)
        if outcome is None or not outcome.wrote:
            world.tick()
    assert upgradeable(world) == "False"
    assert len([each for each in ports.patched if each.key == CONDITION]) <= 2
