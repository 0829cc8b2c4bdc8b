"""The one who may write: a Lease that is asked for before every write.

A Lease alone stops nobody who was asleep when it ran out. So each write is preceded by a fresh look at it:
still ours, still of the same epoch, and not about to run out while the request is on its way.
"""

from __future__ import annotations

__all__ = ["LeaderLease", "NotLeader"]

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock
from typing import Any, Final

from searchkeeper.kubernetes.api import ApiError, Conflict, KubernetesApi, NotFound
from searchkeeper.kubernetes.operations import Key, Manifest, Patch

_API: Final = "coordination.k8s.io/v1"


class NotLeader(ApiError):
    """Another operator has the lease, or ours has run out: nothing is written."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """A state of the Lease, and when it was first seen, by our own clock: nobody else's is trusted."""

    holder: str
    epoch: int
    renewals: str
    duration: float
    at: float


class LeaderLease:
    """Who leads. `duration` is how long the holder may be silent; it renews in a third of that."""

    def __init__(
        self,
        kube: KubernetesApi,
        key: Key,
        identity: str,
        *,
        duration: float = 15,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._kube = kube
        self._key = key
        self.identity = identity
        self.duration = duration
        self._clock = clock
        self._seen: _Seen | None = None
        self._epoch: int | None = None
        self._valid_until = 0.0
        self._is_given_back = False
        self._lock = Lock()

    @staticmethod
    def named(namespace: str) -> Key:
        return Key(_API, "Lease", namespace, "searchkeeper")

    @property
    def is_ours(self) -> bool:
        """As far as our own clock tells; another operator waits for longer than that."""
        return self._epoch is not None and self._clock() < self._valid_until

    @property
    def epoch(self) -> int | None:
        """The number of this leadership: it changes whenever the holder does."""
        return self._epoch if self.is_ours else None

    @property
    def holder(self) -> str:
        """Who had it at the last look; nobody before the first one."""
        return self._seen.holder if self._seen is not None else ""

    @property
    def free_in(self) -> float:
        """Seconds until whoever has it, if they stay silent, have been so for too long."""
        observed = self._seen
        return 0.0 if observed is None else max(0.0, observed.at + observed.duration - self._clock())

    def keep(self) -> bool:
        """Takes the lease when it is free, renews it when it is ours. Whether it is ours afterwards.

        Whoever has given it back does not take it again: a renewal may have been in line behind that.
        """
        with self._lock:
            if self._is_given_back:
                return False
            asked = self._clock()
            try:
                found = self._kube.get(self._key)
                stored = self._first() if found is None else self._taken(found)
            except (Conflict, NotFound):
                # Somebody was quicker; the next look tells who.
                stored = None
            if stored is not None:
                self._epoch = int(stored["spec"]["leaseTransitions"])
                # Counted from before the request: on its way it may have waited.
                self._valid_until = asked + self.duration * 2 / 3
            return self.is_ours

    def confirm(self) -> None:
        """Raises NotOurs unless the lease is ours at this moment, by the API server's own word."""
        epoch = self.epoch
        if epoch is None:
            raise NotLeader("the lease has run out")
        spec = (self._kube.get(self._key) or {}).get("spec") or {}
        if spec.get("holderIdentity") != self.identity or spec.get("leaseTransitions") != epoch:
            self._epoch = None
            raise NotLeader(f"{spec.get('holderIdentity') or 'nobody'} has the lease")
        if not self.is_ours:
            raise NotLeader("the lease has run out")

    def release(self) -> None:
        """Lets another one take it at once, for good. Raises KubeError."""
        with self._lock:
            self._is_given_back = True
            if self._epoch is None:
                return
            epoch, self._epoch = self._epoch, None
            found = self._kube.get(self._key)
            if found is not None and _is(found, self.identity, epoch):
                self._patch(found, {"holderIdentity": "", "leaseDurationSeconds": 1})

    def _first(self) -> Manifest:
        metadata = {"name": self._key.name, "namespace": self._key.namespace}
        spec = self._spec(epoch=0, acquired=True)
        return self._kube.create({"apiVersion": _API, "kind": "Lease", "metadata": metadata, "spec": spec})

    def _taken(self, found: Manifest) -> Manifest | None:
        observed = self._look(found)
        if observed.holder == self.identity and self._epoch == observed.epoch:
            return self._patch(found, self._spec(epoch=observed.epoch, acquired=False))
        if observed.holder not in ("", self.identity) and self._clock() < observed.at + observed.duration:
            self._epoch = None
            return None
        return self._patch(found, self._spec(epoch=observed.epoch + 1, acquired=True))

    def _look(self, found: Manifest) -> _Seen:
        """With the moment that this very state was first seen."""
        spec = found.get("spec") or {}
        state = _Seen(
            spec.get("holderIdentity") or "",
            int(spec.get("leaseTransitions") or 0),
            str(spec.get("renewTime")),
            float(spec.get("leaseDurationSeconds") or self.duration),
            self._clock(),
        )
        if self._seen is None or _state(self._seen) != _state(state):
            self._seen = state
        return self._seen

    def _spec(self, *, epoch: int, acquired: bool) -> dict[str, Any]:
        moment = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        return {
            "holderIdentity": self.identity,
            "leaseDurationSeconds": max(1, round(self.duration)),
            "renewTime": moment,
            "leaseTransitions": epoch,
            **({"acquireTime": moment} if acquired else {}),
        }

    def _patch(self, found: Manifest, spec: Mapping[str, Any]) -> Manifest:
        return self._kube.patch(Patch(self._key, {"spec": spec}, found["metadata"]["resourceVersion"]))


def _is(found: Manifest, identity: str, epoch: int) -> bool:
    spec = found.get("spec") or {}
    return spec.get("holderIdentity") == identity and spec.get("leaseTransitions") == epoch


def _state(observed: _Seen) -> tuple[str, int, str]:
    return observed.holder, observed.epoch, observed.renewals
