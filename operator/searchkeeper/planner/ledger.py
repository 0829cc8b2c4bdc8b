"""The ledger: intents and how to undo them, persisted in the status before they are executed."""

from __future__ import annotations

__all__ = ["Entry", "Ledger"]

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Self, TypeAlias

# Hashable: proofs compare and count millions of states that contain ledgers.
Entry: TypeAlias = str | int | bool | tuple["Entry", ...]


@dataclass(frozen=True, slots=True)
class Ledger(Mapping[str, Entry]):
    """An immutable mapping, sorted by key. A lookup and a change cost one pass over the entries."""

    entries: tuple[tuple[str, Entry], ...] = ()

    @classmethod
    def of(cls, entries: Mapping[str, Entry]) -> Self:
        return cls(entries.entries if isinstance(entries, Ledger) else tuple(sorted(entries.items())))

    def __getitem__(self, key: str) -> Entry:
        for name, value in self.entries:
            if name == key:
                return value
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def with_changes(self, changes: Mapping[str, Entry | None]) -> Self:
        """Return a ledger with these entries; a value of None removes the entry."""
        merged = {**dict(self.entries), **changes}
        return self.of({key: value for key, value in merged.items() if value is not None})
