"""States told apart by what matters: not by when, nor by numbers that count births and changes.

The operator remembers nothing from one cycle to the next, so two states with one fingerprint have one future,
but for the moments at which patience ends.
"""

from __future__ import annotations

__all__ = ["Fingerprint", "fingerprint", "without_counters"]

import json
from typing import Any, Final, TypeAlias

from searchkeeper.kubernetes.operations import Manifest
from searchkeeper.memoize import memoize_by_identity
from searchkeeper.planner.denied_operations import DENIED_PREFIX
from searchkeeper.planner.waits import WAIT_PREFIX
from searchkeeper.testing.fake_cluster import FakeClusterState
from searchkeeper.upgrade.ledger import (
    ABANDONED,
    FLUSHED,
    PENDING_DELETE,
    REFUSED,
    REPLACED_PODS,
    UPGRADED_NODES,
    WIPED_VOLUME,
)
from searchkeeper.upgrade.pending_delete import DELETE_CANCELLED

Fingerprint: TypeAlias = int

_COUNTED: Final = frozenset(
    {
        "uid",
        "resourceVersion",
        "generation",
        "observedGeneration",
        "creationTimestamp",
        "lastTransitionTime",
        "ledger",
        DELETE_CANCELLED,
    }
)
_GENERATIONS: Final = frozenset({REFUSED, ABANDONED})
_NAMED_BY_UID: Final = frozenset({REPLACED_PODS, UPGRADED_NODES, FLUSHED, WIPED_VOLUME})


def fingerprint(state: FakeClusterState) -> Fingerprint:
    """Equal for states between which the operator makes no difference."""
    objects = frozenset((key, _content(each)) for key, each in state.cluster.objects.items())
    engine = state.engine
    return hash(
        (
            objects,
            tuple(sorted(_ledgers(state))),
            frozenset(engine.nodes),
            engine.indices,
            tuple(sorted(map(repr, engine.copies))),
            engine.disks,
            engine.voters,
            engine.voting_exclusions,
            engine.allocation,
            engine.excluded,
            state.faults,
        )
    )


@memoize_by_identity(65536)
def _content(manifest: Manifest) -> int:
    return hash(json.dumps(without_counters(manifest), sort_keys=True))


def without_counters(part: Any) -> Any:
    """A manifest without what counts changes, names births, or is a moment."""
    if isinstance(part, dict):
        kept = {name: without_counters(each) for name, each in part.items() if name not in _COUNTED}
        return kept | {"deletionTimestamp": ""} if "deletionTimestamp" in kept else kept
    if isinstance(part, list | tuple):
        return [without_counters(each) for each in part]
    return part


def _ledgers(state: FakeClusterState) -> list[tuple[str, str, str]]:
    """Every line of every ledger. Of a UID it matters only whether its object is still there."""
    found = [
        (key.name, line, text)
        for key, each in state.cluster.objects.items()
        if key.kind in ("SearchCluster", "SearchPool")
        for line, text in ((each.get("status") or {}).get("ledger") or {}).items()
    ]
    there = [each["metadata"] for each in state.cluster.objects.values()] if found else []
    alive = {str(each["uid"]) for each in there} | {str(each["resourceVersion"]) for each in there}
    return [(name, line, _line(line, text, alive)) for name, line, text in found]


def _line(line: str, text: str, alive: set[str]) -> str:
    if line.startswith((WAIT_PREFIX, DENIED_PREFIX)):
        # A reason and since when it is given; a write, and in which words it was refused.
        return str(json.loads(text)[0])
    if line in _GENERATIONS:
        return ""
    if line == PENDING_DELETE:
        return str(json.loads(text) in alive)
    return json.dumps(_known(json.loads(text), alive)) if line in _NAMED_BY_UID else text


def _known(entry: Any, alive: set[str]) -> Any:
    if isinstance(entry, list):
        return [_known(each, alive) for each in entry]
    return entry in alive if str(entry).startswith("uid-") else entry
