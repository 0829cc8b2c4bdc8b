"""The operator as a process with its own account, and one cluster for it in a namespace of its own."""

from __future__ import annotations

__all__ = ["LONG", "OPERATOR", "POOLS", "Stage", "ended", "ensured", "set_up", "staged", "token_of_operator"]

import base64
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from typing import Any, Final

from commandline import ROOT
from e2e.stand.api import Api, Object, RefusedError, conditions
from e2e.stand.control_plane import ControlPlane
from e2e.stand.processes import Workshop
from e2e.stand.waiting import until
from e2e.witness import Witness, witness
from operator_manifests import rbac
from searchkeeper.api.crds import crds
from searchkeeper.kubernetes.operations import Key
from searchkeeper.releases import release

OPERATOR: Final = "searchkeeper"
# For whatever takes its time on a machine that has other things to do.
LONG: Final = 180.0
POOLS: Final = [
    {"name": "data", "roles": ["data"], "replicas": 2},
    {"name": "managers", "roles": ["cluster_manager"], "replicas": 3},
]
_API: Final = "search.everpath.dev/v1alpha1"
_CRDS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_ROLES: Final = "/apis/rbac.authorization.k8s.io/v1"


def ensured(api: Api, path: str, thing: Object) -> None:
    """There, whoever else has made it; with this content."""
    try:
        api.create(path, thing)
    except RefusedError as refused:
        if refused.reason != "AlreadyExists":
            raise
        api.merge(f"{path}/{thing['metadata']['name']}", thing)


class Stage:
    """A namespace of its own, with one cluster in it, and a witness of all that happens there."""

    def __init__(self, plane: ControlPlane, place: Workshop, snapshot: Witness) -> None:
        self.api = plane.api.another()
        self.snapshot = snapshot
        self.namespace = snapshot.key.namespace
        self.group = f"/apis/{_API}/namespaces/{self.namespace}"
        self.core = f"/api/v1/namespaces/{self.namespace}"
        self.log = place.logs / f"searchkeeper-{self.namespace}.log"
        self._plane = plane
        self._home = place.home(self.namespace)
        self._numbers = count(1)

    def ask_for(self, version: str = "2.19.4", **spec: Any) -> None:
        wanted = {"version": version, "pools": POOLS, **spec}
        metadata = {"name": self.snapshot.key.name}
        thing = {"apiVersion": _API, "kind": "SearchCluster", "metadata": metadata, "spec": wanted}
        self.api.create(f"{self.group}/searchclusters", thing)

    def edit(self, **spec: Any) -> None:
        self.api.merge(f"{self.group}/searchclusters/logs", {"spec": spec})

    @property
    def cluster(self) -> Object:
        return self.api.get(f"{self.group}/searchclusters/logs")

    @property
    def status(self) -> Object:
        return self.cluster.get("status") or {}

    @property
    def lease(self) -> Object:
        where = f"/apis/coordination.k8s.io/v1/namespaces/{self.namespace}/leases/{OPERATOR}"
        found: Object = self.api.get(where)["spec"]
        return found

    def pods(self) -> list[Object]:
        return self.api.items(f"{self.core}/pods")

    def runs(self, version: str, nodes: int = 5) -> bool:
        status = self.status
        return (
            status.get("phase") == "Running"
            and status.get("engineVersion") == version
            and status.get("ready") == f"{nodes}/{nodes}"
            and "upgrade" not in status.get("ledger", {})
            and len(self.pods()) == nodes
        )

    def revisions(self) -> dict[str, str]:
        """The resource versions of everything that the operator writes to."""
        paths = [
            *(f"{self.group}/{plural}" for plural in ("searchclusters", "searchpools")),
            *(f"{self.core}/{plural}" for plural in ("services", "configmaps", "secrets", "pods")),
            f"/apis/apps/v1/namespaces/{self.namespace}/statefulsets",
            f"/apis/policy/v1/namespaces/{self.namespace}/poddisruptionbudgets",
        ]
        return {
            f"{path}/{each['metadata']['name']}": each["metadata"]["resourceVersion"]
            for path in paths
            for each in self.api.items(path)
        }

    def explain(self) -> str:
        """The phase, and what the conditions wait for."""
        waits = [f"{c['type']}: {c['message']}" for c in conditions(self.cluster) if c["status"] != "True"]
        return f"{self.status.get('phase')} {waits}"

    def until_it_runs(self, version: str, nodes: int = 5) -> None:
        try:
            until(f"{version} with {nodes} nodes runs", lambda: self.runs(version, nodes), LONG)
        except TimeoutError as error:
            raise AssertionError(self.explain()) from error

    def start(self, *options: str) -> subprocess.Popen[bytes]:
        """A process with a token of its own: by that the log tells one from another."""
        kubeconfig, token = self._home / f"kubeconfig-{next(self._numbers)}", token_of_operator(self.api)
        kubeconfig.write_text(self._plane.kubeconfig_for(token))
        if "--release" in options:
            self.snapshot.releases[_name_of(token)] = release(options[options.index("--release") + 1])
        command = [
            *(sys.executable, "-m", "searchkeeper", "run", "--kubeconfig", str(kubeconfig)),
            *("--engine", self.snapshot.engine_url, "--resync", "0.5"),
            *("-n", self.namespace, "--lease-namespace", self.namespace),
            *("--health-address", "127.0.0.1:0", "--metrics-address", "127.0.0.1:0", *options),
        ]
        environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT / "operator")}
        with self.log.open("ab") as log:
            return subprocess.Popen(command, stderr=log, env=environment)

    @contextmanager
    def operator(self, *options: str) -> Iterator[subprocess.Popen[bytes]]:
        process = self.start(*options)
        try:
            yield process
        finally:
            ended(process)


def ended(process: subprocess.Popen[bytes]) -> None:
    """Told to, and by itself: nobody who hangs is left behind."""
    process.terminate()
    try:
        assert process.wait(60) == 0
    finally:
        process.kill()


@contextmanager
def staged(plane: ControlPlane, place: Workshop, namespace: str) -> Iterator[Stage]:
    """Judged at the end by all that the witness has heard."""
    api = plane.api.another()
    ensured(api, "/api/v1/namespaces", {"metadata": {"name": namespace}})
    _let_lead(api, namespace)
    api.close()
    with witness(plane, Key(_API, "SearchCluster", namespace, "logs")) as snapshot:
        made = Stage(plane, place, snapshot)
        yield made
        made.api.close()
        snapshot.judge()


def set_up(plane: ControlPlane) -> None:
    """The definitions, the operator's account, and just the rights that its manifests give it."""
    api = plane.api.another()
    for plural, definition in crds().items():
        ensured(api, _CRDS, json.loads(json.dumps(definition)))
        name = f"{plural}.search.everpath.dev"
        until(f"{name} is served", partial(_is_established, api, name))
    ensured(api, "/api/v1/namespaces", {"metadata": {"name": OPERATOR}})
    for document in rbac("default"):
        namespace = document["metadata"].get("namespace", OPERATOR)
        root = "/api/v1" if document["kind"] == "ServiceAccount" else _ROLES
        scoped = not document["kind"].startswith("Cluster")
        where = f"{root}/namespaces/{namespace}" if scoped else root
        ensured(api, f"{where}/{document['kind'].lower()}s", document)
    api.close()


def _is_established(api: Api, name: str) -> bool:
    found = {each["type"]: each["status"] for each in conditions(api.get(f"{_CRDS}/{name}"))}
    return found.get("Established") == "True"


def _let_lead(api: Api, namespace: str) -> None:
    """The role of the Lease is one of a namespace; each test has its Lease in its own."""
    role = api.get(f"{_ROLES}/namespaces/{OPERATOR}/roles/searchkeeper-leader")
    where = f"{_ROLES}/namespaces/{namespace}"
    ensured(api, f"{where}/roles", {"metadata": {"name": "leader"}, "rules": role["rules"]})
    binding = {
        "metadata": {"name": "leader"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "leader"},
        "subjects": [{"kind": "ServiceAccount", "name": OPERATOR, "namespace": OPERATOR}],
    }
    ensured(api, f"{where}/rolebindings", binding)


def token_of_operator(api: Api) -> str:
    path = f"/api/v1/namespaces/{OPERATOR}/serviceaccounts/{OPERATOR}/token"
    answer = until("there is an account", lambda: _asked(api, path))
    return str(answer["status"]["token"])


def _name_of(token: str) -> str:
    """What an audit log calls it."""
    payload = token.split(".")[1]
    return f"JTI={json.loads(base64.urlsafe_b64decode(payload + '=' * (-len(payload) % 4)))['jti']}"


def _asked(api: Api, path: str) -> Object:
    try:
        return api.create(path, {"spec": {"expirationSeconds": 3600}})
    except RefusedError:
        return {}
