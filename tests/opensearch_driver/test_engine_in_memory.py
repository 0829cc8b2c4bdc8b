"""What the driver sees and says over HTTP is what the engine in memory shows and hears."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pytest

from engine_over_http import Face
from opensearch_replayed import serving
from searchkeeper.engine.calls import (
    Call,
    ClearVotingExclusions,
    Exclude,
    ExcludeFromVoting,
    Flush,
    SetAllocation,
)
from searchkeeper.engine.embedded import Engine, Process, advance, created, look, told
from searchkeeper.engine.http import Access
from searchkeeper.engine.opensearch import OpenSearch
from searchkeeper.engine.view import Allocation, EngineView, Unreachable

OLD, NEW = "2.19.4", "3.4.0"


@dataclass
class Memory:
    """Three nodes that vote and hold data; time passes when the test says so."""

    engine: Engine = field(default_factory=Engine)
    calls: list[Call] = field(default_factory=list)

    def pass_time(self) -> None:
        """Not by looking."""

    def tell(self, call: Call) -> None:
        self.calls.append(call)
        self.engine = told(self.engine, call)

    def run(self, **versions: str) -> None:
        roles = frozenset({"cluster_manager", "data"})
        processes = [Process(name, version, roles) for name, version in versions.items()]
        for _ in range(10):
            self.engine = advance(self.engine, processes)


@pytest.fixture
def memory() -> Memory:
    made = Memory()
    made.run(a=OLD, b=OLD, c=OLD)
    made.engine = created(made.engine, "books", shards=2, replicas=1)
    made.run(a=OLD, b=OLD, c=OLD)
    return made


@pytest.fixture
def driver(memory: Memory) -> Iterator[OpenSearch]:
    with serving(Face(memory)) as url:
        yield OpenSearch(Access(url))


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
def test_the_driver_sees_what_is_there(memory: Memory, driver: OpenSearch, versions: dict[str, str]) -> None:
    memory.run(**{"a": OLD, "b": OLD, "c": OLD, **versions})
    memory.engine = created(memory.engine, "lone", replicas=0)
    for _ in range(3):
        memory.run(**{"a": OLD, "b": OLD, "c": OLD, **versions})
        assert driver.look() == by_name(look(memory.engine))


def test_it_sees_why_nobody_takes_what_is_lost(memory: Memory, driver: OpenSearch) -> None:
    memory.tell(SetAllocation(Allocation.PRIMARIES))
    memory.run(a=OLD, b=OLD)
    seen = driver.look()
    assert seen == by_name(look(memory.engine))
    assert isinstance(seen, EngineView)
    assert {each for copy in seen.shards for each in copy.deciders} == {"enable", "same_shard"}


def test_it_sees_nothing_without_a_majority(memory: Memory, driver: OpenSearch) -> None:
    memory.run(a=OLD)
    assert driver.look() == Unreachable("503 GET /_cluster/health: no cluster manager")


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
def test_what_it_says_is_what_is_heard(memory: Memory, driver: OpenSearch, call: Call) -> None:
    driver.tell(call)
    assert memory.calls == [call]
    assert driver.look() == by_name(look(memory.engine))
