"""Leader election by a Lease, which is read again before every write.

A Lease alone does not stop a process that was suspended while it expired. So every write first confirms that
the Lease still has this holder and this epoch, and that it does not expire before the request is sent.
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
    """Another operator holds the Lease, or the own Lease has expired: nothing is written."""


@dataclass(frozen=True, slots=True)
class _LeaseState:
    """A state of the Lease and when it was first seen, by the own clock: other clocks may differ."""

    holder: str
    epoch: int
    renew_time: str
    duration: float
    first_seen: float


class LeaderLease:
    """One candidate for the Lease. A holder that is silent for `duration` seconds loses it.

    The holder renews every third of the duration and stops writing after two thirds without a renewal.
    """

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
        self._last_state: _LeaseState | None = None
        self._epoch: int | None = None
        self._valid_until = 0.0
        self._is_released = False
        self._lock = Lock()

    @staticmethod
    def lease_key(namespace: str) -> Key:
        return Key(_API, "Lease", namespace, "searchkeeper")

    @property
    def is_leader(self) -> bool:
        """True while the Lease is valid by the own clock. Other candidates wait longer than that."""
        return self._epoch is not None and self._clock() < self._valid_until

    @property
    def epoch(self) -> int | None:
        """The number of this leadership, which changes with every holder; None without the Lease."""
        return self._epoch if self.is_leader else None

    @property
    def holder(self) -> str:
        """The holder when the Lease was last read; empty before that."""
        return self._last_state.holder if self._last_state is not None else ""

    @property
    def seconds_until_expiry(self) -> float:
        """Seconds until the Lease expires, if its holder does not renew it."""
        state = self._last_state
        return 0.0 if state is None else max(0.0, state.first_seen + state.duration - self._clock())

    def acquire_or_renew(self) -> bool:
        """Acquire a free Lease or renew the own one. True when this candidate leads afterwards.

        A candidate that has released the Lease never acquires it again: this call may have waited for the
        release. Raises ApiError.
        """
        with self._lock:
            if self._is_released:
                return False
            request_time = self._clock()
            stored: Manifest | None
            try:
                lease = self._kube.get(self._key)
                if lease is None:
                    metadata = {"name": self._key.name, "namespace": self._key.namespace}
                    new = {"apiVersion": _API, "kind": "Lease", "metadata": metadata}
                    stored = self._kube.create({**new, "spec": self._spec(epoch=0, is_new=True)})
                else:
                    stored = self._patch_if_allowed(lease)
            except (Conflict, NotFound):
                # Another candidate changed the Lease first; the next call reads it.
                stored = None
            if stored is not None:
                self._epoch = int(stored["spec"]["leaseTransitions"])
                # Counted from before the request, which may have been slow.
                self._valid_until = request_time + self.duration * 2 / 3
            return self.is_leader

    def confirm(self) -> None:
        """Read the Lease again. Raises NotLeader unless this candidate still holds it, and ApiError."""
        epoch = self.epoch
        if epoch is None:
            raise NotLeader("the lease has expired")
        spec = (self._kube.get(self._key) or {}).get("spec") or {}
        if not self._holds(spec, epoch):
            self._epoch = None
            raise NotLeader(f"the lease is held by {spec.get('holderIdentity') or 'no candidate'}")
        if not self.is_leader:
            raise NotLeader("the lease has expired")

    def release(self) -> None:
        """Give up the Lease for good, so that another candidate acquires it at once. Raises ApiError."""
        with self._lock:
            self._is_released = True
            if self._epoch is None:
                return
            epoch, self._epoch = self._epoch, None
            lease = self._kube.get(self._key)
            if lease is not None and self._holds(lease.get("spec") or {}, epoch):
                self._patch(lease, {"holderIdentity": "", "leaseDurationSeconds": 1})

    def _holds(self, spec: Mapping[str, Any], epoch: int) -> bool:
        return spec.get("holderIdentity") == self.identity and spec.get("leaseTransitions") == epoch

    def _patch_if_allowed(self, lease: Manifest) -> Manifest | None:
        """Renew the own Lease or acquire an expired one; None while another candidate's is valid."""
        state = self._lease_state(lease)
        if state.holder == self.identity and self._epoch == state.epoch:
            return self._patch(lease, self._spec(epoch=state.epoch, is_new=False))
        if state.holder not in ("", self.identity) and self._clock() < state.first_seen + state.duration:
            self._epoch = None
            return None
        return self._patch(lease, self._spec(epoch=state.epoch + 1, is_new=True))

    def _lease_state(self, lease: Manifest) -> _LeaseState:
        """The state of the Lease, with the time when exactly this state was first seen."""
        spec = lease.get("spec") or {}
        state = _LeaseState(
            spec.get("holderIdentity") or "",
            int(spec.get("leaseTransitions") or 0),
            str(spec.get("renewTime")),
            float(spec.get("leaseDurationSeconds") or self.duration),
            self._clock(),
        )
        last = self._last_state
        if last is None or (last.holder, last.epoch, last.renew_time) != (
            state.holder,
            state.epoch,
            state.renew_time,
        ):
            self._last_state = last = state
        return last

    def _spec(self, *, epoch: int, is_new: bool) -> dict[str, Any]:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        return {
            "holderIdentity": self.identity,
            "leaseDurationSeconds": max(1, round(self.duration)),
            "renewTime": now,
            "leaseTransitions": epoch,
            **({"acquireTime": now} if is_new else {}),
        }

    def _patch(self, lease: Manifest, spec: Mapping[str, Any]) -> Manifest:
        return self._kube.patch(Patch(self._key, {"spec": spec}, lease["metadata"]["resourceVersion"]))
