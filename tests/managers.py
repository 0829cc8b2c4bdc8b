"""The real shell, kopf and the Kubernetes client included, on the world in memory, over HTTP."""

from __future__ import annotations

__all__ = [
    "PACE",
    "SHORT",
    "CutCable",
    "Shell",
    "SilentEngine",
    "client_of",
    "facing",
    "kubeconfig_of",
    "started",
    "until",
]

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kopf import ConnectionInfo
from kubernetes.client import Configuration

from searchkeeper.kubernetes.api import KubernetesApi, Unavailable
from searchkeeper.kubernetes.operations import Delete, EmitEvent, Key, Manifest, Patch
from searchkeeper.manager.kopf_login import connection
from searchkeeper.manager.kubernetes_client import KubernetesClient, connect
from searchkeeper.manager.leader_election import LeaderLease
from searchkeeper.manager.manager import Clients, Manager, RequeueIntervals
from searchkeeper.opensearch.calls import Call
from searchkeeper.opensearch.client import EngineClient
from searchkeeper.opensearch.view import EngineView, Unreachable
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes.api_server import FakeApiServer
from searchkeeper.testing.fake_kubernetes.http_server import Server, serving

PACE = RequeueIntervals(resync=0.5, busy=0.05, least_backoff=0.02, most_backoff=0.5)
# A lease that another operator can wait for.
SHORT = 1.5
_DEADLINE = 120


@dataclass
class Facing:
    """A world, its HTTP face, and a client of it."""

    api: FakeApiServer
    server: Server
    settings: Configuration
    kube: KubernetesClient


def client_of(url: str) -> tuple[Configuration, KubernetesClient]:
    settings = Configuration()
    settings.host = url
    settings.retries = False
    return settings, connect(settings)


def kubeconfig_of(face: Facing, folder: Path) -> Path:
    """A file by which a command finds the face."""
    file = folder / "kubeconfig"
    file.write_text(
        f"""\
apiVersion: v1
kind: Config
current-context: here
contexts: [{{name: here, context: {{cluster: here, user: me}}}}]
clusters: [{{name: here, cluster: {{server: "{face.server.url}"}}}}]
users: [{{name: me, user: {{token: secret}}}}]
""",
        encoding="utf-8",
    )
    return file


@contextmanager
def facing(world: FakeCluster, **options: Any) -> Iterator[Facing]:
    api = FakeApiServer(world, **options)
    with serving(api, bookmarks=0.2) as server:
        settings, kube = client_of(server.url)
        try:
            yield Facing(api, server, settings, kube)
        finally:
            kube.close()


@dataclass
class Shell:
    """One operator in a thread of its own."""

    operator: Manager
    thread: threading.Thread = field(init=False)

    def __post_init__(self) -> None:
        self.thread = threading.Thread(target=lambda: asyncio.run(self.operator.run()), daemon=True)
        self.thread.start()

    def stop(self) -> None:
        self.operator.stop()
        self.thread.join(_DEADLINE)
        assert not self.thread.is_alive(), "the operator does not end"


class SilentEngine:
    """Whoever looks at it waits until it is let go."""

    def __init__(self) -> None:
        self.let_go = threading.Event()
        self.looks = 0

    def get_state(self) -> EngineView | Unreachable:
        self.looks += 1
        assert self.let_go.wait(120)
        return Unreachable("timed out")

    def execute(self, _: Call) -> None:
        raise AssertionError("nobody is told anything without a look")


@dataclass
class CutCable:
    """The port `Kube` of an operator that dies after some writes: nothing it sends arrives from then on."""

    kube: KubernetesApi
    writes_left: int | None = None
    operations: list[str] = field(default_factory=list)

    @property
    def is_cut(self) -> bool:
        return self.writes_left is not None and len(self.operations) >= self.writes_left

    def get(self, key: Key) -> Manifest | None:
        self._alive()
        return self.kube.get(key)

    def list(self, api: str, kind: str, namespace: str, labels: Mapping[str, str]) -> Sequence[Manifest]:
        self._alive()
        return self.kube.list(api, kind, namespace, labels)

    def create(self, manifest: Manifest) -> Manifest:
        self._write(Key.of(manifest))
        return self.kube.create(manifest)

    def patch(self, patch: Patch) -> Manifest:
        self._write(patch.key)
        return self.kube.patch(patch)

    def patch_status(self, patch: Patch) -> Manifest:
        self._write(patch.key)
        return self.kube.patch_status(patch)

    def delete(self, delete: Delete) -> None:
        self._write(delete.key)
        self.kube.delete(delete)

    def record(self, event: EmitEvent) -> None:
        self._write(event.about)
        self.kube.record(event)

    def _alive(self) -> None:
        if self.is_cut:
            raise Unavailable("the cable is cut")

    def _write(self, key: Key) -> None:
        self._alive()
        if key.kind != "Lease":
            self.operations.append(str(key))


@contextmanager
def started(
    face: Facing,
    name: str = "one",
    *,
    version: str = "0.4.0",
    kube: KubernetesApi | None = None,
    operator_condition: Key | None = None,
    lease: float = 60,
    driver: EngineClient | None = None,
    login: Callable[[], ConnectionInfo] | None = None,
) -> Iterator[Shell]:
    """An operator of a release; it is stopped, however the test ends.

    Its lease is so long that no busy machine makes it run out, unless a test is about that.
    """
    port = kube or face.kube
    with ExitStack() as stack:
        shell = Shell(
            Manager(
                Clients(
                    port,
                    lambda _: face.api if driver is None else driver,
                    login or (lambda: connection(face.settings)),
                    operator_condition,
                ),
                release(version),
                LeaderLease(port, LeaderLease.named("search"), name, duration=lease),
                pace=replace(PACE, lease=lease),
                clock=face.api.now,
            )
        )
        stack.callback(shell.stop)
        yield shell


def until(api: FakeApiServer, holds: Callable[[], bool], *, what: str = "it") -> None:
    """Lets the world's time pass until a condition holds."""
    deadline = time.monotonic() + _DEADLINE
    while not holds():
        assert time.monotonic() < deadline, f"{what} never came about"
        api.tick(1)
        time.sleep(0.01)
