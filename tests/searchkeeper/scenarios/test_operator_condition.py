"""OperatorCondition: OLM does not replace the operator in the middle of a step."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from searchkeeper.kubernetes.api import ApiError, Conflict, Rejected, Unavailable
from searchkeeper.kubernetes.operations import Delete, Key, Manifest, Patch
from searchkeeper.operator_condition import OPERATOR_CONDITION, UPGRADE_BLOCKERS
from searchkeeper.reconcile import reconcile
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes.manifests import annotation
from searchkeeper.testing.fake_kubernetes.object_store import ObjectStore
from searchkeeper.testing.invariants.recorder import InvariantRecorder
from tests.support.searchkeeper.operator_runs import (
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
from tests.support.searchkeeper.operator_scenarios import (
    RecordingPorts,
    delete_cluster,
    running_cluster,
    unavailable_pods,
)

CONDITION = Key(*OPERATOR_CONDITION, "operators", "searchkeeper.v0.5.0")
PODS = {"data-0", "data-1", "managers-0", "managers-1", "managers-2"}


def with_operator_condition(cluster: FakeCluster) -> FakeCluster:
    """Add the OperatorCondition that OLM creates for the operator."""
    metadata = {"name": CONDITION.name, "namespace": CONDITION.namespace}
    cluster.create({"apiVersion": CONDITION.api, "kind": CONDITION.kind, "metadata": metadata, "spec": {}})
    return cluster


def operator_condition(cluster: FakeCluster) -> Manifest:
    manifest = cluster.get(CONDITION)
    assert manifest is not None
    return manifest


def upgradeable(cluster: FakeCluster) -> str | None:
    conditions = operator_condition(cluster)["spec"].get("conditions", ())
    return next((each["status"] for each in conditions if each["type"] == "Upgradeable"), None)


def reconciles(cluster: FakeCluster, version: str = "0.5.0") -> Iterator[FakeCluster]:
    return reconcile_steps(cluster, version, operator_condition=CONDITION)


def test_converged_cluster_does_not_block_olm() -> None:
    cluster = with_operator_condition(running_cluster())
    assert [upgradeable(each) for each in reconciles(cluster)][-1] == "True"


def test_pod_replacement_blocks_olm() -> None:
    cluster = edit_spec(with_operator_condition(running_cluster()), version="3.4.0")
    statuses = set()
    for current in reconciles(cluster):
        statuses.add(upgradeable(current))
        if unavailable_pods(current, PODS):
            assert upgradeable(current) == "False"
    assert statuses == {"True", "False"}
    assert upgradeable(cluster) == "True"


def orphans(cluster: ObjectStore) -> list[str]:
    return [
        key.name
        for key, each in cluster.objects.items()
        if key.kind == "Pod" and not each["metadata"].get("ownerReferences")
    ]


def test_orphaned_pods_block_olm() -> None:
    cluster = with_operator_condition(running_cluster(version="0.3.1"))
    times = 0
    for current in reconciles(cluster):
        if orphans(current.state.cluster):
            times += 1
            assert upgradeable(current) == "False"
    assert times
    assert upgradeable(cluster) == "True"


def test_olm_is_blocked_before_a_pod_is_deleted() -> None:
    """Otherwise OLM could replace the operator in between."""
    cluster = edit_spec(with_operator_condition(running_cluster()), version="3.4.0")

    class CheckingPorts(RecordingPorts):
        def delete(self, delete: object) -> None:
            assert upgradeable(cluster) == "False"
            super().delete(delete)  # type: ignore[arg-type]

    ports = CheckingPorts(cluster)
    for _ in reconcile_steps(cluster, ports=ports, operator_condition=CONDITION):
        pass
    assert len(ports.deleted) == 5


def test_olm_is_blocked_before_pods_are_orphaned() -> None:
    cluster = with_operator_condition(running_cluster(version="0.3.1"))
    statuses = []

    class CheckingPorts(RecordingPorts):
        def delete(self, delete: Delete) -> None:
            statuses.extend([upgradeable(cluster)] if delete.orphan else [])
            super().delete(delete)

    for _ in reconcile_steps(cluster, ports=CheckingPorts(cluster), operator_condition=CONDITION):
        pass
    assert statuses == ["False", "False"]


def test_transition_time_changes_only_with_the_status() -> None:
    cluster = edit_spec(with_operator_condition(running_cluster()), version="3.4.0")
    last = None
    for current in reconciles(cluster):
        for each in operator_condition(current)["spec"].get("conditions", ()):
            if last is not None and last["status"] == each["status"]:
                assert last["lastTransitionTime"] == each["lastTransitionTime"]
            last = each


def test_nothing_is_written_without_an_operator_condition() -> None:
    cluster = running_cluster()
    ports = CountingPorts(cluster)
    reconcile(ports, ports, CLUSTER, release("0.5.0"), cluster.state.now, operator_condition=CONDITION)
    assert ports.writes == 0


def test_converged_cluster_does_not_write_the_operator_condition() -> None:
    cluster = with_operator_condition(running_cluster())
    for _ in reconciles(cluster):
        pass
    ports = CountingPorts(cluster)
    reconcile(ports, ports, CLUSTER, release("0.5.0"), cluster.state.now, operator_condition=CONDITION)
    assert ports.writes == 0


def with_blockers(cluster: FakeCluster, text: str) -> FakeCluster:
    conditions = [
        {"type": "Upgradeable", "status": "False", "reason": "x", "message": "", "lastTransitionTime": "t"}
    ]
    changes = {"metadata": {"annotations": {UPGRADE_BLOCKERS: text}}, "spec": {"conditions": conditions}}
    cluster.patch(Patch(CONDITION, changes, ""))
    return cluster


def test_blocker_of_another_cluster_is_kept() -> None:
    cluster = with_blockers(
        with_operator_condition(running_cluster()), '{"search/other": "other-0 is being replaced"}'
    )
    metadata = {"name": "other", "namespace": "search"}
    cluster.create({"apiVersion": CLUSTER.api, "kind": CLUSTER.kind, "metadata": metadata, "spec": {}})
    for _ in reconciles(cluster):
        pass
    assert upgradeable(cluster) == "False"


def test_stale_read_does_not_remove_the_blocker_of_another_cluster() -> None:
    """Two clusters are reconciled at the same time, and both write to one OperatorCondition."""
    cluster = with_operator_condition(running_cluster())
    before = operator_condition(cluster)
    with_blockers(cluster, '{"search/other": "other-0 is being replaced"}')

    class StalePorts(CountingPorts):
        def get(self, key: Key) -> Manifest | None:
            return before if key == CONDITION else super().get(key)

    with pytest.raises(Conflict):
        reconcile_once(StalePorts(cluster), cluster, "0.5.0", operator_condition=CONDITION)
    assert upgradeable(cluster) == "False"


def test_blocker_of_a_missing_cluster_is_removed() -> None:
    cluster = with_blockers(
        with_operator_condition(running_cluster()), '{"search/missing": "missing-0 is being replaced"}'
    )
    for _ in reconciles(cluster):
        pass
    assert upgradeable(cluster) == "True"
    assert annotation(operator_condition(cluster), UPGRADE_BLOCKERS) is None


def test_conditions_of_other_writers_are_kept() -> None:
    cluster = with_operator_condition(running_cluster())
    other = {"type": "Other", "status": "True", "reason": "x", "message": "", "lastTransitionTime": "t"}
    cluster.patch(Patch(CONDITION, {"spec": {"conditions": [other]}}, ""))
    for _ in reconciles(cluster):
        pass
    assert other in operator_condition(cluster)["spec"]["conditions"]


def test_deleted_cluster_does_not_block_olm() -> None:
    cluster = edit_spec(with_operator_condition(running_cluster()), version="3.4.0")
    next(each for each in reconciles(cluster) if upgradeable(each) == "False")
    delete_cluster(cluster)
    for _ in reconciles(cluster):
        if CLUSTER not in cluster.state.cluster.objects:
            break
    assert upgradeable(cluster) == "True"


def test_operator_replaced_while_blocking_finishes_the_upgrade() -> None:
    cluster = edit_spec(with_operator_condition(running_cluster()), version="3.4.0")
    next(each for each in reconciles(cluster) if upgradeable(each) == "False")
    reconcile_until_converged(cluster)
    assert status(cluster)["engineVersion"] == "3.4.0"
    for _ in reconciles(cluster):
        pass
    assert upgradeable(cluster) == "True"


@pytest.mark.parametrize("text", ["{", "[]", "null", "7"])
def test_invalid_blocker_annotation_does_not_block_olm(text: str) -> None:
    cluster = with_operator_condition(running_cluster())
    cluster.patch(Patch(CONDITION, {"metadata": {"annotations": {UPGRADE_BLOCKERS: text}}}, ""))
    assert [upgradeable(each) for each in reconciles(cluster)][-1] == "True"


def failing_ports(cluster: FakeCluster, write: str, error: ApiError) -> RecordingPorts:
    """Return ports to an API server that fails the deletes that begin with this text."""

    class FailingPorts(RecordingPorts):
        def delete(self, delete: Delete) -> None:
            if str(delete).startswith(write):
                raise error
            super().delete(delete)

    return FailingPorts(InvariantRecorder(cluster, CLUSTER, release("0.5.0")))


@pytest.mark.parametrize(
    ("version", "write"),
    [("0.5.0", "delete Pod"), ("0.3.1", "delete StatefulSet")],
    ids=["pod", "StatefulSet"],
)
def test_denied_deletion_does_not_block_olm(version: str, write: str) -> None:
    # Guard: a denied operation does not block OLM.
    cluster = with_operator_condition(running_cluster(version=version))
    edit_spec(cluster, pools=[pool("data", 2, "data", "ingest"), pool("managers", 3, "cluster_manager")])
    ports = failing_ports(cluster, write, Rejected("forbidden"))
    for _ in range(60):
        if not reconcile_once(ports, cluster, "0.5.0", operator_condition=CONDITION).wrote:
            cluster.tick()
    assert f"cannot {write}" in str(status(cluster)["conditions"])
    assert upgradeable(cluster) == "True"


def test_invalid_spec_does_not_block_olm() -> None:
    # Guard: a cluster without a usable spec does not block OLM.
    cluster = with_operator_condition(running_cluster())
    edit_spec(cluster, pools=[pool("data", 2, "data", "ingest"), pool("managers", 3, "cluster_manager")])
    next(each for each in reconciles(cluster) if unavailable_pods(each, PODS))
    assert upgradeable(cluster) == "False"
    edit_spec(cluster, upgrade={"rollback": "Sometimes"})
    for _ in range(10):
        reconcile_once(cluster, cluster, "0.5.0", operator_condition=CONDITION)
        cluster.tick()
    assert upgradeable(cluster) == "True"


def test_repeated_failure_does_not_rewrite_the_operator_condition() -> None:
    """A webhook may stay unavailable for any length of time."""
    cluster = with_operator_condition(running_cluster(version="0.3.1"))
    ports = failing_ports(cluster, "delete StatefulSet", Unavailable("failed calling webhook"))
    for _ in range(60):
        outcome = try_reconcile(ports, cluster, "0.5.0", operator_condition=CONDITION)
        if outcome is None or not outcome.wrote:
            cluster.tick()
    assert upgradeable(cluster) == "False"
    assert len([each for each in ports.patched if each.key == CONDITION]) <= 2
