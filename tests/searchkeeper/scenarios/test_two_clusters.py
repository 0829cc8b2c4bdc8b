"""Two clusters in one namespace, one name a prefix of the other, do not affect each other."""

from __future__ import annotations

from typing import Any

import pytest

from searchkeeper.kubernetes.operations import Delete, Key, Patch
from searchkeeper.reconcile import reconcile
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_engine_client import FakeEngineClient
from searchkeeper.testing.invariants.recorder import shuffled
from tests.support.searchkeeper.operator_runs import CLUSTER, SMALL, new_cluster

OTHER = CLUSTER._replace(name=f"{CLUSTER.name}-a")
# More reconciles than any work takes between two ticks.
_LIMIT = 300


class TwoClusters:
    """Both clusters, each with its own fake engine."""

    def __init__(self) -> None:
        self.fake: FakeCluster = new_cluster(dashboards={"enabled": True})
        spec = {"version": "2.19.4", "pools": list(SMALL), "dashboards": {"enabled": True}}
        metadata = {"name": OTHER.name, "namespace": OTHER.namespace}
        self.fake.create({"apiVersion": OTHER.api, "kind": OTHER.kind, "metadata": metadata, "spec": spec})
        self.engines = {key: FakeEngineClient(self.fake, key) for key in (CLUSTER, OTHER)}

    def run(self, version: str, *, ticks: int) -> None:
        for _ in range(ticks):
            for key, engine in self.engines.items():
                self._reconcile(key, engine, version)
            self.fake.tick()

    def _reconcile(self, key: Key, engine: FakeEngineClient, version: str) -> None:
        for _ in range(_LIMIT):
            now, order = self.fake.state.now, shuffled(self.fake.state)
            if not reconcile(self.fake, engine, key, release(version), now, order=order).wrote:
                return
        raise AssertionError(f"{key} does not converge")

    def summary(self, key: Key) -> tuple[Any, ...]:
        status = (self.fake.get(key) or {}).get("status") or {}
        return tuple(status.get(name) for name in ("phase", "currentVersion", "engineVersion", "ready"))


@pytest.mark.exhaustive
def test_two_clusters_migrate_and_upgrade_independently() -> None:
    both = TwoClusters()
    for version, configuration in (("0.1.1", 1), ("0.2.2", 2), ("0.3.1", 3), ("0.4.0", 4), ("0.5.0", 5)):
        both.run(version, ticks=60)
        expected = ("Running", configuration, "2.19.4", "5/5")
        assert [both.summary(key) for key in both.engines] == [expected, expected]
    both.fake.patch(Patch(OTHER, {"spec": {"version": "3.4.0"}}, ""))
    both.run("0.5.0", ticks=80)
    assert both.summary(CLUSTER) == ("Running", 5, "2.19.4", "5/5")
    assert both.summary(OTHER) == ("Running", 5, "3.4.0", "5/5")


def test_deletion_keeps_the_objects_of_the_other_cluster() -> None:
    both = TwoClusters()
    both.run("0.5.0", ticks=40)
    before = {key: each["metadata"]["uid"] for key, each in both.fake.state.cluster.objects.items()}
    both.fake.delete(Delete(CLUSTER, "", ""))
    both.run("0.5.0", ticks=10)
    after = {key: each["metadata"]["uid"] for key, each in both.fake.state.cluster.objects.items()}
    volumes = {key for key in before if key.kind == "PersistentVolumeClaim"}
    others = {key for key in before if key.name.startswith(OTHER.name)}
    assert after == {key: uid for key, uid in before.items() if key in volumes | others}
