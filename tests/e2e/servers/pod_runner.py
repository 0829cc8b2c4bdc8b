"""Runs one pod on the node agent: starts its containers, and reports its status."""

from __future__ import annotations

__all__ = ["Node", "PodRunner"]

import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from tests.e2e.servers.api import Object
from tests.e2e.servers.containers import Container, Execution, Exited, Images, NoProcess, Program, always
from tests.e2e.servers.processes import Process, log_tail, start_process

_POLL_INTERVAL: Final = 0.05
_FIRST_BACKOFF: Final = 0.5
_MAX_BACKOFF: Final = 8.0
# Seconds. The kubelet honours the grace period of the pod; tests should not wait for it.
_MAX_GRACE_PERIOD: Final = 5.0


class Node(Protocol):
    """The interface of the node that PodRunner uses."""

    images: Images

    def home(self, pod: Object) -> Path: ...
    def claim(self, pod: Object, name: str) -> Path: ...
    def log(self, pod: Object, container: str) -> Path: ...
    def credentials(self, pod: Object) -> Path: ...
    def report(self, pod: Object, status: Object) -> None: ...
    def release(self, pod: Object) -> None: ...


@dataclass(slots=True)
class _ContainerState:
    """The state of a container of the pod."""

    spec: Object
    execution: Execution | None = None
    process: Process | None = None
    started_at: str = ""
    is_ready: bool = False
    exited: Exited | None = None
    waiting_reason: str = "ContainerCreating"
    restarts: int = 0
    restart_at: float = 0.0
    last_state: Object = field(default_factory=dict)

    @property
    def port(self) -> int | None:
        return self.execution.port if isinstance(self.execution, Program) and self.exited is None else None

    @property
    def needs_polling(self) -> bool:
        return not (
            isinstance(self.execution, NoProcess) and self.execution.ready is always and self.is_ready
        )


class PodRunner(threading.Thread):
    """A thread per pod: a process is killed when the thread that started it ends."""

    def __init__(self, node: Node, pod: Object) -> None:
        super().__init__(name=f"pod {pod['metadata']['name']}", daemon=True)
        self._node = node
        self._pod = pod
        self._stopping = threading.Event()
        self._init_containers = [_ContainerState(spec) for spec in pod["spec"].get("initContainers", ())]
        self._containers = [_ContainerState(spec) for spec in pod["spec"]["containers"]]
        self._reported: Object = {}
        self.error: Exception | None = None

    @property
    def ports(self) -> list[int]:
        """The ports of its ready containers on the loopback address."""
        return [
            container.port
            for container in self._containers
            if container.port is not None and container.is_ready
        ]

    def matches(self, namespace: str, selector: Object) -> bool:
        """Whether the pod is in this namespace and has these labels."""
        metadata = self._pod["metadata"]
        labels = metadata.get("labels", {})
        return bool(metadata["namespace"] == namespace and selector.items() <= labels.items())

    def stop(self) -> None:
        self._stopping.set()

    def run(self) -> None:
        try:
            if self._run_init_containers():
                self._run_containers()
            # A finished pod stays, with its status, until it is deleted.
            self._stopping.wait()
            self._terminate_processes()
            self._node.release(self._pod)
        except Exception as error:  # noqa: BLE001 (the node agent raises it in the main thread)
            self.error = error
        finally:
            self._terminate_processes()

    def _run_init_containers(self) -> bool:
        """Run the init containers one after the other; return whether all have succeeded."""
        for container in self._init_containers:
            while container.exited is None or container.exited.code:
                if self._stopping.is_set() or self._has_finished(container):
                    self._report()
                    return False
                self._advance(container)
                self._report()
                if container.exited is None or container.exited.code:
                    self._stopping.wait(_POLL_INTERVAL)
        return True

    def _run_containers(self) -> None:
        while not self._stopping.is_set():
            for container in self._containers:
                if not self._has_finished(container):
                    self._advance(container)
            self._report()
            if all(map(self._has_finished, self._containers)):
                return
            needs_polling = any(container.needs_polling for container in self._containers)
            self._stopping.wait(_POLL_INTERVAL if needs_polling else None)

    def _has_finished(self, container: _ContainerState) -> bool:
        """Whether it has exited and is not restarted."""
        if container.exited is None:
            return False
        policy = self._pod["spec"].get("restartPolicy", "Always")
        return policy == "Never" or (policy == "OnFailure" and not container.exited.code)

    def _advance(self, container: _ContainerState) -> None:
        """Start or restart the container, and update its state."""
        if container.exited is not None and time.monotonic() >= container.restart_at:
            container.last_state = _terminated_state(container)
            container.exited = container.execution = container.process = None
            container.restarts += 1
        if container.exited is not None:
            return
        if container.execution is None:
            self._start(container)
        if isinstance(container.execution, Exited):
            self._set_exited(container, container.execution)
        elif container.process is not None and (code := container.process.exit_code) is not None:
            self._set_exited(container, Exited(code, log_tail(container.process.log) if code else ""))
        elif container.execution is not None:
            container.is_ready = container.execution.ready()

    def _start(self, container: _ContainerState) -> None:
        handler = self._node.images.handler_for(container.spec["image"])
        if handler is None:
            container.waiting_reason = "ErrImagePull"
            return
        created = self._create_container(container.spec)
        container.started_at, container.execution = _now(), handler(created)
        if isinstance(container.execution, Program):
            container.process = start_process(
                f"{self.name}, {container.spec['name']}",
                self._node.log(self._pod, container.spec["name"]),
                container.execution.command,
                created.home,
                {**created.environment, **container.execution.environment},
            )

    def _set_exited(self, container: _ContainerState, exited: Exited) -> None:
        container.exited, container.is_ready, container.waiting_reason = exited, False, "CrashLoopBackOff"
        container.restart_at = time.monotonic() + min(_MAX_BACKOFF, _FIRST_BACKOFF * 2**container.restarts)

    def _create_container(self, spec: Object) -> Container:
        home = self._node.home(self._pod) / spec["name"]
        (home / "tmp").mkdir(parents=True, exist_ok=True)
        mounts = {mount["mountPath"]: self._create_volume(mount) for mount in spec.get("volumeMounts", ())}
        return Container(self._pod, spec, home, mounts, lambda: self._node.credentials(self._pod))

    def _create_volume(self, mount: Mapping[str, str]) -> Path:
        """Create a folder that the containers of the pod share, or that of a claim, which is kept."""
        volumes = {volume["name"]: volume for volume in self._pod["spec"].get("volumes", ())}
        claim = volumes.get(mount["name"], {}).get("persistentVolumeClaim")
        folder = (
            self._node.home(self._pod) / "volumes" / mount["name"]
            if claim is None
            else self._node.claim(self._pod, claim["claimName"])
        )
        folder = folder / mount.get("subPath", "")
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _terminate_processes(self) -> None:
        grace = self._pod["spec"].get("terminationGracePeriodSeconds", 30)
        for container in (*self._init_containers, *self._containers):
            if container.process is not None:
                container.process.terminate(min(grace, _MAX_GRACE_PERIOD))

    def _report(self) -> None:
        status = self._status()
        if status != self._reported:
            self._node.report(self._pod, status)
            self._reported = status

    def _status(self) -> Object:
        initialised = all(
            container.exited is not None and not container.exited.code for container in self._init_containers
        )
        ready = initialised and all(container.is_ready for container in self._containers)
        values = {"Initialized": initialised, "ContainersReady": ready, "Ready": ready}
        return {
            "phase": self._phase(),
            "conditions": [{"type": kind, "status": str(value)} for kind, value in values.items()],
            "initContainerStatuses": [_container_status(container) for container in self._init_containers],
            "containerStatuses": [_container_status(container) for container in self._containers],
        }

    def _phase(self) -> str:
        if any(
            self._has_finished(container) and container.exited is not None and container.exited.code
            for container in self._init_containers
        ):
            return "Failed"
        if all(map(self._has_finished, self._containers)):
            return "Failed" if any(_exit_codes(self._containers)) else "Succeeded"
        has_started = any(container.started_at for container in self._containers)
        return "Running" if has_started else "Pending"


def _exit_codes(containers: Iterable[_ContainerState]) -> list[int]:
    return [container.exited.code for container in containers if container.exited is not None]


def _container_status(container: _ContainerState) -> Object:
    if container.exited is None and container.execution is not None:
        state: Object = {"running": {"startedAt": container.started_at}}
    elif container.exited is None or container.restarts:
        state = {"waiting": {"reason": container.waiting_reason}}
    else:
        state = _terminated_state(container)
    return {
        "name": container.spec["name"],
        "image": container.spec["image"],
        "imageID": container.spec["image"],
        "ready": container.is_ready or (container.exited is not None and not container.exited.code),
        "started": container.exited is None and container.execution is not None,
        "restartCount": container.restarts,
        "state": state,
        "lastState": _terminated_state(container)
        if container.restarts and container.exited is not None
        else container.last_state,
    }


def _terminated_state(container: _ContainerState) -> Object:
    exited = container.exited or Exited()
    fields = {
        "exitCode": exited.code,
        "reason": "Error" if exited.code else "Completed",
        "startedAt": container.started_at,
    }
    return {"terminated": {**fields, "finishedAt": container.started_at, "message": exited.message[-2000:]}}


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
