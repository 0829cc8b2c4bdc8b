"""Pod templates and settings of users: a change rolls pods like any other, an invalid one changes nothing."""

from __future__ import annotations

from typing import Any

from searchkeeper.kubernetes.api import Rejected
from searchkeeper.kubernetes.operations import Manifest, Patch
from searchkeeper.testing.fake_cluster import FakeCluster
from tests.support.searchkeeper.operator_runs import (
    condition,
    edit_spec,
    reconcile_for_ticks,
    reconcile_steps,
    reconcile_until_converged,
    status,
)
from tests.support.searchkeeper.operator_scenarios import RecordingPorts, pods, running_cluster

MANAGERS = {"name": "managers", "roles": ["cluster_manager"], "replicas": 3}
DATA = {"name": "data", "roles": ["data"], "replicas": 2}
SELECTED: dict[str, Any] = {"spec": {"nodeSelector": {"disk": "ssd"}}}


def uids(cluster: FakeCluster) -> dict[str, str]:
    return {name: each["metadata"]["uid"] for name, each in pods(cluster).items()}


def with_data(cluster: FakeCluster, **parts: Any) -> FakeCluster:
    return edit_spec(cluster, pools=[MANAGERS, {**DATA, **parts}])


def test_changed_template_replaces_the_pods_of_its_pool_one_by_one() -> None:
    cluster = running_cluster(MANAGERS, DATA)
    before = uids(cluster)
    for current in reconcile_steps(with_data(cluster, podTemplate=SELECTED)):
        assert len(pods(current)) >= 4
    after = uids(cluster)
    assert {name for name in before if before[name] != after[name]} == {"data-0", "data-1"}
    selectors = {name: each["spec"].get("nodeSelector") for name, each in pods(cluster).items()}
    assert selectors["data-0"] == selectors["data-1"] == {"disk": "ssd"}
    assert selectors["managers-0"] is None


def test_removed_template_is_undone() -> None:
    cluster = running_cluster(MANAGERS, {**DATA, "podTemplate": SELECTED})
    with_data(cluster, podTemplate=None)
    reconcile_until_converged(cluster)
    assert not any("nodeSelector" in each["spec"] for each in pods(cluster).values())


def test_template_that_comes_with_an_upgrade_is_applied_after_it() -> None:
    """I11."""
    cluster = running_cluster(MANAGERS, DATA)
    edit_spec(cluster, version="3.4.0", pools=[MANAGERS, {**DATA, "podTemplate": SELECTED}])
    for current in reconcile_steps(cluster):
        if status(current)["engineVersion"] != "3.4.0":
            assert not any("nodeSelector" in each["spec"] for each in pods(current).values())
    assert pods(cluster)["data-0"]["spec"]["nodeSelector"] == {"disk": "ssd"}


def test_upgrade_keeps_the_template() -> None:
    cluster = running_cluster(MANAGERS, {**DATA, "podTemplate": SELECTED})
    for current in reconcile_steps(edit_spec(cluster, version="3.4.0")):
        assert all(
            each["spec"]["nodeSelector"] == {"disk": "ssd"}
            for name, each in pods(current).items()
            if name.startswith("data")
        )
    assert status(cluster)["engineVersion"] == "3.4.0"


def test_template_that_the_operator_refuses_changes_nothing() -> None:
    cluster = running_cluster(MANAGERS, DATA)
    before = uids(cluster)
    with_data(cluster, podTemplate={"spec": {"containers": [{"name": "opensearch", "image": "mine"}]}})
    reconcile_for_ticks(cluster, ticks=5)
    assert condition(cluster, "SpecValid").startswith(
        "False InvalidSpec: invalid spec: spec.pools[1].podTemplate.spec.containers[0].image: Forbidden: "
    )
    assert uids(cluster) == before


class StrictPorts(RecordingPorts):
    """Ports to an API server that validates tolerations."""

    def patch(self, patch: Patch) -> Manifest:
        if "tolerations" in str(patch.changes.get("spec")) and patch.key.kind == "StatefulSet":
            raise Rejected(
                'StatefulSet.apps "logs-data" is invalid: tolerations[0].operator: Unsupported value: "Is"'
            )
        return super().patch(patch)


def test_template_that_the_api_server_rejects_is_reported_with_its_message() -> None:
    cluster = running_cluster(MANAGERS, DATA)
    before = uids(cluster)
    with_data(cluster, podTemplate={"spec": {"tolerations": [{"operator": "Is"}]}})
    reconcile_for_ticks(cluster, StrictPorts(cluster), ticks=5)
    message = condition(cluster, "PoolsConverged")
    assert message.startswith("False OperationDenied: ")
    assert 'tolerations[0].operator: Unsupported value: "Is"' in message
    assert uids(cluster) == before


def settings_of(cluster: FakeCluster, pod: str) -> dict[str, str]:
    [container] = pods(cluster)[pod]["spec"]["containers"]
    return {each["name"]: each.get("value", "") for each in container["env"]}


def test_changed_setting_of_the_cluster_replaces_every_pod() -> None:
    cluster = running_cluster(MANAGERS, DATA)
    before = uids(cluster)
    reconcile_until_converged(edit_spec(cluster, config={"cluster.x": "y"}))
    assert not before.items() & uids(cluster).items()
    assert settings_of(cluster, "data-0")["cluster.x"] == "y"


def test_changed_setting_of_a_pool_replaces_its_pods_only() -> None:
    cluster = running_cluster(MANAGERS, DATA)
    before = uids(cluster)
    reconcile_until_converged(with_data(cluster, config={"node.attr.disk": "ssd"}))
    after = uids(cluster)
    assert {name for name in before if before[name] != after[name]} == {"data-0", "data-1"}


def test_upgrade_keeps_the_settings_that_nodes_have() -> None:
    """I11: settings of the cluster that come with the version are applied after the upgrade."""
    cluster = running_cluster(MANAGERS, DATA, config={"cluster.x": "old"})
    for current in reconcile_steps(edit_spec(cluster, version="3.4.0", config={"cluster.x": "new"})):
        if status(current)["engineVersion"] != "3.4.0":
            assert {settings_of(current, pod)["cluster.x"] for pod in pods(current)} == {"old"}
    assert {settings_of(cluster, pod)["cluster.x"] for pod in pods(cluster)} == {"new"}
