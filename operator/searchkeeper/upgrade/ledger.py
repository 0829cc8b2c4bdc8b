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
    "UPGRADE",
    "UPGRADED_NODES",
    "VOTING",
    "WIPED_VOLUME",
    "UpgradeLedger",
]

from dataclasses import dataclass
from typing import Final

from searchkeeper.planner import Ledger
from searchkeeper.planner.ledger import Entry

# The keys are in the status of deployed clusters: they keep their text when a concept gets another name.

# The engine upgrade in progress: (from, target). While it is set, the spec in LOCK applies.
UPGRADE: Final = "upgrade"
LOCK: Final = "upgrade/lock"
# The version that a rollback returns nodes to.
ROLLBACK_TO: Final = "upgrade/return"
# The nodes that have run a version newer than UPGRADE's first, as (pod, UID of its volume claim).
UPGRADED_NODES: Final = "upgrade/crossed"
# The version that failed and the generation that asked for it. It is not tried again before the spec changes.
ABANDONED: Final = "upgrade/given-up"
# The generation whose version was refused. One event a generation.
REFUSED: Final = "refused"
# The reasons of the events in force. One event for each as long as it lasts.
EVENTS_EMITTED: Final = "told"
# Engine settings that the operator changed: the value before, or the nodes that it excluded.
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

# The names of the actions whose waits are read from the ledger: the one that runs the rollout, and all that
# wait for nodes and for nothing else.
PODS_CURRENT: Final = "PodsCurrent"
ACTIONS_WAITING_FOR_NODES: Final = (PODS_CURRENT, "PoolsConverged", "EngineHealthy", "UpgradeFinished")


@dataclass(frozen=True, slots=True)
class UpgradeLedger(Ledger):
    """A ledger with typed access to the entries of an upgrade. Malformed entries count as missing."""

    @property
    def upgrade(self) -> tuple[str, str] | None:
        """The versions (from, target) of the upgrade in progress."""
        match self.get(UPGRADE):
            case (str(before), str(target)):
                return before, target
            case _:
                return None

    @property
    def rollback_to(self) -> str | None:
        return self._text(ROLLBACK_TO)

    @property
    def lock(self) -> str | None:
        return self._text(LOCK)

    @property
    def refused_generation(self) -> int | None:
        return self._number(REFUSED)

    @property
    def events_emitted(self) -> frozenset[str]:
        """The reasons of the events in force."""
        return self._names(EVENTS_EMITTED)

    @property
    def allocation_before(self) -> str | None:
        """The allocation before the operator changed it; `all` where the setting was absent."""
        return self._text(ALLOCATION)

    @property
    def excluded(self) -> frozenset[str]:
        """The nodes that the rollout excludes from allocation. Users may exclude others."""
        return self._names(EXCLUDED)

    @property
    def voting_excluded(self) -> str | None:
        return self._text(VOTING)

    @property
    def scale_in_excluded(self) -> frozenset[str]:
        """The nodes that scale-in excludes from allocation."""
        return self._names(SCALE_IN_EXCLUDED)

    @property
    def scale_in_voting_excluded(self) -> frozenset[str]:
        """The managers that scale-in excludes from voting."""
        return self._names(SCALE_IN_VOTING)

    @property
    def foreign_voting_excluded(self) -> frozenset[str]:
        """The managers that others exclude from voting, while the engine may have lost it."""
        return self._names(FOREIGN_VOTING)

    @property
    def deleting_since(self) -> int | None:
        return self._number(DELETING)

    @property
    def replaced_pods(self) -> dict[str, str]:
        """The pods of the batch, each with the UID that it had before it was deleted."""
        return self._pairs(REPLACED_PODS)

    @property
    def pending_delete(self) -> str | None:
        """The resource version of the pod whose delete was recorded last."""
        return self._text(PENDING_DELETE)

    @property
    def upgraded_nodes(self) -> dict[str, str]:
        """The nodes that have run the newer version, each with the UID of its claim; "" for none."""
        return self._pairs(UPGRADED_NODES)

    @property
    def abandoned(self) -> tuple[str, int] | None:
        """The version that failed and the generation that asked for it."""
        match self.get(ABANDONED):
            case (str(version), int(generation)):
                return version, generation
            case _:
                return None

    def batch_size(self, pool: str) -> int:
        """How many pods of the pool may be replaced together. Every pool starts with one."""
        match self.get(BATCH_SIZE):
            case (str(name), int(size)) if name == pool:
                return size
            case _:
                return 1

    def partition(self, pool: str, template: str) -> int | None:
        """The lowest ordinal that may be replaced with this template, if it is recorded."""
        match self.get(PARTITION):
            case (str(name), str(digest), int(ordinal)) if (name, digest) == (pool, template):
                return ordinal
            case _:
                return None

    @property
    def batch_failed(self) -> bool:
        return self.get(BATCH_FAILED) is True

    @property
    def flushed_for(self) -> str | None:
        return self._text(FLUSHED)

    def _text(self, key: str) -> str | None:
        entry = self.get(key)
        return entry if isinstance(entry, str) else None

    def _number(self, key: str) -> int | None:
        entry = self.get(key)
        return entry if isinstance(entry, int) else None

    def _names(self, key: str) -> frozenset[str]:
        return frozenset(item for item in self._items(key) if isinstance(item, str))

    def _pairs(self, key: str) -> dict[str, str]:
        pairs = {}
        for item in self._items(key):
            match item:
                case (str(name), str(uid)):
                    pairs[name] = uid
        return pairs

    def _items(self, key: str) -> tuple[Entry, ...]:
        entry = self.get(key)
        return entry if isinstance(entry, tuple) else ()
