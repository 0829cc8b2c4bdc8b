"""Two clusters in one namespace, whose names begin alike: neither takes anything of the other for its own."""

from __future__ import annotations

from typing import Any

from operators_at_work import CLUSTER, SMALL, asked_for
from searchkeeper.kubernetes.operations import Delete, Key, Patch
from searchkeeper.reconcile import reconcile
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_engine_client import FakeEngineClient
from searchkeeper.testing.invariants.recorder import shuffled

NEIGHBOUR = CLUSTER._replace(name=f"{CLUSTER.name}-a")
# More cycles than any work takes in one moment.
_BUSY = 300


class Neighbours:
    """Both, each with an engine of its own, whose nodes are its pods."""

    def __init__(self) -> None:
        self.world: FakeCluster = asked_for(dashboards={"enabled": True})
        spec = {"version": "2.19.4", "pools": list(SMALL), "dashboards": {"enabled": True}}
        metadata = {"name": NEIGHBOUR.name, "namespace": NEIGHBOUR.namespace}
        self.world.create(
            {"apiVersion": NEIGHBOUR.api, "kind": NEIGHBOUR.kind, "metadata": metadata, "spec": spec}
        )
        self.engines = {key: FakeEngineClient(self.world, key) for key in (CLUSTER, NEIGHBOUR)}

    def at_work(self, version: str, *, ticks: int) -> None:
        for _ in range(ticks):
            for key, engine in self.engines.items():
                self._rests(key, engine, version)
            self.world.tick()

    def _rests(self, key: Key, engine: FakeEngineClient, version: str) -> None:
        for _ in range(_BUSY):
            now, order = self.world.state.now, shuffled(self.world.state)
            if not reconcile(self.world, engine, key, release(version), now, order=order).wrote:
                return
        raise AssertionError(f"{key} does not come to rest")

    def events_emitted(self, key: Key) -> tuple[Any, ...]:
        status = (self.world.get(key) or {}).get("status") or {}
        return tuple(status.get(name) for name in ("phase", "currentVersion", "engineVersion", "ready"))


def test_two_clusters_migrate_and_upgrade_independently() -> None:
    both = Neighbours()
    for version, configuration in (("0.1.1", 1), ("0.2.2", 2), ("0.3.1", 3), ("0.4.0", 4)):
        both.at_work(version, ticks=60)
        expected = ("Running", configuration, "2.19.4", "5/5")
        assert [both.events_emitted(key) for key in both.engines] == [expected, expected]
    both.world.patch(Patch(NEIGHBOUR, {"spec": {"version": "3.4.0"}}, ""))
    both.at_work("0.4.0", ticks=80)
    assert both.events_emitted(CLUSTER) == ("Running", 4, "2.19.4", "5/5")
    assert both.events_emitted(NEIGHBOUR) == ("Running", 4, "3.4.0", "5/5")


def test_deletion_keeps_the_objects_of_the_other_cluster() -> None:
    both = Neighbours()
    both.at_work("0.4.0", ticks=40)
    kept = {key: each["metadata"]["uid"] for key, each in both.world.state.cluster.objects.items()}
    both.world.delete(Delete(CLUSTER, "", ""))
    both.at_work("0.4.0", ticks=10)
    left = {key: each["metadata"]["uid"] for key, each in both.world.state.cluster.objects.items()}
    volumes = {key for key in kept if key.kind == "PersistentVolumeClaim"}
    theirs = {key for key in kept if key.name.startswith(NEIGHBOUR.name)}
    assert left == {key: uid for key, uid in kept.items() if key in volumes | theirs}
