"""OpenSearchClient against the fake engine over HTTP: the view is the engine's own, and calls arrive."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pytest

from searchkeeper.opensearch.calls import (
    Call,
    ChangeRecord,
    ClearVotingExclusions,
    Exclude,
    ExcludeFromVoting,
    Flush,
    SetAllocation,
)
from searchkeeper.opensearch.http import Access
from searchkeeper.opensearch.http_client import OpenSearchClient
from searchkeeper.opensearch.view import Allocation, EngineView, Unreachable
from searchkeeper.testing.fake_opensearch import (
    FakeEngine,
    Process,
    advance,
    create_index,
    execute,
    get_state,
)
from tests.support.searchkeeper.engine_over_http import EngineHttpApi
from tests.support.searchkeeper.opensearch_replayed import serve

OLD, NEW = "2.19.4", "3.4.0"


@dataclass
class EngineInTest:
    """Hosts an engine of manager and data nodes. Time passes only in `run`."""

    engine: FakeEngine = field(default_factory=FakeEngine)
    calls: list[Call] = field(default_factory=list)

    def pass_time(self) -> None:
        """A request does not advance the engine."""

    def execute(self, call: Call) -> None:
        self.calls.append(call)
        self.engine = execute(self.engine, call)

    def run(self, **versions: str) -> None:
        """Advance the engine with one process for each node."""
        roles = frozenset({"cluster_manager", "data"})
        processes = [Process(name, version, roles) for name, version in versions.items()]
        for _ in range(10):
            self.engine = advance(self.engine, processes)


@pytest.fixture
def host() -> EngineInTest:
    host = EngineInTest()
    host.run(a=OLD, b=OLD, c=OLD)
    host.engine = create_index(host.engine, "books", shards=2, replicas=1)
    host.run(a=OLD, b=OLD, c=OLD)
    return host


@pytest.fixture
def client(host: EngineInTest) -> Iterator[OpenSearchClient]:
    with serve(EngineHttpApi(host)) as url:
        yield OpenSearchClient(Access(url))


def expected_view(host: EngineInTest) -> EngineView:
    """The engine's own view in the order that the client uses."""
    view = get_state(host.engine)
    assert isinstance(view, EngineView), view
    return replace(
        view,
        nodes=tuple(sorted(view.nodes, key=lambda node: node.name)),
        indices=tuple(sorted(view.indices, key=lambda index: index.name)),
        shards=tuple(sorted(view.shards, key=lambda c: (*c.id, not c.is_primary, c.node or "~"))),
    )


@pytest.mark.parametrize("versions", [{}, {"c": NEW}, {"a": NEW, "b": NEW, "c": NEW}], ids=len)
def test_client_sees_the_state_of_the_engine(
    host: EngineInTest, client: OpenSearchClient, versions: dict[str, str]
) -> None:
    host.run(**{"a": OLD, "b": OLD, "c": OLD, **versions})
    host.engine = create_index(host.engine, "lone", replicas=0)
    for _ in range(3):
        host.run(**{"a": OLD, "b": OLD, "c": OLD, **versions})
        assert client.get_state() == expected_view(host)


def test_client_sees_deciders_of_unassigned_copies(host: EngineInTest, client: OpenSearchClient) -> None:
    host.execute(SetAllocation(Allocation.PRIMARIES))
    host.run(a=OLD, b=OLD)
    view = client.get_state()
    assert view == expected_view(host)
    assert isinstance(view, EngineView)
    assert {decider for copy in view.shards for decider in copy.deciders} == {"enable", "same_shard"}


def test_engine_without_quorum_is_unreachable(host: EngineInTest, client: OpenSearchClient) -> None:
    host.run(a=OLD)
    assert client.get_state() == Unreachable("503 GET /_cluster/health: no cluster manager")


@pytest.mark.parametrize(
    "call",
    [
        SetAllocation(Allocation.PRIMARIES),
        SetAllocation(None),
        Exclude(frozenset({"a", "b"})),
        Exclude(frozenset()),
        Flush(),
        ExcludeFromVoting("a"),
        ClearVotingExclusions(),
        SetAllocation(Allocation.PRIMARIES, (("allocation", '"all"'),)),
        Exclude(frozenset({"a"}), (("excluded", '["a"]'), ("leaving", None))),
        ChangeRecord((("excluded", '["a"]'), ("voting", None))),
    ],
    ids=str,
)
def test_engine_receives_the_call(host: EngineInTest, client: OpenSearchClient, call: Call) -> None:
    client.execute(call)
    assert host.calls == [call]
    assert client.get_state() == expected_view(host)


@pytest.mark.parametrize("call", [ExcludeFromVoting("a"), ClearVotingExclusions()], ids=str)
def test_voting_exclusions_are_recorded_before_the_call(
    host: EngineInTest, client: OpenSearchClient, call: ExcludeFromVoting | ClearVotingExclusions
) -> None:
    record = (("others-votes", '["b"]'),)
    client.execute(replace(call, record=record))
    assert host.calls == [ChangeRecord(record), call]
    assert host.engine.record == record
    assert client.get_state() == expected_view(host)
