"""Real OpenSearch: the vote of a manager that never comes back can be taken from it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from e2e.opensearch_story import OLD, ROLES
from e2e.servers.opensearch import DownloadOpenSearch, OpenSearchCluster, opensearch_cluster
from e2e.servers.polling import wait_until
from e2e.servers.processes import create_work_dir
from searchkeeper.opensearch.calls import ClearVotingExclusions, ExcludeFromVoting
from searchkeeper.opensearch.http import Access
from searchkeeper.opensearch.http_client import OpenSearchClient
from searchkeeper.opensearch.view import ABSENT, EngineView

pytestmark = pytest.mark.xdist_group("opensearch")

STAY, GONE = ("logs-managers-0", "logs-managers-1"), "logs-managers-2"


@pytest.fixture
def nodes(
    opensearch: DownloadOpenSearch, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[OpenSearchCluster]:
    tools = opensearch(OLD)
    members = [(name, ROLES) for name in (*STAY, GONE)]
    with (
        create_work_dir(tmp_path_factory.mktemp("votes")) as work_dir,
        opensearch_cluster(work_dir, tools, members) as made,
    ):
        for name, _ in members:
            made.start(name, OLD)
        made.wait_for_nodes(len(members))
        yield made


def test_a_manager_that_is_gone_loses_its_vote_by_its_id(nodes: OpenSearchCluster) -> None:
    """By its name it could not be: the engine knows that of nobody who is away."""
    driver = OpenSearchClient(Access(nodes.url))
    wait_until("all three vote", lambda: voters(driver) == {*STAY, GONE}, 60)
    nodes.stop(GONE)
    wait_until("its vote has nobody's name", lambda: len(absent(driver)) == 1, 120)
    [vote] = absent(driver)
    driver.execute(ExcludeFromVoting(vote))
    wait_until("its vote is gone", partial(has_no_absent_voter, driver), 60)
    assert looked(driver).voting_exclusions == {vote}
    driver.execute(ClearVotingExclusions())
    wait_until("nobody is excluded", lambda: not looked(driver).voting_exclusions, 60)
    assert voters(driver) <= set(STAY)


def looked(driver: OpenSearchClient) -> EngineView:
    view = driver.get_state()
    assert isinstance(view, EngineView), view
    return view


def voters(driver: OpenSearchClient) -> frozenset[str]:
    view = driver.get_state()
    return view.voters if isinstance(view, EngineView) else frozenset()


def absent(driver: OpenSearchClient) -> list[str]:
    return [name for name in voters(driver) if name.startswith(ABSENT)]


def has_no_absent_voter(driver: OpenSearchClient) -> bool:
    return bool(voters(driver)) and not absent(driver)
