"""The watch cache of the fake API server: a bounded log of changes."""

from __future__ import annotations

__all__ = ["Compacted", "WatchEvent", "WatchHistory"]

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from searchkeeper.kubernetes.operations import Key, Manifest
from searchkeeper.testing.fake_kubernetes.manifests import with_value
from searchkeeper.testing.fake_kubernetes.object_store import ObjectStore


class Compacted(Exception):
    """Changes since the requested version were dropped. The client must list again (410 Expired)."""


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """One event of a watch. A client that listed at `version` or later has seen it."""

    type: str
    version: int
    key: Key
    manifest: Manifest


class WatchHistory:
    """The newest changes of a store, computed from the stores before and after each write.

    A position counts all events ever, so that it stays valid when old events are dropped.
    """

    def __init__(self, cluster: ObjectStore, *, limit: int = 10_000) -> None:
        self._events: deque[WatchEvent] = deque(maxlen=limit)
        self._compacted = cluster.revision
        self._count = 0

    @property
    def end(self) -> int:
        """The position after the newest event."""
        return self._count

    def append_changes(self, before: ObjectStore, after: ObjectStore) -> None:
        """Append the events between two stores. Compares all objects."""
        for event in _events(before, after):
            if len(self._events) == self._events.maxlen:
                self._compacted = max(self._compacted, self._events[0].version)
            self._events.append(event)
            self._count += 1

    def position_after(self, version: int) -> int:
        """Return the position of the first event after a resource version. Raises Compacted."""
        if version < self._compacted:
            raise Compacted(f"too old resource version: {version} ({self._compacted})")
        later = next((n for n, event in enumerate(self._events) if event.version > version), None)
        return self._count if later is None else self._first + later

    def since(self, position: int) -> list[WatchEvent]:
        """Return the events from a position on. Raises Compacted."""
        if position < self._first:
            raise Compacted(f"events before {self._first} were dropped")
        return list(islice(self._events, position - self._first, None))

    @property
    def _first(self) -> int:
        return self._count - len(self._events)


def _events(before: ObjectStore, after: ObjectStore) -> Iterator[WatchEvent]:
    """Yield the events between two stores, deletions first: a name may have been used again.

    A deletion that is followed by other events has the resource version before all of them. A client that
    reconnects in between receives some events twice and misses none.
    """
    gone = [key for key, old in before.objects.items() if _uid(after.objects.get(key)) != _uid(old)]
    changed = [
        new
        for key, new in after.objects.items()
        if new is not (old := before.objects.get(key)) and _version(new) != _version(old)
    ]
    for key in gone:
        is_last = not changed and key == gone[-1]
        version = after.revision if is_last else before.revision
        last_seen = with_value(before.objects[key], "metadata", "resourceVersion", to=str(version))
        yield WatchEvent("DELETED", after.revision if is_last else before.revision + 1, key, last_seen)
    for new in sorted(changed, key=_version):
        key = Key.of(new)
        is_new = _uid(before.objects.get(key)) != _uid(new)
        yield WatchEvent("ADDED" if is_new else "MODIFIED", _version(new), key, new)


def _uid(manifest: Manifest | None) -> str | None:
    return None if manifest is None else manifest["metadata"]["uid"]


def _version(manifest: Manifest | None) -> int:
    return 0 if manifest is None else int(manifest["metadata"]["resourceVersion"])
