"""Fingerprints of states: equal for states that differ only in timestamps, UIDs and counters.

The operator keeps no memory between two reconciles. Two states with one fingerprint therefore lead to the
same end, except for deadlines.
"""

from __future__ import annotations

__all__ = ["Fingerprint", "fingerprint", "without_counters"]

import json
from collections.abc import Iterator
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

_COUNTERS: Final = frozenset(
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
# Ledger lines whose value is a generation.
_GENERATION_LINES: Final = frozenset({REFUSED, ABANDONED})
# Ledger lines whose value contains UIDs.
_UID_LINES: Final = frozenset({REPLACED_PODS, UPGRADED_NODES, FLUSHED, WIPED_VOLUME})


def fingerprint(state: FakeClusterState) -> Fingerprint:
    """Return a number that is equal for states between which the operator does not distinguish."""
    engine = state.engine
    return hash(
        (
            frozenset((key, _content_hash(each)) for key, each in state.cluster.objects.items()),
            tuple(sorted(_ledger_lines(state))),
            frozenset(engine.nodes),
            engine.indices,
            tuple(sorted(map(repr, engine.copies))),
            engine.disks,
            engine.voters,
            engine.voting_exclusions,
            engine.allocation,
            engine.excluded,
            engine.snapshots,
            engine.record,
            state.faults,
        )
    )


@memoize_by_identity(65536)
def _content_hash(manifest: Manifest) -> int:
    return hash(json.dumps(without_counters(manifest), sort_keys=True))


def without_counters(part: Any) -> Any:
    """Return a manifest without counters, UIDs and timestamps; a deletion timestamp is emptied."""
    if isinstance(part, dict):
        kept = {name: without_counters(each) for name, each in part.items() if name not in _COUNTERS}
        return kept | {"deletionTimestamp": ""} if "deletionTimestamp" in kept else kept
    if isinstance(part, list | tuple):
        return [without_counters(each) for each in part]
    return part


def _ledger_lines(state: FakeClusterState) -> Iterator[tuple[str, str, str]]:
    """Yield every line of every ledger: the name of the resource, the line, its normalized value."""
    objects = state.cluster.objects
    lines = [
        (key.name, line, text)
        for key, manifest in objects.items()
        if key.kind in ("SearchCluster", "SearchPool")
        for line, text in ((manifest.get("status") or {}).get("ledger") or {}).items()
    ]
    identifiers = {
        str(manifest["metadata"][name])
        for manifest in (objects.values() if lines else ())
        for name in ("uid", "resourceVersion")
    }
    for resource, line, text in lines:
        yield resource, line, _normalize(line, text, identifiers)


def _normalize(line: str, text: str, identifiers: set[str]) -> str:
    """Reduce a UID or resource version to whether an object has it, a wait or denial to its first field."""
    if line.startswith((WAIT_PREFIX, DENIED_PREFIX)):
        return str(json.loads(text)[0])
    if line in _GENERATION_LINES:
        return ""
    if line == PENDING_DELETE:
        return str(json.loads(text) in identifiers)
    return json.dumps(_without_uids(json.loads(text), identifiers)) if line in _UID_LINES else text


def _without_uids(entry: Any, identifiers: set[str]) -> Any:
    if isinstance(entry, list):
        return [_without_uids(each, identifiers) for each in entry]
    return entry in identifiers if str(entry).startswith("uid-") else entry
