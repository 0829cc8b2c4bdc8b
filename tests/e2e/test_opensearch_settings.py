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

from certificates import self_signed
from e2e.servers.loopback import HOST
from e2e.servers.opensearch import (
    JAVA,
    DownloadOpenSearch,
    OpenSearchCluster,
    OpenSearchNode,
    opensearch_cluster,
)
from e2e.servers.polling import wait_until
from e2e.servers.probes import http_get
from e2e.servers.processes import create_work_dir
from searchkeeper.api.codec import decode_cluster_spec
from searchkeeper.desired.cluster import DesiredCluster
from searchkeeper.desired.manifests import stateful_set
from searchkeeper.desired.settings import settings_manifests
from searchkeeper.opensearch.http import Access
from searchkeeper.opensearch.http_client import OpenSearchClient
from searchkeeper.opensearch.view import EngineView, Unreachable
from searchkeeper.releases import newest
from stock_image import HOME as IMAGE_HOME
from stock_image import settings

pytestmark = pytest.mark.xdist_group("opensearch")

OLD, NEW, SECURED = "2.19.4", "3.4.0", "2.19.4-secured"
POOLS = {"nodes": ("cluster_manager", "data"), "front": ("coordinating",)}
# As in the middle of an upgrade: both versions read the same file, and find each other by it.
NODES = {"logs-nodes-0": OLD, "logs-nodes-1": OLD, "logs-nodes-2": NEW, "logs-front-0": NEW}
# Of users: a number and a list, which reach OpenSearch as variables.
CONFIG = {
    "indices.query.bool.max_clause_count": 2048,
    "script.allowed_types": ["inline", "stored"],
}


def deployed(**security: str) -> DesiredCluster:
    pools = [{"name": name, "roles": [*roles], "replicas": 3} for name, roles in POOLS.items()]
    spec = decode_cluster_spec({"version": NEW, "pools": pools, "security": security, "config": CONFIG})
    return DesiredCluster("logs", "search", "uid", spec, max(newest().configurations))


def pod_of(this: DesiredCluster, name: str) -> Mapping[str, Any]:
    [pool] = [each for each in this.spec.pools if name.startswith(f"logs-{each.name}-")]
    found: Mapping[str, Any] = stateful_set(this, pool, this.spec.version, None)["spec"]["template"]["spec"]
    return found


def told(this: DesiredCluster, node: OpenSearchNode, members: Sequence[OpenSearchNode]) -> Mapping[str, Any]:
    """What its pod's entry point tells it, with addresses of here: all nodes share one."""
    made = settings(pod_of(this, node.name), settings_manifests(this), node.name)
    elsewhere = {
        "network.host": HOST,
        "http.port": node.http,
        "transport.port": node.transport,
        "discovery.seed_hosts": [f"{HOST}:{each.transport}" for each in members],
    }
    assert set(elsewhere) <= set(made)
    return {**made, **elsewhere}


def test_nodes_start_with_what_is_deployed_and_find_each_other(
    opensearch: DownloadOpenSearch, tmp_path: Path
) -> None:
    """The first one is a cluster of its own until the others come: a pool of one is told nothing else."""
    tools = opensearch(OLD, NEW)
    this = deployed()
    members = [(name, roles_of(name)) for name in NODES]
    with (
        create_work_dir(tmp_path) as work_dir,
        opensearch_cluster(work_dir, tools, members, partial(told, this)) as nodes,
    ):
        first, *others = NODES
        nodes.start(first, OLD)
        nodes.wait_for_nodes(1)
        for name in others:
            nodes.start(name, NODES[name])
        nodes.wait_for_nodes(len(NODES))
        for name in NODES:
            wait_until(f"{name} is ready", partial(is_ready, nodes, this, name), 60)
        assert roles(nodes) == {name: set(roles_of(name)) - {"coordinating"} for name in NODES}
        for name, value in CONFIG.items():
            assert in_force(nodes, name) == [value] * len(NODES)


def test_with_certificates_and_credentials_nodes_find_each_other_and_the_operator_enters(
    opensearch: DownloadOpenSearch, tmp_path: Path
) -> None:
    """On the security plugin itself; who gives no password is not let in."""
    tools = opensearch(SECURED)
    this = deployed(tlsSecret="certificates", credentialsSecret="admin")
    certificate, key = (Path(each) for each in self_signed(tmp_path, this.name))
    members = [(name, POOLS["nodes"]) for name in ("logs-nodes-0", "logs-nodes-1")]
    with (
        create_work_dir(tmp_path) as work_dir,
        opensearch_cluster(work_dir, tools, members, partial(told, this)) as nodes,
    ):
        for name, _ in members:
            folder = nodes.home(name) / "config"
            mount_certificates(folder / "certificates", certificate, key)
            shutil.copytree(
                tools / f"opensearch-{SECURED}/config/opensearch-security", folder / "opensearch-security"
            )
            write_users(pod_of(this, name), tools, folder / "opensearch-security")
            nodes.start(name, SECURED)
        access = Access(nodes.url.replace("http:", "https:"), "keeper", "s3cret", certificate.read_text())
        wait_until("both have joined", lambda: names_seen(access) == {name for name, _ in members}, 120)
        stranger = OpenSearchClient(replace(access, username="", password="")).get_state()
        assert isinstance(stranger, Unreachable)
        assert "401" in stranger.cause
        wait_until("the probe succeeds", lambda: answers_over_tls(this, nodes), 60)
    assert not answers_over_tls(this, nodes)


def mount_certificates(folder: Path, certificate: Path, key: Path) -> None:
    """As a kubelet does, by way of links, so that all change at once."""
    (folder / "..first").mkdir(parents=True)
    (folder / "..data").symlink_to("..first")
    for name, source in {"tls.crt": certificate, "tls.key": key, "ca.crt": certificate}.items():
        shutil.copy(source, folder / "..first" / name)
        (folder / name).symlink_to(f"..data/{name}")


def write_users(pod: Mapping[str, Any], tools: Path, folder: Path) -> None:
    """What the container does that comes before the engine's."""
    [first] = pod["initContainers"]
    *command, script = first["command"]
    script = script.replace(IMAGE_HOME, str(tools / f"opensearch-{SECURED}")).replace("/users/", f"{folder}/")
    given = {"OPENSEARCH_JAVA_HOME": str(tools / JAVA), "USERNAME": "keeper", "PASSWORD": "s3cret"}
    subprocess.run([*command, script], check=True, env={**os.environ, **given}, timeout=60)


def names_seen(access: Access) -> set[str]:
    view = OpenSearchClient(access).get_state()
    return {each.name for each in view.nodes} if isinstance(view, EngineView) else set()


def roles_of(name: str) -> tuple[str, ...]:
    return POOLS[name.split("-")[1]]


def is_ready(nodes: OpenSearchCluster, this: DesiredCluster, name: str) -> bool:
    """By the question that the kubelet would ask."""
    asked = pod_of(this, name)["containers"][0]["readinessProbe"]["httpGet"]
    [port] = [each.http for each in nodes.members if each.name == name]
    return http_get(f"http://{HOST}:{port}{asked['path']}") is not None


def in_force(nodes: OpenSearchCluster, setting: str) -> list[Any]:
    """The values of a setting that the nodes use, as numbers and lists."""
    path = f"{nodes.url}/_nodes/settings?flat_settings"
    found = json.loads(http_get(path) or "{}")["nodes"].values()
    values = [each["settings"][setting] for each in found]
    parsed = [each.split(",") if isinstance(each, str) and "," in each else each for each in values]
    return [int(each) if isinstance(each, str) else each for each in parsed]


def answers_over_tls(this: DesiredCluster, nodes: OpenSearchCluster) -> bool:
    """By the command that the kubelet would run in the container, without a login."""
    member = nodes.members[0]
    *command, script = pod_of(this, member.name)["containers"][0]["readinessProbe"]["exec"]["command"]
    script = script.replace("localhost:9200", f"{HOST}:{member.http}")
    return subprocess.run([*command, script], check=False, timeout=60).returncode == 0


def roles(nodes: OpenSearchCluster) -> dict[str, set[str]]:
    found = json.loads(http_get(f"{nodes.url}/_nodes") or "{}")["nodes"].values()
    return {each["name"]: set(each["roles"]) for each in found}
