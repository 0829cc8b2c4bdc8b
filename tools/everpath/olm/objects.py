"""Kubernetes objects as JSON, their kinds, and the interface to the cluster that stores them."""

from __future__ import annotations

__all__ = [
    "CATALOG_SOURCE",
    "CRD",
    "CSV",
    "DEPLOYMENT",
    "INSTALL_PLAN",
    "NAMESPACE",
    "OPERATOR_CONDITION",
    "OPERATOR_GROUP",
    "POD",
    "PVC",
    "SUBSCRIPTION",
    "Cluster",
    "ConflictError",
    "Kind",
    "Object",
    "ObjectRef",
    "RequestDenied",
    "find_condition",
    "is_condition_true",
    "labels",
    "name_of",
    "namespace_of",
    "nested_list",
    "nested_str",
    "nested_value",
    "normalize_whitespace",
    "ref_to",
]

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

from everpath.errors import Unreachable, UsageError

Object: TypeAlias = dict[str, Any]


class Kind(NamedTuple):
    """A kind of object, and where the API server serves it."""

    api_version: str
    name: str
    plural: str
    is_namespaced: bool = True

    @property
    def api_path(self) -> str:
        """The path of the API group and version."""
        return f"/apis/{self.api_version}" if "/" in self.api_version else f"/api/{self.api_version}"


NAMESPACE: Final = Kind("v1", "Namespace", "namespaces", is_namespaced=False)
POD: Final = Kind("v1", "Pod", "pods")
PVC: Final = Kind("v1", "PersistentVolumeClaim", "persistentvolumeclaims")
DEPLOYMENT: Final = Kind("apps/v1", "Deployment", "deployments")
CRD: Final = Kind(
    "apiextensions.k8s.io/v1",
    "CustomResourceDefinition",
    "customresourcedefinitions",
    is_namespaced=False,
)
OPERATOR_GROUP: Final = Kind("operators.coreos.com/v1", "OperatorGroup", "operatorgroups")
CATALOG_SOURCE: Final = Kind("operators.coreos.com/v1alpha1", "CatalogSource", "catalogsources")
SUBSCRIPTION: Final = Kind("operators.coreos.com/v1alpha1", "Subscription", "subscriptions")
INSTALL_PLAN: Final = Kind("operators.coreos.com/v1alpha1", "InstallPlan", "installplans")
CSV: Final = Kind("operators.coreos.com/v1alpha1", "ClusterServiceVersion", "clusterserviceversions")
OPERATOR_CONDITION: Final = Kind("operators.coreos.com/v2", "OperatorCondition", "operatorconditions")


class ObjectRef(NamedTuple):
    """A reference to an object. The namespace of a cluster-scoped object is empty."""

    kind: Kind
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind.name} {self.name}"


class ConflictError(UsageError):
    """Another field manager owns a field, or the object has another resourceVersion."""


class RequestDenied(Unreachable):
    """The API server has denied a request; a retry does not help. `code` is the HTTP status."""

    def __init__(self, message: str, *, hint: str | None = None, code: int = 0) -> None:
        super().__init__(message, hint=hint)
        self.code = code


class Cluster(Protocol):
    """A Kubernetes cluster. Methods raise Unreachable without a response, RequestDenied if denied."""

    @property
    def namespace(self) -> str:
        """The default namespace."""

    def get(self, ref: ObjectRef) -> Object | None:
        """Return the object; None if the object or its kind does not exist."""

    def serves(self, kind: Kind) -> bool:
        """Whether the API server serves this kind."""

    def list_objects(self, kind: Kind, namespace: str = "", selector: str = "") -> list[Object]:
        """Return the objects of a kind in one namespace or in all; none if the kind does not exist."""

    def apply(self, kind: Kind, obj: Object, *, force: bool = False, dry_run: bool = False) -> Object:
        """Create or update an object with server-side apply.

        Raises ConflictError if another manager owns a field, unless `force` is set.
        """

    def patch(self, ref: ObjectRef, changes: Object) -> Object:
        """Send a merge patch. Raises ConflictError if it contains an outdated resourceVersion."""

    def delete(self, kind: Kind, obj: Object) -> None:
        """Delete the object with this UID, if it still exists."""


def nested_value(obj: Any, *path: str) -> Any:
    """Return the value at a path; None if it is missing or null, as API servers serve empty fields."""
    for key in path:
        if not isinstance(obj, Mapping):
            return None
        obj = obj.get(key)
    return obj


def nested_str(obj: Any, *path: str) -> str:
    """Return the string at a path; an empty one if there is none."""
    value = nested_value(obj, *path)
    return value if isinstance(value, str) else ""


def nested_list(obj: Any, *path: str) -> list[Any]:
    """Return the list at a path; an empty one if there is none."""
    value = nested_value(obj, *path)
    return list(value) if isinstance(value, list) else []


def name_of(obj: Object) -> str:
    return nested_str(obj, "metadata", "name")


def namespace_of(obj: Object) -> str:
    return nested_str(obj, "metadata", "namespace")


def labels(obj: Object) -> dict[str, str]:
    return dict(nested_value(obj, "metadata", "labels") or {})


def find_condition(obj: Any, condition_type: str) -> Object | None:
    """Return the condition of a type, whatever its status."""
    for condition in nested_list(obj, "status", "conditions"):
        if isinstance(condition, dict) and condition.get("type") == condition_type:
            return condition
    return None


def is_condition_true(condition: Any) -> bool:
    return nested_str(condition, "status") == "True"


def ref_to(obj: Object, kind: Kind) -> ObjectRef:
    return ObjectRef(kind, namespace_of(obj), name_of(obj))


def normalize_whitespace(message: str) -> str:
    """Return a message on one line."""
    return " ".join(message.split())
