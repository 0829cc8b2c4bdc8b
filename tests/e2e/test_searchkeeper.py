"""The operator, as a process with its own account, on a real API server with real controllers.

Its engine is in memory, behind pods that pretend: what is tested here is the shell, the rights it has, and
that nothing an API server fills in by itself is taken for a change.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

import pytest
import yaml

from commandline import ROOT
from e2e.stand.api import Api, Object, RefusedError, conditions
from e2e.stand.containers import Feigned
from e2e.stand.control_plane import ControlPlane
from e2e.stand.node_agent import NodeAgent
from e2e.stand.processes import Workshop
from e2e.stand.waiting import until
from e2e.stand.watching import watch
from searchkeeper.resources.definitions import definitions

pytestmark = pytest.mark.e2e

OPERATOR: Final = "searchkeeper"
CRDS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
ROLES: Final = "/apis/rbac.authorization.k8s.io/v1"
LONG: Final = 120.0
POOLS: Final = [
    {"name": "data", "roles": ["data"], "replicas": 2},
    {"name": "managers", "roles": ["cluster_manager"], "replicas": 3},
]


def ensured(api: Api, path: str, thing: Object) -> None:
    """There, whoever else has made it; with this content."""
    try:
        api.create(path, thing)
    except RefusedError as refused:
        if refused.reason != "AlreadyExists":
            raise
        api.merge(f"{path}/{thing['metadata']['name']}", thing)


class Stage:
    """A namespace of its own, with one cluster in it."""

    def __init__(self, plane: ControlPlane, place: Workshop, namespace: str) -> None:
        self.api = plane.api.another()
        self.namespace = namespace
        self.group = f"/apis/search.everpath.dev/v1alpha1/namespaces/{namespace}"
        self.core = f"/api/v1/namespaces/{namespace}"
        self.kubeconfig = place.home(namespace) / "kubeconfig"
        self.kubeconfig.write_text(plane.kubeconfig_for(_token(self.api)))
        self.log = place.logs / f"searchkeeper-{namespace}.log"
        ensured(self.api, "/api/v1/namespaces", {"metadata": {"name": namespace}})

    def ask_for(self, version: str = "2.19.4", **spec: Any) -> None:
        wanted = {"version": version, "pools": POOLS, **spec}
        thing = {
            "apiVersion": "search.everpath.dev/v1alpha1",
            "kind": "SearchCluster",
            "metadata": {"name": "logs"},
            "spec": wanted,
        }
        self.api.create(f"{self.group}/searchclusters", thing)

    def edit(self, **spec: Any) -> None:
        self.api.merge(f"{self.group}/searchclusters/logs", {"spec": spec})

    @property
    def cluster(self) -> Object:
        return self.api.get(f"{self.group}/searchclusters/logs")

    @property
    def status(self) -> Object:
        return self.cluster.get("status") or {}

    def pods(self) -> list[Object]:
        return self.api.items(f"{self.core}/pods")

    def runs(self, version: str, nodes: int = 5) -> bool:
        status = self.status
        return (
            status.get("phase") == "Running"
            and status.get("engineVersion") == version
            and status.get("ready") == f"{nodes}/{nodes}"
            and "upgrade" not in status.get("ledger", {})
        )

    def told(self) -> str:
        waits = [f"{c['type']}: {c['message']}" for c in conditions(self.cluster) if c["status"] != "True"]
        return f"{self.status.get('phase')} {waits}"

    def until_it_runs(self, version: str, nodes: int = 5) -> None:
        try:
            until(f"{version} with {nodes} nodes runs", lambda: self.runs(version, nodes), LONG)
        except TimeoutError as error:
            raise AssertionError(self.told()) from error

    def start(self, *options: str) -> subprocess.Popen[bytes]:
        command = [
            *(sys.executable, "-m", "searchkeeper", "run", "--kubeconfig", str(self.kubeconfig)),
            *("--engine", "embedded", "-n", self.namespace, "--lease-namespace", self.namespace),
            *(
                "--resync",
                "0.5",
                "--health-address",
                "127.0.0.1:0",
                "--metrics-address",
                "127.0.0.1:0",
                *options,
            ),
        ]
        with self.log.open("ab") as log:
            return subprocess.Popen(
                command, stderr=log, env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT / "operator")}
            )

    @contextmanager
    def witness(self) -> Iterator[Witness]:
        seen = Witness()
        with watch(self.api, f"{self.core}/pods", seen.hear):
            yield seen

    @contextmanager
    def operator(self) -> Iterator[subprocess.Popen[bytes]]:
        process = self.start()
        try:
            yield process
        finally:
            process.terminate()
            assert process.wait(30) == 0


class Witness:
    """Hears of every pod of a namespace, and notes each that was deleted while another was not ready.

    That is what no upgrade here may do: every pool has a batch of one.
    """

    def __init__(self) -> None:
        self._ready: dict[str, bool] = {}
        self._versions: dict[str, str] = {}
        self.breaches: list[str] = []
        self.order: list[str] = []

    def hear(self, what: str, pod: Object) -> None:
        name = str(pod["metadata"]["name"])
        if "dashboards" in name:
            return
        is_leaving = what == "DELETED" or "deletionTimestamp" in pod["metadata"]
        if is_leaving and self._ready.get(name):
            away = [other for other, ready in self._ready.items() if other != name and not ready]
            self.breaches += [f"{name} was taken while {', '.join(away)} was away"] if away else []
        version = str(pod["spec"]["containers"][0]["image"]).rpartition(":")[2]
        if self._versions.get(name) != version and not is_leaving:
            self._versions[name] = version
            self.order.append(f"{name} {version}")
        ready = {each["type"]: each["status"] for each in conditions(pod)}.get("Ready") == "True"
        self._ready[name] = ready and not is_leaving


def _token(api: Api) -> str:
    path = f"/api/v1/namespaces/{OPERATOR}/serviceaccounts/{OPERATOR}/token"
    answer = until("there is an account", lambda: _asked(api, path))
    return str(answer["status"]["token"])


def _asked(api: Api, path: str) -> Object:
    try:
        return api.create(path, {"spec": {"expirationSeconds": 3600}})
    except RefusedError:
        return {}


def _plural(kind: str) -> str:
    return {"ServiceAccount": "serviceaccounts"}.get(kind, f"{kind.lower()}s")


@pytest.fixture(scope="module")
def account(plane: ControlPlane, agent: NodeAgent) -> Iterator[None]:
    """The definitions, the operator's account, and just the rights that its manifests give it."""
    api = plane.api.another()
    for plural, definition in definitions().items():
        ensured(api, CRDS, json.loads(json.dumps(definition)))
        name = f"{plural}.search.everpath.dev"
        until(f"{name} is served", partial(_is_established, api, name))
    ensured(api, "/api/v1/namespaces", {"metadata": {"name": OPERATOR}})
    for document in yaml.safe_load_all(
        (ROOT / "operator/config/rbac/roles.yaml").read_text(encoding="utf-8")
    ):
        namespace = document["metadata"].get("namespace", OPERATOR)
        root = "/api/v1" if document["kind"] == "ServiceAccount" else ROLES
        scoped = not document["kind"].startswith("Cluster")
        where = f"{root}/namespaces/{namespace}" if scoped else root
        ensured(api, f"{where}/{_plural(document['kind'])}", document)
    agent.images.offer("docker.io/opensearchproject/*", Feigned())
    yield
    api.close()


def _is_established(api: Api, name: str) -> bool:
    found = {each["type"]: each["status"] for each in conditions(api.get(f"{CRDS}/{name}"))}
    return found.get("Established") == "True"


@pytest.fixture
def stage(
    request: pytest.FixtureRequest, plane: ControlPlane, place: Workshop, account: None
) -> Iterator[Stage]:
    made = Stage(plane, place, request.node.name.partition("[")[0].replace("_", "-")[-50:].strip("-"))
    # The role of the Lease is one of a namespace; each test has its Lease in its own.
    role = made.api.get(f"{ROLES}/namespaces/{OPERATOR}/roles/searchkeeper-leader")
    where = f"{ROLES}/namespaces/{made.namespace}"
    ensured(made.api, f"{where}/roles", {"metadata": {"name": "leader"}, "rules": role["rules"]})
    binding = {
        "metadata": {"name": "leader"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "leader"},
        "subjects": [{"kind": "ServiceAccount", "name": OPERATOR, "namespace": OPERATOR}],
    }
    ensured(made.api, f"{where}/rolebindings", binding)
    yield made
    made.api.close()


def revisions(stage: Stage) -> dict[str, str]:
    """The resource versions of everything that the operator writes to."""
    paths = [
        *(f"{stage.group}/{plural}" for plural in ("searchclusters", "searchpools")),
        *(f"{stage.core}/{plural}" for plural in ("services", "configmaps", "secrets", "pods")),
        f"/apis/apps/v1/namespaces/{stage.namespace}/statefulsets",
        f"/apis/policy/v1/namespaces/{stage.namespace}/poddisruptionbudgets",
    ]
    return {
        f"{path}/{each['metadata']['name']}": each["metadata"]["resourceVersion"]
        for path in paths
        for each in stage.api.items(path)
    }


def renewed(stage: Stage) -> str:
    lease = stage.api.get(f"/apis/coordination.k8s.io/v1/namespaces/{stage.namespace}/leases/searchkeeper")
    return str(lease["spec"]["renewTime"])


def test_a_cluster_comes_up_is_upgraded_scaled_and_deleted(stage: Stage) -> None:
    stage.ask_for()
    with stage.operator():
        stage.until_it_runs("2.19.4")
        before, moment = revisions(stage), renewed(stage)
        until("a few looks have passed", lambda: renewed(stage) != moment)
        assert revisions(stage) == before, "a cluster at rest is written to"

        stage.edit(version="1.3.0")
        events = until("it is refused", lambda: _warnings(stage))
        assert [(each["reason"], each["count"]) for each in events] == [("Downgrade", 1)]
        with stage.witness() as witness:
            stage.edit(version="3.4.0")
            stage.until_it_runs("3.4.0")
        assert witness.breaches == []
        assert [name for name in witness.order if name.endswith("3.4.0")][:2] == [
            "logs-data-0 3.4.0",
            "logs-data-1 3.4.0",
        ]

        stage.edit(pools=[{**POOLS[0], "replicas": 3}, POOLS[1]])
        stage.until_it_runs("3.4.0", 6)
        stage.edit(pools=POOLS)
        stage.until_it_runs("3.4.0", 5)

        stage.api.delete(f"{stage.group}/searchclusters/logs")
        until("the cluster is gone", lambda: not stage.api.items(f"{stage.group}/searchclusters"), LONG)
        until("its pods are gone", lambda: not stage.pods(), LONG)
    assert stage.api.items(f"{stage.core}/persistentvolumeclaims"), "the volumes stay"


def _warnings(stage: Stage) -> list[Object]:
    events = stage.api.items(f"{stage.core}/events")
    return [
        each for each in events if each["type"] == "Warning" and each["source"].get("component") == OPERATOR
    ]


def test_an_operator_that_is_killed_again_and_again_gets_there(stage: Stage) -> None:
    stage.ask_for()
    dice = random.Random(7)
    process = stage.start()
    try:
        stage.until_it_runs("2.19.4")
        stage.edit(version="3.4.0")
        for _ in range(3):
            seen = str(stage.cluster["metadata"]["resourceVersion"])
            for _ in range(dice.randint(1, 6)):
                seen = until("it moves", partial(_moved, stage, seen), LONG)
            process.kill()
            process.wait(10)
            process = stage.start()
        stage.until_it_runs("3.4.0")
    finally:
        process.terminate()
        assert process.wait(30) == 0


def _moved(stage: Stage, seen: str) -> str:
    """The cluster's next resource version; its last one when it has arrived."""
    version = str(stage.cluster["metadata"]["resourceVersion"])
    return version if version != seen or stage.runs("3.4.0") else ""


def test_an_upgrade_that_is_not_wanted_any_more_is_taken_back(stage: Stage) -> None:
    stage.ask_for()
    with stage.operator():
        stage.until_it_runs("2.19.4")
        with stage.witness() as witness:
            stage.edit(version="3.4.0")
            until("a node is new", lambda: "logs-data-0 3.4.0" in witness.order, LONG)
            stage.edit(version="2.19.4")
            until("it is back", lambda: "logs-data-0 2.19.4" in witness.order[-1:], LONG)
            stage.until_it_runs("2.19.4")
        assert witness.breaches == []
        assert "logs-managers-0 3.4.0" not in witness.order
        assert stage.status["upgrade"]["history"][-1]["result"] == "RolledBack"


def test_of_two_operators_one_writes(stage: Stage) -> None:
    stage.ask_for()
    with stage.operator(), stage.operator():
        stage.until_it_runs("2.19.4")
        stage.edit(version="3.4.0")
        stage.until_it_runs("3.4.0")

    lines = [json.loads(line) for line in stage.log.read_text().splitlines()]
    assert len({line["identity"] for line in lines if line["message"] == "started"}) == 2
    assert len({line["identity"] for line in lines if "write" in line}) == 1
