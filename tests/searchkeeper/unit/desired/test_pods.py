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
from searchkeeper.desired.dashboards import dashboards_deployment
from searchkeeper.desired.manifests import client_service, discovery_service, stateful_set
from searchkeeper.desired.names import TEMPLATE
from searchkeeper.desired.settings import settings_manifests
from searchkeeper.images import Images
from tests.support.searchkeeper.stock_image import HOME, mounts, settings, variables

VERSIONS = (1, 2, 3, 4, 5)
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
    probe = pod["containers"][0]["readinessProbe"]
    assert probe.get("tcpSocket") == ({"port": 9200} if version < 5 else None)
    assert ("exec" in probe) == (version >= 5)


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
    fixed_user = {"runAsUser": 1000, "runAsGroup": 1000} if version < 5 else {}
    assert pod["securityContext"] == {
        **fixed_user,
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


@pytest.mark.parametrize(
    ("status", "is_ready"), [("200", True), ("401", True), ("503", False), ("000", False)]
)
def test_node_with_tls_is_ready_when_it_answers_whether_or_not_a_login_is_needed(
    status: str, is_ready: bool, tmp_path: Path
) -> None:
    """503 is a security plugin that has not loaded its users yet, 000 is no answer."""
    curl = tmp_path / "curl"
    curl.write_text(f"#!/bin/sh\nprintf {status}\n")
    curl.chmod(0o755)
    command = pod_spec(desired_cluster(5, TLS))["containers"][0]["readinessProbe"]["exec"]["command"]
    path = f"{tmp_path}:{os.environ['PATH']}"
    result = subprocess.run(command, check=False, env={**os.environ, "PATH": path}, timeout=20)
    assert (result.returncode == 0) == is_ready


@pytest.mark.parametrize("security", [{}, TLS, USERS], ids=["open", "tls", "users"])
def test_node_that_listens_is_alive_and_may_take_half_an_hour_to_start(security: dict[str, str]) -> None:
    """A node that waits for a manager does not answer requests, but must not be restarted."""
    container = pod_spec(desired_cluster(5, security))["containers"][0]
    startup, liveness = container["startupProbe"], container["livenessProbe"]
    assert startup["tcpSocket"] == liveness["tcpSocket"] == {"port": 9200}
    assert startup["periodSeconds"] * startup["failureThreshold"] == 1800


def test_nodes_of_a_pool_prefer_different_hosts() -> None:
    cluster = desired_cluster(5)
    [term] = pod_spec(cluster)["affinity"]["podAntiAffinity"][
        "preferredDuringSchedulingIgnoredDuringExecution"
    ]
    assert term["podAffinityTerm"] == {
        "topologyKey": "kubernetes.io/hostname",
        "labelSelector": {"matchLabels": cluster.labels("nodes")},
    }
    assert "affinity" not in pod_spec(desired_cluster(4))


def template_digest(cluster: DesiredCluster) -> str:
    manifest = stateful_set(cluster, cluster.spec.pools[0], "2.19.4", None)
    return str(manifest["metadata"]["annotations"][TEMPLATE])


def test_another_certificate_makes_pods_outdated_from_version_5_on() -> None:
    for version in VERSIONS:
        cluster = replace(desired_cluster(version, TLS), certificates="one")
        renewed = replace(cluster, certificates="other")
        assert (template_digest(cluster) != template_digest(renewed)) == (version >= 5)


@pytest.mark.parametrize(
    ("security", "path"), [({}, "/api/status"), (TLS, "/api/status"), (USERS, "/app/login")]
)
def test_dashboards_are_ready_when_a_page_without_login_answers(security: dict[str, str], path: str) -> None:
    manifest = dashboards_deployment(desired_cluster(5, security), "2.19.4")
    [container] = manifest["spec"]["template"]["spec"]["containers"]
    assert container["readinessProbe"]["httpGet"] == {"path": path, "port": 5601}
    assert container["livenessProbe"]["tcpSocket"] == {"port": 5601}


def test_dashboards_are_rolled_by_another_ca_certificate_only() -> None:
    def template(certificates: str, ca_certificate: str) -> Any:
        cluster = desired_cluster(5, TLS)
        digests = replace(cluster, certificates=certificates, ca_certificate=ca_certificate)
        return dashboards_deployment(digests, "2.19.4")["spec"]["template"]

    assert template("one", "ca") == template("two", "ca") != template("two", "other")


ENTRIES = {"s3.client.default.access_key": "id", "s3.client.default.secret_key": "se cret"}


def with_tools(folder: Path) -> Path:
    """Stands for the image: its tools write down how they are called, and make a file."""
    for name in ("bin", "config", "plugins/opensearch-security", "copied", "entries", "keystore"):
        (folder / name).mkdir(parents=True)
    record = 'cd "${0%/*}"/..; printf "%s|" "$@" >> calls; echo >> calls'
    for name, made in (("keystore", "config/opensearch.keystore"), ("plugin", "plugins/new")):
        tool = folder / f"bin/opensearch-{name}"
        tool.write_text(f"#!/bin/bash\n{record}\ntouch {made}\n")
        tool.chmod(0o755)
    return folder


def run_in(folder: Path, container: dict[str, Any]) -> list[str]:
    """Run an init container in a folder with the tools of the image; return how they were called."""
    bash, option, script, *arguments = container["command"]
    moved = {HOME: str(folder), " /plugins/": f" {folder}/copied/"}
    moved |= {"/keystore-entries/": f"{folder}/entries/", " /keystore/": f" {folder}/keystore/"}
    for before, after in moved.items():
        script = script.replace(before, after)
    arguments = [each.replace("$$", "$") for each in arguments]
    subprocess.run([bash, option, script, *arguments], check=True, timeout=20)
    return (folder / "calls").read_text().splitlines()


def cluster_with(**parts: Any) -> DesiredCluster:
    spec = decode_cluster_spec({"version": "2.19.4", "pools": POOLS, **parts})
    return DesiredCluster("logs", "search", "uid", spec, 5)


def test_plugins_are_installed_beside_those_of_the_image(tmp_path: Path) -> None:
    pod = pod_spec(cluster_with(plugins=["analysis-icu", "file:/x-{version}.zip", "a$(b)"]))
    [container] = pod["initContainers"]
    folder = with_tools(tmp_path)
    assert run_in(folder, container) == [
        "install|--batch|analysis-icu|",
        "install|--batch|file:/x-2.19.4.zip|",
        "install|--batch|a$(b)|",
    ]
    assert {each.name for each in (folder / "copied").iterdir()} == {"opensearch-security", "new"}
    assert container["image"] == pod["containers"][0]["image"]
    assert mounts(pod)[f"{HOME}/plugins"]["emptyDir"] == {}


def test_entries_of_a_secret_become_those_of_the_keystore(tmp_path: Path) -> None:
    pod = pod_spec(cluster_with(keystoreSecret="secure"))
    [container] = pod["initContainers"]
    folder = with_tools(tmp_path)
    for name, text in ENTRIES.items():
        (folder / "entries" / name).write_text(text)
    assert run_in(folder, container) == [
        "create|",
        "|".join(["add-file", *(f"{name}|{folder}/entries/{name}" for name in sorted(ENTRIES)), ""]),
    ]
    assert (folder / "keystore/opensearch.keystore").exists()
    keystore = mounts(pod)[f"{HOME}/config/opensearch.keystore"]
    assert (keystore["emptyDir"], keystore["subPath"]) == ({}, "opensearch.keystore")
    [entries] = [each for each in pod["volumes"] if each["name"] == "keystore-entries"]
    assert entries["secret"] == {"secretName": "secure"}


def test_tool_that_fails_keeps_the_node_from_starting(tmp_path: Path) -> None:
    folder = with_tools(tmp_path)
    for name in ("keystore", "plugin"):
        (folder / f"bin/opensearch-{name}").write_text("#!/bin/bash\nexit 1\n")
    for container in pod_spec(cluster_with(plugins=["x"], keystoreSecret="secure"))["initContainers"]:
        with pytest.raises(subprocess.CalledProcessError):
            run_in(folder, container)


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_earlier_versions_have_neither_plugins_nor_keystore(version: int) -> None:
    cluster = replace(
        cluster_with(plugins=["x"], keystoreSecret="secure"), version=version, keystore="digest"
    )
    assert template_digest(cluster) == template_digest(replace(cluster_with(), version=version))


def test_secret_without_entries_gives_an_empty_keystore(tmp_path: Path) -> None:
    [container] = pod_spec(cluster_with(keystoreSecret="secure"))["initContainers"]
    assert run_in(with_tools(tmp_path), container) == ["create|"]


ZONE_KEY = "topology.kubernetes.io/zone"
ZONE, AWARENESS = "node.attr.zone", "cluster.routing.allocation.awareness.attributes"


def with_zones(**parts: Any) -> DesiredCluster:
    return replace(cluster_with(**parts), topology_key=ZONE_KEY, is_zone_aware=True)


def template(cluster: DesiredCluster, pool: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = stateful_set(cluster, cluster.spec.pools[pool], "2.19.4", None)["spec"][
        "template"
    ]
    return found


def test_zone_of_a_node_is_that_of_its_label() -> None:
    cluster = with_zones()
    objects = settings_manifests(cluster)
    for pool in (0, 1):
        given = settings(pod_spec(cluster, pool), objects, "x", {ZONE_KEY: "eu-1a"})
        assert given[ZONE] == "eu-1a"
        assert given.get(AWARENESS) == ("zone" if cluster.spec.pools[pool].votes else None)


def test_managers_that_are_not_aware_have_a_zone() -> None:
    cluster = replace(with_zones(), is_zone_aware=False)
    given = settings(pod_spec(cluster), settings_manifests(cluster), "x", {ZONE_KEY: "eu-1a"})
    assert (given[ZONE], given.get(AWARENESS)) == ("eu-1a", None)


def test_label_of_the_zone_is_never_missing() -> None:
    """The image drops an empty variable, and OpenSearch allocates no shards to a node without a zone."""
    cluster = with_zones()
    assert template(cluster)["metadata"]["labels"] == {
        ZONE_KEY: "unknown",
        **cluster.labels("nodes"),
    }


def test_label_of_the_zone_can_be_that_of_the_user() -> None:
    labelled = {**POOLS[0], "podTemplate": {"metadata": {"labels": {ZONE_KEY: "eu-1a"}}}}
    assert template(with_zones(pools=[labelled]))["metadata"]["labels"][ZONE_KEY] == "eu-1a"


def test_nodes_of_a_pool_prefer_the_zone_with_the_fewest() -> None:
    cluster = with_zones()
    assert pod_spec(cluster)["topologySpreadConstraints"] == [
        {
            "maxSkew": 1,
            "topologyKey": ZONE_KEY,
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": cluster.labels("nodes")},
        }
    ]


def test_constraints_of_the_user_replace_that_of_the_operator() -> None:
    own = {"maxSkew": 2, "topologyKey": "rack", "whenUnsatisfiable": "DoNotSchedule"}
    pool = {**POOLS[0], "podTemplate": {"spec": {"topologySpreadConstraints": [own]}}}
    assert pod_spec(with_zones(pools=[pool]))["topologySpreadConstraints"] == [own]


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_earlier_versions_have_no_zones(version: int) -> None:
    cluster = replace(with_zones(topologyKey=ZONE_KEY), version=version)
    assert template_digest(cluster) == template_digest(replace(cluster_with(), version=version))
