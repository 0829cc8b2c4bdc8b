"""The description of a cluster equals what the next reconcile does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from searchkeeper.describe import (
    SUMMARY_CONDITIONS,
    ActionSummary,
    ClusterDescription,
    StepState,
    describe,
    describe_from_status,
)
from searchkeeper.kubernetes.operations import Create, Delete, EmitEvent, EngineCall, Manifest, Patch
from searchkeeper.observe import observe
from searchkeeper.opensearch.calls import Call
from searchkeeper.planner import ACTION_ERROR
from searchkeeper.reconcile import reconcile
from searchkeeper.reconcilers.headline import headline_rank
from searchkeeper.reconcilers.versions import CLUSTER_RECONCILERS
from searchkeeper.releases import newest
from searchkeeper.snapshot import ClusterSnapshot
from searchkeeper.testing.fake_cluster import FakeCluster
from tests.support.searchkeeper.operator_runs import (
    CLUSTER,
    add_index,
    edit_spec,
    new_cluster,
    reconcile_until_converged,
    status,
)

RELEASE = newest()


def snapshot_of(cluster: FakeCluster) -> ClusterSnapshot:
    snapshot = observe(cluster, cluster, CLUSTER, RELEASE, cluster.state.now)
    assert snapshot is not None
    return snapshot


def describe_cluster(cluster: FakeCluster) -> ClusterDescription:
    return describe(snapshot_of(cluster))


@dataclass
class RecordingClients:
    """Both clients. Every operation is recorded in the text of a plan."""

    cluster: FakeCluster
    operations: list[str] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.cluster, name)

    def create(self, manifest: Manifest) -> Manifest:
        self.operations.append(str(Create(manifest)))
        return self.cluster.create(manifest)

    def patch(self, patch: Patch) -> Manifest:
        self.operations.append(str(patch))
        return self.cluster.patch(patch)

    def delete(self, delete: Delete) -> None:
        self.operations.append(str(delete))
        self.cluster.delete(delete)

    def patch_status(self, patch: Patch) -> Manifest:
        if patch.changes["status"]:  # An empty patch only verifies the resource version.
            self.operations.append(f"patch status of {patch.key}")
        return self.cluster.patch_status(patch)

    def record(self, event: EmitEvent) -> None:
        self.operations.append(str(event))
        self.cluster.record(event)

    def execute(self, call: Call) -> None:
        self.operations.append(str(EngineCall(call)))
        self.cluster.execute(call)


def without_fields(operation: str) -> str:
    """An operation without the fields of a patch and without the options of a delete."""
    return operation.partition(": ")[0] if operation.startswith("patch ") else operation


def reconcile_or_tick(cluster: FakeCluster) -> list[str]:
    """The operations of one reconcile. The clock advances if there are none."""
    clients = RecordingClients(cluster)
    if not reconcile(clients, clients, CLUSTER, RELEASE, cluster.state.now).wrote:
        cluster.tick()
    return clients.operations


def deleted_pods(operations: list[str]) -> Iterator[str]:
    return (each.removeprefix("delete Pod ") for each in operations if each.startswith("delete Pod "))


def cluster_to_upgrade(**spec: Any) -> FakeCluster:
    cluster = new_cluster(**spec)
    reconcile_until_converged(cluster, RELEASE.version)
    add_index(cluster)
    return edit_spec(cluster, version="3.4.0")


@pytest.mark.exhaustive
def test_described_operations_are_those_of_the_next_reconcile() -> None:
    cluster = new_cluster()
    replaced = []
    for number in range(400):
        if number == 60:
            edit_spec(cluster, version="3.4.0")
        description = describe_cluster(cluster)
        operations = reconcile_or_tick(cluster)
        assert list(map(without_fields, description.operations)) == list(map(without_fields, operations))
        for pod in deleted_pods(operations):
            assert description.next_pod is not None
            assert (description.next_pod.pod, description.next_pod.is_free) == (pod, True)
            replaced.append(pod)
    assert len(replaced) == 5


@pytest.mark.exhaustive
def test_steps_are_in_the_order_in_which_pods_are_replaced() -> None:
    cluster = cluster_to_upgrade()
    expected = [step.name for step in describe_cluster(cluster).steps]
    replaced: list[str] = []
    for _ in range(300):
        replaced += deleted_pods(reconcile_or_tick(cluster))
    assert replaced == expected


def test_step_is_next_then_current_then_done() -> None:
    cluster = cluster_to_upgrade()
    states: list[StepState] = []
    for _ in range(60):
        steps = {step.name: step.state for step in describe_cluster(cluster).steps}
        if not states or states[-1] != steps["logs-data-0"]:
            states.append(steps["logs-data-0"])
        reconcile_or_tick(cluster)
    assert states == [StepState.NEXT, StepState.CURRENT, StepState.DONE]


@pytest.mark.exhaustive
def test_at_most_one_step_is_next_and_it_is_the_next_pod() -> None:
    cluster = cluster_to_upgrade(dashboards={"enabled": True})
    seen: list[str] = []
    for _ in range(300):
        description = describe_cluster(cluster)
        pending = [step for step in description.steps if step.state in (StepState.NEXT, StepState.WAITING)]
        assert [step.name for step in pending if step.state is StepState.NEXT] == [
            step.name for step in pending[:1]
        ]
        if description.steps and description.next_pod is not None:
            assert pending[0].name == description.next_pod.pod
        seen += [step.name for step in pending[:1] if step.name not in seen]
        reconcile_or_tick(cluster)
    assert len(seen) == 6


def action(name: str, **fields: Any) -> ActionSummary:
    defaults = {"status": "False", "reason": "Waiting", "message": name}
    return ActionSummary("SearchCluster logs", name, **(defaults | fields))


def test_failed_action_is_the_headline() -> None:
    failed = action("PoolsApplied", status="Unknown", reason=ACTION_ERROR, message="KeyError: 'spec'")
    follower = action("PoolsConverged", status="Unknown", reason="PrerequisiteNotMet")
    description = replace(describe_cluster(cluster_to_upgrade()), actions=(follower, failed))
    assert description.headline == "KeyError: 'spec'"


@pytest.mark.parametrize(
    ("waiting", "headline"),
    [
        (("EngineHealthy", "PoolsApplied"), "PoolsApplied"),
        (("PoolsApplied", "PodsCurrent"), "PodsCurrent"),
        (("PodsCurrent", "VersionAccepted"), "VersionAccepted"),
        (("DashboardsCurrent", "EngineHealthy"), "EngineHealthy"),
        (("RollbackPossible",), None),
    ],
)
def test_headline_is_the_action_closest_to_the_cause(waiting: tuple[str, ...], headline: str | None) -> None:
    actions = tuple(map(action, waiting))
    assert replace(describe_cluster(cluster_to_upgrade()), actions=actions).headline == headline


def test_stalled_action_is_the_headline_before_all_others() -> None:
    actions = (action("VersionAccepted"), action("DashboardsCurrent", is_stalled=True))
    assert (
        replace(describe_cluster(cluster_to_upgrade()), actions=actions).headline
        == "stalled: DashboardsCurrent"
    )


def test_every_ranked_action_exists() -> None:
    names = {each.name for each in CLUSTER_RECONCILERS[max(CLUSTER_RECONCILERS)].actions}
    assert len({headline_rank(name) for name in names}) == 6


def test_summary_conditions_are_no_actions() -> None:
    cluster = cluster_to_upgrade()
    known = [each for each in status(cluster)["conditions"] if each["type"] not in SUMMARY_CONDITIONS]
    template = {**known[0], "status": "True", "reason": "AsExpected", "message": ""}
    summary = [{**template, "type": name} for name in reversed(SUMMARY_CONDITIONS)]
    cluster.patch_status(Patch(CLUSTER, {"status": {"conditions": [*summary, *known]}}, ""))

    description = describe_from_status(snapshot_of(cluster))

    assert [each.type for each in description.conditions] == list(SUMMARY_CONDITIONS)
    assert {each.action for each in description.actions} == {each["type"] for each in known}


def test_before_an_upgrade_starts_its_first_pod_is_next() -> None:
    description = describe_cluster(cluster_to_upgrade())

    assert description.upgrade is None
    assert description.target == "3.4.0"
    assert description.next_pod is not None
    assert (description.next_pod.pod, description.next_pod.is_free) == ("logs-data-0", True)


def test_closed_gate_has_its_message() -> None:
    description = describe_cluster(cluster_to_upgrade(upgrade={"paused": True}))

    assert description.next_pod is not None
    closed = [gate for gate in description.next_pod.gates if not gate.is_open]
    assert [gate.gate for gate in closed] == ["NotPaused"]
    assert "spec.upgrade.paused" in closed[0].message


def test_refused_version_is_no_target() -> None:
    description = describe_cluster(edit_spec(cluster_to_upgrade(), version="1.3.0"))

    assert (description.target, description.steps, description.next_pod) == ("2.19.4", (), None)
    assert any(a.action == "VersionAccepted" and a.reason == "Downgrade" for a in description.actions)


def test_cluster_in_deletion_has_no_next_pod() -> None:
    cluster = cluster_to_upgrade()
    cluster.delete(Delete(CLUSTER, "", ""))

    description = describe_cluster(cluster)

    assert description.next_pod is None
    assert description.operations


def test_converged_cluster_has_nothing_to_do() -> None:
    cluster = new_cluster()
    reconcile_until_converged(cluster, RELEASE.version)
    description = describe_cluster(cluster)

    assert description.operations == ()
    assert description.next_pod is None
    assert description.steps == ()
    assert description.deadline is None
    assert description.progress == 1
    assert all(each.status == "True" for each in description.actions)
