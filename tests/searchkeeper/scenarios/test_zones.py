"""Zones: data nodes have one before a manager relies on it, and an unknown one is reported."""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from typing import Any

import pytest

from searchkeeper.desired.apply import LAST_APPLIED
from searchkeeper.kubernetes.operations import Key, Patch
from searchkeeper.observe import observe
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster
from tests.support.searchkeeper.operator_runs import (
    CLUSTER,
    NEWEST,
    checked_ports,
    condition,
    edit_spec,
    reconcile_steps,
    reconcile_until,
    reconcile_until_converged,
    status,
)
from tests.support.searchkeeper.operator_scenarios import RecordingPorts, pods, running_cluster, stateful_set

KEY = "topology.kubernetes.io/zone"
ZONE, AWARENESS = "node.attr.zone", "cluster.routing.allocation.awareness.attributes"
DEDICATED: tuple[dict[str, Any], ...] = (
    {"name": "managers", "roles": ["cluster_manager"], "replicas": 3},
    {"name": "data", "roles": ["data"], "replicas": 2},
)
MIXED: tuple[dict[str, Any], ...] = (
    {"name": "first", "roles": ["cluster_manager", "data"], "replicas": 2},
    {"name": "second", "roles": ["cluster_manager", "data"], "replicas": 1},
)
SHAPES = {"dedicated managers": DEDICATED, "managers with data": MIXED}

every_shape = pytest.mark.parametrize("pools", SHAPES.values(), ids=SHAPES)


def environment(pod: Any) -> dict[str, Any]:
    return {each["name"]: each for each in pod["spec"]["containers"][0]["env"]}


def with_setting(cluster: FakeCluster, name: str) -> set[str]:
    """The pods that have this setting."""
    return {pod for pod, manifest in pods(cluster).items() if name in environment(manifest)}


def with_role(cluster: FakeCluster, role: str) -> set[str]:
    roles = {pod: environment(manifest)["node.roles"]["value"] for pod, manifest in pods(cluster).items()}
    return {pod for pod, text in roles.items() if role in text.split(",")}


def check_zones(cluster: FakeCluster) -> None:
    """With an aware manager and a data node without a zone, OpenSearch allocates nothing."""
    if with_setting(cluster, AWARENESS):
        assert with_role(cluster, "data") <= with_setting(cluster, ZONE)


def label_pods(cluster: FakeCluster, zone: str) -> None:
    """Overwrite the label, as Kubernetes does when a pod is bound."""
    for name in pods(cluster):
        pod = Key("v1", "Pod", "search", f"logs-{name}")
        cluster.patch(Patch(pod, {"metadata": {"labels": {KEY: zone}}}, ""))


def replacements(cluster: FakeCluster) -> Counter[str]:
    """How often each pod is replaced until the operator is done. Checks the zones at every moment."""
    ports = RecordingPorts(checked_ports(cluster).ports)
    for current in reconcile_steps(cluster, ports=ports):
        check_zones(current)
    return Counter(key.name.removeprefix("logs-") for key in ports.deleted if key.kind == "Pod")


@every_shape
def test_new_cluster_has_zones_from_its_first_pod(pools: tuple[dict[str, Any], ...]) -> None:
    cluster = running_cluster(*pools, topologyKey=KEY)
    assert with_setting(cluster, ZONE) == {*pods(cluster)}
    assert with_setting(cluster, AWARENESS) == with_role(cluster, "cluster_manager")
    assert not replacements(cluster)


def test_key_replaces_every_pod_once_with_dedicated_managers() -> None:
    cluster = edit_spec(running_cluster(*DEDICATED), topologyKey=KEY)
    assert replacements(cluster) == Counter([*pods(cluster)])
    assert with_setting(cluster, AWARENESS) == {"managers-0", "managers-1", "managers-2"}


def test_managers_with_data_become_aware_after_all_have_a_zone() -> None:
    # Guard: zones before awareness.
    cluster = edit_spec(running_cluster(*MIXED), topologyKey=KEY)
    assert replacements(cluster) == Counter([*pods(cluster)] * 2)
    assert with_setting(cluster, AWARENESS) == with_setting(cluster, ZONE) == {*pods(cluster)}


@every_shape
def test_data_nodes_lose_the_zone_after_no_manager_is_aware(pools: tuple[dict[str, Any], ...]) -> None:
    # Guard: zones until no manager is aware.
    cluster = edit_spec(running_cluster(*pools, topologyKey=KEY), topologyKey=None)
    assert replacements(cluster) == Counter([*pods(cluster), *with_role(cluster, "cluster_manager")])
    assert not with_setting(cluster, ZONE) | with_setting(cluster, AWARENESS)
    for template in (stateful_set(cluster, each["name"]) for each in pools):
        assert template is not None
        assert KEY not in str(template["spec"]["template"])


def test_other_key_replaces_every_pod_once() -> None:
    cluster = edit_spec(running_cluster(*MIXED, topologyKey=KEY), topologyKey="topology.kubernetes.io/region")
    assert replacements(cluster) == Counter([*pods(cluster)])


def test_settings_of_users_can_replace_the_key() -> None:
    cluster = running_cluster(*DEDICATED, topologyKey=KEY)
    config = {ZONE: "a", AWARENESS: "zone"}
    edit_spec(cluster, topologyKey=None, config=config)
    replacements(cluster)
    assert {environment(pod)[ZONE]["value"] for pod in pods(cluster).values()} == {"a"}
    assert KEY not in str(stateful_set(cluster, "data"))


@pytest.mark.exhaustive
@pytest.mark.parametrize(("before", "wanted"), [(None, KEY), (KEY, None)], ids=["added", "removed"])
def test_key_changed_with_an_upgrade_is_applied_after_it(before: str | None, wanted: str | None) -> None:
    """I11."""
    # Guard: spec lock of the deployed topology key.
    cluster = running_cluster(*DEDICATED, topologyKey=before)
    for current in reconcile_steps(edit_spec(cluster, version="3.4.0", topologyKey=wanted)):
        check_zones(current)
        if status(current)["engineVersion"] != "3.4.0":
            assert with_setting(current, ZONE) == ({*pods(current)} if before else set())
    assert with_setting(cluster, ZONE) == ({*pods(cluster)} if wanted else set())


@pytest.mark.exhaustive(keep=1)
@every_shape
@pytest.mark.parametrize(("before", "wanted"), [(None, KEY), (KEY, None)], ids=["added", "removed"])
def test_upgrade_in_the_middle_of_a_change_keeps_zones_and_awareness_consistent(
    pools: tuple[dict[str, Any], ...], before: str | None, wanted: str | None
) -> None:
    cluster = edit_spec(running_cluster(*pools, topologyKey=before), topologyKey=wanted)
    uids = {pod["metadata"]["uid"] for pod in pods(cluster).values()}
    reconcile_until(
        cluster, lambda now: len({pod["metadata"]["uid"] for pod in pods(now).values()} - uids) == 1
    )
    replacements(edit_spec(cluster, version="3.4.0"))
    assert status(cluster)["engineVersion"] == "3.4.0"
    assert with_setting(cluster, ZONE) == ({*pods(cluster)} if wanted else set())


def test_upgrade_does_not_make_managers_aware() -> None:
    """It would replace nodes that it has upgraded a second time."""
    # Guard: an upgrade leaves awareness as it is.
    cluster = edit_spec(running_cluster(*MIXED), topologyKey=KEY)
    reconcile_until(cluster, lambda now: bool(with_setting(now, ZONE)))
    edit_spec(cluster, version="3.4.0")
    for current in reconcile_steps(cluster):
        if "upgrade/lock" in status(current)["ledger"]:
            assert not with_setting(current, AWARENESS)
    assert with_setting(cluster, AWARENESS) == {*pods(cluster)}


def test_unknown_zone_is_reported_and_blocks_nothing() -> None:
    cluster = running_cluster(*DEDICATED, topologyKey=KEY)
    degraded = condition(cluster, "Degraded")
    assert degraded.startswith("True ZoneUnknown: the zone of logs-managers-0, logs-managers-1, logs-")
    assert f"Kubernetes has not set their label {KEY}; since 1.35 it copies" in degraded
    assert condition(cluster, "Ready").startswith("True ")
    reconcile_until_converged(edit_spec(cluster, version="3.4.0"), NEWEST)
    assert status(cluster)["engineVersion"] == "3.4.0"


def test_zone_that_kubernetes_has_set_is_not_reported() -> None:
    cluster = running_cluster(*DEDICATED, topologyKey=KEY)
    label_pods(cluster, "eu-1a")
    reconcile_until_converged(cluster)
    assert condition(cluster, "Degraded").startswith("False ")
    assert condition(cluster, "Ready").startswith("True ")


def test_zone_in_the_pod_template_of_a_pool_is_not_reported() -> None:
    template = {"metadata": {"labels": {KEY: "eu-1a"}}}
    cluster = running_cluster(*({**each, "podTemplate": template} for each in DEDICATED), topologyKey=KEY)
    assert condition(cluster, "Degraded").startswith("False ")


def test_edit_of_a_stateful_set_does_not_change_awareness() -> None:
    cluster = running_cluster(*DEDICATED, topologyKey=KEY)
    data = stateful_set(cluster, "data")
    assert data is not None
    template = deepcopy(data["spec"]["template"])
    [container] = template["spec"]["containers"]
    container["env"] = [each for each in container["env"] if each["name"] != ZONE]
    cluster.patch(Patch(Key.of(data), {"spec": {"template": template}}, ""))
    ports = RecordingPorts(checked_ports(cluster).ports)
    for _ in reconcile_steps(cluster, ports=ports):
        pass
    assert {each.key.name for each in ports.patched if each.key.kind == "StatefulSet"} == {"logs-data"}
    assert with_setting(cluster, AWARENESS) == with_role(cluster, "cluster_manager")


@pytest.mark.parametrize("text", ["", "[]", '{"spec": {}}'])
def test_zones_of_a_stateful_set_without_its_annotation_are_the_live_ones(text: str) -> None:
    cluster = running_cluster(*DEDICATED, topologyKey=KEY)
    data = stateful_set(cluster, "data")
    assert data is not None
    cluster.patch(Patch(Key.of(data), {"metadata": {"annotations": {LAST_APPLIED: text}}}, ""))
    snapshot = observe(cluster, cluster, CLUSTER, release(NEWEST), 0)
    assert snapshot is not None
    assert {each.stateful_set.zones.topology_key for each in snapshot.pools if each.stateful_set} == {KEY}
