"""The ledger's lines about upgrades, typed: what is under way, what the engine was told, who is away."""

from __future__ import annotations

__all__ = [
    "ABANDONED",
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

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from searchkeeper.planner import Ledger
from searchkeeper.planner.ledger import Entry

# An engine upgrade: (from, target). While there is one, the spec in LOCK is the one that counts.
UPGRADE: Final = "upgrade"
LOCK: Final = "upgrade/lock"
# The version that nodes are taken back to.
ROLLBACK_TO: Final = "upgrade/return"
# The nodes that have run the newer version, as (pod, UID of its volume claim).
UPGRADED_NODES: Final = "upgrade/crossed"
# The version that was given up, and the generation that asked for it: not again by itself.
ABANDONED: Final = "upgrade/given-up"
# The generation whose version was refused, so that it is said once.
REFUSED: Final = "refused"
# What people were told of, as long as it lasts, so that it is told once.
EVENTS_EMITTED: Final = "told"
# What the engine was told, and is to be undone: the value that was there before.
ALLOCATION: Final = "engine/allocation"
EXCLUDED: Final = "engine/excluded"
VOTING: Final = "engine/voting"
# The same for nodes that leave for good, so that neither undoes what the other has set.
SCALE_IN_EXCLUDED: Final = "engine/leaving"
SCALE_IN_VOTING: Final = "engine/leaving-votes"
# Whom others have excluded from voting: the engine forgets them together with ours, and is told again.
FOREIGN_VOTING: Final = "engine/others-votes"
# Since when the engine is being tidied before the cluster is deleted.
DELETING: Final = "deleting"
# The roll: pods that were taken away, as (name, uid); how many of a pool may be; the pod that was flushed
# for; whether somebody of this batch failed; the volume claim that was taken away, as (name, uid).
REPLACED_PODS: Final = "roll/away"
# The resource version of the pod that was noted last: its deletion names it, and may still be on its way.
PENDING_DELETE: Final = "roll/aimed"
BATCH_SIZE: Final = "roll/size"
FLUSHED: Final = "roll/flushed"
BATCH_FAILED: Final = "roll/trouble"
# How far down Kubernetes may replace pods by itself: (pool, the template it is for, ordinal).
PARTITION: Final = "roll/partition"
WIPED_VOLUME: Final = "roll/wiped"


@dataclass(frozen=True, slots=True)
class UpgradeLedger(Ledger):
    """A ledger, read as what it says about upgrades."""

    @property
    def upgrade(self) -> tuple[str, str] | None:
        """From which version to which, while an upgrade is under way."""
        match self.get(UPGRADE):
            case (str(before), str(target)):
                return before, target
            case _:
                return None

    @property
    def rollback_to(self) -> str | None:
        return _text(self.get(ROLLBACK_TO))

    @property
    def lock(self) -> str | None:
        return _text(self.get(LOCK))

    @property
    def refused_generation(self) -> int | None:
        match self.get(REFUSED):
            case int(generation):
                return generation
            case _:
                return None

    @property
    def events_emitted(self) -> frozenset[str]:
        """What people know of: the reasons of events."""
        return frozenset(_texts(self.get(EVENTS_EMITTED)))

    @property
    def allocation_before(self) -> str | None:
        """What allocation was before we changed it; `all` also where there was no setting."""
        return _text(self.get(ALLOCATION))

    @property
    def excluded(self) -> frozenset[str]:
        """The nodes that we keep shards away from; users may have others."""
        return frozenset(_texts(self.get(EXCLUDED)))

    @property
    def voting_excluded(self) -> str | None:
        return _text(self.get(VOTING))

    @property
    def scale_in_excluded(self) -> frozenset[str]:
        """The nodes that we keep shards away from because they leave for good."""
        return frozenset(_texts(self.get(SCALE_IN_EXCLUDED)))

    @property
    def scale_in_voting_excluded(self) -> frozenset[str]:
        """The managers that we took the vote from because they leave for good."""
        return frozenset(_texts(self.get(SCALE_IN_VOTING)))

    @property
    def foreign_voting_excluded(self) -> frozenset[str]:
        """The managers that somebody else has taken the vote from, while the engine may have forgotten it."""
        return frozenset(_texts(self.get(FOREIGN_VOTING)))

    @property
    def deleting_since(self) -> int | None:
        match self.get(DELETING):
            case int(since):
                return since
            case _:
                return None

    @property
    def replaced_pods(self) -> dict[str, str]:
        """The UID that each pod had when it was taken away, by name."""
        return dict(_pairs(self.get(REPLACED_PODS)))

    @property
    def pending_delete(self) -> str | None:
        """The state in which a pod was last seen that was to go."""
        return _text(self.get(PENDING_DELETE))

    @property
    def upgraded_nodes(self) -> dict[str, str]:
        """Which claim each node had when it ran the newer version, by pod; "" for none."""
        return dict(_pairs(self.get(UPGRADED_NODES)))

    @property
    def abandoned(self) -> tuple[str, int] | None:
        """The version that failed, and the generation that asked for it."""
        match self.get(ABANDONED):
            case (str(version), int(generation)):
                return version, generation
            case _:
                return None

    def size(self, pool: str) -> int:
        """How many pods of a pool may be away together: each pool begins with one."""
        match self.get(BATCH_SIZE):
            case (str(name), int(size)) if name == pool:
                return size
            case _:
                return 1

    def partition(self, pool: str, template: str) -> int | None:
        """The lowest ordinal that is to be made from this template, where that has been decided."""
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
        return _text(self.get(FLUSHED))


def _pairs(entry: Entry | None) -> Iterator[tuple[str, str]]:
    for pair in entry if isinstance(entry, tuple) else ():
        match pair:
            case (str(name), str(uid)):
                yield name, uid


def _text(entry: Entry | None) -> str | None:
    return entry if isinstance(entry, str) else None


def _texts(entry: Entry | None) -> tuple[str, ...]:
    return tuple(each for each in entry if isinstance(each, str)) if isinstance(entry, tuple) else ()
