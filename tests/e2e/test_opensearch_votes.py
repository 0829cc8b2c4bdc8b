"""A removed manager of real OpenSearch can be excluded from voting."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from searchkeeper.opensearch.calls import ClearVotingExclusions, ExcludeFromVoting
from searchkeeper.opensearch.http import Access
from searchkeeper.opensearch.http_client import OpenSearchClient
from searchkeeper.opensearch.view import ABSENT, EngineView
from tests.e2e.opensearch_scenario import OLD, ROLES
from tests.e2e.servers.opensearch import DownloadOpenSearch, OpenSearchCluster, opensearch_cluster
from tests.e2e.servers.polling import wait_until
from tests.e2e.servers.processes import create_work_dir

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("opensearch")]

REMAINING, REMOVED = ("logs-managers-0", "logs-managers-1"), "logs-managers-2"


@pytest.fixture
def nodes(
    opensearch: DownloadOpenSearch, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[OpenSearchCluster]:
    tools = opensearch(OLD)
    members = [(name, ROLES) for name in (*REMAINING, REMOVED)]
    with (
        create_work_dir(tmp_path_factory.mktemp("votes")) as work_dir,
        opensearch_cluster(work_dir, tools, members) as started,
    ):
        for name, _ in members:
            started.start(name, OLD)
        started.wait_for_nodes(len(members))
        yield started


def test_removed_manager_is_excluded_from_voting_by_id(nodes: OpenSearchCluster) -> None:
    """Its name is not possible: the engine does not know the name of a node that is not in the cluster."""
    client = OpenSearchClient(Access(nodes.url))
    wait_until("all three vote", lambda: voters(client) == {*REMAINING, REMOVED}, 60)
    nodes.stop(REMOVED)
    wait_until("a voter has no name", lambda: len(absent_voters(client)) == 1, 120)
    [voter] = absent_voters(client)
    client.execute(ExcludeFromVoting(voter))
    wait_until("the voter is removed", partial(has_no_absent_voter, client), 60)
    assert get_view(client).voting_exclusions == {voter}
    client.execute(ClearVotingExclusions())
    wait_until("no node is excluded", lambda: not get_view(client).voting_exclusions, 60)
    assert voters(client) <= set(REMAINING)


def get_view(client: OpenSearchClient) -> EngineView:
    view = client.get_state()
    assert isinstance(view, EngineView), view
    return view


def voters(client: OpenSearchClient) -> frozenset[str]:
    view = client.get_state()
    return view.voters if isinstance(view, EngineView) else frozenset()


def absent_voters(client: OpenSearchClient) -> list[str]:
    return [name for name in voters(client) if name.startswith(ABSENT)]


def has_no_absent_voter(client: OpenSearchClient) -> bool:
    return bool(voters(client)) and not absent_voters(client)
