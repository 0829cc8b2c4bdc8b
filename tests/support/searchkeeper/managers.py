"""The real manager with the real Kubernetes client, on a fake API server over HTTP."""

from __future__ import annotations

__all__ = [
    "INTERVALS",
    "SHORT_LEASE",
    "ApiServerAccess",
    "DisconnectingApi",
    "HangingEngine",
    "RunningManager",
    "connect_to",
    "metric",
    "run_manager",
    "serve_api",
    "wait_until",
    "write_kubeconfig",
]

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kubernetes.client import Configuration

from searchkeeper.kubernetes.api import KubernetesApi, Unavailable
from searchkeeper.kubernetes.operations import Delete, EmitEvent, Key, Manifest, Patch
from searchkeeper.manager.kubernetes_client import KubernetesClient, connect
from searchkeeper.manager.leader_election import LeaderLease
from searchkeeper.manager.manager import Clients, Manager, RequeueIntervals
from searchkeeper.manager.metrics import Metrics
from searchkeeper.manager.watches import WatchClient
from searchkeeper.opensearch.calls import Call
from searchkeeper.opensearch.client import EngineClient
from searchkeeper.opensearch.details import DetailsRequest, EngineDetails
from searchkeeper.opensearch.view import EngineView, Unreachable
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes.api_server import FakeApiServer
from searchkeeper.testing.fake_kubernetes.http_server import Server, serving

INTERVALS = RequeueIntervals(resync=0.5, waiting=0.05, min_backoff=0.02, max_backoff=0.5)
# Seconds; short enough that a test can wait for the expiry of a Lease.
SHORT_LEASE = 1.5
_TIMEOUT = 120


@dataclass
class ApiServerAccess:
    """A fake API server, its HTTP server, and a client of it."""

    api: FakeApiServer
    server: Server
    configuration: Configuration
    kube: KubernetesClient


def connect_to(url: str) -> tuple[Configuration, KubernetesClient]:
    configuration = Configuration()
    configuration.host = url
    configuration.retries = False
    return configuration, connect(configuration)


def write_kubeconfig(access: ApiServerAccess, folder: Path) -> Path:
    """A kubeconfig file for the fake API server."""
    file = folder / "kubeconfig"
    file.write_text(
        f"""\
apiVersion: v1
kind: Config
current-context: here
contexts: [{{name: here, context: {{cluster: here, user: me}}}}]
clusters: [{{name: here, cluster: {{server: "{access.server.url}"}}}}]
users: [{{name: me, user: {{token: secret}}}}]
""",
        encoding="utf-8",
    )
    return file


@contextmanager
def serve_api(cluster: FakeCluster, **options: Any) -> Iterator[ApiServerAccess]:
    api = FakeApiServer(cluster, **options)
    with serving(api, bookmarks=0.2) as server:
        configuration, kube = connect_to(server.url)
        try:
            yield ApiServerAccess(api, server, configuration, kube)
        finally:
            kube.close()


@dataclass
class RunningManager:
    """A manager in its own thread."""

    manager: Manager
    thread: threading.Thread = field(init=False)

    def __post_init__(self) -> None:
        self.thread = threading.Thread(target=lambda: asyncio.run(self.manager.run()), daemon=True)
        self.thread.start()

    def stop(self) -> None:
        self.manager.stop()
        self.thread.join(_TIMEOUT)
        assert not self.thread.is_alive(), "the manager does not end"

    def metric(self, name: str, /, **labels: str) -> float:
        return metric(self.manager.metrics, name, **labels)


def metric(metrics: Metrics, name: str, /, **labels: str) -> float:
    """The sum of all samples of this name with these labels."""
    samples = (sample for family in metrics.registry.collect() for sample in family.samples)
    return sum(
        sample.value for sample in samples if sample.name == name and labels.items() <= sample.labels.items()
    )


class HangingEngine:
    """An engine that does not respond until it is released."""

    def __init__(self) -> None:
        self.released = threading.Event()
        self.reads = 0

    def get_state(self) -> EngineView | Unreachable:
        self.reads += 1
        assert self.released.wait(120)
        return Unreachable("timed out")

    def get_details(self, _: DetailsRequest) -> EngineDetails:
        raise AssertionError("no details without a state")

    def execute(self, _: Call) -> None:
        raise AssertionError("no call without a state")


@dataclass
class DisconnectingApi:
    """A KubernetesApi that fails after a number of operations, as if its process had been killed."""

    kube: KubernetesApi
    operations_left: int | None = None
    operations: list[str] = field(default_factory=list)

    @property
    def is_disconnected(self) -> bool:
        return self.operations_left is not None and len(self.operations) >= self.operations_left

    def get(self, key: Key) -> Manifest | None:
        self._check_connected()
        return self.kube.get(key)

    def list(self, api: str, kind: str, namespace: str, labels: Mapping[str, str]) -> Sequence[Manifest]:
        self._check_connected()
        return self.kube.list(api, kind, namespace, labels)

    def create(self, manifest: Manifest) -> Manifest:
        self._count(Key.of(manifest))
        return self.kube.create(manifest)

    def patch(self, patch: Patch) -> Manifest:
        self._count(patch.key)
        return self.kube.patch(patch)

    def patch_status(self, patch: Patch) -> Manifest:
        self._count(patch.key)
        return self.kube.patch_status(patch)

    def delete(self, delete: Delete) -> None:
        self._count(delete.key)
        self.kube.delete(delete)

    def record(self, event: EmitEvent) -> None:
        self._count(event.about)
        self.kube.record(event)

    def _check_connected(self) -> None:
        if self.is_disconnected:
            raise Unavailable("disconnected")

    def _count(self, key: Key) -> None:
        self._check_connected()
        if key.kind != "Lease":
            self.operations.append(str(key))


@contextmanager
def run_manager(
    access: ApiServerAccess,
    name: str = "one",
    *,
    version: str = "0.5.0",
    kube: KubernetesApi | None = None,
    operator_condition: Key | None = None,
    lease: float = 60,
    engine: EngineClient | None = None,
    watch: WatchClient | None = None,
) -> Iterator[RunningManager]:
    """Run a manager of a release; stop it at the end of the test.

    Its Lease is long, so that it does not expire on a busy machine.
    """
    kube = kube or access.kube
    with ExitStack() as stack:
        running = RunningManager(
            Manager(
                Clients(
                    kube,
                    lambda _: access.api if engine is None else engine,
                    watch or access.kube,
                    operator_condition,
                ),
                release(version),
                LeaderLease(kube, LeaderLease.lease_key("search"), name, duration=lease),
                intervals=replace(INTERVALS, lease=lease),
                clock=access.api.now,
            )
        )
        stack.callback(running.stop)
        yield running


def wait_until(api: FakeApiServer, holds: Callable[[], bool], *, what: str = "it") -> None:
    """Advance the fake cluster's time until a condition holds."""
    deadline = time.monotonic() + _TIMEOUT
    while not holds():
        assert time.monotonic() < deadline, f"{what} did not happen"
        api.tick(1)
        time.sleep(0.01)
