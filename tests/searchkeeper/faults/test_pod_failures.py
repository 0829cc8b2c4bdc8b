"""Pods are killed, fail and lose their volumes, in any pool, at any time of an upgrade."""

from __future__ import annotations

from itertools import product

import pytest

from searchkeeper.images import image_version
from searchkeeper.kubernetes.operations import Key
from searchkeeper.opensearch.view import Color, EngineView
from searchkeeper.testing.fake_cluster import FakeCluster, FakeClusterState
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from searchkeeper.testing.fake_opensearch import get_state
from searchkeeper.testing.faults import kill_pod, kill_pod_and_volume
from tests.support.searchkeeper.fault_runs import PODS, UPGRADE, run
from tests.support.searchkeeper.operator_runs import (
    CLUSTER,
    NEWEST,
    RecordedRun,
    copy_cluster,
    node_versions,
    reconcile_for_ticks,
    run_to_known_end,
    set_pod_faults,
)


def upgrade() -> RecordedRun:
    return run(UPGRADE)


def key(pod: str) -> Key:
    return Key("v1", "Pod", CLUSTER.namespace, pod)


def is_green(state: FakeClusterState) -> bool:
    view = get_state(state.engine)
    return isinstance(view, EngineView) and view.color is Color.GREEN


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("pod", PODS)
def test_killed_pod_only_delays_the_upgrade(pod: str) -> None:
    for start in upgrade().starts:
        run_to_known_end(FakeCluster(kill_pod(start.state, key(pod))), NEWEST, upgrade().known)


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("pod", PODS)
def test_node_recovers_from_a_lost_volume_while_other_copies_exist(pod: str) -> None:
    green = [start for start in upgrade().starts if is_green(start.state)]
    assert len(green) > 20
    for start in green:
        run_to_known_end(FakeCluster(kill_pod_and_volume(start.state, key(pod))), NEWEST, upgrade().known)


@pytest.mark.parametrize("pod", PODS)
def test_evicted_pod_of_a_later_pool_keeps_its_version(pod: str) -> None:
    """S15: the new pod has the version that its pool is permitted."""
    for start in upgrade().starts:
        cluster = FakeCluster(kill_pod(start.state, key(pod)))
        cluster.tick()
        cluster.tick()
        pool = cluster.get(Key(CLUSTER.api, "SearchPool", CLUSTER.namespace, pod.rpartition("-")[0]))
        manifest = cluster.get(key(pod))
        assert pool is not None
        assert manifest is not None
        deployed = image_version(manifest["spec"]["containers"][0]["image"])
        assert deployed in ("2.19.4", pool["spec"]["engineVersion"])
        if "2.19.4" in (
            node_versions(FakeCluster(start.state)).get("data-0"),
            node_versions(FakeCluster(start.state)).get("data-1"),
        ):
            assert deployed == "2.19.4" or "data" in pod


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize(("fault", "pod"), [*product(PodFault, ("logs-data-1", "logs-managers-1"))])
def test_temporary_pod_fault_only_delays_the_upgrade(fault: PodFault, pod: str) -> None:
    for start in upgrade().starts[::4]:
        cluster = set_pod_faults(FakeCluster(start.state), **{pod.replace("-", "_"): fault})
        reconcile_for_ticks(cluster, ticks=8)
        run_to_known_end(set_pod_faults(cluster), NEWEST, upgrade().known)


@pytest.mark.exhaustive
def test_loss_of_two_managers_only_delays_the_upgrade() -> None:
    for start in upgrade().starts[::4]:
        state = kill_pod(kill_pod(start.state, key("logs-managers-0")), key("logs-managers-1"))
        run_to_known_end(FakeCluster(state), NEWEST, upgrade().known)


def test_cluster_forms_again_after_all_pods_were_killed() -> None:
    """S13: a node that waits for ready peers before it is ready never becomes ready."""
    state = copy_cluster(FakeCluster(upgrade().starts[0].state)).state
    for pod in PODS:
        state = kill_pod(state, key(pod))
    cluster = FakeCluster(state)
    run_to_known_end(cluster, NEWEST, upgrade().known)
    assert len(node_versions(cluster)) in (0, len(PODS))
