"""The whole world in memory behind the operator's two ports. Time passes only when it is told to."""

from __future__ import annotations

__all__ = ["State", "World", "processes", "ticked"]

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from searchkeeper.embedded import cluster as verbs
from searchkeeper.embedded.cluster import Cluster
from searchkeeper.embedded.controllers import settled
from searchkeeper.embedded.kubelet import Fault, tick
from searchkeeper.embedded.manifests import is_terminating, value
from searchkeeper.engine.calls import Call
from searchkeeper.engine.embedded import Engine, Process, advance, look, told, wiped
from searchkeeper.engine.embedded.membership import objection_to
from searchkeeper.engine.view import EngineView, Unreachable
from searchkeeper.images import version_in
from searchkeeper.writes import Delete, Event, Key, Manifest, Patch

# A process that waits for a manager is up all the same; one with any other objection ends.
_PATIENT: Final = frozenset({"no cluster manager", "no cluster to join"})


@dataclass(frozen=True, slots=True)
class State:
    """Everything there is: objects, the engine that runs in their pods, the time, and what goes wrong.

    `volumes` are the claims that nodes were last seen with, by name: another one means another, empty disk.
    """

    cluster: Cluster = field(default_factory=Cluster)
    engine: Engine = field(default_factory=Engine)
    now: int = 0
    faults: tuple[tuple[str, Fault], ...] = ()
    volumes: tuple[tuple[str, str], ...] = ()
    events: tuple[Event, ...] = ()


def ticked(state: State, seconds: int = 10) -> State:
    """One tick later: controllers come to rest, pods take a step, the engine notices."""
    cluster = settled(state.cluster, now=state.now)
    volumes = _volumes(cluster)
    engine = _without_lost_volumes(state.engine, dict(state.volumes), dict(volumes))
    cluster = tick(cluster, dict(state.faults), lambda pod: _answers(pod, engine))
    engine = advance(engine, processes(cluster))
    cluster = settled(cluster, now=state.now + seconds)
    return replace(state, cluster=cluster, engine=engine, now=state.now + seconds, volumes=volumes)


def processes(cluster: Cluster) -> tuple[Process, ...]:
    """The engine's processes in the pods that run."""
    found = (_process(pod) for key, pod in sorted(cluster.objects.items()) if key.kind == "Pod")
    return tuple(process for process in found if process is not None)


def _process(pod: Manifest) -> Process | None:
    """What a pod's environment and image make its node. Waiting containers have no process."""
    states = [each["state"] for each in value(pod, "status", "containerStatuses", default=())]
    environment = _environment(pod)
    if "node.roles" not in environment or is_terminating(pod) or not any("running" in s for s in states):
        return None
    return Process(
        pod["metadata"]["name"],
        version_in(pod["spec"]["containers"][0]["image"]),
        frozenset(filter(None, environment["node.roles"].split(","))),
        any("persistentVolumeClaim" in volume for volume in pod["spec"].get("volumes", ())),
    )


def _environment(pod: Manifest) -> Mapping[str, str]:
    variables = pod["spec"]["containers"][0].get("env", ())
    return {each["name"]: each.get("value", "") for each in variables if "valueFrom" not in each}


def _answers(pod: Manifest, engine: Engine) -> bool:
    process = _process(pod)
    return (
        process is None or process.name in engine.names or objection_to(engine, process) in (None, *_PATIENT)
    )


def _volumes(cluster: Cluster) -> tuple[tuple[str, str], ...]:
    claims = (key for key in cluster.objects if key.kind == "PersistentVolumeClaim")
    return tuple(sorted((key.name, str(cluster.objects[key]["metadata"]["uid"])) for key in claims))


def _without_lost_volumes(engine: Engine, before: Mapping[str, str], after: Mapping[str, str]) -> Engine:
    for name, _ in engine.disks:
        claim = f"data-{name}"
        if claim not in after or before.get(claim, after[claim]) != after[claim]:
            engine = wiped(engine, name)
    return engine


class World:
    """Implements the ports `Kube` and `Driver` on a state that it replaces with every change."""

    def __init__(self, state: State | None = None) -> None:
        self.state = state or State()

    def tick(self, seconds: int = 10) -> None:
        self.state = ticked(self.state, seconds)

    def get(self, key: Key) -> Manifest | None:
        return verbs.get(self.state.cluster, key)

    def list(self, api: str, kind: str, namespace: str, labels: Mapping[str, str]) -> Sequence[Manifest]:
        return verbs.listed(self.state.cluster, api, kind, namespace, labels)

    def create(self, manifest: Manifest) -> Manifest:
        return self._took(verbs.create(self.state.cluster, manifest, now=self.state.now))

    def patch(self, patch: Patch) -> Manifest:
        return self._took(verbs.patch(self.state.cluster, patch))

    def patch_status(self, patch: Patch) -> Manifest:
        return self._took(verbs.patch(self.state.cluster, patch, status=True))

    def delete(self, delete: Delete) -> None:
        cluster = verbs.delete(self.state.cluster, delete, now=self.state.now)
        self.state = replace(self.state, cluster=cluster)

    def record(self, event: Event) -> None:
        self.state = replace(self.state, events=(*self.state.events, event))

    def look(self) -> EngineView | Unreachable:
        return look(self.state.engine)

    def tell(self, call: Call) -> None:
        self.state = replace(self.state, engine=told(self.state.engine, call))

    def _took(self, result: tuple[Cluster, Manifest]) -> Manifest:
        cluster, manifest = result
        self.state = replace(self.state, cluster=cluster)
        return manifest
