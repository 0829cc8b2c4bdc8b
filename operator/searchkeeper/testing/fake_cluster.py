"""Fake Kubernetes and the fake engine in its pods, behind the two ports of the operator.

Time advances only with `tick`.
"""

from __future__ import annotations

__all__ = ["FakeCluster", "FakeClusterState", "processes", "tick"]

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from searchkeeper.images import image_version
from searchkeeper.kubernetes.operations import Delete, EmitEvent, Key, Manifest, Patch
from searchkeeper.opensearch.calls import Call
from searchkeeper.opensearch.details import DetailsRequest, EngineDetails
from searchkeeper.opensearch.view import EngineView, Unreachable
from searchkeeper.testing.fake_kubernetes import object_store
from searchkeeper.testing.fake_kubernetes.controllers import run_until_stable
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault, run_kubelet
from searchkeeper.testing.fake_kubernetes.manifests import get_value, is_terminating
from searchkeeper.testing.fake_kubernetes.object_store import ObjectStore
from searchkeeper.testing.fake_kubernetes.volumes import provision_volumes
from searchkeeper.testing.fake_opensearch import (
    FakeEngine,
    Process,
    advance,
    execute,
    get_details,
    get_state,
    wipe_node,
)
from searchkeeper.testing.fake_opensearch.membership import join_refusal


@dataclass(frozen=True, slots=True)
class FakeClusterState:
    """Objects, the engine in their pods, the time in seconds, and pod faults by pod name or image.

    `volumes` has the UID of every volume claim at the last tick. A claim with another UID is a new, empty
    disk. `lost_statuses` has the statuses that were removed during the present reconcile, by resource.
    """

    cluster: ObjectStore = field(default_factory=ObjectStore)
    engine: FakeEngine = field(default_factory=FakeEngine)
    now: int = 0
    faults: tuple[tuple[str, PodFault], ...] = ()
    volumes: tuple[tuple[str, str], ...] = ()
    events: tuple[EmitEvent, ...] = ()
    lost_statuses: tuple[tuple[Key, Manifest], ...] = ()


def tick(state: FakeClusterState, seconds: int = 10) -> FakeClusterState:
    """Advance the time: controllers run until stable, every pod takes one step, the engine advances."""
    cluster = provision_volumes(run_until_stable(state.cluster, now=state.now))
    volumes = tuple(
        sorted(
            (key.name, str(claim["metadata"]["uid"]))
            for key, claim in cluster.objects.items()
            if key.kind == "PersistentVolumeClaim"
        )
    )
    engine = _wipe_lost_volumes(state.engine, dict(state.volumes), dict(volumes))
    cluster = run_kubelet(cluster, dict(state.faults), lambda pod: _is_live(pod, engine))
    engine = advance(engine, processes(cluster))
    cluster = run_until_stable(cluster, now=state.now + seconds)
    return replace(state, cluster=cluster, engine=engine, now=state.now + seconds, volumes=volumes)


def processes(cluster: ObjectStore) -> tuple[Process, ...]:
    """Return the OpenSearch processes in the running pods."""
    pods = [pod for key, pod in sorted(cluster.objects.items()) if key.kind == "Pod"]
    return tuple(process for pod in pods if (process := _process(pod)) is not None)


def _process(pod: Manifest) -> Process | None:
    """Return the process of an engine pod, with the version of its image and the roles of its environment.

    A pod that terminates or whose container waits has none.
    """
    container = pod["spec"]["containers"][0]
    states = [status["state"] for status in get_value(pod, "status", "containerStatuses", default=())]
    environment = {
        variable["name"]: variable.get("value", "")
        for variable in container.get("env", ())
        if "valueFrom" not in variable
    }
    is_running = any("running" in state for state in states) and not is_terminating(pod)
    if "node.roles" not in environment or not is_running:
        return None
    return Process(
        pod["metadata"]["name"],
        image_version(container["image"]),
        frozenset(filter(None, environment["node.roles"].split(","))),
        any("persistentVolumeClaim" in volume for volume in pod["spec"].get("volumes", ())),
    )


def _is_live(pod: Manifest, engine: FakeEngine) -> bool:
    """Whether the pod's process has joined, or may still join."""
    process = _process(pod)
    if process is None or process.name in engine.names:
        return True
    refusal = join_refusal(engine, process)
    return refusal is None or not refusal.is_fatal


def _wipe_lost_volumes(engine: FakeEngine, before: Mapping[str, str], after: Mapping[str, str]) -> FakeEngine:
    for name, _ in engine.disks:
        claim = f"data-{name}"
        if claim not in after or before.get(claim, after[claim]) != after[claim]:
            engine = wipe_node(engine, name)
    return engine


class FakeCluster:
    """Implements the ports `KubernetesApi` and `EngineClient` on a state that every write replaces."""

    def __init__(self, state: FakeClusterState | None = None) -> None:
        self.state = state or FakeClusterState()

    def tick(self, seconds: int = 10) -> None:
        self.state = tick(self.state, seconds)

    def get(self, key: Key) -> Manifest | None:
        return object_store.get(self.state.cluster, key)

    def list(self, api: str, kind: str, namespace: str, labels: Mapping[str, str]) -> Sequence[Manifest]:
        return object_store.list_objects(self.state.cluster, api, kind, namespace, labels)

    def create(self, manifest: Manifest) -> Manifest:
        return self._commit(object_store.create(self.state.cluster, manifest, now=self.state.now))

    def patch(self, patch: Patch) -> Manifest:
        return self._commit(object_store.patch(self.state.cluster, patch))

    def patch_status(self, patch: Patch) -> Manifest:
        return self._commit(object_store.patch(self.state.cluster, patch, status=True))

    def delete(self, delete: Delete) -> None:
        cluster = object_store.delete(self.state.cluster, delete, now=self.state.now)
        self.state = replace(self.state, cluster=cluster)

    def record(self, event: EmitEvent) -> None:
        self.state = replace(self.state, events=(*self.state.events, event))

    def get_state(self) -> EngineView | Unreachable:
        return get_state(self.state.engine)

    def get_details(self, request: DetailsRequest) -> EngineDetails:
        return get_details(self.state.engine, request)

    def execute(self, call: Call) -> None:
        self.state = replace(self.state, engine=execute(self.state.engine, call))

    def _commit(self, result: tuple[ObjectStore, Manifest]) -> Manifest:
        cluster, manifest = result
        self.state = replace(self.state, cluster=cluster)
        return manifest
