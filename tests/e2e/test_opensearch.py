"""The client works with real OpenSearch, and the fake engine behaves like it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from searchkeeper.opensearch.http import Access
from searchkeeper.opensearch.http_client import OpenSearchClient
from searchkeeper.opensearch.view import Unreachable
from searchkeeper.testing.fake_opensearch.membership import JoinRefusal, join_refusal
from searchkeeper.testing.fake_opensearch.state import Process
from tests.e2e.opensearch_scenario import (
    NAMES,
    NEW,
    OLD,
    ROLES,
    STEPS,
    Facts,
    FakeCluster,
    RealCluster,
    run_scenario,
    run_scenario_on_real_nodes,
)
from tests.e2e.servers.opensearch import DownloadOpenSearch, OpenSearchCluster, opensearch_cluster
from tests.e2e.servers.polling import wait_until
from tests.e2e.servers.processes import WorkDir, create_work_dir, log_tail

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("opensearch")]


@dataclass
class ScenarioResults:
    """The facts of both clusters after each step, and the real nodes, which are still running."""

    nodes: OpenSearchCluster
    work_dir: WorkDir
    real: dict[str, Facts]
    cluster: FakeCluster
    fake: dict[str, Facts]


@pytest.fixture(scope="module")
def results(
    opensearch: DownloadOpenSearch, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ScenarioResults]:
    tools = opensearch(OLD, NEW)
    cluster = FakeCluster()
    fake = run_scenario(cluster, STEPS)
    with create_work_dir(tmp_path_factory.mktemp("logs")) as work_dir:
        members = [(name, ROLES) for name in NAMES]
        with opensearch_cluster(work_dir, tools, members) as nodes:
            yield ScenarioResults(
                nodes, work_dir, run_scenario_on_real_nodes(RealCluster(nodes), STEPS, fake), cluster, fake
            )


@pytest.mark.parametrize("step", STEPS)
def test_fake_engine_behaves_like_the_real_one(results: ScenarioResults, step: str) -> None:
    assert results.fake[step] == results.real[step]


def test_upgraded_node_cannot_run_the_old_version(results: ScenarioResults) -> None:
    """The real node fails before it reads its former version: it cannot read the newer files."""
    name = NAMES[2]
    results.nodes.stop(name)
    log = results.work_dir.logs / f"opensearch-{name}.log"
    length = log.stat().st_size
    results.nodes.start(name, OLD)
    wait_until(f"{name} exits", lambda: results.nodes.has_exited(name), 120)
    refusal = join_refusal(results.cluster.engine, Process(name, OLD, frozenset(ROLES)))
    assert refusal == JoinRefusal(f"cannot downgrade a node from version [{NEW}] to version [{OLD}]")
    assert "indexCreatedVersionMajor is in the future" in log.read_text()[length:], log_tail(log)


def test_cluster_without_a_quorum_is_reported_as_unreachable(results: ScenarioResults) -> None:
    """This test must be the last one: it stops the cluster."""
    for name in NAMES[1:]:
        results.nodes.stop(name)
    wait_until("the client reports status 503", lambda: _reports_no_manager(results.nodes), 180)


def _reports_no_manager(nodes: OpenSearchCluster) -> bool:
    """Whether the request fails with 503. The first ones may time out instead."""
    view = OpenSearchClient(Access(nodes.url)).get_state()
    return isinstance(view, Unreachable) and "503" in view.cause
