"""The ledger's lines about upgrades, typed: what is under way, what the engine was told, who is away."""

from __future__ import annotations

__all__ = [
    "ALLOCATION",
    "AWAY",
    "EXCLUDED",
    "FLUSHED",
    "LOCK",
    "REFUSED",
    "RETURN",
    "SIZE",
    "UNDER_WAY",
    "VOTING",
    "Journal",
]

from dataclasses import dataclass
from typing import Final

from searchkeeper.kernel import Ledger
from searchkeeper.kernel.ledger import Entry

# An engine upgrade: (from, target). While there is one, the spec in LOCK is the one that counts.
UNDER_WAY: Final = "upgrade"
LOCK: Final = "upgrade/lock"
# The version that nodes are taken back to.
RETURN: Final = "upgrade/return"
# The generation whose version was refused, so that it is said once.
REFUSED: Final = "refused"
# What the engine was told, and is to be undone: the value that was there before.
ALLOCATION: Final = "engine/allocation"
EXCLUDED: Final = "engine/excluded"
VOTING: Final = "engine/voting"
# The roll: pods that were taken away, as (name, uid); how many may be; the pod that was flushed for.
AWAY: Final = "roll/away"
SIZE: Final = "roll/size"
FLUSHED: Final = "roll/flushed"


@dataclass(frozen=True, slots=True)
class Journal:
    """A ledger, read as what it says about upgrades."""

    ledger: Ledger

    @property
    def under_way(self) -> tuple[str, str] | None:
        """From which version to which, while an upgrade is under way."""
        match self.ledger.get(UNDER_WAY):
            case (str(before), str(target)):
                return before, target
            case _:
                return None

    @property
    def returns_to(self) -> str | None:
        return _text(self.ledger.get(RETURN))

    @property
    def lock(self) -> str | None:
        return _text(self.ledger.get(LOCK))

    @property
    def refused_generation(self) -> int | None:
        match self.ledger.get(REFUSED):
            case int(generation):
                return generation
            case _:
                return None

    @property
    def allocation_before(self) -> str | None:
        """What allocation was before we changed it; `all` also where there was no setting."""
        return _text(self.ledger.get(ALLOCATION))

    @property
    def excluded(self) -> frozenset[str]:
        """The nodes that we keep shards away from; users may have others."""
        return frozenset(_texts(self.ledger.get(EXCLUDED)))

    @property
    def moved_vote(self) -> str | None:
        return _text(self.ledger.get(VOTING))

    @property
    def away(self) -> dict[str, str]:
        """The UID that each pod had when it was taken away, by name."""
        match self.ledger.get(AWAY):
            case tuple(pairs):
                return {pair[0]: pair[1] for pair in pairs if isinstance(pair, tuple)}  # type: ignore[misc]
            case _:
                return {}

    @property
    def size(self) -> int:
        """How many pods of a batch may be away together."""
        match self.ledger.get(SIZE):
            case int(size):
                return size
            case _:
                return 1

    @property
    def flushed_for(self) -> str | None:
        return _text(self.ledger.get(FLUSHED))


def _text(entry: Entry | None) -> str | None:
    return entry if isinstance(entry, str) else None


def _texts(entry: Entry | None) -> tuple[str, ...]:
    return tuple(each for each in entry if isinstance(each, str)) if isinstance(entry, tuple) else ()
