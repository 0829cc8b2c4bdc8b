"""Real OpenSearch keeps the operator's record of its settings as the fake engine does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from searchkeeper.opensearch.calls import (
    Call,
    ChangeRecord,
    ClearVotingExclusions,
    Exclude,
    ExcludeFromVoting,
    SetAllocation,
)
from searchkeeper.opensearch.http import Access
from searchkeeper.opensearch.http_client import OpenSearchClient
from searchkeeper.opensearch.view import Allocation, EngineView, Node
from searchkeeper.testing.fake_opensearch import FakeEngine, execute, get_state
from tests.e2e.opensearch_scenario import NEW, OLD, ROLES
from tests.e2e.servers.opensearch import DownloadOpenSearch, OpenSearchCluster, opensearch_cluster
from tests.e2e.servers.polling import wait_until
from tests.e2e.servers.processes import create_work_dir

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("opensearch")]

NAMES = ("logs-both-0", "logs-both-1", "logs-both-2")
# The last one removes an entry that does not exist.
CALLS: tuple[Call, ...] = (
    SetAllocation(Allocation.PRIMARIES, (("allocation", '"all"'),)),
    Exclude(frozenset({NAMES[2]}), (("excluded", f'["{NAMES[2]}"]'), ("leaving", None))),
    ExcludeFromVoting(NAMES[2], (("voting", f'"{NAMES[2]}"'),)),
    ClearVotingExclusions((("others-votes", '["of-a-user"]'),)),
    SetAllocation(None, (("allocation", None),)),
    ChangeRecord((("voting", None), ("others-votes", None))),
    ChangeRecord((("leaving-votes", None),)),
)
SET = CALLS[:3]
UNSET = ChangeRecord(tuple((name, None) for name in ("allocation", "excluded", "voting")))


@pytest.fixture
def nodes(
    opensearch: DownloadOpenSearch, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[OpenSearchCluster]:
    tools = opensearch(OLD, NEW)
    members = [(name, ROLES) for name in NAMES]
    with (
        create_work_dir(tmp_path_factory.mktemp("record")) as work_dir,
        opensearch_cluster(work_dir, tools, members) as started,
    ):
        start_all(started, OLD)
        yield started


def start_all(nodes: OpenSearchCluster, version: str) -> None:
    for name in NAMES:
        nodes.start(name, version)
    nodes.wait_for_nodes(len(NAMES))


def state(nodes: OpenSearchCluster) -> EngineView:
    """The state of the real engine once it answers."""
    views: list[EngineView] = []

    def read() -> bool:
        view = OpenSearchClient(Access(nodes.url)).get_state()
        views.extend([view] if isinstance(view, EngineView) else [])
        return bool(views)

    wait_until("the engine answers", read, 60)
    return views[-1]


def fake_record(*calls: Call) -> tuple[tuple[str, str], ...]:
    """The record of the fake engine after these calls."""
    manager = Node(NAMES[0], OLD, frozenset(ROLES), is_elected=True)
    engine = replace(FakeEngine(), nodes=(manager,))
    for call in calls:
        engine = execute(engine, call)
    view = get_state(engine)
    assert isinstance(view, EngineView)
    return view.record


def test_record_follows_calls_and_outlives_restarts_and_versions(nodes: OpenSearchCluster) -> None:
    for number, call in enumerate(CALLS, 1):
        OpenSearchClient(Access(nodes.url)).execute(call)
        assert state(nodes).record == fake_record(*CALLS[:number]), call

    for call in SET:
        OpenSearchClient(Access(nodes.url)).execute(call)
    kept = fake_record(*SET)
    nodes.stop_all()
    start_all(nodes, OLD)
    assert state(nodes).record == kept

    OpenSearchClient(Access(nodes.url)).execute(ClearVotingExclusions())
    nodes.stop(NAMES[2])
    nodes.start(NAMES[2], NEW)
    wait_until("one node is newer", lambda: {each.version for each in state(nodes).nodes} == {OLD, NEW}, 120)
    assert state(nodes).record == kept
    OpenSearchClient(Access(nodes.url)).execute(SetAllocation(None, (("allocation", '"none"'),)))
    assert dict(state(nodes).record)["allocation"] == '"none"'

    nodes.stop_all()
    start_all(nodes, NEW)
    assert dict(state(nodes).record) == {**dict(kept), "allocation": '"none"'}
    OpenSearchClient(Access(nodes.url)).execute(UNSET)
    assert state(nodes).record == ()
    OpenSearchClient(Access(nodes.url)).execute(UNSET)
