"""Zone awareness by `spec.topologyKey`: which nodes get a zone now, and whether managers rely on it."""

from __future__ import annotations

__all__ = ["Zones"]

from collections.abc import Iterator
from dataclasses import dataclass

from searchkeeper.api.spec import DATA_ROLES
from searchkeeper.snapshot import ClusterSnapshot, ZoneSettings


@dataclass(frozen=True)
class Zones:
    """The settings for zones of one cluster's nodes. `is_locked` is whether an upgrade holds the lock.

    While the elected manager is aware of zones and a data node has none, OpenSearch allocates no shard, lets
    no node join and creates no index: its awareness decider fails with a NullPointerException. So managers
    become aware after every data node has a zone, and data nodes lose it after no manager is aware.
    """

    snapshot: ClusterSnapshot
    is_locked: bool

    @property
    def topology_key(self) -> str | None:
        """The label with the zone; also one that the spec no longer names while a manager is aware."""
        wanted = self.snapshot.cluster.spec.topology_key
        if wanted is not None or not any(zones.is_aware for zones, _ in self._deployed()):
            return wanted
        return min(filter(None, (zones.topology_key for zones, _ in self._deployed())), default=None)

    @property
    def is_aware(self) -> bool:
        """Whether managers spread shards over zones. An upgrade leaves that as it is."""
        if self.snapshot.cluster.spec.topology_key is None:
            return False
        if self.is_locked:
            return any(zones.is_aware for zones, _ in self._deployed())
        return all(zones.has_zone for zones, holds_data in self._deployed() if holds_data)

    def _deployed(self) -> Iterator[tuple[ZoneSettings, bool]]:
        """Yield the settings of each StatefulSet and pod, and whether their nodes have shards."""
        for pool in self.snapshot.pools:
            if pool.stateful_set is not None:
                yield pool.stateful_set.zones, pool.spec.holds_data
            for pod in pool.pods:
                roles = pool.spec.roles if pod.roles is None else pod.roles
                yield pod.zones, bool(DATA_ROLES & roles)
