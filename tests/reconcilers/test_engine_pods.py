"""Manifests of the engine: they start on the images that OpenSearch publishes."""

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
from searchkeeper.desired.settings import configuration_objects
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


def desired(version: int, security: dict[str, str] | None = None) -> DesiredCluster:
    spec = decode_cluster_spec({"version": "2.19.4", "pools": POOLS, "security": security or {}})
    credentials = (("password", "Yg=="), ("username", "YQ=="))
    return DesiredCluster("logs", "search", "uid", spec, version, credentials)


def pod(cluster: DesiredCluster, pool: int = 0) -> dict[str, Any]:
    made = stateful_set(cluster, cluster.spec.pools[pool], "2.19.4", None)
    found: dict[str, Any] = made["spec"]["template"]["spec"]
    return found


def node_settings(cluster: DesiredCluster, pool: int = 0) -> dict[str, Any]:
    return settings(pod(cluster, pool), configuration_objects(cluster), "logs-nodes-1")


@every_version
def test_node_reads_its_settings_name_and_roles(version: int) -> None:
    cluster = desired(version)
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
def test_coordinating_node_has_an_empty_role_list(version: int) -> None:
    """The image ignores an empty variable, and a node without the setting takes every role."""
    assert node_settings(desired(version), 1)["node.roles"] == []


@every_version
def test_no_variable_has_an_empty_value(version: int) -> None:
    variables = pod(desired(version), 1)["containers"][0]["env"]
    assert all(each.get("value", "something") for each in variables)


def test_version_1_mounts_only_opensearch_yml_of_its_secret() -> None:
    volume = mounts(pod(desired(1)))[f"{HOME}/config/opensearch.yml"]
    assert volume["secret"] == {
        "secretName": "logs-config",
        "items": [{"key": "opensearch.yml", "path": "opensearch.yml"}],
    }


@every_version
def test_discovery_service_publishes_addresses_that_are_not_ready(version: int) -> None:
    assert discovery_service(desired(version))["spec"]["publishNotReadyAddresses"] is True


@every_version
@pytest.mark.parametrize("security", [{}, {"credentialsSecret": "admin"}], ids=["open", "credentials-alone"])
def test_without_certificates_the_security_plugin_is_off(version: int, security: dict[str, str]) -> None:
    """No password is sent over a connection that is not encrypted."""
    cluster = desired(version, security)
    made = pod(cluster)
    assert variables(made, "")["DISABLE_SECURITY_PLUGIN"] == "true"
    assert not [name for name in node_settings(cluster) if name.startswith("plugins.")]
    assert made["containers"][0]["readinessProbe"]["httpGet"]["path"] == "/_cluster/health?local=true"
    assert "initContainers" not in made
    assert set(mounts(made)) == {f"{HOME}/config/opensearch.yml", f"{HOME}/data"}


@every_version
def test_with_certificates_http_and_transport_are_encrypted(version: int) -> None:
    cluster = desired(version, TLS)
    made, given = pod(cluster), node_settings(cluster)
    assert "DISABLE_SECURITY_PLUGIN" not in variables(made, "")
    assert mounts(made)[f"{HOME}/config/certificates"]["secret"] == {"secretName": "certificates"}
    for layer in ("http", "transport"):
        paths = [given[f"plugins.security.ssl.{layer}.{part}_filepath"] for part in ("pemcert", "pemkey")]
        assert paths == ["certificates/tls.crt", "certificates/tls.key"]
        assert given[f"plugins.security.ssl.{layer}.pemtrustedcas_filepath"] == "certificates/ca.crt"
    assert given["plugins.security.ssl.http.enabled"] is True
    assert given["plugins.security.ssl_only"] is True
    assert made["containers"][0]["readinessProbe"]["tcpSocket"] == {"port": 9200}


@every_version
def test_with_credentials_clients_authenticate(version: int) -> None:
    cluster = desired(version, USERS)
    made, given = pod(cluster), node_settings(cluster)
    assert "plugins.security.ssl_only" not in given
    assert given["plugins.security.nodes_dn"] == ["CN=logs", "CN=logs,*"]
    assert given["plugins.security.allow_default_init_securityindex"] is True
    users = mounts(made)[f"{HOME}/config/opensearch-security/internal_users.yml"]
    assert users == {"name": "users", "emptyDir": {}, "subPath": "internal_users.yml"}
    [first] = made["initContainers"]
    assert first["image"] == made["containers"][0]["image"]
    sources = {each["name"]: each["valueFrom"] for each in first["env"] if "valueFrom" in each}
    ours = "logs-config" if version == 1 else "logs-credentials"
    assert sources == {
        "USERNAME": {"secretKeyRef": {"name": ours, "key": "username"}},
        "PASSWORD": {"secretKeyRef": {"name": ours, "key": "password"}},
    }
    assert ours in [each["metadata"]["name"] for each in configuration_objects(cluster)]


def test_init_container_hashes_the_password(tmp_path: Path) -> None:
    """The tool of the image prints more than the hash."""
    tool = tmp_path / "plugins/opensearch-security/tools/hash.sh"
    tool.parent.mkdir(parents=True)
    tool.write_text('test "$1 $2" = "-env PASSWORD"\necho "** deprecated **"\necho "hash of $PASSWORD"\n')
    [first] = pod(desired(4, USERS))["initContainers"]
    *command, script = first["command"]
    script = script.replace(HOME, str(tmp_path)).replace("/users/", f"{tmp_path}/")
    given = {**os.environ, "USERNAME": "keeper", "PASSWORD": 'se"$cret'}
    subprocess.run([*command, script], check=True, env=given, timeout=20)
    written = (tmp_path / "internal_users.yml").read_text().replace('se"', "se'")
    assert yaml.safe_load(written)["keeper"] == {"hash": "hash of se'$cret", "backend_roles": ["admin"]}


def test_init_container_fails_without_a_hash(tmp_path: Path) -> None:
    [first] = pod(desired(4, USERS))["initContainers"]
    *command, script = first["command"]
    script = script.replace(HOME, str(tmp_path)).replace("/users/", f"{tmp_path}/")
    given = {**os.environ, "USERNAME": "keeper", "PASSWORD": "secret"}
    done = subprocess.run([*command, script], check=False, env=given, capture_output=True, timeout=20)
    assert done.returncode != 0


@every_version
def test_pods_are_unprivileged_and_volumes_writable(version: int) -> None:
    made = pod(desired(version, USERS))
    assert made["securityContext"] == {
        "runAsUser": 1000,
        "runAsGroup": 1000,
        "runAsNonRoot": True,
        "fsGroup": 1000,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    for container in (*made["initContainers"], *made["containers"]):
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
        }


@every_version
def test_services_have_the_ports_of_the_nodes(version: int) -> None:
    cluster = desired(version)
    [port] = client_service(cluster)["spec"]["ports"]
    assert port["port"] == node_settings(cluster)["http.port"]
    assert discovery_service(cluster)["spec"]["ports"][0]["port"] == node_settings(cluster)["transport.port"]


def test_engine_images_come_from_the_configured_registry() -> None:
    cluster = desired(4, USERS)
    mirrored = replace(cluster, images=Images("mirror.example.com/engine"))
    made = pod(mirrored)
    assert {each["image"] for each in (*made["initContainers"], *made["containers"])} == {
        "mirror.example.com/engine:2.19.4"
    }
