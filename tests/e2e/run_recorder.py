"""Records a run of the operator in a namespace, and checks it against the invariants.

It combines three sources: watches of all kinds that the operator writes, the audit log of the API server, and
the fake engine. The engine runs in this process, reads the pods from the API server, and serves HTTP. So it
survives a restart of the operator.
"""

from __future__ import annotations

__all__ = ["RunRecorder", "read_audit_log", "run_recorder"]

import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import Any, Final

from searchkeeper.images import image_version
from searchkeeper.kubernetes.operations import Key
from searchkeeper.kubernetes.rest_mapping import KINDS, ResourceKind, resource_path
from searchkeeper.manager.kubernetes_client import connect, load_kubeconfig
from searchkeeper.opensearch.calls import Call
from searchkeeper.releases import newest
from searchkeeper.testing.audit_log import requests, unneeded_permissions
from searchkeeper.testing.fake_engine_client import FakeEngineClient
from searchkeeper.testing.fake_kubernetes.manifests import is_terminating
from searchkeeper.testing.fake_opensearch import FakeEngine, create_index
from searchkeeper.testing.invariants.checks import leftovers
from searchkeeper.testing.run_history import EngineObservation, RunHistory, StoreChange
from searchkeeper.versions import Release
from tests.e2e.servers.api import Object
from tests.e2e.servers.control_plane import ControlPlane
from tests.e2e.servers.polling import WaitTimeoutError, wait_until
from tests.e2e.servers.watch import Watch, watch
from tests.support.searchkeeper.engine_over_http import EngineHttpApi
from tests.support.searchkeeper.opensearch_replayed import serve

_NOT_RECORDED: Final = frozenset(
    {"Namespace", "Event", "CustomResourceDefinition", "OperatorCondition", "ReplicaSet"}
)
_KINDS: Final = tuple(kind for kind in KINDS if kind.name not in _NOT_RECORDED)
# The roles that give the operator its permissions in a test.
_ROLES: Final = frozenset({"searchkeeper", "leader"})


class RunRecorder:
    """Records the run of one SearchCluster. `engine_url` is the address of its fake engine.

    `releases` has the releases of operators that are not of the newest one, by their names in the audit log.
    """

    def __init__(self, plane: ControlPlane, key: Key) -> None:
        self.key = key
        self.engine_url = ""
        self.releases: dict[str, Release] = {}
        self._plane = plane
        self._api = plane.api.new_connection()
        # A second connection, for the thread that serves the engine.
        self._engine_thread_api = plane.api.new_connection()
        self._changes: list[StoreChange] = []
        self._recorded_versions: dict[tuple[str, str], str] = {}
        self._observations: list[EngineObservation] = []
        self._indices_to_create: list[str] = []
        self._lock = threading.Lock()
        self.watches: list[Watch] = []
        self._client = connect(load_kubeconfig(str(plane.kubeconfig)))
        self._engine = FakeEngineClient(self._client, key)

    @property
    def engine(self) -> FakeEngine:
        return self._engine.engine

    def close(self) -> None:
        self._api.close()
        self._engine_thread_api.close()
        self._client.close()

    def record_event(self, kind: ResourceKind, event_type: str, item: Object) -> None:
        """Record an event of a watch."""
        manifest = {**item, "apiVersion": kind.api, "kind": kind.name}
        version, name = item["metadata"]["resourceVersion"], item["metadata"]["name"]
        is_deleted = event_type == "DELETED"
        with self._lock:
            self._changes.append(StoreChange(int(version), manifest, is_gone=is_deleted))
            self._recorded_versions[kind.name, name] = "" if is_deleted else version

    def pass_time(self) -> None:
        while self._indices_to_create:
            self._engine.engine = create_index(self.engine, self._indices_to_create.pop())
        self._engine.get_state()
        self._observations.append(EngineObservation(self._latest_version(), self.engine))

    def execute(self, call: Call) -> None:
        """Raises CallFailed."""
        self._engine.execute(call)
        self._observations.append(EngineObservation(self._latest_version(), self.engine, call))

    def create_index(self, name: str) -> None:
        """Create an index with a replica in the engine, at its next request."""
        self._indices_to_create.append(name)

    @property
    def node_starts(self) -> list[str]:
        """The pods in the order of their creation, as `NAME VERSION`, where the version is a new one."""
        with self._lock:
            pods = [each.manifest for each in self._changes if each.key.kind == "Pod" and not each.is_gone]
        versions: dict[str, str] = {}
        found = []
        for pod in pods:
            name, version = pod["metadata"]["name"], image_version(pod["spec"]["containers"][0]["image"])
            if versions.get(name) != version and not is_terminating(pod):
                versions[name] = version
                found.append(f"{name} {version}")
        return found

    def history(self) -> RunHistory:
        """Wait until all changes are recorded and audited. Raises RuntimeError if a watch has failed."""
        for each in self.watches:
            each.check_running()
        wait_until("every change is recorded", self._has_all_changes, 120)
        with suppress(WaitTimeoutError):
            wait_until(
                "every status change is in the audit log",
                lambda: not self._history_so_far().unaudited_status_changes(),
                30,
            )
        return self._history_so_far()

    def assert_no_violations(self) -> None:
        """Raise AssertionError with violated invariants, leftovers and unneeded permissions."""
        history = self.history()
        left = leftovers(history.end, self.key)
        violations = [
            *history.violations(),
            *unneeded_permissions(self.read_audit_log(), _ROLES),
            *([left] if left else []),
        ]
        if violations:
            raise AssertionError("\n".join(violations))

    def read_audit_log(self) -> list[Any]:
        """Return the operator's requests in this namespace or in none, including reads and denied ones."""
        return read_audit_log(self._plane, self.key.namespace)

    def _history_so_far(self) -> RunHistory:
        with self._lock:
            changes = tuple(self._changes)
        log = tuple(requests(self.read_audit_log()))
        return RunHistory(self.key, newest(), changes, tuple(self._observations), log, self.releases)

    def _has_all_changes(self) -> bool:
        versions = {
            (kind.name, each["metadata"]["name"]): each["metadata"]["resourceVersion"]
            for kind in _KINDS
            for each in self._api.items(resource_path(kind, self.key.namespace))
        }
        with self._lock:
            return versions == {name: version for name, version in self._recorded_versions.items() if version}

    def _latest_version(self) -> int:
        """The newest resource version. It places an engine request after the operator's earlier writes."""
        found = self._engine_thread_api.get(f"/api/v1/namespaces/{self.key.namespace}/pods?limit=1")
        return int(found["metadata"]["resourceVersion"])


def read_audit_log(plane: ControlPlane, namespace: str) -> list[Any]:
    """Return the audited requests of the operator in this namespace or in none."""
    # A line without an end is still being written.
    lines = plane.audit.read_text(encoding="utf-8").rpartition("\n")[0].splitlines()
    events = [json.loads(line) for line in lines]
    return [each for each in events if each.get("objectRef", {}).get("namespace", namespace) == namespace]


@contextmanager
def run_recorder(plane: ControlPlane, key: Key) -> Iterator[RunRecorder]:
    """Record every change from now on, and serve the engine."""
    recorder = RunRecorder(plane, key)
    with ExitStack() as stack:
        stack.callback(recorder.close)
        for kind in _KINDS:
            started = watch(
                plane.api, resource_path(kind, key.namespace), partial(recorder.record_event, kind)
            )
            recorder.watches.append(stack.enter_context(started))
        recorder.engine_url = stack.enter_context(serve(EngineHttpApi(recorder)))
        yield recorder
