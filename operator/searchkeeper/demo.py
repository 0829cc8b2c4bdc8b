"""A cluster in memory that is upgraded before one's eyes, by the operator itself."""

from __future__ import annotations

__all__ = ["CLUSTER", "SAMPLE", "seen_in", "stage", "start_towards", "upgrade"]

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from searchkeeper.embedded.world import State, World
from searchkeeper.engine.embedded import created
from searchkeeper.explaining import Explanation, explain
from searchkeeper.loop import cycle
from searchkeeper.observing import observe
from searchkeeper.versions import Release
from searchkeeper.writes import Key, Patch

CLUSTER: Final = Key("search.everpath.dev/v1alpha1", "SearchCluster", "search", "logs")
SAMPLE: Final[Mapping[str, Any]] = {
    "pools": [
        {"name": "managers", "roles": ["cluster_manager"], "replicas": 3},
        {"name": "data", "roles": ["data", "ingest"], "replicas": 4},
    ],
    "dashboards": {"enabled": True},
}
# What is upgraded, wherever a release knows anything newer.
_START: Final = "2.19.4"
# The first of January 2026: the same in every run.
_BEGINNING: Final = 1_767_225_600
# Far more turns than any of this takes: past them, it is stuck.
_TURNS: Final = 2000


def start_towards(target: str, release: Release) -> str:
    """The version that a sample has before it is upgraded to the target."""
    return _START if target != _START else release.oldest_engine


def stage(release: Release, version: str) -> World:
    """A world in which somebody has asked for a cluster, and got it, with an index on it."""
    world = World(State(now=_BEGINNING))
    metadata = {"name": CLUSTER.name, "namespace": CLUSTER.namespace}
    spec = {"version": version, **SAMPLE}
    world.create({"apiVersion": CLUSTER.api, "kind": CLUSTER.kind, "metadata": metadata, "spec": spec})
    for _ in _turns(world, release):
        pass
    world.state = _with_documents(world.state)
    for _ in range(5):
        world.tick()
    return world


def upgrade(world: World, release: Release, version: str) -> Iterator[Explanation]:
    """Asks for another version, and explains every turn, until the operator has nothing left to do."""
    world.patch(Patch(CLUSTER, {"spec": {"version": version}}, ""))
    for _ in _turns(world, release):
        yield seen_in(world, release)


def seen_in(world: World, release: Release) -> Explanation:
    """What the operator makes of the cluster at this moment."""
    seen = observe(world, world, CLUSTER, release, world.state.now)
    if seen is None:
        raise LookupError(f"there is no {CLUSTER}")
    return explain(seen)


def _turns(world: World, release: Release) -> Iterator[None]:
    """The moment before each cycle; time passes only after one that had nothing to write."""
    for _ in range(_TURNS):
        yield
        done = cycle(world, world, CLUSTER, release, world.state.now)
        if done.converged:
            return
        if not done.wrote:
            world.tick()
    raise RuntimeError(f"{CLUSTER} does not come to rest")


def _with_documents(state: State) -> State:
    return replace(state, engine=created(state.engine, "books", shards=2, replicas=1))
