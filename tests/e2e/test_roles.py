"""Permissions of the operator's ServiceAccount on a real API server."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy

import pytest

from tests.e2e.servers.api import Api, Object
from tests.e2e.servers.control_plane import ControlPlane
from tests.e2e.servers.polling import wait_until
from tests.support.searchkeeper.operator_manifests import rbac

pytestmark = pytest.mark.e2e

NAMESPACE = "roles"
PATHS = {
    "ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    "Role": f"/apis/rbac.authorization.k8s.io/v1/namespaces/{NAMESPACE}/roles",
    "RoleBinding": f"/apis/rbac.authorization.k8s.io/v1/namespaces/{NAMESPACE}/rolebindings",
    "ServiceAccount": f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts",
}


CLUSTER_PERMISSIONS = [
    ("watch", "search.everpath.dev/searchclusters"),
    ("patch", "search.everpath.dev/searchclusters/status"),
    ("update", "search.everpath.dev/searchclusters/finalizers"),
    ("create", "search.everpath.dev/searchpools"),
    ("delete", "apps/statefulsets"),
    ("delete", "/pods"),
    ("patch", "/persistentvolumeclaims"),
    ("delete", "/persistentvolumeclaims"),
    ("get", "/secrets"),
    ("create", "/events"),
]
OWN_NAMESPACE_PERMISSIONS = [
    ("create", "coordination.k8s.io/leases", NAMESPACE),
    ("patch", "coordination.k8s.io/leases", NAMESPACE, "searchkeeper"),
    ("patch", "operators.coreos.com/operatorconditions", NAMESPACE),
]
PERMISSIONS = [
    *OWN_NAMESPACE_PERMISSIONS,
    *((verb, resource, "search") for verb, resource in CLUSTER_PERMISSIONS),
]


@pytest.fixture(scope="module")
def api(plane: ControlPlane) -> Iterator[Api]:
    connection = plane.api.new_connection()
    documents = [rename(each) for each in rbac("default")]
    connection.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
    for document in documents:
        connection.create(PATHS[document["kind"]], deepcopy(document))
    # The authorizer learns of roles and bindings from watches, some time after they are created.
    wait_until(
        "every permission is granted", lambda: all(is_allowed(connection, *each) for each in PERMISSIONS)
    )
    yield connection
    for document in documents:
        connection.delete(f"{PATHS[document['kind']]}/{document['metadata']['name']}")
    connection.delete(f"/api/v1/namespaces/{NAMESPACE}")
    connection.close()


def rename(document: Object) -> Object:
    """Change the names in a manifest: other tests install the operator in the same cluster."""
    document["metadata"]["name"] += "-roles"
    for subject in document.get("subjects", ()):
        subject.update(name="searchkeeper-roles", namespace=NAMESPACE)
    if "roleRef" in document:
        document["roleRef"]["name"] += "-roles"
    if "namespace" in document["metadata"]:
        document["metadata"]["namespace"] = NAMESPACE
    return document


def is_allowed(api: Api, verb: str, resource: str, namespace: str, name: str = "") -> bool:
    """Send a SubjectAccessReview. `resource` is GROUP/PLURAL or GROUP/PLURAL/SUBRESOURCE."""
    group, _, rest = resource.partition("/")
    plural, _, subresource = rest.partition("/")
    attributes: Object = {
        "verb": verb,
        "group": group,
        "resource": plural,
        "subresource": subresource,
        "namespace": namespace,
        "name": name,
    }
    spec = {"user": f"system:serviceaccount:{NAMESPACE}:searchkeeper-roles", "resourceAttributes": attributes}
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}
    response = api.create("/apis/authorization.k8s.io/v1/subjectaccessreviews", review)
    return bool(response["status"]["allowed"])


@pytest.mark.parametrize(("verb", "resource"), CLUSTER_PERMISSIONS)
def test_operator_has_its_permissions_in_namespaces_of_clusters(api: Api, verb: str, resource: str) -> None:
    assert is_allowed(api, verb, resource, "search")


def test_operator_can_write_its_lease_and_operator_condition_only_in_its_own_namespace(api: Api) -> None:
    lease = "coordination.k8s.io/leases"
    for permission in OWN_NAMESPACE_PERMISSIONS:
        assert is_allowed(api, *permission)
    assert not is_allowed(api, "patch", lease, NAMESPACE, "another-lease")
    assert not is_allowed(api, "create", lease, "search")
    assert not is_allowed(api, "patch", "operators.coreos.com/operatorconditions", "search")


@pytest.mark.parametrize(
    ("verb", "resource"),
    [
        ("list", "/secrets"),
        ("watch", "/secrets"),
        ("create", "/pods/exec"),
        ("create", "/pods"),
        ("delete", "search.everpath.dev/searchclusters"),
        ("create", "search.everpath.dev/searchclusters"),
        ("create", "/serviceaccounts/token"),
        ("create", "rbac.authorization.k8s.io/rolebindings"),
        ("list", "/nodes"),
        ("list", "apiextensions.k8s.io/customresourcedefinitions"),
        ("deletecollection", "/persistentvolumeclaims"),
    ],
)
def test_operator_has_no_unneeded_permission(api: Api, verb: str, resource: str) -> None:
    assert not is_allowed(api, verb, resource, "search")
    assert not is_allowed(api, verb, resource, NAMESPACE)


def test_role_binding_grants_permissions_in_its_namespace_only(api: Api) -> None:
    """The bindings of operator/config/default and operator/config/namespaced, one after the other."""
    cluster_role_binding, role_binding = (
        rename(next(each for each in rbac(name) if each.get("roleRef", {}).get("kind") == "ClusterRole"))
        for name in ("default", "namespaced")
    )
    api.create(PATHS["RoleBinding"], deepcopy(role_binding))
    api.delete(f"{PATHS['ClusterRoleBinding']}/{cluster_role_binding['metadata']['name']}")
    try:
        wait_until(
            "only the RoleBinding has an effect",
            lambda: (
                all(is_allowed(api, verb, resource, NAMESPACE) for verb, resource in CLUSTER_PERMISSIONS)
                and not any(
                    is_allowed(api, verb, resource, "search") for verb, resource in CLUSTER_PERMISSIONS
                )
            ),
        )
    finally:
        api.create(PATHS["ClusterRoleBinding"], deepcopy(cluster_role_binding))
        api.delete(f"{PATHS['RoleBinding']}/{role_binding['metadata']['name']}")
