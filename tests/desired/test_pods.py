"""What is deployed starts: on the images that OpenSearch publishes, with what their entry point reads."""

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


def deployed(version: int, security: dict[str, str] | None = None) -> DesiredCluster:
    spec = decode_cluster_spec({"version": "2.19.4", "pools": POOLS, "security": security or {}})
    credentials = (("password", "Yg=="), ("username", "YQ=="))
    return DesiredCluster("logs", "search", "uid", spec, version, credentials)


def pod(this: DesiredCluster, pool: int = 0) -> dict[str, Any]:
    made = stateful_set(this, this.spec.pools[pool], "2.19.4", None)
    found: dict[str, Any] = made["spec"]["template"]["spec"]
    return found


def told(this: DesiredCluster, pool: int = 0) -> dict[str, Any]:
    return settings(pod(this, pool), settings_manifests(this), "logs-nodes-1")


@every_version
def test_a_node_reads_its_settings_and_is_told_who_it_is(version: int) -> None:
    this = deployed(version)
    assert told(this) == {
        "cluster.initial_cluster_manager_nodes": "logs-nodes-0",
        "cluster.name": "logs",
        "discovery.seed_hosts": [discovery_service(this)["metadata"]["name"]],
        "http.port": 9200,
        "network.host": "0.0.0.0",
        "node.name": "logs-nodes-1",
        "node.roles": "cluster_manager,data",
        "node.store.allow_mmap": False,
        "transport.port": 9300,
    }


@every_version
def test_a_node_that_coordinates_only_has_no_role(version: int) -> None:
    """The image hands no empty variable on, and a node that is told nothing takes every role."""
    assert told(deployed(version), 1)["node.roles"] == []


@every_version
def test_nothing_is_asked_for_that_an_api_server_does_not_keep(version: int) -> None:
    variables = pod(deployed(version), 1)["containers"][0]["env"]
    assert all(each.get("value", "something") for each in variables)


def test_the_first_version_reads_all_of_it_from_one_secret_and_no_more_than_it_needs() -> None:
    volume = mounts(pod(deployed(1)))[f"{HOME}/config/opensearch.yml"]
    assert volume["secret"] == {
        "secretName": "logs-config",
        "items": [{"key": "opensearch.yml", "path": "opensearch.yml"}],
    }


@every_version
def test_nodes_find_each_other_before_they_are_ready(version: int) -> None:
    assert discovery_service(deployed(version))["spec"]["publishNotReadyAddresses"] is True


@every_version
@pytest.mark.parametrize("security", [{}, {"credentialsSecret": "admin"}], ids=["open", "credentials-alone"])
def test_without_certificates_everything_is_plain(version: int, security: dict[str, str]) -> None:
    """Nobody is asked for a password that could be overheard."""
    this = deployed(version, security)
    made = pod(this)
    assert variables(made, "")["DISABLE_SECURITY_PLUGIN"] == "true"
    assert not [name for name in told(this) if name.startswith("plugins.")]
    assert made["containers"][0]["readinessProbe"]["httpGet"]["path"] == "/_cluster/health?local=true"
    assert "initContainers" not in made
    assert set(mounts(made)) == {f"{HOME}/config/opensearch.yml", f"{HOME}/data"}


@every_version
def test_with_certificates_everything_is_encrypted(version: int) -> None:
    this = deployed(version, TLS)
    made, given = pod(this), told(this)
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
def test_with_credentials_as_well_everybody_is_asked_who_they_are(version: int) -> None:
    this = deployed(version, USERS)
    made, given = pod(this), told(this)
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
    assert ours in [each["metadata"]["name"] for each in settings_manifests(this)]


def test_the_user_of_the_credentials_is_written_down_with_a_hash(tmp_path: Path) -> None:
    """By the image's own tool, which says more than the hash."""
    tool = tmp_path / "plugins/opensearch-security/tools/hash.sh"
    tool.parent.mkdir(parents=True)
    tool.write_text('test "$1 $2" = "-env PASSWORD"\necho "** deprecated **"\necho "hash of $PASSWORD"\n')
    [first] = pod(deployed(4, USERS))["initContainers"]
    *command, script = first["command"]
    script = script.replace(HOME, str(tmp_path)).replace("/users/", f"{tmp_path}/")
    given = {**os.environ, "USERNAME": "keeper", "PASSWORD": 'se"$cret'}
    subprocess.run([*command, script], check=True, env=given, timeout=20)
    written = (tmp_path / "internal_users.yml").read_text().replace('se"', "se'")
    assert yaml.safe_load(written)["keeper"] == {"hash": "hash of se'$cret", "backend_roles": ["admin"]}


def test_no_user_is_written_down_without_a_hash(tmp_path: Path) -> None:
    [first] = pod(deployed(4, USERS))["initContainers"]
    *command, script = first["command"]
    script = script.replace(HOME, str(tmp_path)).replace("/users/", f"{tmp_path}/")
    given = {**os.environ, "USERNAME": "keeper", "PASSWORD": "secret"}
    done = subprocess.run([*command, script], check=False, env=given, capture_output=True, timeout=20)
    assert done.returncode != 0


@every_version
def test_pods_have_no_privileges_and_their_volumes_are_writable(version: int) -> None:
    made = pod(deployed(version, USERS))
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
def test_clients_reach_what_nodes_listen_at(version: int) -> None:
    this = deployed(version)
    [port] = client_service(this)["spec"]["ports"]
    assert port["port"] == told(this)["http.port"]
    assert discovery_service(this)["spec"]["ports"][0]["port"] == told(this)["transport.port"]


def test_images_come_from_where_the_operator_was_told() -> None:
    this = deployed(4, USERS)
    mirrored = replace(this, images=Images("mirror.example.com/engine"))
    made = pod(mirrored)
    assert {each["image"] for each in (*made["initContainers"], *made["containers"])} == {
        "mirror.example.com/engine:2.19.4"
    }
