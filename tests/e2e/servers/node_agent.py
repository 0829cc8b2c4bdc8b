"""A node in place of a kubelet: runs every pod of the cluster as its images are registered."""

from __future__ import annotations

__all__ = ["NodeAgent", "node_agent"]

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Final

from tests.e2e.servers.api import ApiError, Object, conditions
from tests.e2e.servers.containers import Images
from tests.e2e.servers.control_plane import ControlPlane
from tests.e2e.servers.pod_runner import PodRunner
from tests.e2e.servers.polling import wait_until
from tests.e2e.servers.processes import WorkDir
from tests.e2e.servers.watch import Watch, watch

_NAME: Final = "node-agent"
_LABELS: Final = {
    "kubernetes.io/hostname": _NAME,
    "kubernetes.io/os": "linux",
    "topology.kubernetes.io/zone": f"{_NAME}-a",
}
# No address of this machine: Endpoints reject loopback addresses. No program connects to it.
_HOST: Final = "10.78.0.1"


class NodeAgent:
    """Binds pods to its Node, runs them, reports their status, and finishes their deletion."""

    def __init__(self, plane: ControlPlane, work_dir: WorkDir) -> None:
        self.images = Images()
        self.watch: Watch | None = None
        self._plane = plane
        self._work_dir = work_dir
        self._api = plane.api.new_connection()
        self._lock = threading.Lock()
        self._pods: dict[str, PodRunner] = {}
        self._deleted: list[PodRunner] = []
        self._is_stopped = False
        self._addresses = (f"10.78.{high}.{low}" for high in range(1, 256) for low in range(1, 255))
        (work_dir.logs / "pods").mkdir(exist_ok=True)

    def handle_event(self, event_type: str, pod: Object) -> None:
        """Handle an event of the watch of all pods."""
        uid = pod["metadata"]["uid"]
        is_deleted = event_type == "DELETED" or "deletionTimestamp" in pod["metadata"]
        if is_deleted and uid in self._pods:
            self._pods[uid].stop()
        elif not is_deleted and "nodeName" not in pod["spec"]:
            self._bind(pod)
        elif not is_deleted and uid not in self._pods:
            self._pods[uid] = PodRunner(self, pod)
            self._pods[uid].start()
        if event_type == "DELETED" and uid in self._pods:
            self._deleted.append(self._pods.pop(uid))

    def port_of(self, selector: Object, namespace: str) -> int | None:
        """Return the port of a ready pod with these labels on the loopback address."""
        found = (pod for pod in list(self._pods.values()) if pod.matches(namespace, selector))
        return next((port for pod in found for port in pod.ports), None)

    def check_running(self) -> None:
        """Raise RuntimeError if the watch or a thread of a pod has failed."""
        if self.watch is not None:
            self.watch.check_running()
        for pod in (*self._deleted, *self._pods.values()):
            if pod.error is not None:
                raise RuntimeError(f"{pod.name} has failed on the node agent") from pod.error

    def stop(self) -> None:
        """Terminate all processes. The Pod objects stay in the API server, which is terminated next."""
        self._is_stopped = True
        pods = (*self._deleted, *self._pods.values())
        for pod in pods:
            pod.stop()
        for pod in pods:
            pod.join()
        self._api.close()

    def home(self, pod: Object) -> Path:
        return self._work_dir.folder / "pods" / str(pod["metadata"]["uid"])

    def claim(self, pod: Object, name: str) -> Path:
        return self._work_dir.folder / "claims" / str(pod["metadata"]["namespace"]) / name

    def log(self, pod: Object, container: str) -> Path:
        metadata = pod["metadata"]
        return self._work_dir.logs / "pods" / f"{metadata['namespace']}.{metadata['name']}.{container}.log"

    def credentials(self, pod: Object) -> Path:
        """Create a kubeconfig with a token of the pod's ServiceAccount as soon as that exists."""
        account = pod["spec"].get("serviceAccountName", "default")
        path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/serviceaccounts/{account}/token"
        response = wait_until(f"there is a ServiceAccount for {path}", lambda: self._create_token(path))
        file = self.home(pod) / "kubeconfig"
        file.write_text(self._plane.kubeconfig_for(response["status"]["token"]), encoding="utf-8")
        return file

    def report(self, pod: Object, status: Object) -> None:
        """Replace the status. Conditions of other controllers, such as DisruptionTarget, are kept."""
        with self._lock, _ignore_statuses(HTTPStatus.NOT_FOUND):
            while not self._try_report(pod, status):
                continue

    def release(self, pod: Object) -> None:
        """Delete a terminated pod without a grace period, but no newer pod of the same name."""
        options = {"gracePeriodSeconds": 0, "preconditions": {"uid": pod["metadata"]["uid"]}}
        with self._lock, _ignore_statuses(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT):
            if not self._is_stopped:
                self._api.delete(_path(pod), options)

    def register(self) -> None:
        self._api.create("/api/v1/nodes", {"metadata": {"name": _NAME, "labels": _LABELS}})
        ready = {
            "type": "Ready",
            "status": "True",
            "reason": "NodeAgentReady",
            "message": "",
            **_transition_time(),
        }
        resources = {"cpu": "64", "memory": "256Gi", "pods": "4096"}
        status = {"capacity": resources, "allocatable": resources, "conditions": [ready]}
        self._api.patch(f"/api/v1/nodes/{_NAME}/status", {"status": status})

    def _bind(self, pod: Object) -> None:
        binding = {"metadata": {"name": pod["metadata"]["name"]}, "target": {"kind": "Node", "name": _NAME}}
        with self._lock, _ignore_statuses(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT):
            self._api.create(f"{_path(pod)}/binding", binding)

    def _try_report(self, pod: Object, status: Object) -> bool:
        """Return False on a conflict."""
        found = self._api.get(_path(pod))
        if found["metadata"]["uid"] != pod["metadata"]["uid"]:
            return True
        try:
            self._api.replace(f"{_path(pod)}/status", {**found, "status": self._merge_status(found, status)})
        except ApiError as error:
            if error.code != HTTPStatus.CONFLICT:
                raise
            return False
        return True

    def _merge_status(self, found: Object, status: Object) -> Object:
        own = {condition["type"] for condition in status["conditions"]}
        others = [condition for condition in conditions(found) if condition["type"] not in own]
        new = [{**_transition_time(), **condition} for condition in status["conditions"]]
        before: Object = found["status"]
        address = before.get("podIP") or next(self._addresses)
        addresses = {
            "hostIP": _HOST,
            "hostIPs": [{"ip": _HOST}],
            "podIP": address,
            "podIPs": [{"ip": address}],
        }
        start = {"startTime": before.get("startTime") or _now()}
        return {**before, **addresses, **start, **status, "conditions": others + new}

    def _create_token(self, path: str) -> Object:
        with self._lock, _ignore_statuses(HTTPStatus.NOT_FOUND):
            return self._api.create(path, {"spec": {"expirationSeconds": 3600}})
        return {}


@contextmanager
def node_agent(plane: ControlPlane, work_dir: WorkDir) -> Iterator[NodeAgent]:
    agent = NodeAgent(plane, work_dir)
    agent.register()
    try:
        with watch(plane.api, "/api/v1/pods", agent.handle_event) as started:
            agent.watch = started
            yield agent
    finally:
        agent.stop()


@contextmanager
def _ignore_statuses(*codes: int) -> Iterator[None]:
    """Ignore API errors with these status codes."""
    try:
        yield
    except ApiError as error:
        if error.code not in codes:
            raise


def _path(pod: Object) -> str:
    return f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"


def _transition_time() -> Object:
    return {"lastTransitionTime": _now()}


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
