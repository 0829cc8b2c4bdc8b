"""The operator of any release at work on the world in memory, until it is done or cut off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from searchkeeper.embedded.world import State, World
from searchkeeper.engine.calls import Call
from searchkeeper.engine.embedded import created
from searchkeeper.engine.view import EngineView, Unreachable
from searchkeeper.loop import cycle
from searchkeeper.releases import release
from searchkeeper.writes import Delete, Event, Key, Manifest, Patch

CLUSTER: Final = Key("search.everpath.dev/v1alpha1", "SearchCluster", "search", "logs")
# Cycles without a write before the operator counts as stuck.
_PATIENCE: Final = 200


class CutOff(Exception):
    """The operator was replaced between two writes."""


@dataclass
class Ports:
    """Both ports, counting every write, and cutting the operator off after the last one it may make."""

    world: World
    allowed: int | None = None
    writes: int = 0

    def get(self, key: Key) -> Manifest | None:
        return self.world.get(key)

    def list(self, api: str, kind: str, namespace: str, labels: Mapping[str, str]) -> Sequence[Manifest]:
        return self.world.list(api, kind, namespace, labels)

    def create(self, manifest: Manifest) -> Manifest:
        self._count()
        return self.world.create(manifest)

    def patch(self, patch: Patch) -> Manifest:
        self._count()
        return self.world.patch(patch)

    def patch_status(self, patch: Patch) -> Manifest:
        self._count()
        return self.world.patch_status(patch)

    def delete(self, delete: Delete) -> None:
        self._count()
        self.world.delete(delete)

    def record(self, event: Event) -> None:
        self._count()
        self.world.record(event)

    def look(self) -> EngineView | Unreachable:
        return self.world.look()

    def tell(self, call: Call) -> None:
        self._count()
        self.world.tell(call)

    def _count(self) -> None:
        if self.allowed is not None and self.writes >= self.allowed:
            raise CutOff
        self.writes += 1


def pool(name: str, replicas: int, *roles: str) -> dict[str, Any]:
    return {"name": name, "roles": list(roles), "replicas": replicas}


SMALL: Final = (pool("data", 2, "data"), pool("managers", 3, "cluster_manager"))


def asked_for(*pools: dict[str, Any], version: str = "2.19.4", **spec: Any) -> World:
    """A world in which somebody has just asked for a cluster."""
    world = World()
    wanted = {"version": version, "pools": list(pools or SMALL), **spec}
    metadata = {"name": CLUSTER.name, "namespace": CLUSTER.namespace}
    world.create({"apiVersion": CLUSTER.api, "kind": CLUSTER.kind, "metadata": metadata, "spec": wanted})
    return world


def with_index(world: World, name: str = "books", *, replicas: int = 1) -> World:
    """With documents in it, once the engine has placed them."""
    world.state = replace(world.state, engine=created(world.state.engine, name, replicas=replicas))
    for _ in range(3):
        world.tick()
    return world


def edited(world: World, **spec: Any) -> World:
    world.patch(Patch(CLUSTER, {"spec": spec}, ""))
    return world


def copied(world: World) -> World:
    """States are values, so that a copy costs nothing."""
    return World(world.state)


def settled(world: World, version: str, *, allowed: int | None = None) -> int:
    """Lets a release work until it finds nothing to do; how many writes it took.

    Raises CutOff after the allowed number, AssertionError when it does not come to an end.
    """
    ports = Ports(world, allowed)
    idle = 0
    while idle < _PATIENCE:
        done = cycle(ports, ports, CLUSTER, release(version), world.state.now)
        if done.converged:
            return ports.writes
        idle = 0 if done.wrote else idle + 1
        if not done.wrote:
            world.tick()
    raise AssertionError(f"{version} is stuck: {told(world)}")


def status(world: World) -> Mapping[str, Any]:
    found = world.get(CLUSTER)
    assert found is not None
    return found.get("status") or {}


def told(world: World) -> str:
    """The conditions that are not True, and the ledger."""
    open_ends = [
        f"{each['type']}={each['status']} {each['reason']}: {each['message']}"
        for each in status(world).get("conditions", ())
        if each["status"] != "True"
    ]
    return "\n".join([*open_ends, str(status(world).get("ledger"))])


def summary(state: State) -> tuple[Any, ...]:
    """What is deployed, whoever deployed it when: equal for worlds that no user could tell apart."""
    objects = {
        key: (manifest.get("spec"), manifest.get("data"))
        for key, manifest in state.cluster.objects.items()
        if key.kind not in ("Pod", "ControllerRevision", "SearchCluster")
    }
    nodes = sorted((node.name, node.version) for node in state.engine.nodes)
    return objects, nodes, state.engine.allocation, state.engine.excluded
