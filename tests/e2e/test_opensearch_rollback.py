"""During upgrades and rollbacks the gates are the same on real OpenSearch and on the fake engine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.e2e.opensearch_rollback_scenario import FIRST, SECOND, STEPS, THIRD, closed_gates
from tests.e2e.opensearch_scenario import (
    NAMES,
    NEW,
    OLD,
    ROLES,
    Facts,
    FakeCluster,
    RealCluster,
    run_scenario,
    run_scenario_on_real_nodes,
)
from tests.e2e.servers.opensearch import DownloadOpenSearch, opensearch_cluster
from tests.e2e.servers.processes import create_work_dir

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("opensearch")]


@dataclass
class RollbackResults:
    real: dict[str, Facts]
    fake: dict[str, Facts]


@pytest.fixture(scope="module")
def results(
    opensearch: DownloadOpenSearch, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RollbackResults]:
    tools = opensearch(OLD, NEW)
    fake = run_scenario(FakeCluster(), STEPS, closed_gates)
    members = [(name, ROLES) for name in NAMES]
    with (
        create_work_dir(tmp_path_factory.mktemp("logs")) as work_dir,
        opensearch_cluster(work_dir, tools, members) as nodes,
    ):
        yield RollbackResults(run_scenario_on_real_nodes(RealCluster(nodes), STEPS, fake, closed_gates), fake)


@pytest.mark.parametrize("step", STEPS)
def test_gates_are_the_same_as_on_the_fake_engine(results: RollbackResults, step: str) -> None:
    assert results.fake[step] == results.real[step]


def test_unassignable_replica_blocks_only_the_node_of_the_last_copy(results: RollbackResults) -> None:
    """The cluster cannot become green, so the rollout continues, but not with the node of the only copy."""
    found = results.real["the node of the replica has restarted, and no older node can have it"]
    assert found["color"] == "yellow"
    assert found["closed"] == {FIRST: [], SECOND: [], THIRD: ["LastCopySafe"]}
