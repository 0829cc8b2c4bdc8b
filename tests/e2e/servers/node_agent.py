"""A stand-in for a node: takes every pod of the cluster, and does with it what its images are offered as."""

from __future__ import annotations

__all__ = ["NodeAgent", "node_agent"]

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Final

from e2e.servers.api import Object, RefusedError, conditions
from e2e.servers.containers import Images
from e2e.servers.control_plane import ControlPlane
from e2e.servers.pod_runner import PodLife
from e2e.servers.polling import until
from e2e.servers.processes import Workshop
from e2e.servers.watch import Watch, watch

_NAME: Final = "stand"
_LABELS: Final = {"kubernetes.io/hostname": _NAME, "kubernetes.io/os": "linux"}
# Not of this machine: Endpoints refuse loopback addresses, and nobody is meant to connect to these.
_HOST: Final = "10.78.0.1"


class NodeAgent:
    """Binds pods to its Node, lives their lives, reports them, and lets them go when they are deleted."""

    def __init__(self, plane: ControlPlane, place: Workshop) -> None:
        self.images = Images()
        self.watching: Watch | None = None
        self._plane = plane
        self._place = place
        self._api = plane.api.another()
        self._lock = threading.Lock()
        self._lives: dict[str, PodLife] = {}
        self._ended: list[PodLife] = []
        self._is_over = False
        self._addresses = (f"10.78.{high}.{low}" for high in range(1, 256) for low in range(1, 255))
        (place.logs / "pods").mkdir(exist_ok=True)

    def hear(self, what: str, pod: Object) -> None:
        """One event of the watch of all pods."""
        uid = pod["metadata"]["uid"]
        is_leaving = what == "DELETED" or "deletionTimestamp" in pod["metadata"]
        if is_leaving and uid in self._lives:
            self._lives[uid].leave()
        elif not is_leaving and "nodeName" not in pod["spec"]:
            self._bind(pod)
        elif not is_leaving and uid not in self._lives:
            self._lives[uid] = PodLife(self, pod)
            self._lives[uid].start()
        if what == "DELETED" and uid in self._lives:
            self._ended.append(self._lives.pop(uid))

    def port_of(self, selector: Object, namespace: str) -> int | None:
        """Where a ready pod with these labels answers on the loopback address."""
        found = (life for life in list(self._lives.values()) if life.is_one_of(namespace, selector))
        return next((port for life in found for port in life.ports), None)

    def must_run(self) -> None:
        """Raises what has gone wrong with a pod on our side, if something has."""
        if self.watching is not None:
            self.watching.must_run()
        for life in (*self._ended, *self._lives.values()):
            if life.trouble is not None:
                raise RuntimeError(f"{life.name} has failed on the node agent") from life.trouble

    def stop(self) -> None:
        """Ends every program; the pods stay as they are, for an API server that is about to end too."""
        self._is_over = True
        lives = (*self._ended, *self._lives.values())
        for life in lives:
            life.leave()
        for life in lives:
            life.join()
        self._api.close()

    def home(self, pod: Object) -> Path:
        return self._place.folder / "pods" / str(pod["metadata"]["uid"])

    def claim(self, pod: Object, name: str) -> Path:
        return self._place.folder / "claims" / str(pod["metadata"]["namespace"]) / name

    def log(self, pod: Object, container: str) -> Path:
        named = pod["metadata"]
        return self._place.logs / "pods" / f"{named['namespace']}.{named['name']}.{container}.log"

    def credentials(self, pod: Object) -> Path:
        """A kubeconfig with a token of the pod's ServiceAccount, as soon as there is that account."""
        account = pod["spec"].get("serviceAccountName", "default")
        path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/serviceaccounts/{account}/token"
        answer = until(f"there is a ServiceAccount for {path}", lambda: self._token(path))
        file = self.home(pod) / "kubeconfig"
        file.write_text(self._plane.kubeconfig_for(answer["status"]["token"]), encoding="utf-8")
        return file

    def report(self, pod: Object, status: Object) -> None:
        """Writes the status; conditions of others stay, such as DisruptionTarget."""
        with self._lock, _passing_by(HTTPStatus.NOT_FOUND):
            while not self._is_reported(pod, status):
                continue

    def release(self, pod: Object) -> None:
        """Deletes what has ended, for good; a pod of the same name that came after it stays."""
        options = {"gracePeriodSeconds": 0, "preconditions": {"uid": pod["metadata"]["uid"]}}
        with self._lock, _passing_by(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT):
            if not self._is_over:
                self._api.delete(_path(pod), options)

    def register(self) -> None:
        self._api.create("/api/v1/nodes", {"metadata": {"name": _NAME, "labels": _LABELS}})
        ready = {"type": "Ready", "status": "True", "reason": "StandReady", "message": "", **_times()}
        room = {"cpu": "64", "memory": "256Gi", "pods": "4096"}
        status = {"capacity": room, "allocatable": room, "conditions": [ready]}
        self._api.merge(f"/api/v1/nodes/{_NAME}/status", {"status": status})

    def _bind(self, pod: Object) -> None:
        binding = {"metadata": {"name": pod["metadata"]["name"]}, "target": {"kind": "Node", "name": _NAME}}
        with self._lock, _passing_by(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT):
            self._api.create(f"{_path(pod)}/binding", binding)

    def _is_reported(self, pod: Object, status: Object) -> bool:
        found = self._api.get(_path(pod))
        if found["metadata"]["uid"] != pod["metadata"]["uid"]:
            return True
        try:
            self._api.replace(f"{_path(pod)}/status", {**found, "status": self._merged(found, status)})
        except RefusedError as refused:
            if refused.code != HTTPStatus.CONFLICT:
                raise
            return False
        return True

    def _merged(self, found: Object, status: Object) -> Object:
        own = {condition["type"] for condition in status["conditions"]}
        others = [condition for condition in conditions(found) if condition["type"] not in own]
        made = [{**_times(), **condition} for condition in status["conditions"]]
        before: Object = found["status"]
        address = before.get("podIP") or next(self._addresses)
        where = {"hostIP": _HOST, "hostIPs": [{"ip": _HOST}], "podIP": address, "podIPs": [{"ip": address}]}
        begun = {"startTime": before.get("startTime") or _now()}
        return {**before, **where, **begun, **status, "conditions": others + made}

    def _token(self, path: str) -> Object:
        with self._lock, _passing_by(HTTPStatus.NOT_FOUND):
            return self._api.create(path, {"spec": {"expirationSeconds": 3600}})
        return {}


@contextmanager
def node_agent(plane: ControlPlane, place: Workshop) -> Iterator[NodeAgent]:
    agent = NodeAgent(plane, place)
    agent.register()
    try:
        with watch(plane.api, "/api/v1/pods", agent.hear) as watching:
            agent.watching = watching
            yield agent
    finally:
        agent.stop()


@contextmanager
def _passing_by(*codes: int) -> Iterator[None]:
    """Lets pass that a pod is not there any more, or is another one."""
    try:
        yield
    except RefusedError as refused:
        if refused.code not in codes:
            raise


def _path(pod: Object) -> str:
    return f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"


def _times() -> Object:
    return {"lastTransitionTime": _now()}


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
