"""People edit, scale, pause and delete in the midst of an upgrade: it comes to a good end all the same."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from operators_at_work import (
    CLUSTER,
    Known,
    annotated,
    edited,
    followed,
    looked,
    pool,
    running,
    told,
    worked,
)
from runs import NEW, OLD, RELEASE, UPGRADE, WAY_BACK, run
from searchkeeper.kubernetes.api import ApiError
from searchkeeper.kubernetes.operations import Delete, Key, Patch
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.invariants.checks import leftovers
from searchkeeper.testing.invariants.recorder import InvariantRecorder
from tales import at_work

Edit = Callable[[FakeCluster], FakeCluster]


def key(kind: str, name: str) -> Key:
    api = {"StatefulSet": "apps/v1", "SearchPool": CLUSTER.api}.get(kind, "v1")
    return Key(api, kind, CLUSTER.namespace, name)


def deleted(kind: str, name: str, *, orphan: bool = False) -> Edit:
    """Somebody deletes an object, if it is there at that moment."""

    def edit(world: FakeCluster) -> FakeCluster:
        with suppress(ApiError):
            world.delete(Delete(key(kind, name), "", "", orphan=orphan))
        return world

    return edit


def changed(kind: str, name: str, **changes: Any) -> Edit:
    """Somebody edits one of our objects by hand."""

    def edit(world: FakeCluster) -> FakeCluster:
        with suppress(ApiError):
            world.patch(Patch(key(kind, name), changes, ""))
        return world

    return edit


def asked(**spec: Any) -> Edit:
    return lambda world: edited(world, **spec)


def pools(
    data: int = 2, managers: int = 3, *others: dict[str, Any], roles: str = "data"
) -> list[dict[str, Any]]:
    return [pool("data", data, *roles.split()), pool("managers", managers, "cluster_manager"), *others]


EDITS: dict[str, Edit] = {
    "more data nodes": asked(pools=pools(3)),
    "fewer managers": asked(pools=pools(2, 1)),
    "other roles": asked(pools=pools(roles="data ingest")),
    "another pool": asked(pools=pools(2, 3, pool("routers", 1, "coordinating"))),
    "a note on the cluster": lambda world: annotated(world, note="somebody was here"),
    "a note on a pod": changed("Pod", "logs-data-0", metadata={"annotations": {"note": "somebody was here"}}),
    "the configuration": changed(
        "ConfigMap", "logs-config", data={"opensearch.yml": "broken: true", "mine": "x"}
    ),
    "a pool by hand": changed("SearchPool", "logs-data", spec={"engineVersion": NEW}),
    "a StatefulSet by hand": changed("StatefulSet", "logs-data", spec={"replicas": 1}),
    "a StatefulSet is deleted": deleted("StatefulSet", "logs-data"),
    "a StatefulSet is deleted without its pods": deleted("StatefulSet", "logs-managers", orphan=True),
    "a SearchPool is deleted": deleted("SearchPool", "logs-data"),
    "a claim is deleted": deleted("PersistentVolumeClaim", "data-logs-data-0"),
    "a Service is deleted": deleted("Service", "logs"),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS.keys())
def test_an_edit_at_any_moment_is_obeyed_or_undone_and_the_upgrade_goes_through(edit: Edit) -> None:
    known = Known()
    for beat in run(UPGRADE).beats[::3]:
        world = edit(FakeCluster(beat.state))
        followed(world, RELEASE, known)
    assert {version for _, version in known.end[1]} == {NEW} if known.end else False


def test_what_is_asked_for_together_with_an_upgrade_comes_after_it() -> None:
    world = EDITS["more data nodes"](FakeCluster(run(UPGRADE).beats[0].state))
    followed(world, RELEASE, Known())


def test_no_upgrade_begins_without_a_part_of_a_pool() -> None:
    """It would be left behind, and too old for managers that are not."""
    world = EDITS["a SearchPool is deleted"](FakeCluster(run(UPGRADE).beats[0].state))
    followed(world, RELEASE, Known())


def at_rest(world: FakeCluster) -> FakeCluster:
    """When nothing is written any more: nothing of ours is left, and all nodes are of one version."""
    at_work(world, ticks=30)
    revision = world.state.cluster.revision
    at_work(world, ticks=3)
    assert world.state.cluster.revision == revision, f"it does not come to rest: {told(world)}"
    assert leftovers(world.state, CLUSTER) is None
    assert len(set(running(world).values())) == 1
    return world


@pytest.mark.parametrize("version", ["3.3.0", OLD, "1.3.0"])
def test_another_version_at_any_moment_is_gone_to_or_refused(version: str) -> None:
    """A wish that is refused stops nothing: half an upgrade would hold the lock for ever."""
    beats = run(UPGRADE).beats
    for beat in (*beats[1:9:3], *beats[::12]):
        world = at_rest(edited(FakeCluster(beat.state), version=version))
        assert set(running(world).values()) <= {OLD, NEW, version}


def test_a_pause_at_any_moment_delays_the_upgrade_and_nothing_else() -> None:
    for beat in run(UPGRADE).beats[::4]:
        world = edited(FakeCluster(beat.state), upgrade={"paused": True})
        worked(world, RELEASE, ticks=5)
        followed(edited(world, upgrade={"paused": None}), RELEASE, run(UPGRADE).known)


@pytest.mark.parametrize("name", [UPGRADE, WAY_BACK])
def test_a_cluster_that_is_deleted_at_any_moment_leaves_its_volumes_and_nothing_else(name: str) -> None:
    for beat in run(name).beats:
        world = FakeCluster(beat.state)
        world.delete(Delete(CLUSTER, "", ""))
        ports = InvariantRecorder(world, CLUSTER, release(RELEASE))
        for _ in range(60):
            looked(ports, world, RELEASE)
            world.tick()
            if world.get(CLUSTER) is None:
                break
        world.tick()
        world.tick()
        assert {each.kind for each in world.state.cluster.objects} == {"PersistentVolumeClaim"}
        assert world.state.engine.allocation is None
        assert not world.state.engine.excluded
