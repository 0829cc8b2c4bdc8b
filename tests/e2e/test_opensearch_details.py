"""Disks and snapshots of real OpenSearch and of the fake engine."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.request import ProxyHandler, Request, build_opener

import pytest

from searchkeeper.opensearch.calls import Call, TakeSnapshot
from searchkeeper.opensearch.client import CallFailed
from searchkeeper.opensearch.details import DetailsRequest, EngineDetails, SnapshotState
from searchkeeper.opensearch.http import Access
from searchkeeper.opensearch.http_client import OpenSearchClient
from searchkeeper.testing.fake_opensearch import get_details
from tests.e2e.opensearch_scenario import OLD, ROLES, FakeCluster, RealCluster
from tests.e2e.servers.opensearch import (
    DownloadOpenSearch,
    OpenSearchNode,
    default_settings,
    opensearch_cluster,
)
from tests.e2e.servers.polling import wait_until
from tests.e2e.servers.processes import create_work_dir

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("opensearch")]

NODE = "logs-data-0"
CALL = TakeSnapshot("nightly", "first")
REQUEST = DetailsRequest(repository="nightly", snapshot="first")


class FakeNode:
    """The fake engine with one node and one index."""

    def __init__(self) -> None:
        self.cluster = FakeCluster()
        self.cluster.start(NODE, OLD)
        self.cluster.wait_until_stable(1)
        self.cluster.create("books", 0)
        self.cluster.wait_until_stable(1)

    def register_repository(self) -> None:
        self.cluster.engine = replace(self.cluster.engine, repositories=frozenset({"nightly"}))

    def execute(self, call: Call) -> None:
        self.cluster.execute(call)

    def details(self, request: DetailsRequest) -> EngineDetails:
        return get_details(self.cluster.engine, request)

    def wait_for_snapshot(self) -> None:
        self.cluster.wait_until_stable(1)


class RealNode:
    """A real node with one index, and a folder for a repository."""

    def __init__(self, real: RealCluster, folder: Path) -> None:
        self.real, self.folder = real, folder

    def register_repository(self) -> None:
        body = json.dumps({"type": "fs", "settings": {"location": str(self.folder)}}).encode()
        url, headers = f"{self.real.nodes.url}/_snapshot/nightly", {"Content-Type": "application/json"}
        request = Request(url, body, headers, method="PUT")
        build_opener(ProxyHandler({})).open(request, timeout=60).close()

    def execute(self, call: Call) -> None:
        self.real.execute(call)

    def details(self, request: DetailsRequest) -> EngineDetails:
        return OpenSearchClient(Access(self.real.nodes.url)).get_details(request)

    def wait_for_snapshot(self) -> None:
        wait_until("the snapshot has ended", lambda: state(self) is not SnapshotState.IN_PROGRESS)


def state(node: FakeNode | RealNode, request: DetailsRequest = REQUEST) -> SnapshotState | None:
    found = node.details(request).snapshot
    return None if found is None else found.state


def outcome(execute: Callable[[Call], None]) -> str:
    try:
        execute(CALL)
    except CallFailed as error:
        return f"{type(error).__name__}: {error}"
    return "executed"


def observations(node: FakeNode | RealNode) -> Iterator[Any]:
    """Yield what the client reads about disks and during the life of a snapshot."""
    disks = node.details(DetailsRequest(disks=True)).disks
    assert disks is not None
    assert 0 < disks.nodes[NODE].available <= disks.nodes[NODE].total
    yield sorted(disks.nodes), sorted(disks.copies)
    yield outcome(node.execute)
    yield state(node), state(node, DetailsRequest(repository="nightly"))
    node.register_repository()
    yield state(node), state(node, DetailsRequest(repository="nightly"))
    yield outcome(node.execute)
    yield outcome(node.execute)
    node.wait_for_snapshot()
    yield state(node)
    yield outcome(node.execute)
    yield state(node)


@pytest.fixture(scope="module")
def node(opensearch: DownloadOpenSearch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealNode]:
    tools = opensearch(OLD)
    with create_work_dir(tmp_path_factory.mktemp("logs")) as work_dir:
        repository = work_dir.folder / "repository"
        repository.mkdir()
        repository.chmod(0o777)

        def settings(node: OpenSearchNode, members: Sequence[OpenSearchNode]) -> Mapping[str, Any]:
            return {**default_settings(node, members), "path.repo": [str(repository)]}

        with opensearch_cluster(work_dir, tools, [(NODE, ROLES)], settings) as nodes:
            nodes.start(NODE, OLD)
            real = RealCluster(nodes)
            real.wait_until_stable(1)
            real.create("books", 0)
            real.wait_until_stable(1)
            yield RealNode(real, repository)


def test_fake_engine_has_disks_and_snapshots_like_the_real_one(node: RealNode) -> None:
    assert list(observations(FakeNode())) == list(observations(node))
