"""A second story: an upgrade that goes to and fro, and which pods could be taken away at each moment of it.

Every step leaves the engine one place for each copy, so that the gates can be compared pod by pod.
"""

from __future__ import annotations

__all__ = ["FIRST", "SECOND", "STEPS", "THIRD", "closed_gates"]

from collections.abc import Callable
from typing import Final

from e2e.opensearch_story import NAMES, OLD, ROLES, Stage, Steps, Told, facts, upgraded
from searchkeeper.opensearch.calls import Exclude
from searchkeeper.opensearch.view import EngineView
from searchkeeper.upgrade.gates import Candidate, gate_results
from snapshots import cluster_snapshot, pod, pool

FIRST, SECOND, THIRD = NAMES
POOL: Final = FIRST.rpartition("-")[0]


def closed_gates(view: EngineView) -> Told:
    """Beside the usual facts: for each node that is there, the gates that keep its pod."""
    pods = [pod(name, is_ready=view.node(name) is not None) for name in NAMES]
    members = pool(POOL, len(NAMES), roles=" ".join(ROLES), pods=pods)
    snapshot = cluster_snapshot(members, view=view)
    closed = {
        each.name: [v.gate for v in gate_results(Candidate(each, members), snapshot) if not v.is_open]
        for each in pods
        if each.is_ready
    }
    return {**facts(view), "closed": closed}


def _books_on(*names: str) -> Callable[[EngineView], bool]:
    return lambda view: {copy.node for copy in view.shards if copy.index == "books"} == {*names}


def _two_copies(stage: Stage) -> int:
    for name in NAMES:
        stage.start(name, OLD)
    stage.rested(3)
    stage.execute(Exclude(frozenset({THIRD})))
    stage.create("books", replicas=1)
    stage.rested(3, _books_on(FIRST, SECOND))
    return 3


def _second_away(stage: Stage) -> int:
    """From here on the first has the primary, whoever had it before."""
    stage.stop(SECOND)
    return 2


def _second_back(stage: Stage) -> int:
    stage.start(SECOND, OLD)
    return 3


def _primary_moves(stage: Stage) -> int:
    stage.execute(Exclude(frozenset({FIRST})))
    stage.rested(3, _books_on(SECOND, THIRD))
    return 3


def _replica_lost(stage: Stage) -> int:
    stage.stop(SECOND)
    stage.rested(2)
    return _second_back(stage)


def _drained(stage: Stage) -> int:
    stage.execute(Exclude(frozenset({THIRD})))
    return 3


def _second_upgraded(stage: Stage) -> int:
    stage.execute(Exclude(frozenset()))
    return upgraded(SECOND)(stage)


def _second_anew(stage: Stage) -> int:
    stage.stop(SECOND)
    stage.rested(2)
    stage.wipe(SECOND)
    return _second_back(stage)


def _nobody_may(stage: Stage) -> int:
    stage.execute(Exclude(frozenset(NAMES)))
    stage.rested(3)
    stage.create("homeless", replicas=0)
    return 3


STEPS: Steps = {
    "two copies, and a node that may have none": _two_copies,
    "a copy is away, and nobody may take another": _second_away,
    "it comes back": _second_back,
    "the node without a copy is upgraded": upgraded(THIRD),
    "the primary moves to the new node": _primary_moves,
    "its replica was away, and no older node may have it": _replica_lost,
    "the only copy cannot leave for an older node": _drained,
    "a second node is upgraded, and takes the replica": _second_upgraded,
    "it begins anew as an older node, on an empty disk": _second_anew,
    "nobody may have a new index": _nobody_may,
}
