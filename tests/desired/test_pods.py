"""Pod templates: the settings, mounts and users that the OpenSearch image gets from them."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from searchkeeper.api.codec import decode_cluster_spec
from searchkeeper.desired.cluster import DesiredCluster
from searchkeeper.desired.manifests import client_service, discovery_service, stateful_set
from searchkeeper.desired.settings import settings_manifests
from searchkeeper.images import Images
from stock_image import HOME, mounts, settings, variables

VERSIONS = (1, 2, 3, 4)
TLS = {"tlsSecret": "certificates"}
USERS = {**TLS, "credentialsSecret": "admin"}
POOLS = [
    {"name": "nodes", "roles": ["cluster_manager", "data"], "replicas": 3},
    {"name": "front", "roles": ["coordinating"], "replicas": 1},
]

every_version = pytest.mark.parametrize("version", VERSIONS)


def desired_cluster(version: int, security: dict[str, str] | None = None) -> DesiredCluster:
    spec = decode_cluster_spec({"version": "2.19.4", "pools": POOLS, "security": security or {}})
    credentials = (("password", "Yg=="), ("username", "YQ=="))
    return DesiredCluster("logs", "search", "uid", spec, version, credentials)


def pod_spec(cluster: DesiredCluster, pool: int = 0) -> dict[str, Any]:
    manifest = stateful_set(cluster, cluster.spec.pools[pool], "2.19.4", None)
    spec: dict[str, Any] = manifest["spec"]["template"]["spec"]
    return spec


def node_settings(cluster: DesiredCluster, pool: int = 0) -> dict[str, Any]:
    return settings(pod_spec(cluster, pool), settings_manifests(cluster), "logs-nodes-1")


@every_version
def test_node_gets_its_settings_and_its_name(version: int) -> None:
    cluster = desired_cluster(version)
    assert node_settings(cluster) == {
        "cluster.initial_cluster_manager_nodes": "logs-nodes-0",
        "cluster.name": "logs",
        "discovery.seed_hosts": [discovery_service(cluster)["metadata"]["name"]],
        "http.port": 9200,
        "network.host": "0.0.0.0",
        "node.name": "logs-nodes-1",
        "node.roles": "cluster_manager,data",
        "node.store.allow_mmap": False,
        "transport.port": 9300,
    }


@every_version
def test_coordinating_only_node_has_no_roles(version: int) -> None:
    """The image ignores an empty variable, and a node without the setting takes every role."""
    assert node_settings(desired_cluster(version), 1)["node.roles"] == []


@every_version
def test_no_variable_has_an_empty_value(version: int) -> None:
    variables = pod_spec(desired_cluster(version), 1)["containers"][0]["env"]
    assert all(each.get("value", "something") for each in variables)


def test_version_1_mounts_only_the_settings_file_of_its_secret() -> None:
    volume = mounts(pod_spec(desired_cluster(1)))[f"{HOME}/config/opensearch.yml"]
    assert volume["secret"] == {
        "secretName": "logs-config",
        "items": [{"key": "opensearch.yml", "path": "opensearch.yml"}],
    }


@every_version
def test_discovery_service_publishes_pods_that_are_not_ready(version: int) -> None:
    assert discovery_service(desired_cluster(version))["spec"]["publishNotReadyAddresses"] is True


@every_version
@pytest.mark.parametrize("security", [{}, {"credentialsSecret": "admin"}], ids=["open", "credentials-alone"])
def test_cluster_without_tls_has_no_security_plugin(version: int, security: dict[str, str]) -> None:
    """Credentials alone have no effect: the password would be sent unencrypted."""
    cluster = desired_cluster(version, security)
    pod = pod_spec(cluster)
    assert variables(pod, "")["DISABLE_SECURITY_PLUGIN"] == "true"
    assert not [name for name in node_settings(cluster) if name.startswith("plugins.")]
    assert pod["containers"][0]["readinessProbe"]["httpGet"]["path"] == "/_cluster/health?local=true"
    assert "initContainers" not in pod
    assert set(mounts(pod)) == {f"{HOME}/config/opensearch.yml", f"{HOME}/data"}


@every_version
def test_tls_secret_enables_encryption_for_clients_and_nodes(version: int) -> None:
    cluster = desired_cluster(version, TLS)
    pod, node = pod_spec(cluster), node_settings(cluster)
    assert "DISABLE_SECURITY_PLUGIN" not in variables(pod, "")
    assert mounts(pod)[f"{HOME}/config/certificates"]["secret"] == {"secretName": "certificates"}
    for layer in ("http", "transport"):
        paths = [node[f"plugins.security.ssl.{layer}.{part}_filepath"] for part in ("pemcert", "pemkey")]
        assert paths == ["certificates/tls.crt", "certificates/tls.key"]
        assert node[f"plugins.security.ssl.{layer}.pemtrustedcas_filepath"] == "certificates/ca.crt"
    assert node["plugins.security.ssl.http.enabled"] is True
    assert node["plugins.security.ssl_only"] is True
    assert pod["containers"][0]["readinessProbe"]["tcpSocket"] == {"port": 9200}


@every_version
def test_credentials_secret_enables_authentication(version: int) -> None:
    cluster = desired_cluster(version, USERS)
    pod, node = pod_spec(cluster), node_settings(cluster)
    assert "plugins.security.ssl_only" not in node
    assert node["plugins.security.nodes_dn"] == ["CN=logs", "CN=logs,*"]
    assert node["plugins.security.allow_default_init_securityindex"] is True
    users = mounts(pod)[f"{HOME}/config/opensearch-security/internal_users.yml"]
    assert users == {"name": "users", "emptyDir": {}, "subPath": "internal_users.yml"}
    [init_container] = pod["initContainers"]
    assert init_container["image"] == pod["containers"][0]["image"]
    sources = {each["name"]: each["valueFrom"] for each in init_container["env"] if "valueFrom" in each}
    own_secret = "logs-config" if version == 1 else "logs-credentials"
    assert sources == {
        "USERNAME": {"secretKeyRef": {"name": own_secret, "key": "username"}},
        "PASSWORD": {"secretKeyRef": {"name": own_secret, "key": "password"}},
    }
    assert own_secret in [each["metadata"]["name"] for each in settings_manifests(cluster)]


def test_init_container_writes_the_user_with_the_hash_of_the_password(tmp_path: Path) -> None:
    """The tool of the image prints a warning before the hash."""
    tool = tmp_path / "plugins/opensearch-security/tools/hash.sh"
    tool.parent.mkdir(parents=True)
    tool.write_text('test "$1 $2" = "-env PASSWORD"\necho "** deprecated **"\necho "hash of $PASSWORD"\n')
    [init_container] = pod_spec(desired_cluster(4, USERS))["initContainers"]
    *command, script = init_container["command"]
    script = script.replace(HOME, str(tmp_path)).replace("/users/", f"{tmp_path}/")
    environment = {**os.environ, "USERNAME": "keeper", "PASSWORD": 'se"$cret'}
    subprocess.run([*command, script], check=True, env=environment, timeout=20)
    written = (tmp_path / "internal_users.yml").read_text().replace('se"', "se'")
    assert yaml.safe_load(written)["keeper"] == {"hash": "hash of se'$cret", "backend_roles": ["admin"]}


def test_init_container_fails_without_a_hash(tmp_path: Path) -> None:
    [init_container] = pod_spec(desired_cluster(4, USERS))["initContainers"]
    *command, script = init_container["command"]
    script = script.replace(HOME, str(tmp_path)).replace("/users/", f"{tmp_path}/")
    environment = {**os.environ, "USERNAME": "keeper", "PASSWORD": "secret"}
    result = subprocess.run([*command, script], check=False, env=environment, capture_output=True, timeout=20)
    assert result.returncode != 0


@every_version
def test_pods_are_unprivileged_and_their_volumes_are_writable(version: int) -> None:
    pod = pod_spec(desired_cluster(version, USERS))
    assert pod["securityContext"] == {
        "runAsUser": 1000,
        "runAsGroup": 1000,
        "runAsNonRoot": True,
        "fsGroup": 1000,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    for container in (*pod["initContainers"], *pod["containers"]):
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
        }


@every_version
def test_services_have_the_ports_of_the_nodes(version: int) -> None:
    cluster = desired_cluster(version)
    [port] = client_service(cluster)["spec"]["ports"]
    assert port["port"] == node_settings(cluster)["http.port"]
    assert discovery_service(cluster)["spec"]["ports"][0]["port"] == node_settings(cluster)["transport.port"]


def test_images_come_from_the_configured_registry() -> None:
    cluster = desired_cluster(4, USERS)
    mirrored = replace(cluster, images=Images("mirror.example.com/engine"))
    pod = pod_spec(mirrored)
    assert {each["image"] for each in (*pod["initContainers"], *pod["containers"])} == {
        "mirror.example.com/engine:2.19.4"
    }
