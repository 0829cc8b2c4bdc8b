"""Denied operations: reported in the status, stalled after the deadline, no obstacle to other actions."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from searchkeeper.kubernetes.api import Rejected
from searchkeeper.kubernetes.operations import (
    Create,
    Delete,
    EmitEvent,
    EngineCall,
    EventType,
    Key,
    Manifest,
    Patch,
)
from searchkeeper.opensearch.calls import Call
from searchkeeper.opensearch.client import CallRejected
from searchkeeper.opensearch.view import Allocation, Color, EngineView
from searchkeeper.planner import Operation
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.invariants.checks import leftovers
from searchkeeper.testing.invariants.recorder import InvariantRecorder
from tests.support.searchkeeper.operator_runs import (
    CLUSTER,
    NEWEST,
    CountingPorts,
    add_index,
    condition,
    edit_spec,
    new_cluster,
    reconcile_for_ticks,
    reconcile_once,
    reconcile_until_converged,
    status,
)
from tests.support.searchkeeper.operator_scenarios import object_kinds, pod_versions, running_cluster

OLD, NEW = "2.19.4", "3.4.0"
ADVICE = "allow it, or change the spec so that it is not needed; the operator retries"


class DenyingPorts(CountingPorts):
    """Ports to an API server and an engine that deny some operations."""

    def __init__(self, cluster: FakeCluster, denies: Callable[[Operation], bool]) -> None:
        super().__init__(InvariantRecorder(cluster, CLUSTER, release(NEWEST)))
        self.denies = denies
        self.error: Callable[[], str] = lambda: "exceeded quota: small"
        self.tried: list[str] = []

    def create(self, manifest: Manifest) -> Manifest:
        self._check(Create(manifest))
        return super().create(manifest)

    def patch(self, patch: Patch) -> Manifest:
        self._check(patch)
        return super().patch(patch)

    def patch_status(self, patch: Patch) -> Manifest:
        # An empty patch only checks the resourceVersion before each operation: it is not counted.
        is_check = patch.changes == {"status": {}}
        return self.ports.patch_status(patch) if is_check else super().patch_status(patch)

    def delete(self, delete: Delete) -> None:
        self._check(delete)
        super().delete(delete)

    def record(self, event: EmitEvent) -> None:
        self._check(event)
        super().record(event)

    def execute(self, call: Call) -> None:
        if self.denies(EngineCall(call)):
            self.tried.append(str(call))
            raise CallRejected(self.error())
        super().execute(call)

    def _check(self, operation: Operation) -> None:
        if self.denies(operation):
            self.tried.append(str(operation))
            raise Rejected(self.error())


def of_kind(kind: str, *verbs: type) -> Callable[[Operation], bool]:
    def denies(operation: Operation) -> bool:
        match operation:
            case Create() | Patch() | Delete():
                return isinstance(operation, verbs or object) and operation.key.kind == kind
            case _:
                return False

    return denies


def warnings(cluster: FakeCluster) -> list[str]:
    return [
        f"{each.reason}: {each.message}" for each in cluster.state.events if each.type is EventType.WARNING
    ]


def pool_status(cluster: FakeCluster, pool: str) -> Manifest:
    search_pool = cluster.get(Key(CLUSTER.api, "SearchPool", CLUSTER.namespace, f"{CLUSTER.name}-{pool}"))
    assert search_pool is not None
    status: Manifest = search_pool["status"]
    return status


BUDGET = f"cannot create PodDisruptionBudget logs-data: exceeded quota: small; {ADVICE}"


def test_condition_has_the_error_and_what_to_do() -> None:
    cluster = new_cluster()
    reconcile_for_ticks(cluster, DenyingPorts(cluster, of_kind("PodDisruptionBudget")), ticks=3)
    assert condition(cluster, "DisruptionBudgetsApplied") == f"False OperationDenied: {BUDGET}"
    assert status(cluster)["phase"] == "Pending"


def test_denied_operation_stalls_and_emits_one_event() -> None:
    """S28, L5: every wait has a deadline."""
    # Guard: denials are recorded.
    cluster = new_cluster()
    reconcile_for_ticks(cluster, DenyingPorts(cluster, of_kind("PodDisruptionBudget")), ticks=50)
    assert condition(cluster, "DisruptionBudgetsApplied") == f"False OperationDenied: stalled: {BUDGET}"
    assert status(cluster)["phase"] == "Stalled"
    assert warnings(cluster) == [f"Stalled: DisruptionBudgetsApplied: {BUDGET}"]


def test_cluster_recovers_when_the_operation_is_accepted() -> None:
    cluster = new_cluster()
    reconcile_for_ticks(cluster, DenyingPorts(cluster, of_kind("PodDisruptionBudget")), ticks=50)
    reconcile_until_converged(cluster)
    assert status(cluster)["phase"] == "Running"
    assert leftovers(cluster.state, CLUSTER) is None


def test_denial_is_removed_when_the_operation_is_not_needed() -> None:
    cluster = running_cluster(dashboards={"enabled": True})
    ports = DenyingPorts(cluster, of_kind("Deployment"))
    reconcile_for_ticks(edit_spec(cluster, dashboards={"enabled": True, "replicas": 3}), ports, ticks=50)
    assert status(cluster)["phase"] == "Stalled"
    reconcile_for_ticks(edit_spec(cluster, dashboards={"enabled": True, "replicas": 1}), ports, ticks=5)
    assert status(cluster)["phase"] == "Running"
    assert leftovers(cluster.state, CLUSTER) is None


def test_denied_operation_does_not_stop_other_actions() -> None:
    # Guard: a denial stops no other action.
    cluster = new_cluster()
    reconcile_for_ticks(cluster, DenyingPorts(cluster, of_kind("Service")), ticks=10)
    assert "Service" not in object_kinds(cluster)
    assert len(pod_versions(cluster)) == 5
    assert status(cluster)["engineVersion"] == OLD


def test_denial_of_a_pool_is_reported_on_the_cluster() -> None:
    cluster = new_cluster()
    reconcile_for_ticks(cluster, DenyingPorts(cluster, of_kind("StatefulSet")), ticks=50)
    message = f"cannot create StatefulSet logs-data: exceeded quota: small; {ADVICE}"
    pool = pool_status(cluster, "data")
    [applied] = [each for each in pool["conditions"] if each["type"] == "StatefulSetApplied"]
    assert (applied["reason"], applied["message"]) == ("OperationDenied", message)
    assert pool["ledger"]["stalled"] == '["StatefulSetApplied"]'
    assert condition(cluster, "PoolsConverged") == (
        f"False OperationDenied: stalled: StatefulSetApplied of data: {message}"
    )
    assert status(cluster)["phase"] == "Stalled"


def stall(cluster: FakeCluster, ports: DenyingPorts) -> None:
    """Reconcile past the deadline, until only the denied operation is left."""
    reconcile_for_ticks(cluster, ports, ticks=60)


@pytest.mark.exhaustive
@pytest.mark.parametrize("error", ["the same", "request 1 at 10:00"], ids=["the same", "with numbers"])
def test_repeated_denial_causes_no_writes(error: str) -> None:
    # Guard: the same denial is not recorded again.
    cluster = new_cluster()
    ports = DenyingPorts(cluster, of_kind("PodDisruptionBudget"))
    ports.error = lambda: error.replace("1", str(len(ports.tried)))
    stall(cluster, ports)
    before, tried = ports.writes, len(ports.tried)
    reconcile_for_ticks(cluster, ports, ticks=100)
    assert ports.writes == before
    assert len(ports.tried) == tried + 100


def test_different_error_updates_the_condition() -> None:
    cluster = new_cluster()
    ports = DenyingPorts(cluster, of_kind("PodDisruptionBudget"))
    reconcile_for_ticks(cluster, ports, ticks=10)
    ports.error = lambda: "denied by a policy"
    reconcile_for_ticks(cluster, ports, ticks=3)
    assert "denied by a policy" in condition(cluster, "DisruptionBudgetsApplied")


def test_denial_that_passes_in_the_next_reconcile_is_not_recorded() -> None:
    cluster = new_cluster()
    left = [True]
    ports = DenyingPorts(
        cluster, lambda operation: of_kind("Service")(operation) and bool(left) and left.pop()
    )
    lines: set[str] = set()
    for _ in range(100):
        if reconcile_once(ports, cluster, NEWEST).converged:
            break
        lines |= set(status(cluster)["ledger"])
        cluster.tick()
    assert ports.tried
    assert not [each for each in lines if each.startswith("denied/")]


@pytest.mark.exhaustive
@pytest.mark.parametrize("policy", ["Automatic", "Manual"])
def test_denied_pod_deletion_stalls_the_upgrade_without_rollback(policy: str) -> None:
    """S28: no node has failed, and every node runs the old version."""
    # Guard: a denial starts no rollback.
    cluster = edit_spec(
        running_cluster(upgrade={"healthDeadlineSeconds": 60, "rollback": policy}), version=NEW
    )
    ports = DenyingPorts(cluster, of_kind("Pod", Delete))
    reconcile_for_ticks(cluster, ports, ticks=60)
    assert set(pod_versions(cluster).values()) == {OLD}
    assert "cannot delete Pod logs-data-0: exceeded quota" in condition(cluster, "PodsCurrent")
    assert status(cluster)["phase"] == "Stalled"
    assert [each.partition(":")[0] for each in warnings(cluster)] == ["Stalled"]
    reconcile_until_converged(cluster)
    assert set(pod_versions(cluster).values()) == {NEW}
    assert [each["result"] for each in status(cluster)["upgrade"]["history"]] == ["Finished"]


def test_denied_pod_deletion_is_retried_without_other_writes() -> None:
    # Guard: a denied delete is retried without other operations.
    cluster = edit_spec(running_cluster(), version=NEW)
    ports = DenyingPorts(cluster, of_kind("Pod", Delete))
    stall(cluster, ports)
    before = cluster.state.cluster
    reconcile_for_ticks(cluster, ports, ticks=50)
    assert ports.tried[-50:] == ["delete Pod logs-data-0"] * 50
    assert cluster.state.cluster == before


def test_pause_removes_a_denied_pod_deletion_from_the_ledger() -> None:
    cluster = edit_spec(running_cluster(), version=NEW)
    ports = DenyingPorts(cluster, of_kind("Pod", Delete))
    stall(cluster, ports)
    reconcile_for_ticks(edit_spec(cluster, upgrade={"paused": True}), ports, ticks=5)
    assert "roll/away" not in status(cluster)["ledger"]
    assert "denied/PodsCurrent" not in status(cluster)["ledger"]
    assert status(cluster)["phase"] == "Upgrading"


def test_denied_pod_deletion_does_not_keep_replicas_unassigned() -> None:
    """Replica allocation is disabled for the pod, but not while a replica is unassigned."""
    cluster = edit_spec(running_cluster(), version=NEW)
    ports = DenyingPorts(cluster, of_kind("Pod", Delete))
    stall(cluster, ports)
    assert cluster.state.engine.allocation is Allocation.PRIMARIES
    add_index(cluster, "today")
    assert engine_view(cluster).color is Color.YELLOW
    reconcile_for_ticks(cluster, ports, ticks=3)
    assert engine_view(cluster).color is Color.GREEN


def engine_view(cluster: FakeCluster) -> EngineView:
    view = cluster.get_state()
    assert isinstance(view, EngineView)
    return view


@pytest.mark.exhaustive
def test_denied_engine_call_stalls() -> None:
    cluster = edit_spec(running_cluster(), version=NEW)
    ports = DenyingPorts(cluster, lambda operation: isinstance(operation, EngineCall))
    ports.error = lambda: "403 PUT /_cluster/settings: no permissions"
    stall(cluster, ports)
    assert condition(cluster, "PodsCurrent") == (
        "False OperationDenied: stalled: cannot call the engine: "
        "set cluster.routing.allocation.enable to primaries: "
        f"403 PUT /_cluster/settings: no permissions; {ADVICE}"
    )
    assert status(cluster)["phase"] == "Stalled"
    reconcile_until_converged(cluster)
    assert set(pod_versions(cluster).values()) == {NEW}


def test_denied_deletion_goes_last() -> None:
    """By name the denied deletion of a disruption budget would precede every pod."""
    # Guard: a denied destructive operation goes last.
    cluster = running_cluster()
    old = Key("policy/v1", "PodDisruptionBudget", CLUSTER.namespace, "logs-old")
    owner = cluster.get(Key("policy/v1", "PodDisruptionBudget", CLUSTER.namespace, "logs-data"))
    assert owner is not None
    metadata = {**owner["metadata"], "name": old.name}
    cluster.create({**owner, "metadata": metadata, "spec": {**owner["spec"], "selector": {}}})
    reconcile_for_ticks(
        edit_spec(cluster, version=NEW),
        DenyingPorts(cluster, of_kind("PodDisruptionBudget", Delete)),
        ticks=60,
    )
    assert set(pod_versions(cluster).values()) == {NEW}
    assert "cannot delete PodDisruptionBudget logs-old" in condition(cluster, "DisruptionBudgetsApplied")


def test_secret_values_are_redacted_from_errors() -> None:
    cluster = new_cluster(security={"credentialsSecret": "admin"})
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "admin", "namespace": "search"}}
    cluster.create({**secret, "data": {"username": "YWRtaW4=", "password": "czNjcjN0"}})
    ports = DenyingPorts(cluster, of_kind("Secret"))
    ports.error = lambda: 'data "czNjcjN0" (s3cr3t) is too short'
    reconcile_for_ticks(cluster, ports, ticks=5)
    assert 'data "…" (…) is too short' in condition(cluster, "ConfigurationApplied")
    assert "czNjcjN0" not in str(status(cluster))


def test_long_error_is_truncated() -> None:
    cluster = new_cluster()
    ports = DenyingPorts(cluster, of_kind("PodDisruptionBudget"))
    ports.error = lambda: "no " * 10_000
    reconcile_for_ticks(cluster, ports, ticks=50)
    assert len(condition(cluster, "DisruptionBudgetsApplied")) < 1000
    [event] = warnings(cluster)
    assert event.endswith(ADVICE)


def test_denied_finalizer_removal_is_reported() -> None:
    cluster = running_cluster()
    cluster.delete(Delete(CLUSTER, "", ""))
    reconcile_for_ticks(cluster, DenyingPorts(cluster, of_kind("SearchCluster", Patch)), ticks=50)
    assert condition(cluster, "FinalizerRemoved").startswith(
        "False OperationDenied: stalled: cannot patch SearchCluster"
    )
    assert status(cluster)["phase"] == "Deleting"


@pytest.mark.exhaustive
def test_denied_operator_condition_does_not_stop_an_upgrade() -> None:
    cluster = running_cluster()
    key = Key("operators.coreos.com/v2", "OperatorCondition", "operators", "searchkeeper")
    metadata = {"name": key.name, "namespace": key.namespace}
    cluster.create({"apiVersion": key.api, "kind": key.kind, "metadata": metadata, "spec": {}})
    ports = DenyingPorts(edit_spec(cluster, version=NEW), of_kind("OperatorCondition"))
    denied = []
    for _ in range(400):
        outcome = reconcile_once(ports, cluster, NEWEST, operator_condition=key)
        denied += [each.action for each in outcome.denied]
        if not outcome.wrote:
            cluster.tick()
    assert set(pod_versions(cluster).values()) == {NEW}
    assert set(denied) == {""}
