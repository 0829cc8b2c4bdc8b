"""The newest bundle on real OLM v0: permissions in the target namespace only, and a metrics Service."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest

from everpath.cli.entry_point import run
from tests.e2e.olm.subscriptions import CATALOG, PACKAGE
from tests.e2e.servers.api import Object
from tests.e2e.servers.control_plane import ControlPlane
from tests.e2e.servers.grpc_catalogs import serve_with_everpath
from tests.e2e.servers.olm_v0 import OlmV0
from tests.e2e.servers.polling import wait_until
from tests.e2e.servers.processes import WorkDir

pytestmark = pytest.mark.e2e

OPERATOR: Final = "permissions-operator"
WATCHED: Final = "permissions-watched"
REVIEWS: Final = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
PERMISSIONS: Final = [
    ("get", "", "secrets"),
    ("delete", "", "persistentvolumeclaims"),
    ("delete", "apps", "statefulsets"),
]


@pytest.fixture(scope="module")
def installed(work_dir: WorkDir, plane: ControlPlane, olm_v0: OlmV0) -> Iterator[OlmV0]:
    """The operator in one namespace, with an OperatorGroup that targets another one."""
    with (
        pytest.MonkeyPatch.context() as monkeypatch,
        serve_with_everpath(work_dir, CATALOG, "everpath-serve-rbac") as address,
    ):
        monkeypatch.setenv("EVERPATH_CACHE", "off")
        olm_v0.api.create("/api/v1/namespaces", {"metadata": {"name": WATCHED}})
        options = ["--channel", "stable", "--watch-namespaces", WATCHED, "--timeout", "6m"]
        kubeconfig = ["-n", OPERATOR, "--kubeconfig", str(plane.kubeconfig)]
        assert run(["install", PACKAGE, "--catalog", address, *kubeconfig, *options]) == 0
        yield olm_v0


def is_allowed(olm: OlmV0, verb: str, group: str, resource: str, namespace: str) -> bool:
    attributes: Object = {"verb": verb, "group": group, "resource": resource, "namespace": namespace}
    user = f"system:serviceaccount:{OPERATOR}:searchkeeper"
    review = {"spec": {"user": user, "resourceAttributes": attributes}}
    return bool(olm.api.create(REVIEWS, review)["status"]["allowed"])


@pytest.mark.parametrize(("verb", "group", "resource"), PERMISSIONS)
def test_olm_grants_the_permissions_in_the_target_namespace_only(
    installed: OlmV0, verb: str, group: str, resource: str
) -> None:
    wait_until(
        "OLM has granted the permission", lambda: is_allowed(installed, verb, group, resource, WATCHED)
    )
    assert not is_allowed(installed, verb, group, resource, "default")


def test_olm_creates_the_metrics_service(installed: OlmV0) -> None:
    service = installed.api.get(f"/api/v1/namespaces/{OPERATOR}/services/searchkeeper-metrics")
    assert [port["name"] for port in service["spec"]["ports"]] == ["metrics"]
