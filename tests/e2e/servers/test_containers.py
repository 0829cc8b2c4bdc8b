"""What the node agent makes of containers, without a cluster."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from e2e.servers.api import Object
from e2e.servers.containers import Behaviour, Container, Ended, Fate, Feigned, Images, Program
from e2e.servers.pod_runner import PodLife
from e2e.servers.polling import until

# Longer than any pod takes to end.
_PATIENCE: Final = 60.0
_NOTHING: Final[Object] = {"phase": "", "conditions": [], "containerStatuses": [{"restartCount": 0}]}


class Place:
    """A node that writes down what it is told."""

    def __init__(self, folder: Path, **offered: Behaviour | Fate) -> None:
        self.images = Images()
        for image, behaviour in offered.items():
            self.images.offer(image, behaviour)
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
        return self.reports[-1] if self.reports else _NOTHING

    def is_ready(self) -> bool:
        return {"type": "Ready", "status": "True"} in self.last["conditions"]


def a_pod(
    *containers: Object, init: tuple[Object, ...] = (), restart: str = "Always", **spec: object
) -> Object:
    named = {"name": "p", "namespace": "n", "uid": "1", "labels": {"app": "x"}, "annotations": {"a/b": "c"}}
    made = {"containers": list(containers), "initContainers": list(init), "restartPolicy": restart, **spec}
    return {"metadata": named, "spec": made, "status": {}}


def of(image: str, **more: object) -> Object:
    return {"name": f"c-{image}", "image": image, **more}


@contextmanager
def living(node: Place, pod: Object) -> Iterator[PodLife]:
    life = PodLife(node, pod)
    life.start()
    try:
        yield life
    finally:
        life.leave()
        life.join(_PATIENCE)
    assert life.trouble is None
    assert node.released == ["p"]


def shell(script: str) -> Program:
    return Program(["sh", "-c", script])


def test_a_feigned_pod_is_reported_once_as_ready(tmp_path: Path) -> None:
    node = Place(tmp_path, web=Feigned())
    with living(node, a_pod(of("web"))):
        until("it is ready", node.is_ready)
    assert [status["phase"] for status in node.reports] == ["Running"]


def test_one_that_never_gets_ready_runs_and_one_may_become_so(tmp_path: Path) -> None:
    wanted = threading.Event()
    node = Place(tmp_path, web=Feigned(ready=wanted.is_set))
    with living(node, a_pod(of("web"))):
        until("it runs", lambda: node.last["phase"] == "Running")
        assert not node.is_ready()
        wanted.set()
        until("it is ready", node.is_ready)


def test_an_image_that_nobody_offers_cannot_be_pulled(tmp_path: Path) -> None:
    node = Place(tmp_path)
    with living(node, a_pod(of("web"))):
        until("it is reported", lambda: node.reports)
        [status] = node.last["containerStatuses"]
        assert (node.last["phase"], status["state"]) == ("Pending", {"waiting": {"reason": "ErrImagePull"}})
        node.images.offer("web", Feigned())
        until("it is ready", node.is_ready)


@pytest.mark.parametrize(("code", "phase"), [(0, "Succeeded"), (3, "Failed")])
def test_a_job_ends_as_its_program_does(tmp_path: Path, code: int, phase: str) -> None:
    node = Place(tmp_path, job=shell(f"echo said; exit {code}"))
    with living(node, a_pod(of("job"), restart="Never")):
        until("it has ended", lambda: node.last["phase"] == phase)
    [status] = node.last["containerStatuses"]
    assert status["state"]["terminated"]["exitCode"] == code
    assert ("said" in status["state"]["terminated"]["message"]) == bool(code)


def test_what_crashes_is_started_again_with_pauses_and_counted(tmp_path: Path) -> None:
    node = Place(tmp_path, web=Ended(1))
    with living(node, a_pod(of("web"))):
        until("it has crashed twice", lambda: node.last["containerStatuses"][0]["restartCount"] >= 2)
    [status] = node.last["containerStatuses"]
    assert status["state"] == {"waiting": {"reason": "CrashLoopBackOff"}}
    assert status["lastState"]["terminated"]["exitCode"] == 1


def test_init_containers_go_before_one_after_the_other_and_share_volumes(tmp_path: Path) -> None:
    def write(container: Container) -> Fate:
        Path(container.arguments[-1]).write_text("by the first", encoding="utf-8")
        return Ended()

    def look(container: Container) -> Fate:
        return Feigned() if (container.mounts["/in"] / "file").read_text() == "by the first" else Ended(1)

    first = of(
        "write", command=["put"], args=["/out/file"], volumeMounts=[{"name": "v", "mountPath": "/out"}]
    )
    web = of("web", volumeMounts=[{"name": "v", "mountPath": "/in"}])
    node = Place(tmp_path, write=write, web=look)
    with living(node, a_pod(web, init=(first,))):
        until("it is ready", node.is_ready)


def test_a_failed_init_container_of_a_job_fails_it(tmp_path: Path) -> None:
    node = Place(tmp_path, bad=Ended(2), web=Feigned())
    with living(node, a_pod(of("web"), init=(of("bad"),), restart="Never")):
        until("it has failed", lambda: node.last["phase"] == "Failed")
    assert node.last["containerStatuses"][0]["started"] is False


def test_a_program_ends_with_its_pod_and_what_a_claim_holds_stays(tmp_path: Path) -> None:
    def keep(container: Container) -> Fate:
        return shell(f"echo $$ > {container.mounts['/data']}/pid; exec sleep 60")

    node = Place(tmp_path, db=keep)
    held = tmp_path / "n" / "disk" / "pid"
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "disk"}}]
    pod = a_pod(of("db", volumeMounts=[{"name": "v", "mountPath": "/data"}]), volumes=volumes)
    with living(node, pod):
        until("it runs", lambda: held.is_file() and held.read_text())
    pid = int(held.read_text())
    until("it has ended", lambda: not Path(f"/proc/{pid}").exists())


def test_trouble_of_ours_is_kept_for_whoever_asks(tmp_path: Path) -> None:
    def broken(_: Container) -> Fate:
        raise KeyError("ours")

    life = PodLife(Place(tmp_path, web=broken), a_pod(of("web")))
    life.start()
    life.join(_PATIENCE)
    assert isinstance(life.trouble, KeyError)


def test_where_it_answers_counts_from_when_it_is_ready(tmp_path: Path) -> None:
    wanted = threading.Event()
    node = Place(tmp_path, web=Program(["sleep", "60"], ready=wanted.is_set, port=4711))
    with living(node, a_pod(of("web"))) as life:
        until("it runs", lambda: node.last["phase"] == "Running")
        time.sleep(0.2)
        assert life.ports == []
        wanted.set()
        until("it is ready", node.is_ready)
        assert life.ports == [4711]
        assert life.is_one_of("n", {"app": "x"})
        assert not life.is_one_of("other", {"app": "x"})
        assert not life.is_one_of("n", {"app": "y"})


def test_what_is_offered_last_counts_first() -> None:
    images = Images()
    images.offer("web:*", Ended(1))
    images.offer("web:v2", Ended(2))
    found = [images.of(name) for name in ("web:v1", "web:v2", "db:v1")]
    container = Container({}, {}, Path(), {}, Path)
    assert [does and does(container) for does in found] == [Ended(1), Ended(2), None]


def test_arguments_are_those_of_this_machine() -> None:
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
    container = Container(a_pod(), spec, Path("/home"), {"/data": Path("/here")}, Path)
    assert container.arguments == [
        *("serve", "/here", "--cache=/here/cache", "/database", "--name", "p", "$(UNKNOWN)"),
    ]
    assert container.environment == {"PLAIN": "1", "POD": "p", "NOTE": "c"}
