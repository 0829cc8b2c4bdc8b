"""Stories about the operator: what it does from one moment to the next, and what people do meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

from operators_at_work import BUSY, CLUSTER, Ports, asked_for, cycled, settled, told, with_index
from searchkeeper.images import image_version
from searchkeeper.kubernetes.operations import Delete, Key, Manifest, Patch
from searchkeeper.opensearch.calls import Call
from searchkeeper.opensearch.client import CallFailed
from searchkeeper.opensearch.view import Color, EngineView, Unreachable
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from searchkeeper.testing.fake_kubernetes.manifests import is_ready, is_terminating
from searchkeeper.testing.invariants.recorder import InvariantRecorder

NEWEST: Final = "0.5.0"
_LIMIT: Final = 3000


@dataclass
class Silent(Ports):
    """Ports behind which the engine does not answer."""

    def get_state(self) -> Unreachable:
        return Unreachable("timed out")

    def execute(self, call: Call) -> None:
        raise CallFailed(f"timed out: {call}")


@dataclass
class Telling(Ports):
    """Ports that remember what was deleted and patched."""

    deleted: list[Key] = field(default_factory=list)
    patched: list[Patch] = field(default_factory=list)

    def delete(self, delete: Delete) -> None:
        super().delete(delete)
        self.deleted.append(delete.key)

    def patch(self, patch: Patch) -> Manifest:
        self.patched.append(patch)
        return super().patch(patch)


def running(
    *pools: dict[str, Any], version: str = NEWEST, engine: str = "2.19.4", **spec: Any
) -> FakeCluster:
    """A cluster at rest with documents in it, as this release of the operator leaves it."""
    world = asked_for(*pools, version=engine, **spec)
    settled(world, version)
    with_index(world)
    settled(world, version)
    return world


def judged(world: FakeCluster, version: str = NEWEST) -> Ports:
    """Ports with every write held against every law."""
    return Ports(InvariantRecorder(world, CLUSTER, release(version)))


def unfolding(
    world: FakeCluster, version: str = NEWEST, *, ports: Ports | None = None, **options: Any
) -> Iterator[FakeCluster]:
    """Every moment until the operator is done: after each cycle, and after each tick that it waits."""
    ports = ports or judged(world, version)
    for _ in range(_LIMIT):
        done = cycled(ports, world, version, **options)
        yield world
        if done.converged:
            return
        if not done.wrote:
            world.tick()
            yield world
    raise AssertionError("there is no end to it")


def until(condition: Callable[[FakeCluster], bool], world: FakeCluster, version: str = NEWEST) -> FakeCluster:
    """The first moment at which this holds."""
    return next(each for each in unfolding(world, version) if condition(each))


def at_work(
    world: FakeCluster, ports: Ports | None = None, version: str = NEWEST, *, ticks: int = 30
) -> FakeCluster:
    """For as long as these ticks take, whether it comes to an end or not."""
    ports = ports or judged(world, version)
    for _ in range(ticks):
        for _ in range(BUSY):
            if not cycled(ports, world, version).wrote:
                break
        else:
            raise AssertionError(f"it does not come to rest: {told(world)}")
        world.tick()
    return world


def broken(world: FakeCluster, name: str, fault: PodFault) -> FakeCluster:
    """A pod, or every pod of an image, fails from now on."""
    world.state = replace(world.state, faults=(*world.state.faults, (name, fault)))
    return world


def deleted(world: FakeCluster) -> FakeCluster:
    """Somebody deletes the cluster."""
    world.delete(Delete(CLUSTER, "", ""))
    return world


def kinds(world: FakeCluster) -> set[str]:
    return {key.kind for key in world.state.cluster.objects}


def pods(world: FakeCluster) -> dict[str, Manifest]:
    """The engine's pods by their short names: `data-0`."""
    prefix = f"{CLUSTER.name}-"
    found = (each for key, each in sorted(world.state.cluster.objects.items()) if key.kind == "Pod")
    named = {each["metadata"]["name"].removeprefix(prefix): each for each in found}
    return {name: each for name, each in named.items() if not name.startswith("dashboards")}


def versions(world: FakeCluster) -> dict[str, str]:
    return {name: image_version(each["spec"]["containers"][0]["image"]) for name, each in pods(world).items()}


def away(world: FakeCluster, wanted: set[str]) -> set[str]:
    """Those of these pods that are not ready, or on their way out."""
    found = pods(world)
    here = {name for name, each in found.items() if is_ready(each) and not is_terminating(each)}
    return wanted - here


def color(world: FakeCluster) -> Color:
    found = world.get_state()
    assert isinstance(found, EngineView)
    return found.color


def stateful_set(world: FakeCluster, pool: str) -> Manifest | None:
    return world.get(Key("apps/v1", "StatefulSet", CLUSTER.namespace, f"{CLUSTER.name}-{pool}"))


def templates(world: FakeCluster) -> dict[str, Any]:
    """The pod template of every workload."""
    return {
        key.name: each["spec"]["template"]
        for key, each in world.state.cluster.objects.items()
        if key.kind in ("StatefulSet", "Deployment")
    }
