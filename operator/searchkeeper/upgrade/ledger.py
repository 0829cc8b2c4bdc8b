"""The ledger entries of an upgrade, with types."""

from __future__ import annotations

__all__ = [
    "ABANDONED",
    "ACTIONS_WAITING_FOR_NODES",
    "ALLOCATION",
    "BATCH_FAILED",
    "BATCH_SIZE",
    "DELETING",
    "EVENTS_EMITTED",
    "EXCLUDED",
    "FLUSHED",
    "FOREIGN_VOTING",
    "LOCK",
    "PARTITION",
    "PENDING_DELETE",
    "PODS_CURRENT",
    "REFUSED",
    "REPLACED_PODS",
    "ROLLBACK_TO",
    "SCALE_IN_EXCLUDED",
    "SCALE_IN_VOTING",
    "SNAPSHOT",
    "UPGRADE",
    "UPGRADED_NODES",
    "VOTING",
    "WIPED_VOLUME",
    "UpgradeLedger",
    "UpgradeSnapshot",
]

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from searchkeeper.planner import Ledger
from searchkeeper.planner.ledger import Entry

# The keys are in the status of deployed clusters: they keep their text when a concept gets another name.

# The engine upgrade in progress: (from, target). While it is set, the spec in LOCK applies.
UPGRADE: Final = "upgrade"
LOCK: Final = "upgrade/lock"
# The version that a rollback returns nodes to.
ROLLBACK_TO: Final = "upgrade/return"
# The nodes that have run a newer version than the upgrade started from: (pod, UID of its claim, "" for none).
UPGRADED_NODES: Final = "upgrade/crossed"
# The version that failed and the generation that asked for it. It is not tried again before the spec changes.
ABANDONED: Final = "upgrade/given-up"
# The generation whose version was refused. One event a generation.
REFUSED: Final = "refused"
# The reasons of the events in force. One event for each as long as it lasts.
EVENTS_EMITTED: Final = "told"
# Engine settings that the operator changed: the allocation before (`all` if it was not set), the nodes that a
# rollout excludes from allocation, and the manager that it excludes from voting. Users may exclude others.
ALLOCATION: Final = "engine/allocation"
EXCLUDED: Final = "engine/excluded"
VOTING: Final = "engine/voting"
# The same for scale-in. Separate keys: neither may undo a setting of the other.
SCALE_IN_EXCLUDED: Final = "engine/leaving"
SCALE_IN_VOTING: Final = "engine/leaving-votes"
# Voting exclusions that are not the operator's. The engine clears all or none, so these are set again.
FOREIGN_VOTING: Final = "engine/others-votes"
# When the operator started to restore engine settings before the cluster is deleted.
DELETING: Final = "deleting"
# The pods of the batch: (name, UID of the deleted pod).
REPLACED_PODS: Final = "roll/away"
# The resource version of the pod that was recorded last. Its delete names it and may still arrive.
PENDING_DELETE: Final = "roll/aimed"
# How many pods of a pool form a batch: (pool, size).
BATCH_SIZE: Final = "roll/size"
# The UID of the pod that indices were flushed for.
FLUSHED: Final = "roll/flushed"
# Whether a pod of the batch failed.
BATCH_FAILED: Final = "roll/trouble"
# The lowest ordinal that the StatefulSet controller may replace: (pool, template digest, ordinal).
PARTITION: Final = "roll/partition"
# The volume claim that was deleted: (name, UID).
WIPED_VOLUME: Final = "roll/wiped"
# The snapshot from before the upgrade: (repository, name, generation that requested it, attempt).
SNAPSHOT: Final = "upgrade/snapshot"

# The names of the actions whose waits are read from the ledger: the one that runs the rollout, and all that
# wait for nodes and for nothing else.
PODS_CURRENT: Final = "PodsCurrent"
ACTIONS_WAITING_FOR_NODES: Final = (PODS_CURRENT, "PoolsConverged", "EngineHealthy", "UpgradeFinished")


T = TypeVar("T")


def _text(entry: Entry | None) -> str | None:
    return entry if isinstance(entry, str) else None


def _number(entry: Entry | None) -> int | None:
    return entry if isinstance(entry, int) else None


def _names(entry: Entry | None) -> frozenset[str]:
    items = entry if isinstance(entry, tuple) else ()
    return frozenset(item for item in items if isinstance(item, str))


def _pairs(entry: Entry | None) -> dict[str, str]:
    pairs = {}
    for item in entry if isinstance(entry, tuple) else ():
        match item:
            case (str(name), str(uid)):
                pairs[name] = uid
    return pairs


@dataclass(frozen=True, slots=True)
class _Field(Generic[T]):
    """An attribute of a ledger: the entry under a key, decoded. A malformed entry counts as missing.

    Of the class itself, it is the value of an empty ledger.
    """

    key: str
    decode: Callable[[Entry | None], T]

    def __get__(self, ledger: UpgradeLedger | None, owner: type[UpgradeLedger]) -> T:
        return self.decode(None if ledger is None else ledger.get(self.key))


@dataclass(frozen=True, slots=True)
class UpgradeSnapshot:
    """The snapshot of an upgrade. `generation` is that of the spec for which it is the given attempt."""

    repository: str
    name: str
    generation: int
    attempt: int

    @property
    def entry(self) -> Entry:
        return (self.repository, self.name, self.generation, self.attempt)

    def __str__(self) -> str:
        return f"{self.repository}/{self.name}"


@dataclass(frozen=True, slots=True)
class UpgradeLedger(Ledger):
    """A ledger with typed access to the entries of an upgrade. The keys say what the entries mean."""

    lock = _Field(LOCK, _text)
    rollback_to = _Field(ROLLBACK_TO, _text)
    upgraded_nodes = _Field(UPGRADED_NODES, _pairs)
    refused_generation = _Field(REFUSED, _number)
    events_emitted = _Field(EVENTS_EMITTED, _names)
    allocation_before = _Field(ALLOCATION, _text)
    excluded = _Field(EXCLUDED, _names)
    voting_excluded = _Field(VOTING, _text)
    scale_in_excluded = _Field(SCALE_IN_EXCLUDED, _names)
    scale_in_voting_excluded = _Field(SCALE_IN_VOTING, _names)
    foreign_voting_excluded = _Field(FOREIGN_VOTING, _names)
    deleting_since = _Field(DELETING, _number)
    replaced_pods = _Field(REPLACED_PODS, _pairs)
    pending_delete = _Field(PENDING_DELETE, _text)
    flushed_for = _Field(FLUSHED, _text)

    @property
    def upgrade(self) -> tuple[str, str] | None:
        """The versions (from, target) of the upgrade in progress."""
        match self.get(UPGRADE):
            case (str(before), str(target)):
                return before, target
            case _:
                return None

    @property
    def abandoned(self) -> tuple[str, int] | None:
        """The version that failed and the generation that asked for it."""
        match self.get(ABANDONED):
            case (str(version), int(generation)):
                return version, generation
            case _:
                return None

    @property
    def batch_failed(self) -> bool:
        return self.get(BATCH_FAILED) is True

    def batch_size(self, pool: str) -> int:
        """Return how many pods of the pool may be replaced together. Every pool starts with one."""
        match self.get(BATCH_SIZE):
            case (str(name), int(size)) if name == pool:
                return size
            case _:
                return 1

    def partition(self, pool: str, template: str) -> int | None:
        """Return the lowest ordinal that may be replaced with this template, if it is recorded."""
        match self.get(PARTITION):
            case (str(name), str(digest), int(ordinal)) if (name, digest) == (pool, template):
                return ordinal
            case _:
                return None

    @property
    def snapshot(self) -> UpgradeSnapshot | None:
        """The snapshot from before the upgrade, taken or about to be."""
        match self.get(SNAPSHOT):
            case (str(repository), str(name), int(generation), int(attempt)):
                return UpgradeSnapshot(repository, name, generation, attempt)
            case _:
                return None
