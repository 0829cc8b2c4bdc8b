"""The operator with the RoleBinding of operator/config/namespaced, on a real API server."""

from __future__ import annotations

from copy import deepcopy
from functools import partial

import pytest

from tests.e2e.operator_sandbox import OperatorSandbox
from tests.e2e.servers.api import Object
from tests.support.searchkeeper.operator_manifests import rbac

pytestmark = pytest.mark.e2e

RBAC = "/apis/rbac.authorization.k8s.io/v1"


def binding_of_cluster_role(overlay: str) -> Object:
    """The binding of the operator's ClusterRole in an overlay of operator/config."""
    return next(each for each in rbac(overlay) if each.get("roleRef", {}).get("kind") == "ClusterRole")


def test_operator_works_in_a_watched_namespace_without_permissions_elsewhere(
    sandbox: OperatorSandbox, request: pytest.FixtureRequest
) -> None:
    role_binding = binding_of_cluster_role("namespaced")
    role_binding["metadata"]["namespace"] = sandbox.namespace
    sandbox.api.create(f"{RBAC}/namespaces/{sandbox.namespace}/rolebindings", role_binding)
    sandbox.api.delete(f"{RBAC}/clusterrolebindings/searchkeeper")
    cluster_role_binding = deepcopy(binding_of_cluster_role("default"))
    request.addfinalizer(partial(sandbox.api.create, f"{RBAC}/clusterrolebindings", cluster_role_binding))

    sandbox.create_cluster()
    with sandbox.run_operator():
        sandbox.wait_until_running("2.19.4")
        sandbox.edit_spec(version="3.4.0")
        sandbox.wait_until_running("3.4.0")
    assert "forbidden" not in sandbox.log.read_text(encoding="utf-8").lower()
