"""A namespace with one SearchCluster, and operator processes with the ServiceAccount of the manifests."""

from __future__ import annotations

__all__ = [
    "OPERATOR",
    "POOLS",
    "TIMEOUT",
    "OperatorSandbox",
    "apply_crds_and_rbac",
    "create_operator_token",
    "operator_sandbox",
    "terminate",
]

import base64
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from typing import Any, Final

from searchkeeper.api.crds import crds
from searchkeeper.kubernetes.operations import Key
from searchkeeper.releases import release
from tests.e2e.run_recorder import RunRecorder, run_recorder
from tests.e2e.servers.api import Api, ApiError, Object, conditions
from tests.e2e.servers.control_plane import ControlPlane
from tests.e2e.servers.polling import wait_until
from tests.e2e.servers.processes import WorkDir
from tests.support.commandline import ROOT
from tests.support.searchkeeper.operator_manifests import rbac

OPERATOR: Final = "searchkeeper"
# Seconds. Other processes may keep the machine busy.
TIMEOUT: Final = 180.0
POOLS: Final = [
    {"name": "data", "roles": ["data"], "replicas": 2},
    {"name": "managers", "roles": ["cluster_manager"], "replicas": 3},
]
_API: Final = "search.everpath.dev/v1alpha1"
_CRDS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_RBAC: Final = "/apis/rbac.authorization.k8s.io/v1"


def create_or_update(api: Api, path: str, manifest: Object) -> None:
    """Create an object, or merge the manifest into the existing one."""
    try:
        api.create(path, manifest)
    except ApiError as error:
        if error.reason != "AlreadyExists":
            raise
        api.patch(f"{path}/{manifest['metadata']['name']}", manifest)


class OperatorSandbox:
    """One namespace with one SearchCluster. `recorder` records what happens in it."""

    def __init__(self, plane: ControlPlane, work_dir: WorkDir, recorder: RunRecorder) -> None:
        self.api = plane.api.new_connection()
        self.recorder = recorder
        self.namespace = recorder.key.namespace
        self.group = f"/apis/{_API}/namespaces/{self.namespace}"
        self.core = f"/api/v1/namespaces/{self.namespace}"
        self.log = work_dir.logs / f"searchkeeper-{self.namespace}.log"
        self._plane = plane
        self._home = work_dir.home(self.namespace)
        self._numbers = count(1)

    def create_cluster(self, version: str = "2.19.4", **spec: Any) -> None:
        """Create the SearchCluster, with POOLS unless `spec` has others."""
        manifest = {
            "apiVersion": _API,
            "kind": "SearchCluster",
            "metadata": {"name": self.recorder.key.name},
            "spec": {"version": version, "pools": POOLS, **spec},
        }
        self.api.create(f"{self.group}/searchclusters", manifest)

    def edit_spec(self, **spec: Any) -> None:
        self.api.patch(f"{self.group}/searchclusters/logs", {"spec": spec})

    def get_cluster(self) -> Object:
        return self.api.get(f"{self.group}/searchclusters/logs")

    def get_status(self) -> Object:
        return self.get_cluster().get("status") or {}

    def get_lease(self) -> Object:
        """Return the spec of the Lease."""
        path = f"/apis/coordination.k8s.io/v1/namespaces/{self.namespace}/leases/{OPERATOR}"
        spec: Object = self.api.get(path)["spec"]
        return spec

    def list_pods(self) -> list[Object]:
        return self.api.items(f"{self.core}/pods")

    def is_running(self, version: str, nodes: int = 5) -> bool:
        """Whether all nodes run this version and no upgrade is in progress."""
        status = self.get_status()
        return (
            status.get("phase") == "Running"
            and status.get("engineVersion") == version
            and status.get("ready") == f"{nodes}/{nodes}"
            and "upgrade" not in status.get("ledger", {})
            and len(self.list_pods()) == nodes
        )

    def list_resource_versions(self) -> dict[str, str]:
        """Return the resource versions of all objects that the operator writes, by their paths."""
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

    def wait_until_running(self, version: str, nodes: int = 5) -> None:
        """Raise AssertionError with the phase and the conditions that are not True after TIMEOUT."""
        try:
            wait_until(f"{nodes} nodes run {version}", lambda: self.is_running(version, nodes), TIMEOUT)
        except TimeoutError as error:
            cluster = self.get_cluster()
            unmet = [f"{c['type']}: {c['message']}" for c in conditions(cluster) if c["status"] != "True"]
            raise AssertionError(f"{(cluster.get('status') or {}).get('phase')} {unmet}") from error

    def start_operator(self, *options: str) -> subprocess.Popen[bytes]:
        """Start a process with a token of its own, by which the audit log identifies it."""
        kubeconfig, token = self._home / f"kubeconfig-{next(self._numbers)}", create_operator_token(self.api)
        kubeconfig.write_text(self._plane.kubeconfig_for(token))
        if "--release" in options:
            self.recorder.releases[_client_in_audit_log(token)] = release(
                options[options.index("--release") + 1]
            )
        command = [
            *(sys.executable, "-m", "searchkeeper", "run", "--kubeconfig", str(kubeconfig)),
            *("--engine", self.recorder.engine_url, "--resync", "0.5"),
            *("-n", self.namespace, "--lease-namespace", self.namespace),
            *("--health-address", "127.0.0.1:0", "--metrics-address", "127.0.0.1:0", *options),
        ]
        environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT / "operator")}
        with self.log.open("ab") as log:
            return subprocess.Popen(command, stderr=log, env=environment)

    @contextmanager
    def run_operator(self, *options: str) -> Iterator[subprocess.Popen[bytes]]:
        """Start an operator, and terminate it at the end of the block."""
        process = self.start_operator(*options)
        try:
            yield process
        finally:
            terminate(process)


def terminate(process: subprocess.Popen[bytes]) -> None:
    """Send SIGTERM and expect exit code 0. A process that hangs is killed."""
    process.terminate()
    try:
        assert process.wait(60) == 0
    finally:
        process.kill()


@contextmanager
def operator_sandbox(plane: ControlPlane, work_dir: WorkDir, namespace: str) -> Iterator[OperatorSandbox]:
    """Create the namespace. At the end of the block the recorded run must not violate an invariant."""
    api = plane.api.new_connection()
    create_or_update(api, "/api/v1/namespaces", {"metadata": {"name": namespace}})
    _grant_lease_permissions(api, namespace)
    api.close()
    with run_recorder(plane, Key(_API, "SearchCluster", namespace, "logs")) as recorder:
        sandbox = OperatorSandbox(plane, work_dir, recorder)
        yield sandbox
        sandbox.api.close()
        recorder.assert_no_violations()


def apply_crds_and_rbac(plane: ControlPlane) -> None:
    """Apply the CRDs, the ServiceAccount and the permissions of operator/config/default."""
    api = plane.api.new_connection()
    for plural, crd in crds().items():
        create_or_update(api, _CRDS, json.loads(json.dumps(crd)))
        name = f"{plural}.search.everpath.dev"
        wait_until(f"the CRD {name} is established", partial(_is_established, api, name))
    create_or_update(api, "/api/v1/namespaces", {"metadata": {"name": OPERATOR}})
    for document in rbac("default"):
        namespace = document["metadata"].get("namespace", OPERATOR)
        root = "/api/v1" if document["kind"] == "ServiceAccount" else _RBAC
        is_namespaced = not document["kind"].startswith("Cluster")
        path = f"{root}/namespaces/{namespace}" if is_namespaced else root
        create_or_update(api, f"{path}/{document['kind'].lower()}s", document)
    api.close()


def _is_established(api: Api, name: str) -> bool:
    found = {each["type"]: each["status"] for each in conditions(api.get(f"{_CRDS}/{name}"))}
    return found.get("Established") == "True"


def _grant_lease_permissions(api: Api, namespace: str) -> None:
    """Copy the Role for the Lease to this namespace: each test has its own Lease."""
    role = api.get(f"{_RBAC}/namespaces/{OPERATOR}/roles/searchkeeper-leader")
    path = f"{_RBAC}/namespaces/{namespace}"
    create_or_update(api, f"{path}/roles", {"metadata": {"name": "leader"}, "rules": role["rules"]})
    binding = {
        "metadata": {"name": "leader"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "leader"},
        "subjects": [{"kind": "ServiceAccount", "name": OPERATOR, "namespace": OPERATOR}],
    }
    create_or_update(api, f"{path}/rolebindings", binding)


def create_operator_token(api: Api) -> str:
    """Create a token of the operator's ServiceAccount as soon as that exists."""
    path = f"/api/v1/namespaces/{OPERATOR}/serviceaccounts/{OPERATOR}/token"

    def create_token() -> Object:
        try:
            return api.create(path, {"spec": {"expirationSeconds": 3600}})
        except ApiError:
            return {}

    response = wait_until("the API server creates a token for the ServiceAccount", create_token)
    return str(response["status"]["token"])


def _client_in_audit_log(token: str) -> str:
    """The name of a token in the audit log."""
    payload = token.split(".")[1]
    return f"JTI={json.loads(base64.urlsafe_b64decode(payload + '=' * (-len(payload) % 4)))['jti']}"
