"""The whole world in memory behind the operator's two ports. Time passes only when it is told to."""

from __future__ import annotations

__all__ = ["FakeCluster", "FakeClusterState", "processes", "tick"]

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from searchkeeper.images import image_version
from searchkeeper.kubernetes.operations import Delete, EmitEvent, Key, Manifest, Patch
from searchkeeper.opensearch.calls import Call
from searchkeeper.opensearch.view import EngineView, Unreachable
from searchkeeper.testing.fake_kubernetes import object_store as verbs
from searchkeeper.testing.fake_kubernetes.controllers import run_until_stable
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault, run_kubelet
from searchkeeper.testing.fake_kubernetes.manifests import get_value, is_terminating
from searchkeeper.testing.fake_kubernetes.object_store import ObjectStore
from searchkeeper.testing.fake_opensearch import FakeEngine, Process, advance, execute, get_state, wipe_node
from searchkeeper.testing.fake_opensearch.membership import join_refusal

# A process that waits for a manager is up all the same; one with any other objection ends.
_PATIENT: Final = frozenset({"no cluster manager", "no cluster to join"})


@dataclass(frozen=True, slots=True)
class FakeClusterState:
    """Everything there is: objects, the engine that runs in their pods, the time, and what goes wrong.

    `volumes` are the claims that nodes were last seen with, by name: another one means another, empty disk.
    """

    cluster: ObjectStore = field(default_factory=ObjectStore)
    engine: FakeEngine = field(default_factory=FakeEngine)
    now: int = 0
    faults: tuple[tuple[str, PodFault], ...] = ()
    volumes: tuple[tuple[str, str], ...] = ()
    events: tuple[EmitEvent, ...] = ()


def tick(state: FakeClusterState, seconds: int = 10) -> FakeClusterState:
    """One tick later: controllers come to rest, pods take a step, the engine notices."""
    cluster = run_until_stable(state.cluster, now=state.now)
    volumes = _volumes(cluster)
    engine = _without_lost_volumes(state.engine, dict(state.volumes), dict(volumes))
    cluster = run_kubelet(cluster, dict(state.faults), lambda pod: _answers(pod, engine))
    engine = advance(engine, processes(cluster))
    cluster = run_until_stable(cluster, now=state.now + seconds)
    return replace(state, cluster=cluster, engine=engine, now=state.now + seconds, volumes=volumes)


def processes(cluster: ObjectStore) -> tuple[Process, ...]:
    """The engine's processes in the pods that run."""
    found = (_process(pod) for key, pod in sorted(cluster.objects.items()) if key.kind == "Pod")
    return tuple(process for process in found if process is not None)


def _process(pod: Manifest) -> Process | None:
    """What a pod's environment and image make its node. Waiting containers have no process."""
    states = [each["state"] for each in get_value(pod, "status", "containerStatuses", default=())]
    environment = _environment(pod)
    if "node.roles" not in environment or is_terminating(pod) or not any("running" in s for s in states):
        return None
    return Process(
        pod["metadata"]["name"],
        image_version(pod["spec"]["containers"][0]["image"]),
        frozenset(filter(None, environment["node.roles"].split(","))),
        any("persistentVolumeClaim" in volume for volume in pod["spec"].get("volumes", ())),
    )


def _environment(pod: Manifest) -> Mapping[str, str]:
    variables = pod["spec"]["containers"][0].get("env", ())
    return {each["name"]: each.get("value", "") for each in variables if "valueFrom" not in each}


def _answers(pod: Manifest, engine: FakeEngine) -> bool:
    process = _process(pod)
    return (
        process is None or process.name in engine.names or join_refusal(engine, process) in (None, *_PATIENT)
    )


def _volumes(cluster: ObjectStore) -> tuple[tuple[str, str], ...]:
    claims = (key for key in cluster.objects if key.kind == "PersistentVolumeClaim")
    return tuple(sorted((key.name, str(cluster.objects[key]["metadata"]["uid"])) for key in claims))


def _without_lost_volumes(
    engine: FakeEngine, before: Mapping[str, str], after: Mapping[str, str]
) -> FakeEngine:
    for name, _ in engine.disks:
        claim = f"data-{name}"
        if claim not in after or before.get(claim, after[claim]) != after[claim]:
            engine = wipe_node(engine, name)
    return engine


class FakeCluster:
    """Implements the ports `Kube` and `Driver` on a state that it replaces with every change."""

    def __init__(self, state: FakeClusterState | None = None) -> None:
        self.state = state or FakeClusterState()

    def tick(self, seconds: int = 10) -> None:
        self.state = tick(self.state, seconds)

    def get(self, key: Key) -> Manifest | None:
        return verbs.get(self.state.cluster, key)

    def list(self, api: str, kind: str, namespace: str, labels: Mapping[str, str]) -> Sequence[Manifest]:
        return verbs.list_objects(self.state.cluster, api, kind, namespace, labels)

    def create(self, manifest: Manifest) -> Manifest:
        return self._took(verbs.create(self.state.cluster, manifest, now=self.state.now))

    def patch(self, patch: Patch) -> Manifest:
        return self._took(verbs.patch(self.state.cluster, patch))

    def patch_status(self, patch: Patch) -> Manifest:
        return self._took(verbs.patch(self.state.cluster, patch, status=True))

    def delete(self, delete: Delete) -> None:
        cluster = verbs.delete(self.state.cluster, delete, now=self.state.now)
        self.state = replace(self.state, cluster=cluster)

    def record(self, event: EmitEvent) -> None:
        self.state = replace(self.state, events=(*self.state.events, event))

    def get_state(self) -> EngineView | Unreachable:
        return get_state(self.state.engine)

    def execute(self, call: Call) -> None:
        self.state = replace(self.state, engine=execute(self.state.engine, call))

    def _took(self, result: tuple[ObjectStore, Manifest]) -> Manifest:
        cluster, manifest = result
        self.state = replace(self.state, cluster=cluster)
        return manifest
