"""What has changed in a cluster, for those who watch it: a log that forgets its beginning."""

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
    """The changes since that version are forgotten in part: whoever asks must list again."""


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """One event of a watch. Those who have seen the cluster at `version` or later know of it."""

    type: str
    version: int
    key: Key
    manifest: Manifest


class WatchHistory:
    """The newest changes of a cluster, told from two states of it."""

    def __init__(self, cluster: ObjectStore, *, limit: int = 10_000) -> None:
        self._changes: deque[WatchEvent] = deque(maxlen=limit)
        self._forgotten = cluster.revision
        self._taken = 0

    @property
    def end(self) -> int:
        """How many changes there ever were: a place to go on reading from."""
        return self._taken

    def note(self, before: ObjectStore, after: ObjectStore) -> None:
        """Cost: one pass over the objects."""
        for change in _changes(before, after):
            if len(self._changes) == self._changes.maxlen:
                self._forgotten = max(self._forgotten, self._changes[0].version)
            self._changes.append(change)
            self._taken += 1

    def place_of(self, version: int) -> int:
        """Where the changes after a resource version begin. Raises Compacted."""
        if version < self._forgotten:
            raise Compacted(f"too old resource version: {version} ({self._forgotten})")
        later = next((n for n, each in enumerate(self._changes) if each.version > version), None)
        return self._taken if later is None else self._first + later

    def since(self, place: int) -> list[WatchEvent]:
        """The changes from a place on. Raises Compacted."""
        if place < self._first:
            raise Compacted(f"the changes before {self._first} are forgotten")
        return list(islice(self._changes, place - self._first, None))

    @property
    def _first(self) -> int:
        return self._taken - len(self._changes)


def _changes(before: ObjectStore, after: ObjectStore) -> Iterator[WatchEvent]:
    """Deletions first: a name may have gone to another object within one step.

    A deletion that more follows upon has the resource version from before all of them. Whoever was cut off
    in the middle hears some of it twice then, and misses nothing.
    """
    gone = [key for key, old in before.objects.items() if _uid(after.objects.get(key)) != _uid(old)]
    changed = [new for key, new in after.objects.items() if new is not before.objects.get(key)]
    changed = [new for new in changed if _version(new) != _version(before.objects.get(Key.of(new)))]
    for key in gone:
        is_last = not changed and key == gone[-1]
        told = after.revision if is_last else before.revision
        last = with_value(before.objects[key], "metadata", "resourceVersion", to=str(told))
        yield WatchEvent("DELETED", after.revision if is_last else before.revision + 1, key, last)
    for new in sorted(changed, key=_version):
        key = Key.of(new)
        is_new = _uid(before.objects.get(key)) != _uid(new)
        yield WatchEvent("ADDED" if is_new else "MODIFIED", _version(new), key, new)


def _uid(manifest: Manifest | None) -> str | None:
    return None if manifest is None else manifest["metadata"]["uid"]


def _version(manifest: Manifest | None) -> int:
    return 0 if manifest is None else int(manifest["metadata"]["resourceVersion"])
