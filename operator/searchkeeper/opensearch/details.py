"""Details of an OpenSearch cluster that only some reconciles need: disk usage, the state of a snapshot."""

from __future__ import annotations

__all__ = [
    "DISKS_FILTER",
    "DetailsRequest",
    "Disks",
    "EngineDetails",
    "NodeDisk",
    "SnapshotState",
    "SnapshotView",
    "parse_disks",
    "parse_snapshot",
]

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

# The value of `filter_path` for `GET /_nodes/stats/fs,indices/store?level=shards`.
DISKS_FILTER: Final = ",".join(
    (
        "nodes.*.name",
        "nodes.*.fs.total.total_in_bytes",
        "nodes.*.fs.total.available_in_bytes",
        "nodes.*.indices.shards.*.*.store.size_in_bytes",
    )
)
# Characters. OpenSearch may quote anything.
_MAX_CAUSE: Final = 300


class SnapshotState(StrEnum):
    """The states of a snapshot in OpenSearch, and what is known of one that has no state."""

    IN_PROGRESS = "IN_PROGRESS"
    SUCCESS = "SUCCESS"
    PARTIAL = "PARTIAL"
    FAILED = "FAILED"
    MISSING = "missing"
    REPOSITORY_MISSING = "repository missing"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class SnapshotView:
    """The state of a snapshot. `cause` is why it is not complete, or why its state is unknown."""

    state: SnapshotState
    cause: str = ""


@dataclass(frozen=True, slots=True)
class NodeDisk:
    """The disk of a node, in bytes."""

    total: int
    available: int


@dataclass(frozen=True, slots=True)
class Disks:
    """The disks by node name, and the size of each shard copy by node name, index and shard number."""

    nodes: Mapping[str, NodeDisk] = field(default_factory=dict)
    copies: Mapping[tuple[str, str, int], int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DetailsRequest:
    """Which details a reconcile needs. With a repository and no snapshot: whether the repository exists."""

    disks: bool = False
    repository: str | None = None
    snapshot: str | None = None

    def __bool__(self) -> bool:
        return self.disks or self.repository is not None


@dataclass(frozen=True, slots=True)
class EngineDetails:
    """The requested details. `disks` is None also if the engine gives no figures."""

    disks: Disks | None = None
    snapshot: SnapshotView | None = None


def parse_disks(response: Any) -> Disks | None:
    """Parse the statistics of all nodes; None if they are not as expected: no decision is based on them."""
    disks: dict[str, NodeDisk] = {}
    copies: dict[tuple[str, str, int], int] = {}
    try:
        for node in response["nodes"].values():
            name, usage = str(node["name"]), node["fs"]["total"]
            disks[name] = NodeDisk(int(usage["total_in_bytes"]), int(usage["available_in_bytes"]))
            for index, shards in ((node.get("indices") or {}).get("shards") or {}).items():
                for shard, statistics in (item for each in shards for item in each.items()):
                    copies[name, str(index), int(shard)] = int(statistics["store"]["size_in_bytes"])
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
    return Disks(disks, copies)


def parse_snapshot(response: Any) -> SnapshotView:
    """Parse the response to `GET /_snapshot/REPOSITORY/NAME`. A snapshot without every shard is PARTIAL."""
    try:
        [snapshot] = response["snapshots"]
        state, failed = SnapshotState(snapshot["state"]), int(snapshot["shards"]["failed"])
        failures = [
            f"{each.get('index')}[{each.get('shard_id')}]: {each.get('reason')}"
            for each in snapshot.get("failures") or ()
        ]
        cause = str(snapshot.get("reason") or "; ".join(failures) or f"{failed} shards failed")
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        return SnapshotView(SnapshotState.UNKNOWN, f"cannot parse the response: {error!r}"[:_MAX_CAUSE])
    if state is SnapshotState.SUCCESS and failed:
        state = SnapshotState.PARTIAL
    is_complete = state in (SnapshotState.SUCCESS, SnapshotState.IN_PROGRESS)
    return SnapshotView(state, "" if is_complete else cause[:_MAX_CAUSE])
