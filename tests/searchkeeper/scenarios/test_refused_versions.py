"""Refused versions and configurations: one event, and no change."""

from __future__ import annotations

from dataclasses import replace

import pytest

from searchkeeper.images import engine_image
from searchkeeper.kubernetes.operations import EventType, Patch
from searchkeeper.reconcile import reconcile
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from tests.support.searchkeeper.operator_runs import (
    CLUSTER,
    CountingPorts,
    add_index,
    condition,
    edit_spec,
    new_cluster,
    reconcile_for_ticks,
    reconcile_until,
    reconcile_until_converged,
    set_pod_faults,
    status,
)
from tests.support.searchkeeper.operator_scenarios import (
    RecordingPorts,
    UnreachableEnginePorts,
    add_pod_fault,
    delete_cluster,
    pod_templates,
    pod_versions,
    running_cluster,
)

REFUSED = {
    "2.17.0": "Downgrade",
    "4.0.0": "SkipsMajor",
    "3.9.0": "NewerThanOperator",
    "latest": "UnparsableVersion",
}


@pytest.mark.parametrize(("version", "reason"), REFUSED.items())
def test_refused_version_emits_one_event_and_changes_nothing(version: str, reason: str) -> None:
    """I10: no pod template changes."""
    cluster = running_cluster()
    before = pod_templates(cluster), pod_versions(cluster)
    reconcile_for_ticks(edit_spec(cluster, version=version), ticks=20)
    assert [(each.type, each.reason) for each in cluster.state.events] == [
        (EventType.WARNING, "VersionRefused")
    ]
    assert condition(cluster, "VersionAccepted").startswith(f"False {reason}: ")
    assert (pod_templates(cluster), pod_versions(cluster)) == before
    assert status(cluster)["phase"] == "Refused"
    assert status(cluster)["engineVersion"] == "2.19.4"


def test_version_below_the_floor_of_the_next_major_is_refused() -> None:
    cluster = running_cluster(version="0.2.2")
    cluster.patch_status(Patch(CLUSTER, {"status": {"engineVersion": "2.18.0"}}, ""))
    reconcile_for_ticks(edit_spec(cluster, version="3.4.0"), ticks=5)
    assert [each.reason for each in cluster.state.events] == ["VersionRefused"]
    assert condition(cluster, "VersionAccepted").startswith("False BelowFloor: ")


def test_another_refused_version_emits_another_event() -> None:
    cluster = reconcile_for_ticks(edit_spec(running_cluster(), version="9.0.0"), ticks=5)
    reconcile_for_ticks(edit_spec(cluster, version="8.0.0"), ticks=5)
    assert [each.reason for each in cluster.state.events] == ["VersionRefused", "VersionRefused"]
    assert condition(cluster, "VersionAccepted").startswith("False SkipsMajor: ")


def test_accepted_version_ends_the_refusal() -> None:
    cluster = reconcile_for_ticks(edit_spec(running_cluster(), version="9.0.0"), ticks=5)
    reconcile_until_converged(edit_spec(cluster, version="2.19.4"))
    assert status(cluster)["phase"] == "Running"
    assert not status(cluster)["ledger"]


def test_refused_version_causes_no_writes() -> None:
    """L2: no hot loop."""
    cluster = reconcile_for_ticks(edit_spec(running_cluster(), version="9.0.0"), ticks=5)
    ports = RecordingPorts(cluster)
    reconcile_for_ticks(cluster, ports, ticks=100)
    assert ports.writes == 0


@pytest.mark.parametrize("version", REFUSED)
def test_failed_upgrade_rolls_back_while_another_version_is_refused(version: str) -> None:
    cluster = running_cluster(upgrade={"rollback": "Automatic", "healthDeadlineSeconds": 60})
    add_pod_fault(cluster, engine_image("3.4.0"), PodFault.IMAGE)
    reconcile_until(
        edit_spec(cluster, version="3.4.0"), lambda cluster: "3.4.0" in pod_versions(cluster).values()
    )
    reconcile_for_ticks(edit_spec(cluster, version=version), ticks=60)
    assert set(pod_versions(cluster).values()) == {"2.19.4"}
    assert "upgrade/lock" not in status(cluster)["ledger"]
    assert status(cluster)["phase"] == "Refused"
    assert cluster.state.engine.allocation is None


@pytest.mark.parametrize("enabled", [False, True])
def test_new_cluster_of_a_refused_version_does_not_stall(enabled: bool) -> None:
    """Neither the nodes nor Dashboards are waited for."""
    deadline = {"healthDeadlineSeconds": 60}
    cluster = new_cluster(version="9.0.0", upgrade=deadline, dashboards={"enabled": enabled})
    reconcile_for_ticks(cluster, ticks=100)
    assert status(cluster)["phase"] == "Refused"
    assert [each.reason for each in cluster.state.events] == ["VersionRefused"]
    assert condition(cluster, "VersionAccepted").startswith("False NewerThanOperator: ")


def test_new_cluster_of_a_refused_version_is_not_created() -> None:
    cluster = new_cluster(version="9.9.9")
    reconcile_for_ticks(cluster, ticks=5)
    assert not pod_versions(cluster)
    assert not pod_templates(cluster)
    assert [each.reason for each in cluster.state.events] == ["VersionRefused"]
    assert condition(cluster, "VersionAccepted").startswith("False NewerThanOperator: ")


def test_new_cluster_without_joined_nodes_accepts_an_older_version() -> None:
    """S17: no node has written data that the older version cannot read."""
    cluster = add_pod_fault(new_cluster(version="2.19.9"), engine_image("2.19.9"), PodFault.IMAGE)
    reconcile_for_ticks(cluster, ticks=5)
    reconcile_until_converged(edit_spec(cluster, version="2.19.4"))
    assert set(pod_versions(cluster).values()) == {"2.19.4"}


def test_new_cluster_with_joined_nodes_refuses_an_older_version() -> None:
    """A pod that never starts keeps the cluster new: its version is not recorded."""
    cluster = set_pod_faults(new_cluster(version="3.4.0"), logs_data_1=PodFault.IMAGE)
    reconcile_until(cluster, lambda cluster: len(cluster.state.engine.nodes) > 3)
    reconcile_for_ticks(edit_spec(cluster, version="2.19.4"), ticks=20)
    assert [each.reason for each in cluster.state.events] == ["VersionRefused"]
    assert condition(cluster, "VersionAccepted").startswith("False Downgrade: ")
    assert set(pod_versions(cluster).values()) == {"3.4.0"}


def test_managers_on_ephemeral_storage_are_not_upgraded() -> None:
    managers = {
        "name": "managers",
        "roles": ["cluster_manager"],
        "replicas": 3,
        "storage": {"ephemeral": True},
    }
    cluster = running_cluster({"name": "data", "roles": ["data"], "replicas": 2}, managers)
    before = pod_templates(cluster)
    reconcile_for_ticks(edit_spec(cluster, version="3.4.0"), ticks=10)
    assert [each.reason for each in cluster.state.events] == ["VersionRefused"]
    assert condition(cluster, "VersionAccepted").startswith("False MetadataNotPersistent: ")
    assert pod_templates(cluster) == before


def with_old_index(cluster: FakeCluster, name: str = "archive", created_by: str = "1.3.14") -> FakeCluster:
    """With an index that OpenSearch 3 cannot open."""
    add_index(cluster, name)
    engine = cluster.state.engine
    indices = tuple(replace(i, created_by=created_by) if i.name == name else i for i in engine.indices)
    cluster.state = replace(cluster.state, engine=replace(engine, indices=indices))
    return cluster


def without_index(cluster: FakeCluster, name: str = "archive") -> FakeCluster:
    """A user deletes an index."""
    engine = cluster.state.engine
    indices = tuple(index for index in engine.indices if index.name != name)
    copies = tuple(copy for copy in engine.copies if copy.index != name)
    cluster.state = replace(cluster.state, engine=replace(engine, indices=indices, copies=copies))
    return cluster


@pytest.mark.exhaustive
def test_upgrade_is_refused_while_an_index_is_too_old_for_the_target() -> None:
    """The first node of the new version could not join."""
    cluster = with_old_index(running_cluster())
    before = pod_templates(cluster), pod_versions(cluster)
    reconcile_for_ticks(edit_spec(cluster, version="3.4.0"), ticks=20)
    assert [(each.type, each.reason) for each in cluster.state.events] == [
        (EventType.WARNING, "VersionRefused")
    ]
    assert condition(cluster, "VersionAccepted") == (
        "False IncompatibleIndices: 3.4.0 cannot open indices created by a version older than 2.0.0: "
        "archive (1.3.14); reindex or delete them"
    )
    assert (pod_templates(cluster), pod_versions(cluster)) == before
    assert status(cluster)["phase"] == "Refused"
    reconcile_until_converged(without_index(cluster))
    assert status(cluster)["engineVersion"] == "3.4.0"


def test_flapping_engine_with_an_old_index_emits_one_event() -> None:
    cluster = reconcile_for_ticks(edit_spec(with_old_index(running_cluster()), version="3.4.0"), ticks=3)
    for _ in range(5):
        reconcile_for_ticks(cluster, UnreachableEnginePorts(cluster), ticks=1)
        reconcile_for_ticks(cluster, ticks=1)
    assert [each.reason for each in cluster.state.events] == ["VersionRefused"]
    assert condition(cluster, "VersionAccepted").startswith("False IncompatibleIndices: ")


@pytest.mark.exhaustive
def test_old_index_that_appears_after_the_start_keeps_every_pod_until_it_is_deleted() -> None:
    cluster = edit_spec(running_cluster(), version="3.4.0")
    reconcile_until(cluster, lambda cluster: "upgrade" in status(cluster)["ledger"])
    reconcile_for_ticks(with_old_index(cluster), ticks=20)
    assert set(pod_versions(cluster).values()) == {"2.19.4"}
    assert condition(cluster, "PodsCurrent").startswith("False IncompatibleIndices: 3.4.0 cannot open")
    reconcile_until_converged(without_index(cluster))
    assert set(pod_versions(cluster).values()) == {"3.4.0"}


@pytest.mark.exhaustive
def test_target_does_not_change_to_a_version_that_cannot_open_an_index() -> None:
    cluster = edit_spec(with_old_index(running_cluster(engine="2.19.0")), version="2.19.4")
    reconcile_until(cluster, lambda cluster: "upgrade" in status(cluster)["ledger"])
    reconcile_for_ticks(edit_spec(cluster, version="3.4.0"), ticks=40)
    assert set(pod_versions(cluster).values()) == {"2.19.4"}
    assert "upgrade" not in status(cluster)["ledger"]
    assert condition(cluster, "VersionAccepted").startswith("False IncompatibleIndices: ")


@pytest.mark.parametrize(
    ("older", "supported", "releases"),
    [
        ("0.4.0", "1 to 3, 3 to 4", "0.5.0"),
        ("0.2.2", "0 to 1, 1 to 2", "0.5.0"),
    ],
)
def test_downgraded_operator_changes_nothing(older: str, supported: str, releases: str) -> None:
    """I6: the condition names the releases that support the deployed configuration."""
    cluster = running_cluster()
    objects = {key: each for key, each in cluster.state.cluster.objects.items() if key != CLUSTER}
    ports = RecordingPorts(cluster)
    reconcile_for_ticks(edit_spec(cluster, version="3.4.0"), ports, version=older, ticks=10)
    assert {key: each for key, each in cluster.state.cluster.objects.items() if key != CLUSTER} == objects
    assert status(cluster)["phase"] == "Refused"
    assert condition(cluster, "ConfigurationSupported") == (
        f"False UnsupportedConfiguration: configuration 5 is deployed; this operator supports {supported}; "
        f"these releases of the operator support it: {releases}"
    )
    assert ports.writes == 1
    reconcile_until_converged(cluster)
    assert status(cluster)["phase"] == "Running"
    assert status(cluster)["engineVersion"] == "3.4.0"


def test_unknown_configuration_is_left_unchanged() -> None:
    cluster = running_cluster()
    cluster.patch_status(Patch(CLUSTER, {"status": {"currentVersion": 9}}, ""))
    reconcile_for_ticks(cluster, ticks=3)
    assert condition(cluster, "ConfigurationSupported").endswith(
        "no release of the operator that this one knows supports it"
    )


def test_older_release_restores_engine_settings_on_deletion() -> None:
    """Every release understands the ledger."""
    cluster = edit_spec(running_cluster(), version="3.4.0")
    reconcile_until(cluster, lambda cluster: cluster.state.engine.allocation is not None)
    ports = CountingPorts(delete_cluster(cluster))
    while CLUSTER in cluster.state.cluster.objects:
        assert reconcile(ports, ports, CLUSTER, release("0.1.0"), cluster.state.now).wrote
    assert cluster.state.engine.allocation is None
