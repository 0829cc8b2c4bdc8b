"""A scenario of an upgrade, which runs on real OpenSearch nodes and on the fake engine."""

from __future__ import annotations

__all__ = [
    "NAMES",
    "NEW",
    "OLD",
    "ROLES",
    "STEPS",
    "ClusterUnderTest",
    "Facts",
    "FakeCluster",
    "RealCluster",
    "Steps",
    "observed_facts",
    "run_scenario",
    "run_scenario_on_real_nodes",
    "upgrade_node",
]

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias
from urllib.request import ProxyHandler, Request, build_opener

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
from tests.e2e.servers.opensearch import OpenSearchCluster
from tests.e2e.servers.polling import WaitTimeoutError, wait_until

OLD, NEW = "2.19.4", "3.4.0"
ROLES = ("cluster_manager", "data")
NAMES = ("logs-data-0", "logs-data-1", "logs-data-2")

# What must be equal on both clusters. The engine decides where a copy is, unless a step leaves one choice.
Facts: TypeAlias = dict[str, Any]

Observe: TypeAlias = Callable[[EngineView], Facts]
ViewCondition: TypeAlias = Callable[[EngineView], bool]


def _any_view(_: EngineView) -> bool:
    return True


class ClusterUnderTest(Protocol):
    """The interface of both clusters that the steps use."""

    def start(self, name: str, version: str) -> None: ...

    def stop(self, name: str) -> None: ...

    def wipe(self, name: str) -> None:
        """Delete the data of a stopped node."""

    def create(self, index: str, replicas: int) -> None: ...

    def execute(self, call: Call) -> None: ...

    def wait_until_stable(self, nodes: int, condition: ViewCondition = _any_view) -> EngineView:
        """Wait for this many nodes, no moving shards and a true condition; return the state."""


@dataclass
class FakeCluster:
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

    def wait_until_stable(self, nodes: int, condition: ViewCondition = _any_view) -> EngineView:
        for _ in range(20):
            self.engine = advance(self.engine, tuple(self.running.values()))
        view = get_state(self.engine)
        assert isinstance(view, EngineView), view
        assert len(view.nodes) == nodes
        assert condition(view), view
        return view


@dataclass
class RealCluster:
    nodes: OpenSearchCluster

    def start(self, name: str, version: str) -> None:
        self.nodes.start(name, version)

    def stop(self, name: str) -> None:
        self.nodes.stop(name)

    def wipe(self, name: str) -> None:
        self.nodes.wipe(name)

    def create(self, index: str, replicas: int) -> None:
        """Create an index without delayed allocation: a replica of a stopped node is allocated at once."""
        settings = {
            "number_of_shards": 1,
            "number_of_replicas": replicas,
            "unassigned.node_left.delayed_timeout": "0s",
        }
        body = json.dumps({"settings": {"index": settings}}).encode()
        headers = {"Content-Type": "application/json"}
        url = f"{self.nodes.url}/{index}?wait_for_active_shards=0"
        request = Request(url, body, headers, method="PUT")
        build_opener(ProxyHandler({})).open(request, timeout=60).close()

    def execute(self, call: Call) -> None:
        OpenSearchClient(Access(self.nodes.url)).execute(call)

    def wait_until_stable(self, nodes: int, condition: ViewCondition = _any_view) -> EngineView:
        found = wait_until(f"{nodes} nodes are stable", lambda: self._stable_view(nodes, condition), 180)
        assert found is not None
        return found

    def _stable_view(self, nodes: int, condition: ViewCondition) -> EngineView | None:
        view = OpenSearchClient(Access(self.nodes.url)).get_state()
        if isinstance(view, Unreachable) or len(view.nodes) != nodes or view.is_moving:
            return None
        # A replica that no decider rejects is about to be allocated. A primary may wait for its node.
        replicas = [c for c in view.shards if c.state is ShardState.UNASSIGNED and not c.is_primary]
        return view if all(copy.deciders for copy in replicas) and condition(view) else None


def _start_nodes(cluster: ClusterUnderTest) -> int:
    for name in NAMES:
        cluster.start(name, OLD)
    cluster.wait_until_stable(3)
    cluster.create("books", replicas=2)
    return 3


def _allow_primaries_only(cluster: ClusterUnderTest) -> int:
    cluster.execute(SetAllocation(Allocation.PRIMARIES))
    cluster.execute(Flush())
    return 3


def _stop_third_node(cluster: ClusterUnderTest) -> int:
    cluster.stop(NAMES[2])
    return 2


def _restart_third_node(cluster: ClusterUnderTest) -> int:
    cluster.start(NAMES[2], OLD)
    return 3


def _allow_all_allocation(cluster: ClusterUnderTest) -> int:
    cluster.execute(SetAllocation(None))
    return 3


def _drain_first_node(cluster: ClusterUnderTest) -> int:
    """Create an index that only the first node may have, then exclude that node."""
    cluster.execute(Exclude(frozenset(NAMES[1:])))
    cluster.wait_until_stable(3)
    cluster.create("lone", replicas=0)
    cluster.wait_until_stable(3, _single_copy_is_on_first_node)
    cluster.execute(Exclude(frozenset(NAMES[:1])))
    cluster.wait_until_stable(3, lambda view: [copy.index for copy in view.copies_on(NAMES[0])] == ["books"])
    return 3


def _single_copy_is_on_first_node(view: EngineView) -> bool:
    return [copy.node for copy in view.shards if copy.index == "lone"] == [NAMES[0]]


def _drain_by_patterns(cluster: ClusterUnderTest) -> int:
    """Two of the patterns match, and leave one node. The others match no node: only `*` is a wildcard."""
    cluster.execute(Exclude(frozenset({"*-data-0", "l*s-*-1", "logs-data-?", "LOGS-*", "[l]*", "*data"})))
    cluster.wait_until_stable(
        3, lambda view: [copy.node for copy in view.shards if copy.index == "lone"] == [NAMES[2]]
    )
    return 3


def _clear_exclusions(cluster: ClusterUnderTest) -> int:
    cluster.execute(Exclude(frozenset()))
    return 3


def _stop_node_with_only_copy(cluster: ClusterUnderTest) -> int:
    cluster.execute(Exclude(frozenset(NAMES[1:])))
    cluster.wait_until_stable(3, _single_copy_is_on_first_node)
    cluster.stop(NAMES[0])
    return 2


def _restart_node_with_only_copy(cluster: ClusterUnderTest) -> int:
    cluster.start(NAMES[0], OLD)
    cluster.wait_until_stable(3)
    return _clear_exclusions(cluster)


def _exclude_from_voting(cluster: ClusterUnderTest) -> int:
    cluster.execute(ExcludeFromVoting(NAMES[2]))
    return 3


def _clear_voting_exclusions(cluster: ClusterUnderTest) -> int:
    cluster.execute(ClearVotingExclusions())
    return 3


def upgrade_node(name: str) -> Callable[[ClusterUnderTest], int]:
    def upgrade(cluster: ClusterUnderTest) -> int:
        cluster.stop(name)
        cluster.wait_until_stable(2)
        cluster.start(name, NEW)
        return 3

    return upgrade


def _create_index_on_new_node(cluster: ClusterUnderTest) -> int:
    """Create an index on the only new node. An older node cannot have a replica of it."""
    cluster.execute(Exclude(frozenset(NAMES[:2])))
    cluster.wait_until_stable(3)
    cluster.create("ahead", replicas=1)
    return 3


def _create_index(name: str) -> Callable[[ClusterUnderTest], int]:
    def create(cluster: ClusterUnderTest) -> int:
        cluster.create(name, replicas=0)
        return 3

    return create


# A step returns the number of nodes after it.
Steps: TypeAlias = Mapping[str, Callable[[ClusterUnderTest], int]]

STEPS: Steps = {
    "three nodes start, and an index has a copy on each": _start_nodes,
    "allocation is set to primaries": _allow_primaries_only,
    "a node stops": _stop_third_node,
    "the node restarts without its replica": _restart_third_node,
    "allocation is reset": _allow_all_allocation,
    "a node is drained": _drain_first_node,
    "two nodes are drained by patterns": _drain_by_patterns,
    "the exclusions are cleared": _clear_exclusions,
    "the node with the only copy stops": _stop_node_with_only_copy,
    "the node with the only copy restarts": _restart_node_with_only_copy,
    "a manager is excluded from voting": _exclude_from_voting,
    "the voting exclusions are cleared": _clear_voting_exclusions,
    "the first node is upgraded": upgrade_node(NAMES[2]),
    "an index is created on mixed versions": _create_index("mixed"),
    "an index is created on the new node only": _create_index_on_new_node,
    "no older node can have its replica": _clear_exclusions,
    "the second node is upgraded": upgrade_node(NAMES[1]),
    "the last node is upgraded": upgrade_node(NAMES[0]),
    "an index is created on the new version": _create_index("new"),
}


def observed_facts(view: EngineView) -> Facts:
    """Return the facts that are compared after each step."""
    books = [copy for copy in view.shards if copy.index == "books"]
    return {
        "color": str(view.color),
        "nodes": {node.name: node.version for node in sorted(view.nodes, key=lambda node: node.name)},
        "votes": len(view.voters),
        "allocation": str(view.allocation),
        "excluded": sorted(view.excluded),
        "voting exclusions": sorted(view.voting_exclusions),
        "nodes with books": sorted(copy.node for copy in books if copy.node is not None),
        "unassigned": [
            (copy.index, copy.is_primary, sorted(copy.deciders))
            for copy in view.shards
            if copy.state is ShardState.UNASSIGNED
        ],
        "indices": {index.name: (index.created_by, index.replicas) for index in _sorted_indices(view)},
        "has an elected manager": view.elected is not None,
    }


def _sorted_indices(view: EngineView) -> list[Any]:
    return sorted(view.indices, key=lambda index: index.name)


def run_scenario(
    cluster: ClusterUnderTest, steps: Steps, observe: Observe = observed_facts
) -> dict[str, Facts]:
    """Run the steps, and return the facts after each step."""
    return {name: observe(cluster.wait_until_stable(step(cluster))) for name, step in steps.items()}


def run_scenario_on_real_nodes(
    real: RealCluster, steps: Steps, fake: Mapping[str, Facts], observe: Observe = observed_facts
) -> dict[str, Facts]:
    """Run the steps on real nodes, and wait after each step for the facts of the fake cluster.

    Voting, election and recovery may complete shortly after the shards have stopped moving.
    """
    return {name: _wait_for_facts(real, step(real), fake[name], observe) for name, step in steps.items()}


def _wait_for_facts(real: RealCluster, nodes: int, expected: Facts, observe: Observe) -> Facts:
    """Return the facts as soon as they are as expected; after the timeout, as they are."""
    try:
        return observe(real.wait_until_stable(nodes, lambda view: observe(view) == expected))
    except WaitTimeoutError:
        return observe(real.wait_until_stable(nodes))
