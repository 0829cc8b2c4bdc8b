"""Real OpenSearch starts with the settings that the newest configuration version deploys."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from searchkeeper.api.codec import decode_cluster_spec
from searchkeeper.desired.cluster import DesiredCluster
from searchkeeper.desired.manifests import stateful_set
from searchkeeper.desired.settings import settings_manifests
from searchkeeper.opensearch.http import Access
from searchkeeper.opensearch.http_client import OpenSearchClient
from searchkeeper.opensearch.view import EngineView, Unreachable
from searchkeeper.releases import newest
from tests.e2e.servers.loopback import HOST
from tests.e2e.servers.opensearch import (
    JAVA,
    DownloadOpenSearch,
    OpenSearchCluster,
    OpenSearchNode,
    opensearch_cluster,
)
from tests.e2e.servers.polling import wait_until
from tests.e2e.servers.probes import http_get
from tests.e2e.servers.processes import create_work_dir
from tests.support.certificates import self_signed
from tests.support.searchkeeper.stock_image import HOME as IMAGE_HOME
from tests.support.searchkeeper.stock_image import settings

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("opensearch")]

OLD, NEW, SECURED = "2.19.4", "3.4.0", "2.19.4-secured"
POOLS = {"nodes": ("cluster_manager", "data"), "front": ("coordinating",)}
# As during an upgrade: both versions read the same opensearch.yml.
NODES = {"logs-nodes-0": OLD, "logs-nodes-1": OLD, "logs-nodes-2": NEW, "logs-front-0": NEW}
# Settings of the user: a number and a list, which OpenSearch gets as environment variables.
CONFIG = {
    "indices.query.bool.max_clause_count": 2048,
    "script.allowed_types": ["inline", "stored"],
}


# By name of the node: what Kubernetes sets as a label of its pod.
ZONE_KEY = "topology.kubernetes.io/zone"
ZONES = {"logs-nodes-0": "a", "logs-nodes-1": "b", "logs-nodes-2": "unknown", "logs-front-0": "a"}


def desired_cluster(**security: str) -> DesiredCluster:
    pools = [{"name": name, "roles": [*roles], "replicas": 3} for name, roles in POOLS.items()]
    spec = decode_cluster_spec({"version": NEW, "pools": pools, "security": security, "config": CONFIG})
    cluster = DesiredCluster("logs", "search", "uid", spec, max(newest().configurations))
    return replace(cluster, topology_key=ZONE_KEY, is_zone_aware=True)


def pod_spec(desired: DesiredCluster, name: str) -> Mapping[str, Any]:
    [pool] = [each for each in desired.spec.pools if name.startswith(f"logs-{each.name}-")]
    found: Mapping[str, Any] = stateful_set(desired, pool, desired.spec.version, None)["spec"]["template"][
        "spec"
    ]
    return found


def node_settings(
    desired: DesiredCluster, node: OpenSearchNode, members: Sequence[OpenSearchNode]
) -> Mapping[str, Any]:
    """Return the settings that the entry point of the pod passes, with local addresses and ports."""
    labels = {ZONE_KEY: ZONES[node.name]}
    deployed = settings(pod_spec(desired, node.name), settings_manifests(desired), node.name, labels)
    local = {
        "network.host": HOST,
        "http.port": node.http,
        "transport.port": node.transport,
        "discovery.seed_hosts": [f"{HOST}:{each.transport}" for each in members],
    }
    assert set(local) <= set(deployed)
    return {**deployed, **local}


def test_nodes_start_with_the_deployed_settings_and_form_a_cluster(
    opensearch: DownloadOpenSearch, tmp_path: Path
) -> None:
    """The first node is a cluster of its own before the others start, like a pool with one node."""
    tools = opensearch(OLD, NEW)
    desired = desired_cluster()
    members = [(name, pool_roles(name)) for name in NODES]
    with (
        create_work_dir(tmp_path) as work_dir,
        opensearch_cluster(work_dir, tools, members, partial(node_settings, desired)) as nodes,
    ):
        first, *others = NODES
        nodes.start(first, OLD)
        nodes.wait_for_nodes(1)
        for name in others:
            nodes.start(name, NODES[name])
        nodes.wait_for_nodes(len(NODES))
        for name in NODES:
            wait_until(f"{name} is ready", partial(is_ready, nodes, desired, name), 60)
        assert roles(nodes) == {name: set(pool_roles(name)) - {"coordinating"} for name in NODES}
        for name, value in CONFIG.items():
            assert effective_values(nodes, name) == [value] * len(NODES)
        assert zones(nodes) == ZONES
        assert zone_aware(nodes) == {name for name in NODES if "cluster_manager" in pool_roles(name)}


def test_nodes_with_security_form_a_cluster_and_accept_the_credentials_of_the_operator(
    opensearch: DownloadOpenSearch, tmp_path: Path
) -> None:
    """With the real security plugin, which rejects requests without a password."""
    tools = opensearch(SECURED)
    desired = desired_cluster(tlsSecret="certificates", credentialsSecret="admin")
    certificate, key = (Path(each) for each in self_signed(tmp_path, desired.name))
    members = [(name, POOLS["nodes"]) for name in ("logs-nodes-0", "logs-nodes-1")]
    with (
        create_work_dir(tmp_path) as work_dir,
        opensearch_cluster(work_dir, tools, members, partial(node_settings, desired)) as nodes,
    ):
        for name, _ in members:
            folder = nodes.home(name) / "config"
            mount_certificates(folder / "certificates", certificate, key)
            shutil.copytree(
                tools / f"opensearch-{SECURED}/config/opensearch-security", folder / "opensearch-security"
            )
            write_users(pod_spec(desired, name), tools, folder / "opensearch-security")
            nodes.start(name, SECURED)
        access = Access(nodes.url.replace("http:", "https:"), "keeper", "s3cret", certificate.read_text())
        wait_until("both have joined", lambda: node_names(access) == {name for name, _ in members}, 120)
        anonymous = OpenSearchClient(replace(access, username="", password="")).get_state()
        assert isinstance(anonymous, Unreachable)
        assert "401" in anonymous.cause
        wait_until("the probe succeeds", lambda: probe_succeeds(desired, nodes), 60)
    assert not probe_succeeds(desired, nodes)


def mount_certificates(folder: Path, certificate: Path, key: Path) -> None:
    """Mount a Secret like a kubelet, with a symbolic link that is replaced atomically."""
    (folder / "..first").mkdir(parents=True)
    (folder / "..data").symlink_to("..first")
    for name, source in {"tls.crt": certificate, "tls.key": key, "ca.crt": certificate}.items():
        shutil.copy(source, folder / "..first" / name)
        (folder / name).symlink_to(f"..data/{name}")


def write_users(pod: Mapping[str, Any], tools: Path, folder: Path) -> None:
    """Run the script of the init container."""
    [first] = pod["initContainers"]
    *command, script = first["command"]
    script = script.replace(IMAGE_HOME, str(tools / f"opensearch-{SECURED}")).replace("/users/", f"{folder}/")
    variables = {"OPENSEARCH_JAVA_HOME": str(tools / JAVA), "USERNAME": "keeper", "PASSWORD": "s3cret"}
    subprocess.run([*command, script], check=True, env={**os.environ, **variables}, timeout=60)


def node_names(access: Access) -> set[str]:
    view = OpenSearchClient(access).get_state()
    return {each.name for each in view.nodes} if isinstance(view, EngineView) else set()


def pool_roles(name: str) -> tuple[str, ...]:
    return POOLS[name.split("-")[1]]


def is_ready(nodes: OpenSearchCluster, desired: DesiredCluster, name: str) -> bool:
    """Send the request of the readiness probe."""
    probe = pod_spec(desired, name)["containers"][0]["readinessProbe"]["httpGet"]
    [port] = [each.http for each in nodes.members if each.name == name]
    return http_get(f"http://{HOST}:{port}{probe['path']}") is not None


def effective_values(nodes: OpenSearchCluster, setting: str) -> list[Any]:
    """Return the value of a setting on each node, as number or list."""
    path = f"{nodes.url}/_nodes/settings?flat_settings"
    found = json.loads(http_get(path) or "{}")["nodes"].values()
    values = [each["settings"][setting] for each in found]
    parsed = [each.split(",") if isinstance(each, str) and "," in each else each for each in values]
    return [int(each) if isinstance(each, str) else each for each in parsed]


def probe_succeeds(desired: DesiredCluster, nodes: OpenSearchCluster) -> bool:
    """Run the command of the readiness probe, which has no credentials."""
    member = nodes.members[0]
    *command, script = pod_spec(desired, member.name)["containers"][0]["readinessProbe"]["exec"]["command"]
    script = script.replace("localhost:9200", f"{HOST}:{member.http}")
    return subprocess.run([*command, script], check=False, timeout=60).returncode == 0


def zones(nodes: OpenSearchCluster) -> dict[str, str | None]:
    found = json.loads(http_get(f"{nodes.url}/_nodes") or "{}")["nodes"].values()
    return {each["name"]: each["attributes"].get("zone") for each in found}


def zone_aware(nodes: OpenSearchCluster) -> set[str]:
    """Return the nodes that would spread shards over zones."""
    found = json.loads(http_get(f"{nodes.url}/_nodes/settings?flat_settings") or "{}")["nodes"].values()
    setting = "cluster.routing.allocation.awareness.attributes"
    return {each["name"] for each in found if each["settings"].get(setting) == "zone"}


def roles(nodes: OpenSearchCluster) -> dict[str, set[str]]:
    found = json.loads(http_get(f"{nodes.url}/_nodes") or "{}")["nodes"].values()
    return {each["name"]: set(each["roles"]) for each in found}
