"""A cluster in memory, and the objects that OLM creates, for tests without an API server."""

from __future__ import annotations

__all__ = [
    "NS",
    "PKG",
    "FakeClock",
    "FakeCluster",
    "catalog_source",
    "crd",
    "csv",
    "deployment",
    "install_plan",
    "make_cluster",
    "make_snapshot",
    "operator_condition",
    "operator_group",
    "pod",
    "subscription",
]

import copy
from collections.abc import Callable, Iterable
from typing import Any

from everpath.errors import Unreachable
from everpath.olm.follow import Clock
from everpath.olm.objects import (
    CATALOG_SOURCE,
    CRD,
    CSV,
    DEPLOYMENT,
    INSTALL_PLAN,
    OPERATOR_CONDITION,
    OPERATOR_GROUP,
    POD,
    SUBSCRIPTION,
    ConflictError,
    Kind,
    Object,
    ObjectRef,
    RequestDenied,
    labels,
    nested_str,
    ref_to,
)
from everpath.olm.snapshot import OperatorSnapshot, observe

PKG, NS = "op", "ns"


class FakeCluster:
    """Implements `Cluster` in memory. `log` has the writes of the code under test.

    `has_olm` False: it serves no kind. `is_unreachable`: reads fail. `denied_kinds` cannot be applied.
    """

    def __init__(
        self, *objects: tuple[Kind, Object], namespace: str = "default", has_olm: bool = True
    ) -> None:
        self.namespace = namespace
        self.has_olm = has_olm
        self.is_unreachable = False
        self.denied_kinds: set[Kind] = set()
        self.objects: dict[ObjectRef, Object] = {}
        self.log: list[str] = []
        self._last_version = 0
        for kind, obj in objects:
            self.put(kind, obj)

    def put(self, kind: Kind, obj: Object) -> None:
        """Store an object on behalf of another client, without a line in the log."""
        self._last_version += 1
        stored = copy.deepcopy(obj)
        stored["metadata"].setdefault("uid", f"uid-{self._last_version}")
        stored["metadata"]["resourceVersion"] = str(self._last_version)
        self.objects[ref_to(stored, kind)] = stored

    def close(self) -> None:
        """Do nothing: there is no connection."""

    def _check_reachable(self) -> None:
        if self.is_unreachable:
            raise Unreachable("the cluster does not respond")

    def get(self, ref: ObjectRef) -> Object | None:
        self._check_reachable()
        return copy.deepcopy(self.objects.get(ref))

    def serves(self, kind: Kind) -> bool:  # noqa: ARG002 - signature of the interface
        return self.has_olm

    def list_objects(self, kind: Kind, namespace: str = "", selector: str = "") -> list[Object]:
        self._check_reachable()
        key, _, value = selector.partition("=")
        return [
            copy.deepcopy(obj)
            for ref, obj in self.objects.items()
            if ref.kind == kind
            and namespace in ("", ref.namespace)
            and (not key or labels(obj).get(key) == value)
        ]

    def apply(self, kind: Kind, obj: Object, *, force: bool = False, dry_run: bool = False) -> Object:  # noqa: ARG002
        ref = ref_to(obj, kind)
        if kind in self.denied_kinds:
            raise RequestDenied(f"cannot patch {ref}", code=403)
        if dry_run:
            return obj
        self.log.append(f"apply {ref}")
        self.put(kind, _merge(self.objects.get(ref, {"metadata": {}}), obj))
        return self.objects[ref]

    def patch(self, ref: ObjectRef, changes: Object) -> Object:
        existing = self.objects[ref]
        version = nested_str(changes, "metadata", "resourceVersion")
        if version and version != nested_str(existing, "metadata", "resourceVersion"):
            raise ConflictError("the object has been modified")
        self.log.append(f"patch {ref}")
        self.put(ref.kind, _merge(existing, changes))
        return self.objects[ref]

    def delete(self, kind: Kind, obj: Object) -> None:
        ref = ref_to(obj, kind)
        self.log.append(f"delete {ref}")
        existing = self.objects.get(ref)
        if existing is None or nested_str(existing, "metadata", "uid") != nested_str(obj, "metadata", "uid"):
            return
        if existing["metadata"].get("finalizers"):
            existing["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        else:
            del self.objects[ref]


def _merge(existing: Any, changes: Any) -> Any:
    if not isinstance(existing, dict) or not isinstance(changes, dict):
        return changes
    return existing | {key: _merge(existing.get(key), value) for key, value in changes.items()}


class FakeClock:
    """A clock that advances only when the code under test sleeps; each sleep runs the next of `steps`."""

    def __init__(self, *steps: Callable[[], object], timeout: float = 300) -> None:
        self.now = 0.0
        self.steps = list(steps)
        self.clock = Clock(lambda: self.now, self.sleep, timeout)

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        if self.steps:
            self.steps.pop(0)()

    def monotonic(self) -> float:
        return self.now


def _object(name: str, spec: Object, status: Object, **metadata: Any) -> Object:
    defaults = {"name": name, "namespace": NS, "creationTimestamp": "2026-01-01T00:00:00Z"}
    return {"metadata": {**defaults, **metadata}, "spec": spec, "status": status}


def catalog_source(state: str = "READY", address: str = "10.0.0.7:50051", **status: Any) -> Object:
    spec = {"sourceType": "grpc", **({"address": address} if address else {"image": "q.io/a/c:1"})}
    connection = {"lastObservedState": state} if state else {}
    return _object("op-catalog", spec, {"connectionState": connection, **status})


def operator_group(name: str = "og", *target_namespaces: str) -> Object:
    spec = {"targetNamespaces": list(target_namespaces)} if target_namespaces else {}
    return _object(name, spec, {"namespaces": list(target_namespaces) or [""]})


def subscription(
    installed: str = "",
    current: str = "",
    *conditions: Object,
    state: str = "",
    plan: str = "",
    approval: str = "Automatic",
    name: str = PKG,
    **spec: Any,
) -> Object:
    defaults = {"name": PKG, "source": "op-catalog", "sourceNamespace": NS, "installPlanApproval": approval}
    status: Object = {"conditions": list(conditions)}
    status |= {"installedCSV": installed} if installed else {}
    status |= {"currentCSV": current} if current else {}
    status |= {"state": state} if state else {}
    status |= {"installPlanRef": {"name": plan, "namespace": NS}} if plan else {}
    return _object(name, defaults | spec, status)


def install_plan(
    phase: str, *csvs: str, name: str = "install-1", approved: bool = True, **status: Any
) -> Object:
    spec = {"clusterServiceVersionNames": list(csvs), "approved": approved}
    return _object(name, spec, {"phase": phase, **status})


def csv(name: str, phase: str = "Succeeded", reason: str = "", replaces: str = "", **status: Any) -> Object:
    spec: Object = {
        "install": {"spec": {"deployments": [{"name": "op-controller"}]}},
        "customresourcedefinitions": {"owned": [{"name": "ops.example.com", "kind": "Op", "version": "v1"}]},
    }
    spec |= {"replaces": replaces} if replaces else {}
    spec |= status.pop("spec", {})
    return _object(name, spec, {"phase": phase, "reason": reason, **status})


def deployment(available: int = 1, replicas: int = 1, **status: Any) -> Object:
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": "op"}}}
    defaults = {"availableReplicas": available, "updatedReplicas": available, "observedGeneration": 1}
    return _object("op-controller", spec, defaults | status, generation=1)


def pod(name: str = "op-1", phase: str = "Running", app: str = "op", **status: Any) -> Object:
    pod_labels = {"app": app, "olm.catalogSource": "op-catalog"}
    return _object(name, {}, {"phase": phase, **status}, labels=pod_labels)


def operator_condition(name: str, status: str, message: str = "", generation: int = 1) -> Object:
    condition = {
        "type": "Upgradeable",
        "status": status,
        "message": message,
        "observedGeneration": generation,
    }
    return _object(name, {}, {"conditions": [condition]}, generation=1)


def crd() -> Object:
    spec = {
        "group": "example.com",
        "names": {"kind": "Op", "plural": "ops"},
        "scope": "Namespaced",
        "versions": [{"name": "v1", "served": True, "storage": True}],
    }
    return {"metadata": {"name": "ops.example.com", "uid": "crd"}, "spec": spec}


_KINDS = {
    "catalog_source": CATALOG_SOURCE,
    "operator_group": OPERATOR_GROUP,
    "subscription": SUBSCRIPTION,
    "install_plan": INSTALL_PLAN,
    "csv": CSV,
    "deployment": DEPLOYMENT,
    "pod": POD,
    "operator_condition": OPERATOR_CONDITION,
    "crd": CRD,
}


def make_cluster(**objects: Object | Iterable[Object]) -> FakeCluster:
    """Return a cluster with one or several objects of each kind, such as `csv=csv("op.v1.0.0")`."""
    cluster = FakeCluster()
    for kind, given in objects.items():
        for obj in [given] if isinstance(given, dict) else given:
            cluster.put(_KINDS[kind], obj)
    return cluster


def make_snapshot(**objects: Object | Iterable[Object]) -> OperatorSnapshot:
    """Return the snapshot of package `op` on a cluster with these objects."""
    return observe(make_cluster(**objects), PKG, NS)
