"""`config`: settings of users, without those that the operator sets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import yaml

from searchkeeper.api.codec import decode_cluster_spec
from searchkeeper.api.settings import MANAGED_SETTINGS, ZONE_SETTINGS, setting_text
from searchkeeper.api.validation import schema_errors, spec_errors
from searchkeeper.desired.cluster import DesiredCluster
from searchkeeper.desired.manifests import search_pool, stateful_set
from searchkeeper.desired.settings import settings_manifests

POOL: dict[str, Any] = {"name": "all", "roles": ["cluster_manager", "data"], "replicas": 3}
SECURITY = {"tlsSecret": "tls", "credentialsSecret": "admin"}
# Set for Kubernetes nodes with the default of Linux. Users of others may set it.
FREE = "node.store.allow_mmap"


def manifest(config: Any = None, of_pool: Any = None) -> dict[str, Any]:
    spec = {"version": "2.19.4", "config": config, "pools": [{**POOL, "config": of_pool}]}
    kind = {"apiVersion": "search.everpath.dev/v1alpha1", "kind": "SearchCluster"}
    return {**kind, "metadata": {"name": "logs"}, "spec": spec}


def desired_cluster(version: int = 5, **parts: Any) -> DesiredCluster:
    raw = {"version": "2.19.4", "pools": [POOL], **parts}
    return DesiredCluster("logs", "search", "uid", decode_cluster_spec(raw), version)


def variables(cluster: DesiredCluster) -> dict[str, str]:
    pod = stateful_set(cluster, cluster.spec.pools[0], "2.19.4", None)["spec"]["template"]["spec"]
    return {each["name"]: each.get("value", "") for each in pod["containers"][0]["env"]}


@pytest.mark.parametrize("name", sorted(MANAGED_SETTINGS))
def test_setting_of_the_operator_is_refused_by_name(name: str) -> None:
    error = f".{name}: Forbidden: the operator sets it: remove it here"
    for errors in (schema_errors, spec_errors):
        assert [*map(str, errors(manifest({name: "x"})))] == [f"spec.config{error}"]
        assert [*map(str, errors(manifest(None, {name: "x"})))] == [f"spec.pools[0].config{error}"]


@pytest.mark.parametrize("security", [{}, {"tlsSecret": "tls"}, SECURITY], ids=["open", "tls", "users"])
def test_every_setting_of_the_operator_is_refused(security: dict[str, str]) -> None:
    cluster = desired_cluster(security=security)
    config_map, _ = settings_manifests(cluster)
    in_files = {name for file in config_map["data"].values() for name in yaml.safe_load(file)}
    in_environment = {name for name in variables(cluster) if "." in name}
    assert in_files | in_environment == (in_files | in_environment) & (MANAGED_SETTINGS | {FREE})


@pytest.mark.parametrize("name", sorted(ZONE_SETTINGS))
def test_zone_settings_are_refused_beside_a_topology_key(name: str) -> None:
    error = f".{name}: Forbidden: the operator sets it because of spec.topologyKey: remove one of them"
    for path, parts in (("spec.config", ({name: "x"}, None)), ("spec.pools[0].config", (None, {name: "x"}))):
        assert not spec_errors(manifest(*parts))
        zoned = manifest(*parts)
        zoned["spec"]["topologyKey"] = "topology.kubernetes.io/zone"
        for errors in (schema_errors, spec_errors):
            assert [*map(str, errors(zoned))] == [f"{path}{error}"]


def test_every_zone_setting_is_one_of_the_operator() -> None:
    cluster = replace(desired_cluster(), topology_key="rack", is_zone_aware=True)
    assert {*variables(cluster)} - {*variables(desired_cluster())} == ZONE_SETTINGS


@pytest.mark.parametrize("name", ["cluster", "Cluster.x", "a b.c", "cluster.", "1.x", "x.{}", ""])
def test_other_names_are_no_settings(name: str) -> None:
    [error] = spec_errors(manifest({name: "x"}))
    assert "must be the whole name of a setting, with dots" in str(error)


@pytest.mark.parametrize("value", ["", [], {}, {"a": 1}, [[1]], ["a,b"], [""], "a\nb", [None]])
def test_values_that_cannot_be_passed_are_refused(value: Any) -> None:
    [error] = spec_errors(manifest({"cluster.x": value}))
    assert str(error).startswith("spec.config.cluster.x: Invalid value: must be a text, a number, ")


@pytest.mark.parametrize(
    ("value", "text"),
    [("a b", "a b"), (7, "7"), (0.5, "0.5"), (True, "true"), (False, "false"), (["a", 1, True], "a,1,true")],
)
def test_values_are_passed_as_opensearch_reads_them(value: Any, text: str) -> None:
    assert setting_text(value) == text
    assert spec_errors(manifest({"cluster.x": value})) == []


def test_nodes_get_the_settings_of_the_cluster_and_of_their_pool() -> None:
    pool = {**POOL, "config": {"cluster.x": "pool", "node.attr.disk": "ssd"}}
    cluster = desired_cluster(config={"cluster.x": "all", "cluster.y": [1, 2], FREE: True}, pools=[pool])
    expected = {"cluster.x": "pool", "cluster.y": "1,2", "node.attr.disk": "ssd", FREE: "true"}
    assert variables(cluster).items() >= expected.items()
    in_search_pool = search_pool(cluster, cluster.spec.pools[0], "2.19.4")["spec"]["config"]
    assert in_search_pool == {"cluster.x": "pool", "cluster.y": [1, 2], "node.attr.disk": "ssd", FREE: True}


def test_kubernetes_does_not_expand_a_value() -> None:
    """$$ stands for $: https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1"""
    assert variables(desired_cluster(config={"cluster.x": "$(HOME) $5"}))["cluster.x"] == "$$(HOME) $$5"


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_earlier_versions_ignore_settings_of_users(version: int) -> None:
    config = {"cluster.x": "y"}
    cluster = desired_cluster(version, config=config, pools=[{**POOL, "config": config}])
    assert variables(cluster) == variables(desired_cluster(version))
    assert "config" not in search_pool(cluster, cluster.spec.pools[0], "2.19.4")["spec"]
