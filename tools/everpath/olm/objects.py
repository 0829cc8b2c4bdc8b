"""Objects of Kubernetes as JSON, the kinds that matter here, and the port to whoever keeps them."""

from __future__ import annotations

__all__ = [
    "CATALOG_SOURCE",
    "CRD",
    "CSV",
    "DEPLOYMENT",
    "INSTALL_PLAN",
    "KINDS",
    "NAMESPACE",
    "OPERATOR_CONDITION",
    "OPERATOR_GROUP",
    "POD",
    "SUBSCRIPTION",
    "VOLUME_CLAIM",
    "Cluster",
    "ConflictError",
    "Kind",
    "Object",
    "Ref",
    "Refused",
    "condition",
    "conditions",
    "dig",
    "items",
    "labels",
    "name_of",
    "ref_of",
    "text",
]

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

from everpath.errors import Unreachable, UsageError

Object: TypeAlias = dict[str, Any]


class Kind(NamedTuple):
    """What an API server serves: its kind, and where."""

    api_version: str
    name: str
    plural: str
    is_namespaced: bool = True

    @property
    def root(self) -> str:
        """The path below which an API server has this version of its group."""
        return f"/apis/{self.api_version}" if "/" in self.api_version else f"/api/{self.api_version}"


NAMESPACE: Final = Kind("v1", "Namespace", "namespaces", is_namespaced=False)
POD: Final = Kind("v1", "Pod", "pods")
VOLUME_CLAIM: Final = Kind("v1", "PersistentVolumeClaim", "persistentvolumeclaims")
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


#: Those that people ask for by name, and that runs make.
KINDS: Final = {kind.name: kind for kind in (NAMESPACE, OPERATOR_GROUP, CATALOG_SOURCE, SUBSCRIPTION)}


class Ref(NamedTuple):
    """One object: its kind, namespace ("" for none) and name."""

    kind: Kind
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind.name} {self.name}"


class ConflictError(UsageError):
    """Somebody else has a say in what was to be changed, or was quicker."""


class Refused(Unreachable):
    """The cluster answers, and the answer is no: asking again does not help. `code` is that of HTTP."""

    def __init__(self, message: str, *, hint: str | None = None, code: int = 0) -> None:
        super().__init__(message, hint=hint)
        self.code = code


class Cluster(Protocol):
    """What keeps objects. Raises Unreachable where it does not answer, and Refused where it says no."""

    @property
    def namespace(self) -> str:
        """The namespace to use where none is named."""

    def get(self, ref: Ref) -> Object | None:
        """The object, or None if there is none, or no such kind."""

    def serves(self, kind: Kind) -> bool:
        """Whether the cluster knows objects of this kind."""

    def find(self, kind: Kind, namespace: str = "", selector: str = "") -> list[Object]:
        """The objects of a kind, in a namespace or in all; none if there is no such kind."""

    def apply(self, kind: Kind, thing: Object, *, force: bool = False, rehearsed: bool = False) -> Object:
        """Make it be as it is said to be; what is not said stays. Raises ConflictError unless forced.

        If `rehearsed`, the server does all of that but keep it.
        """

    def merge(self, ref: Ref, changes: Object) -> Object:
        """Change some fields. Raises ConflictError if the changes name another resourceVersion."""

    def delete(self, kind: Kind, thing: Object) -> None:
        """Delete just this object, not one that took its name since. Gone already: nothing to do."""


def dig(thing: Any, *path: str) -> Any:
    """What is at a path, None where it ends: servers leave out, or serve as null, what is empty."""
    for key in path:
        if not isinstance(thing, Mapping):
            return None
        thing = thing.get(key)
    return thing


def text(thing: Any, *path: str) -> str:
    """The text at a path; empty if there is none."""
    found = dig(thing, *path)
    return found if isinstance(found, str) else ""


def items(thing: Any, *path: str) -> list[Any]:
    """The list at a path; empty if there is none."""
    found = dig(thing, *path)
    return list(found) if isinstance(found, list) else []


def name_of(thing: Object) -> str:
    return text(thing, "metadata", "name")


def labels(thing: Object) -> dict[str, str]:
    return dict(dig(thing, "metadata", "labels") or {})


def conditions(thing: Any) -> list[Object]:
    return [one for one in items(thing, "status", "conditions") if isinstance(one, dict)]


def condition(thing: Any, kind: str) -> Object | None:
    """The condition of that type, whatever its status."""
    return next((one for one in conditions(thing) if one.get("type") == kind), None)


def ref_of(thing: Object, kind: Kind) -> Ref:
    return Ref(kind, text(thing, "metadata", "namespace"), name_of(thing))
