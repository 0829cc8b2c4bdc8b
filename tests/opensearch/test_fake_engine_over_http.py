"""What the driver sees and says over HTTP is what the engine in memory shows and hears."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pytest

from engine_over_http import Face
from opensearch_replayed import serving
from searchkeeper.opensearch.calls import (
    Call,
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

OLD, NEW = "2.19.4", "3.4.0"


@dataclass
class Memory:
    """Three nodes that vote and hold data; time passes when the test says so."""

    engine: FakeEngine = field(default_factory=FakeEngine)
    calls: list[Call] = field(default_factory=list)

    def pass_time(self) -> None:
        """Not by looking."""

    def execute(self, call: Call) -> None:
        self.calls.append(call)
        self.engine = execute(self.engine, call)

    def run(self, **versions: str) -> None:
        roles = frozenset({"cluster_manager", "data"})
        processes = [Process(name, version, roles) for name, version in versions.items()]
        for _ in range(10):
            self.engine = advance(self.engine, processes)


@pytest.fixture
def memory() -> Memory:
    made = Memory()
    made.run(a=OLD, b=OLD, c=OLD)
    made.engine = create_index(made.engine, "books", shards=2, replicas=1)
    made.run(a=OLD, b=OLD, c=OLD)
    return made


@pytest.fixture
def driver(memory: Memory) -> Iterator[OpenSearchClient]:
    with serving(Face(memory)) as url:
        yield OpenSearchClient(Access(url))


def by_name(view: EngineView | Unreachable) -> EngineView:
    """Nodes, indices and copies in the order in which the driver gives them."""
    assert isinstance(view, EngineView), view
    return replace(
        view,
        nodes=tuple(sorted(view.nodes, key=lambda node: node.name)),
        indices=tuple(sorted(view.indices, key=lambda index: index.name)),
        shards=tuple(sorted(view.shards, key=lambda c: (*c.id, not c.is_primary, c.node or "~"))),
    )


@pytest.mark.parametrize("versions", [{}, {"c": NEW}, {"a": NEW, "b": NEW, "c": NEW}], ids=len)
def test_the_driver_sees_what_is_there(
    memory: Memory, driver: OpenSearchClient, versions: dict[str, str]
) -> None:
    memory.run(**{"a": OLD, "b": OLD, "c": OLD, **versions})
    memory.engine = create_index(memory.engine, "lone", replicas=0)
    for _ in range(3):
        memory.run(**{"a": OLD, "b": OLD, "c": OLD, **versions})
        assert driver.get_state() == by_name(get_state(memory.engine))


def test_it_sees_why_nobody_takes_what_is_lost(memory: Memory, driver: OpenSearchClient) -> None:
    memory.execute(SetAllocation(Allocation.PRIMARIES))
    memory.run(a=OLD, b=OLD)
    snapshot = driver.get_state()
    assert snapshot == by_name(get_state(memory.engine))
    assert isinstance(snapshot, EngineView)
    assert {each for copy in snapshot.shards for each in copy.deciders} == {"enable", "same_shard"}


def test_it_sees_nothing_without_a_majority(memory: Memory, driver: OpenSearchClient) -> None:
    memory.run(a=OLD)
    assert driver.get_state() == Unreachable("503 GET /_cluster/health: no cluster manager")


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
    ],
    ids=["hold", "let go", "exclude two", "exclude nobody", "flush", "exclude a voter", "all vote"],
)
def test_what_it_says_is_what_is_heard(memory: Memory, driver: OpenSearchClient, call: Call) -> None:
    driver.execute(call)
    assert memory.calls == [call]
    assert driver.get_state() == by_name(get_state(memory.engine))
