"""One story, lived through by real OpenSearch nodes and by the engine in memory, told in the same words."""

from __future__ import annotations

__all__ = [
    "NAMES",
    "NEW",
    "OLD",
    "ROLES",
    "STEPS",
    "Embedded",
    "Real",
    "Stage",
    "Steps",
    "Told",
    "facts",
    "lived",
    "lived_alike",
    "upgraded",
]

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias
from urllib.request import ProxyHandler, Request, build_opener

from e2e.servers.opensearch import OpenSearchCluster
from e2e.servers.polling import WaitTimeoutError, wait_until
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
from searchkeeper.opensearch.view import Allocation, EngineView, ShardState, Unreachable
from searchkeeper.testing.fake_opensearch import (
    FakeEngine,
    Process,
    advance,
    create_index,
    execute,
    get_state,
    wipe_node,
)

OLD, NEW = "2.19.4", "3.4.0"
ROLES = ("cluster_manager", "data")
NAMES = ("logs-data-0", "logs-data-1", "logs-data-2")

# What both must agree on. Where a copy lies is up to the engine, unless a step leaves it no choice.
Told: TypeAlias = dict[str, Any]


Tell: TypeAlias = Callable[[EngineView], Told]
Seen: TypeAlias = Callable[[EngineView], bool]


def _anything(_: EngineView) -> bool:
    return True


class Stage(Protocol):
    """Where the story is lived through."""

    def start(self, name: str, version: str) -> None: ...

    def stop(self, name: str) -> None: ...

    def wipe(self, name: str) -> None:
        """Empties the disk of a node that is not running."""

    def create(self, index: str, replicas: int) -> None: ...

    def execute(self, call: Call) -> None: ...

    def rested(self, nodes: int, as_wanted: Seen = _anything) -> EngineView:
        """A look, when so many nodes are there, nothing moves, and what is seen is as wanted."""


@dataclass
class Embedded:
    engine: FakeEngine = field(default_factory=FakeEngine)
    running: dict[str, Process] = field(default_factory=dict)

    def start(self, name: str, version: str) -> None:
        self.running[name] = Process(name, version, frozenset(ROLES))

    def stop(self, name: str) -> None:
        del self.running[name]

    def wipe(self, name: str) -> None:
        self.engine = wipe_node(self.engine, name)

    def create(self, index: str, replicas: int) -> None:
        self.engine = create_index(self.engine, index, replicas=replicas)

    def execute(self, call: Call) -> None:
        self.engine = execute(self.engine, call)

    def rested(self, nodes: int, as_wanted: Seen = _anything) -> EngineView:
        for _ in range(20):
            self.engine = advance(self.engine, tuple(self.running.values()))
        view = get_state(self.engine)
        assert isinstance(view, EngineView), view
        assert len(view.nodes) == nodes
        assert as_wanted(view), view
        return view


@dataclass
class Real:
    nodes: OpenSearchCluster

    def start(self, name: str, version: str) -> None:
        self.nodes.start(name, version)

    def stop(self, name: str) -> None:
        self.nodes.stop(name)

    def wipe(self, name: str) -> None:
        self.nodes.wipe(name)

    def create(self, index: str, replicas: int) -> None:
        """Copies of a node that left are given up at once: nobody here comes back within the minute."""
        settings = {
            "number_of_shards": 1,
            "number_of_replicas": replicas,
            "unassigned.node_left.delayed_timeout": "0s",
        }
        body = json.dumps({"settings": {"index": settings}}).encode()
        headers = {"Content-Type": "application/json"}
        where = f"{self.nodes.url}/{index}?wait_for_active_shards=0"
        request = Request(where, body, headers, method="PUT")
        build_opener(ProxyHandler({})).open(request, timeout=60).close()

    def execute(self, call: Call) -> None:
        OpenSearchClient(Access(self.nodes.url)).execute(call)

    def rested(self, nodes: int, as_wanted: Seen = _anything) -> EngineView:
        found = wait_until(f"{nodes} nodes at rest", lambda: self._at_rest(nodes, as_wanted), 180)
        assert found is not None
        return found

    def _at_rest(self, nodes: int, as_wanted: Seen) -> EngineView | None:
        view = OpenSearchClient(Access(self.nodes.url)).get_state()
        if isinstance(view, Unreachable) or len(view.nodes) != nodes or view.is_moving:
            return None
        # Somebody would take it: it is about to move. A primary may only wait for the node that has it.
        lost = [c for c in view.shards if c.state is ShardState.UNASSIGNED and not c.is_primary]
        return view if all(copy.deciders for copy in lost) and as_wanted(view) else None


def _start(stage: Stage) -> int:
    for name in NAMES:
        stage.start(name, OLD)
    stage.rested(3)
    stage.create("books", replicas=2)
    return 3


def _primaries_only(stage: Stage) -> int:
    stage.execute(SetAllocation(Allocation.PRIMARIES))
    stage.execute(Flush())
    return 3


def _leaves(stage: Stage) -> int:
    stage.stop(NAMES[2])
    return 2


def _comes_back(stage: Stage) -> int:
    stage.start(NAMES[2], OLD)
    return 3


def _all_again(stage: Stage) -> int:
    stage.execute(SetAllocation(None))
    return 3


def _drained(stage: Stage) -> int:
    """The first node is the only one that may have the new index; then it may not have it any more."""
    stage.execute(Exclude(frozenset(NAMES[1:])))
    stage.rested(3)
    stage.create("lone", replicas=0)
    stage.rested(3, _lone_is_on_the_first)
    stage.execute(Exclude(frozenset(NAMES[:1])))
    stage.rested(3, lambda view: [copy.index for copy in view.copies_on(NAMES[0])] == ["books"])
    return 3


def _lone_is_on_the_first(view: EngineView) -> bool:
    return [copy.node for copy in view.shards if copy.index == "lone"] == [NAMES[0]]


def _drained_by_patterns(stage: Stage) -> int:
    """Two of them match, and together leave one node; of the others one would match everybody in a shell."""
    stage.execute(Exclude(frozenset({"*-data-0", "l*s-*-1", "logs-data-?", "LOGS-*", "[l]*", "*data"})))
    stage.rested(3, lambda view: [copy.node for copy in view.shards if copy.index == "lone"] == [NAMES[2]])
    return 3


def _welcome_again(stage: Stage) -> int:
    stage.execute(Exclude(frozenset()))
    return 3


def _only_copy_away(stage: Stage) -> int:
    stage.execute(Exclude(frozenset(NAMES[1:])))
    stage.rested(3, _lone_is_on_the_first)
    stage.stop(NAMES[0])
    return 2


def _only_copy_back(stage: Stage) -> int:
    stage.start(NAMES[0], OLD)
    stage.rested(3)
    return _welcome_again(stage)


def _without_vote(stage: Stage) -> int:
    stage.execute(ExcludeFromVoting(NAMES[2]))
    return 3


def _with_vote(stage: Stage) -> int:
    stage.execute(ClearVotingExclusions())
    return 3


def upgraded(name: str) -> Callable[[Stage], int]:
    def upgrade(stage: Stage) -> int:
        stage.stop(name)
        stage.rested(2)
        stage.start(name, NEW)
        return 3

    return upgrade


def _ahead(stage: Stage) -> int:
    """Its primary is on the only new node, and no older one can follow what that writes."""
    stage.execute(Exclude(frozenset(NAMES[:2])))
    stage.rested(3)
    stage.create("ahead", replicas=1)
    return 3


def _one_more_index(name: str) -> Callable[[Stage], int]:
    def create(stage: Stage) -> int:
        stage.create(name, replicas=0)
        return 3

    return create


# Each leaves as many nodes as it says.
Steps: TypeAlias = Mapping[str, Callable[[Stage], int]]

STEPS: Steps = {
    "three nodes and an index with a copy on each": _start,
    "allocation of primaries only": _primaries_only,
    "a node leaves": _leaves,
    "it comes back, and no replica with it": _comes_back,
    "allocation of all": _all_again,
    "a node is drained": _drained,
    "two nodes are drained by patterns": _drained_by_patterns,
    "all are welcome again": _welcome_again,
    "the node with the only copy leaves": _only_copy_away,
    "the only copy comes back": _only_copy_back,
    "a manager loses its vote": _without_vote,
    "every manager votes": _with_vote,
    "the first node is upgraded": upgraded(NAMES[2]),
    "an index is created among old and new": _one_more_index("mixed"),
    "an index is created on the new node alone": _ahead,
    "no older node may have a replica of it": _welcome_again,
    "the second node is upgraded": upgraded(NAMES[1]),
    "the last node is upgraded": upgraded(NAMES[0]),
    "an index is created among new ones": _one_more_index("new"),
}


def facts(view: EngineView) -> Told:
    books = [copy for copy in view.shards if copy.index == "books"]
    return {
        "color": str(view.color),
        "nodes": {node.name: node.version for node in sorted(view.nodes, key=lambda node: node.name)},
        "votes": len(view.voters),
        "allocation": str(view.allocation),
        "excluded": sorted(view.excluded),
        "without a vote": sorted(view.voting_exclusions),
        "books on": sorted(copy.node for copy in books if copy.node is not None),
        "nowhere": [
            (copy.index, copy.is_primary, sorted(copy.deciders))
            for copy in view.shards
            if copy.state is ShardState.UNASSIGNED
        ],
        "indices": {index.name: (index.created_by, index.replicas) for index in _by_name(view)},
        "is led": view.elected is not None,
    }


def _by_name(view: EngineView) -> list[Any]:
    return sorted(view.indices, key=lambda index: index.name)


def lived(stage: Stage, steps: Steps, tell: Tell = facts) -> dict[str, Told]:
    """What is to be told after each step."""
    return {name: tell(stage.rested(step(stage))) for name, step in steps.items()}


def lived_alike(
    real: Real, steps: Steps, embedded: Mapping[str, Told], tell: Tell = facts
) -> dict[str, Told]:
    """The same steps by real nodes, each given time to come to what is expected of it.

    Votes, the election and the last recoveries are settled a moment after nothing seems to move: a single
    look would now and then tell what is half done.
    """
    return {name: _settled(real, step(real), embedded[name], tell) for name, step in steps.items()}


def _settled(real: Real, nodes: int, expected: Told, tell: Tell) -> Told:
    """What is told once it is as expected; or at last, where it never becomes so."""
    try:
        return tell(real.rested(nodes, lambda view: tell(view) == expected))
    except WaitTimeoutError:
        return tell(real.rested(nodes))
