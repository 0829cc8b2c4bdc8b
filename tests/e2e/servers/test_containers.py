"""PodRunner runs containers as their images are registered; without a cluster."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from tests.e2e.servers.api import Object
from tests.e2e.servers.containers import (
    Container,
    Execution,
    Exited,
    ImageHandler,
    Images,
    NoProcess,
    Program,
)
from tests.e2e.servers.pod_runner import PodRunner
from tests.e2e.servers.polling import wait_until

# Seconds; longer than the termination of any pod.
_TIMEOUT: Final = 60.0
_NO_STATUS: Final[Object] = {"phase": "", "conditions": [], "containerStatuses": [{"restartCount": 0}]}


class RecordingNode:
    """A node that records the reported statuses and the released pods."""

    def __init__(self, folder: Path, **images: ImageHandler | Execution) -> None:
        self.images = Images()
        for image, handler in images.items():
            self.images.register(image, handler)
        self.reports: list[Object] = []
        self.released: list[str] = []
        self._folder = folder

    def home(self, pod: Object) -> Path:
        return self._folder / str(pod["metadata"]["name"])

    def claim(self, pod: Object, name: str) -> Path:
        return self._folder / str(pod["metadata"]["namespace"]) / name

    def log(self, pod: Object, container: str) -> Path:
        return self._folder / f"{pod['metadata']['name']}.{container}.log"

    def credentials(self, pod: Object) -> Path:
        return self._folder / str(pod["metadata"]["name"]) / "kubeconfig"

    def report(self, pod: Object, status: Object) -> None:
        self.reports.append({**status, "of": pod["metadata"]["name"]})

    def release(self, pod: Object) -> None:
        self.released.append(pod["metadata"]["name"])

    @property
    def last(self) -> Object:
        return self.reports[-1] if self.reports else _NO_STATUS

    def is_ready(self) -> bool:
        return {"type": "Ready", "status": "True"} in self.last["conditions"]


def a_pod(
    *containers: Object, init: tuple[Object, ...] = (), restart: str = "Always", **spec: object
) -> Object:
    metadata = {
        "name": "p",
        "namespace": "n",
        "uid": "1",
        "labels": {"app": "x"},
        "annotations": {"a/b": "c"},
    }
    pod_spec = {
        "containers": list(containers),
        "initContainers": list(init),
        "restartPolicy": restart,
        **spec,
    }
    return {"metadata": metadata, "spec": pod_spec, "status": {}}


def container(image: str, **more: object) -> Object:
    return {"name": f"c-{image}", "image": image, **more}


@contextmanager
def run_pod(node: RecordingNode, pod: Object) -> Iterator[PodRunner]:
    runner = PodRunner(node, pod)
    runner.start()
    try:
        yield runner
    finally:
        runner.stop()
        runner.join(_TIMEOUT)
    assert runner.error is None
    assert node.released == ["p"]


def shell(script: str) -> Program:
    return Program(["sh", "-c", script])


def test_pod_without_process_is_reported_once_as_ready(tmp_path: Path) -> None:
    node = RecordingNode(tmp_path, web=NoProcess())
    with run_pod(node, a_pod(container("web"))):
        wait_until("the pod is ready", node.is_ready)
    assert [status["phase"] for status in node.reports] == ["Running"]


def test_pod_is_running_before_it_is_ready(tmp_path: Path) -> None:
    is_ready = threading.Event()
    node = RecordingNode(tmp_path, web=NoProcess(ready=is_ready.is_set))
    with run_pod(node, a_pod(container("web"))):
        wait_until("the pod runs", lambda: node.last["phase"] == "Running")
        assert not node.is_ready()
        is_ready.set()
        wait_until("the pod is ready", node.is_ready)


def test_unregistered_image_cannot_be_pulled(tmp_path: Path) -> None:
    node = RecordingNode(tmp_path)
    with run_pod(node, a_pod(container("web"))):
        wait_until("a status is reported", lambda: node.reports)
        [status] = node.last["containerStatuses"]
        assert (node.last["phase"], status["state"]) == ("Pending", {"waiting": {"reason": "ErrImagePull"}})
        node.images.register("web", NoProcess())
        wait_until("the pod is ready", node.is_ready)


@pytest.mark.parametrize(("code", "phase"), [(0, "Succeeded"), (3, "Failed")])
def test_phase_of_a_finished_pod_follows_the_exit_code(tmp_path: Path, code: int, phase: str) -> None:
    node = RecordingNode(tmp_path, job=shell(f"echo output; exit {code}"))
    with run_pod(node, a_pod(container("job"), restart="Never")):
        wait_until("the pod has ended", lambda: node.last["phase"] == phase)
    [status] = node.last["containerStatuses"]
    assert status["state"]["terminated"]["exitCode"] == code
    assert ("output" in status["state"]["terminated"]["message"]) == bool(code)


def test_crashing_container_is_restarted_with_backoff(tmp_path: Path) -> None:
    node = RecordingNode(tmp_path, web=Exited(1))
    with run_pod(node, a_pod(container("web"))):
        wait_until(
            "the pod has restarted twice", lambda: node.last["containerStatuses"][0]["restartCount"] >= 2
        )
    [status] = node.last["containerStatuses"]
    assert status["state"] == {"waiting": {"reason": "CrashLoopBackOff"}}
    assert status["lastState"]["terminated"]["exitCode"] == 1


def test_init_containers_run_first_and_share_volumes(tmp_path: Path) -> None:
    def write_file(container: Container) -> Execution:
        Path(container.arguments[-1]).write_text("content", encoding="utf-8")
        return Exited()

    def check_file(container: Container) -> Execution:
        return NoProcess() if (container.mounts["/in"] / "file").read_text() == "content" else Exited(1)

    first = container(
        "write", command=["put"], args=["/out/file"], volumeMounts=[{"name": "v", "mountPath": "/out"}]
    )
    web = container("web", volumeMounts=[{"name": "v", "mountPath": "/in"}])
    node = RecordingNode(tmp_path, write=write_file, web=check_file)
    with run_pod(node, a_pod(web, init=(first,))):
        wait_until("the pod is ready", node.is_ready)


def test_failed_init_container_fails_a_pod_without_restarts(tmp_path: Path) -> None:
    node = RecordingNode(tmp_path, bad=Exited(2), web=NoProcess())
    with run_pod(node, a_pod(container("web"), init=(container("bad"),), restart="Never")):
        wait_until("the pod has failed", lambda: node.last["phase"] == "Failed")
    assert node.last["containerStatuses"][0]["started"] is False


def test_process_ends_with_its_pod_and_the_files_of_a_claim_are_kept(tmp_path: Path) -> None:
    def write_pid(container: Container) -> Execution:
        return shell(f"echo $$ > {container.mounts['/data']}/pid; exec sleep 60")

    node = RecordingNode(tmp_path, db=write_pid)
    pid_file = tmp_path / "n" / "disk" / "pid"
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "disk"}}]
    pod = a_pod(container("db", volumeMounts=[{"name": "v", "mountPath": "/data"}]), volumes=volumes)
    with run_pod(node, pod):
        wait_until("the pod runs", lambda: pid_file.is_file() and pid_file.read_text())
    pid = int(pid_file.read_text())
    wait_until("the process has exited", lambda: not Path(f"/proc/{pid}").exists())


def test_error_of_an_image_handler_is_kept(tmp_path: Path) -> None:
    def fail(_: Container) -> Execution:
        raise KeyError("image")

    runner = PodRunner(RecordingNode(tmp_path, web=fail), a_pod(container("web")))
    runner.start()
    runner.join(_TIMEOUT)
    assert isinstance(runner.error, KeyError)


def test_port_is_available_when_the_container_is_ready(tmp_path: Path) -> None:
    is_ready = threading.Event()
    node = RecordingNode(tmp_path, web=Program(["sleep", "60"], ready=is_ready.is_set, port=4711))
    with run_pod(node, a_pod(container("web"))) as runner:
        wait_until("the pod runs", lambda: node.last["phase"] == "Running")
        time.sleep(0.2)
        assert runner.ports == []
        is_ready.set()
        wait_until("the pod is ready", node.is_ready)
        assert runner.ports == [4711]
        assert runner.matches("n", {"app": "x"})
        assert not runner.matches("other", {"app": "x"})
        assert not runner.matches("n", {"app": "y"})


def test_last_registration_takes_precedence() -> None:
    images = Images()
    images.register("web:*", Exited(1))
    images.register("web:v2", Exited(2))
    found = [images.handler_for(name) for name in ("web:v1", "web:v2", "db:v1")]
    pod = Container({}, {}, Path(), {}, Path)
    assert [handler and handler(pod) for handler in found] == [Exited(1), Exited(2), None]


def test_arguments_have_expanded_variables_and_local_paths() -> None:
    spec = {
        "command": ["serve", "/data"],
        "args": ["--cache=/data/cache", "/database", "--name", "$(POD)", "$(UNKNOWN)"],
        "env": [
            {"name": "PLAIN", "value": "1"},
            {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {"name": "NOTE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.annotations['a/b']"}}},
            {"name": "SECRET", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
        ],
    }
    created = Container(a_pod(), spec, Path("/home"), {"/data": Path("/here")}, Path)
    assert created.arguments == [
        *("serve", "/here", "--cache=/here/cache", "/database", "--name", "p", "$(UNKNOWN)"),
    ]
    assert created.environment == {"PLAIN": "1", "POD": "p", "NOTE": "c"}
