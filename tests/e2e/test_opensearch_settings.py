"""Real OpenSearch starts with the settings that the newest configuration version deploys."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from e2e.stand.loopback import HOST
from e2e.stand.opensearch import Nodes, OpenSearchNode, opensearch_folder, opensearch_nodes
from e2e.stand.parts import AbsentError
from e2e.stand.probes import answered
from e2e.stand.processes import workshop
from e2e.stand.waiting import until
from searchkeeper.configuration.deployed import Deployed
from searchkeeper.configuration.manifests import stateful_set
from searchkeeper.configuration.settings import configuration
from searchkeeper.releases import newest
from searchkeeper.resources.codec import cluster_spec
from stock_image import settings

pytestmark = pytest.mark.xdist_group("opensearch")

OLD, NEW = "2.19.4", "3.4.0"
POOLS = {"nodes": ("cluster_manager", "data"), "front": ("coordinating",)}
# As in the middle of an upgrade: both versions read the same file, and find each other by it.
NODES = {"logs-nodes-0": OLD, "logs-nodes-1": OLD, "logs-nodes-2": NEW, "logs-front-0": NEW}


def deployed(version: str) -> Deployed:
    pools = [{"name": name, "roles": [*roles], "replicas": 3} for name, roles in POOLS.items()]
    spec = cluster_spec({"version": version, "pools": pools})
    return Deployed("logs", "search", "uid", spec, max(newest().procedures))


def pod_of(this: Deployed, name: str) -> Mapping[str, Any]:
    [pool] = [each for each in this.spec.pools if name.startswith(f"logs-{each.name}-")]
    found: Mapping[str, Any] = stateful_set(this, pool, this.spec.version, None)["spec"]["template"]["spec"]
    return found


def told(this: Deployed, node: OpenSearchNode, members: Sequence[OpenSearchNode]) -> Mapping[str, Any]:
    """What its pod's entry point tells it, with addresses of here: all nodes share one."""
    made = settings(pod_of(this, node.name), configuration(this), node.name)
    elsewhere = {
        "network.host": HOST,
        "http.port": node.http,
        "transport.port": node.transport,
        "discovery.seed_hosts": [f"{HOST}:{each.transport}" for each in members],
    }
    assert set(elsewhere) <= set(made)
    return {**made, **elsewhere}


def test_nodes_start_with_what_is_deployed_and_find_each_other(tmp_path: Path) -> None:
    """The first one is a cluster of its own until the others come: a pool of one is told nothing else."""
    try:
        tools = opensearch_folder(OLD, NEW)
    except AbsentError as absent:
        pytest.skip(str(absent))
    this = deployed(NEW)
    members = [(name, roles_of(name)) for name in NODES]
    with (
        workshop(tmp_path) as place,
        opensearch_nodes(place, tools, members, partial(told, this)) as nodes,
    ):
        first, *others = NODES
        nodes.start(first, OLD)
        nodes.joined(1)
        for name in others:
            nodes.start(name, NODES[name])
        nodes.joined(len(NODES))
        for name in NODES:
            until(f"{name} is ready", partial(is_ready, nodes, this, name), 60)
        assert roles(nodes) == {name: set(roles_of(name)) - {"coordinating"} for name in NODES}


def roles_of(name: str) -> tuple[str, ...]:
    return POOLS[name.split("-")[1]]


def is_ready(nodes: Nodes, this: Deployed, name: str) -> bool:
    """By the question that the kubelet would ask."""
    asked = pod_of(this, name)["containers"][0]["readinessProbe"]["httpGet"]
    [port] = [each.http for each in nodes.members if each.name == name]
    return answered(f"http://{HOST}:{port}{asked['path']}") is not None


def roles(nodes: Nodes) -> dict[str, set[str]]:
    found = json.loads(answered(f"{nodes.url}/_nodes") or "{}")["nodes"].values()
    return {each["name"]: set(each["roles"]) for each in found}
