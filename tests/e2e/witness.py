"""Whoever hears of everything in a namespace, and can tell afterwards what no operator should have done.

Three sources, in one order: watches of every kind that the operator writes, the API server's audit log of
what it asked for, and the engine itself, which is here: in memory, behind the pods there are, and behind
HTTP, so that it lives on when the operator dies.
"""

from __future__ import annotations

__all__ = ["Witness", "audited", "witness"]

import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import Any, Final

from e2e.stand.api import Object
from e2e.stand.control_plane import ControlPlane
from e2e.stand.waiting import NotInTimeError, until
from e2e.stand.watching import Watch, watch
from engine_over_http import EngineHttpApi
from opensearch_replayed import serve
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

_UNHEARD: Final = frozenset(
    {"Namespace", "Event", "CustomResourceDefinition", "OperatorCondition", "ReplicaSet"}
)
_KINDS: Final = tuple(kind for kind in KINDS if kind.name not in _UNHEARD)
# What gives the operator its rights in a test.
_ROLES: Final = frozenset({"searchkeeper", "leader"})


class Witness:
    """Of one SearchCluster. `engine_url` is where its engine answers.

    `releases` are those of operators that do not work as the newest, by their tokens, as the log names them.
    """

    def __init__(self, plane: ControlPlane, key: Key) -> None:
        self.key = key
        self.engine_url = ""
        self.releases: dict[str, Release] = {}
        self._plane = plane
        self._api = plane.api.another()
        # For the thread that answers for the engine.
        self._clock = plane.api.another()
        self._changes: list[StoreChange] = []
        self._heard: dict[tuple[str, str], str] = {}
        self._beats: list[EngineObservation] = []
        self._wanted: list[str] = []
        self._lock = threading.Lock()
        self.watches: list[Watch] = []
        self._client = connect(load_kubeconfig(str(plane.kubeconfig)))
        self._engine = FakeEngineClient(self._client, key)

    @property
    def engine(self) -> FakeEngine:
        return self._engine.engine

    def close(self) -> None:
        self._api.close()
        self._clock.close()
        self._client.close()

    def hear(self, kind: ResourceKind, what: str, thing: Object) -> None:
        manifest = {**thing, "apiVersion": kind.api, "kind": kind.name}
        revision, name = thing["metadata"]["resourceVersion"], thing["metadata"]["name"]
        with self._lock:
            self._changes.append(StoreChange(int(revision), manifest, is_gone=what == "DELETED"))
            self._heard[kind.name, name] = "" if what == "DELETED" else revision

    def pass_time(self) -> None:
        while self._wanted:
            self._engine.engine = create_index(self.engine, self._wanted.pop())
        self._engine.get_state()
        self._beats.append(EngineObservation(self._revision(), self.engine))

    def execute(self, call: Call) -> None:
        """Raises CallFailed."""
        self._engine.execute(call)
        self._beats.append(EngineObservation(self._revision(), self.engine, call))

    def index(self, name: str) -> None:
        """Documents in the engine, with a copy, from when it is next looked at."""
        self._wanted.append(name)

    @property
    def order(self) -> list[str]:
        """Every node that came up, as its pod's name and version, where that is another one than before."""
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
        """When all of it is heard, and the log has all of it. Raises RuntimeError where nobody listened."""
        for each in self.watches:
            each.must_run()
        until("every change is heard", self._has_heard_all, 120)
        with suppress(NotInTimeError):
            until("the log is whole", lambda: not self._told().unaudited_status_changes(), 30)
        return self._told()

    def judge(self) -> None:
        """Raises AssertionError with whatever the operator should not have done."""
        history = self.history()
        left = leftovers(history.end, self.key)
        wrongs = [*history.violations(), *unneeded_permissions(self.log(), _ROLES), *([left] if left else [])]
        if wrongs:
            raise AssertionError("\n".join(wrongs))

    def log(self) -> list[Any]:
        """What the operator asked for in this namespace, or in none: read or write, done or refused."""
        return audited(self._plane, self.key.namespace)

    def _told(self) -> RunHistory:
        with self._lock:
            changes = tuple(self._changes)
        log = tuple(requests(self.log()))
        return RunHistory(self.key, newest(), changes, tuple(self._beats), log, self.releases)

    def _has_heard_all(self) -> bool:
        there = {
            (kind.name, each["metadata"]["name"]): each["metadata"]["resourceVersion"]
            for kind in _KINDS
            for each in self._api.items(resource_path(kind, self.key.namespace))
        }
        with self._lock:
            return there == {name: revision for name, revision in self._heard.items() if revision}

    def _revision(self) -> int:
        """The newest one: whoever asks the engine has done what it did before, and nothing that follows."""
        found = self._clock.get(f"/api/v1/namespaces/{self.key.namespace}/pods?limit=1")
        return int(found["metadata"]["resourceVersion"])


def audited(plane: ControlPlane, namespace: str) -> list[Any]:
    """The API server's log of the operator's requests there, or in no namespace."""
    # A line without an end is still being written.
    lines = plane.audit.read_text(encoding="utf-8").rpartition("\n")[0].splitlines()
    events = [json.loads(line) for line in lines]
    return [each for each in events if each.get("objectRef", {}).get("namespace", namespace) == namespace]


@contextmanager
def witness(plane: ControlPlane, key: Key) -> Iterator[Witness]:
    """From now on everything is heard."""
    made = Witness(plane, key)
    with ExitStack() as stack:
        stack.callback(made.close)
        for kind in _KINDS:
            heard = watch(plane.api, resource_path(kind, key.namespace), partial(made.hear, kind))
            made.watches.append(stack.enter_context(heard))
        made.engine_url = stack.enter_context(serve(EngineHttpApi(made)))
        yield made
