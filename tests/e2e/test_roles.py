"""The operator's roles on a real API server: what its account may do there, and what it may not."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy

import pytest

from e2e.stand.api import Api, Object
from e2e.stand.control_plane import ControlPlane
from e2e.stand.waiting import until
from operator_manifests import rbac

NAMESPACE = "roles"
PLACES = {
    "ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    "Role": f"/apis/rbac.authorization.k8s.io/v1/namespaces/{NAMESPACE}/roles",
    "RoleBinding": f"/apis/rbac.authorization.k8s.io/v1/namespaces/{NAMESPACE}/rolebindings",
    "ServiceAccount": f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts",
}


WORK = [
    ("watch", "search.everpath.dev/searchclusters"),
    ("patch", "search.everpath.dev/searchclusters/status"),
    ("update", "search.everpath.dev/searchclusters/finalizers"),
    ("create", "search.everpath.dev/searchpools"),
    ("delete", "apps/statefulsets"),
    ("delete", "/pods"),
    ("delete", "/persistentvolumeclaims"),
    ("get", "/secrets"),
    ("create", "/events"),
]
LEADING = [
    ("create", "coordination.k8s.io/leases", NAMESPACE),
    ("patch", "coordination.k8s.io/leases", NAMESPACE, "searchkeeper"),
    ("patch", "operators.coreos.com/operatorconditions", NAMESPACE),
]
RIGHTS = [*LEADING, *((verb, resource, "search") for verb, resource in WORK)]


@pytest.fixture(scope="module")
def api(plane: ControlPlane) -> Iterator[Api]:
    own = plane.api.another()
    documents = [apart(each) for each in rbac("default")]
    own.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
    for document in documents:
        own.create(PLACES[document["kind"]], deepcopy(document))
    # The judge hears of roles and bindings by and by; what it has not heard of it does not allow.
    until("every right counts", lambda: all(may(own, *right) for right in RIGHTS))
    yield own
    for document in documents:
        own.delete(f"{PLACES[document['kind']]}/{document['metadata']['name']}")
    own.delete(f"/api/v1/namespaces/{NAMESPACE}")
    own.close()


def apart(document: Object) -> Object:
    """Under names of our own: other tests install the operator in the same cluster."""
    document["metadata"]["name"] += "-roles"
    for subject in document.get("subjects", ()):
        subject.update(name="searchkeeper-roles", namespace=NAMESPACE)
    if "roleRef" in document:
        document["roleRef"]["name"] += "-roles"
    if "namespace" in document["metadata"]:
        document["metadata"]["namespace"] = NAMESPACE
    return document


def may(api: Api, verb: str, resource: str, namespace: str, name: str = "") -> bool:
    """Asked of the API server's own judge; `resource` is GROUP/PLURAL, perhaps with /SUBRESOURCE."""
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
    answer = api.create("/apis/authorization.k8s.io/v1/subjectaccessreviews", review)
    return bool(answer["status"]["allowed"])


@pytest.mark.parametrize(("verb", "resource"), WORK)
def test_it_may_do_its_work_where_clusters_are(api: Api, verb: str, resource: str) -> None:
    assert may(api, verb, resource, "search")


def test_it_may_lead_at_home_and_nowhere_else(api: Api) -> None:
    lease = "coordination.k8s.io/leases"
    for right in LEADING:
        assert may(api, *right)
    assert not may(api, "patch", lease, NAMESPACE, "somebody-else")
    assert not may(api, "create", lease, "search")
    assert not may(api, "patch", "operators.coreos.com/operatorconditions", "search")


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
def test_what_it_has_no_use_for_it_may_not_do(api: Api, verb: str, resource: str) -> None:
    assert not may(api, verb, resource, "search")
    assert not may(api, verb, resource, NAMESPACE)


def test_role_binding_grants_the_work_in_its_namespace_only(api: Api) -> None:
    """The bindings of operator/config/default and operator/config/namespaced, one after the other."""
    everywhere, here = (
        apart(next(each for each in rbac(name) if each.get("roleRef", {}).get("kind") == "ClusterRole"))
        for name in ("default", "namespaced")
    )
    api.create(PLACES["RoleBinding"], deepcopy(here))
    api.delete(f"{PLACES['ClusterRoleBinding']}/{everywhere['metadata']['name']}")
    try:
        until(
            "only the RoleBinding has an effect",
            lambda: (
                all(may(api, verb, resource, NAMESPACE) for verb, resource in WORK)
                and not any(may(api, verb, resource, "search") for verb, resource in WORK)
            ),
        )
    finally:
        api.create(PLACES["ClusterRoleBinding"], deepcopy(everywhere))
        api.delete(f"{PLACES['RoleBinding']}/{here['metadata']['name']}")
