"""The life of one pod on the node agent: its containers, what is reported of them, its end."""

from __future__ import annotations

__all__ = ["Node", "PodLife"]

import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from e2e.servers.api import Object
from e2e.servers.containers import Container, Ended, Fate, Feigned, Images, Program, always
from e2e.servers.processes import Process, log_end, started

_LOOK_AGAIN: Final = 0.05
_FIRST_PAUSE: Final = 0.5
_LONGEST_PAUSE: Final = 8.0
# As the kubelet does, so that nobody waits for a container that ignores SIGTERM; but this is a test.
_LONGEST_GRACE: Final = 5.0


class Node(Protocol):
    """What a pod needs of where it runs."""

    images: Images

    def home(self, pod: Object) -> Path: ...
    def claim(self, pod: Object, name: str) -> Path: ...
    def log(self, pod: Object, container: str) -> Path: ...
    def credentials(self, pod: Object) -> Path: ...
    def report(self, pod: Object, status: Object) -> None: ...
    def release(self, pod: Object) -> None: ...


@dataclass(slots=True)
class _Running:
    """A container, from the first try to start it."""

    spec: Object
    fate: Fate | None = None
    process: Process | None = None
    since: str = ""
    is_ready: bool = False
    end: Ended | None = None
    waits_for: str = "ContainerCreating"
    restarts: int = 0
    again_at: float = 0.0
    before: Object = field(default_factory=dict)

    @property
    def port(self) -> int | None:
        return self.fate.port if isinstance(self.fate, Program) and self.end is None else None

    @property
    def needs_looking_at(self) -> bool:
        return not (isinstance(self.fate, Feigned) and self.fate.ready is always and self.is_ready)


class PodLife(threading.Thread):
    """A thread of its own: programs die with the thread that started them."""

    def __init__(self, node: Node, pod: Object) -> None:
        super().__init__(name=f"pod {pod['metadata']['name']}", daemon=True)
        self._node = node
        self._pod = pod
        self._leaving = threading.Event()
        self._inits = [_Running(spec) for spec in pod["spec"].get("initContainers", ())]
        self._containers = [_Running(spec) for spec in pod["spec"]["containers"]]
        self._reported: Object = {}
        self.trouble: Exception | None = None

    @property
    def ports(self) -> list[int]:
        """Where on the loopback address its ready containers answer."""
        return [one.port for one in self._containers if one.port is not None and one.is_ready]

    def is_one_of(self, namespace: str, selector: Object) -> bool:
        named = self._pod["metadata"]
        return bool(named["namespace"] == namespace and selector.items() <= named.get("labels", {}).items())

    def leave(self) -> None:
        self._leaving.set()

    def run(self) -> None:
        try:
            if self._initialised():
                self._live()
            # One that has ended stays, for whoever wants to know how, until it is deleted.
            self._leaving.wait()
            self._end_programs()
            self._node.release(self._pod)
        except Exception as trouble:  # noqa: BLE001 (a thread has nobody to raise to; the agent does)
            self.trouble = trouble
        finally:
            self._end_programs()

    def _initialised(self) -> bool:
        for one in self._inits:
            while one.end is None or one.end.code:
                if self._leaving.is_set() or self._is_final(one):
                    self._report()
                    return False
                self._advance(one)
                self._report()
                if one.end is None or one.end.code:
                    self._leaving.wait(_LOOK_AGAIN)
        return True

    def _live(self) -> None:
        while not self._leaving.is_set():
            for one in self._containers:
                if not self._is_final(one):
                    self._advance(one)
            self._report()
            if all(map(self._is_final, self._containers)):
                return
            looks = any(one.needs_looking_at for one in self._containers)
            self._leaving.wait(_LOOK_AGAIN if looks else None)

    def _is_final(self, one: _Running) -> bool:
        """Whether it has ended and is not to be started again."""
        if one.end is None:
            return False
        policy = self._pod["spec"].get("restartPolicy", "Always")
        return policy == "Never" or (policy == "OnFailure" and not one.end.code)

    def _advance(self, one: _Running) -> None:
        """Starts what is to be started, and sees what has become of what was."""
        if one.end is not None and time.monotonic() >= one.again_at:
            one.before, one.end, one.fate, one.process = _terminated(one), None, None, None
            one.restarts += 1
        if one.end is not None:
            return
        if one.fate is None:
            self._start(one)
        if isinstance(one.fate, Ended):
            self._ended(one, one.fate)
        elif one.process is not None and (code := one.process.exit_code) is not None:
            self._ended(one, Ended(code, log_end(one.process.log) if code else ""))
        elif one.fate is not None:
            one.is_ready = one.fate.ready()

    def _start(self, one: _Running) -> None:
        behaviour = self._node.images.of(one.spec["image"])
        if behaviour is None:
            one.waits_for = "ErrImagePull"
            return
        container = self._container(one.spec)
        one.since, one.fate = _now(), behaviour(container)
        if isinstance(one.fate, Program):
            one.process = started(
                f"{self.name}, {one.spec['name']}",
                self._node.log(self._pod, one.spec["name"]),
                one.fate.command,
                container.home,
                {**container.environment, **one.fate.environment},
            )

    def _ended(self, one: _Running, end: Ended) -> None:
        one.end, one.is_ready, one.waits_for = end, False, "CrashLoopBackOff"
        one.again_at = time.monotonic() + min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**one.restarts)

    def _container(self, spec: Object) -> Container:
        home = self._node.home(self._pod) / spec["name"]
        (home / "tmp").mkdir(parents=True, exist_ok=True)
        mounts = {mount["mountPath"]: self._volume(mount) for mount in spec.get("volumeMounts", ())}
        return Container(self._pod, spec, home, mounts, lambda: self._node.credentials(self._pod))

    def _volume(self, mount: Mapping[str, str]) -> Path:
        """A folder of the pod's own, shared by its containers, or that of a claim, which outlives it."""
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

    def _end_programs(self) -> None:
        grace = self._pod["spec"].get("terminationGracePeriodSeconds", 30)
        for one in (*self._inits, *self._containers):
            if one.process is not None:
                one.process.end(min(grace, _LONGEST_GRACE))

    def _report(self) -> None:
        status = self._status()
        if status != self._reported:
            self._node.report(self._pod, status)
            self._reported = status

    def _status(self) -> Object:
        initialised = all(one.end is not None and not one.end.code for one in self._inits)
        ready = initialised and all(one.is_ready for one in self._containers)
        truths = {"Initialized": initialised, "ContainersReady": ready, "Ready": ready}
        return {
            "phase": self._phase(),
            "conditions": [{"type": kind, "status": str(truth)} for kind, truth in truths.items()],
            "initContainerStatuses": [_container_status(one) for one in self._inits],
            "containerStatuses": [_container_status(one) for one in self._containers],
        }

    def _phase(self) -> str:
        if any(self._is_final(one) and one.end is not None and one.end.code for one in self._inits):
            return "Failed"
        if all(map(self._is_final, self._containers)):
            return "Failed" if any(_codes(self._containers)) else "Succeeded"
        begun = any(one.since for one in self._containers)
        return "Running" if begun else "Pending"


def _codes(containers: Iterable[_Running]) -> list[int]:
    return [one.end.code for one in containers if one.end is not None]


def _container_status(one: _Running) -> Object:
    if one.end is None and one.fate is not None:
        state: Object = {"running": {"startedAt": one.since}}
    elif one.end is None or one.restarts:
        state = {"waiting": {"reason": one.waits_for}}
    else:
        state = _terminated(one)
    return {
        "name": one.spec["name"],
        "image": one.spec["image"],
        "imageID": one.spec["image"],
        "ready": one.is_ready or (one.end is not None and not one.end.code),
        "started": one.end is None and one.fate is not None,
        "restartCount": one.restarts,
        "state": state,
        "lastState": _terminated(one) if one.restarts and one.end is not None else one.before,
    }


def _terminated(one: _Running) -> Object:
    end = one.end or Ended()
    told = {"exitCode": end.code, "reason": "Error" if end.code else "Completed", "startedAt": one.since}
    return {"terminated": {**told, "finishedAt": one.since, "message": end.message[-2000:]}}


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
