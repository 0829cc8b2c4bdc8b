"""The operator with the RoleBinding of operator/config/namespaced, on a real API server."""

from __future__ import annotations

from copy import deepcopy
from functools import partial

import pytest

from e2e.searchkeeper_stage import Stage
from e2e.stand.api import Object
from operator_manifests import rbac

pytestmark = pytest.mark.e2e

ROLES = "/apis/rbac.authorization.k8s.io/v1"


def binding(overlay: str) -> Object:
    """The binding of the operator's ClusterRole."""
    return next(each for each in rbac(overlay) if each.get("roleRef", {}).get("kind") == "ClusterRole")


def test_operator_works_in_a_watched_namespace_without_permissions_elsewhere(
    stage: Stage, request: pytest.FixtureRequest
) -> None:
    here = binding("namespaced")
    here["metadata"]["namespace"] = stage.namespace
    stage.api.create(f"{ROLES}/namespaces/{stage.namespace}/rolebindings", here)
    stage.api.delete(f"{ROLES}/clusterrolebindings/searchkeeper")
    everywhere = deepcopy(binding("default"))
    request.addfinalizer(partial(stage.api.create, f"{ROLES}/clusterrolebindings", everywhere))

    stage.ask_for()
    with stage.operator():
        stage.until_it_runs("2.19.4")
        stage.edit(version="3.4.0")
        stage.until_it_runs("3.4.0")
    assert "forbidden" not in stage.log.read_text(encoding="utf-8").lower()
