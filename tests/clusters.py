"""Clusters in memory, and the objects that OLM makes in them: for tests that need no API server."""

from __future__ import annotations

__all__ = [
    "NS",
    "PKG",
    "Kept",
    "Time",
    "catalog",
    "crd",
    "csv",
    "deployment",
    "group",
    "observed",
    "operator_condition",
    "plan",
    "pod",
    "subscription",
    "world",
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
    Ref,
    Refused,
    labels,
    ref_of,
    text,
)
from everpath.olm.snapshot import Observed, observe

PKG, NS = "op", "ns"


class Kept:
    """A cluster that keeps what it is given. `served` False: it has no OLM. `log` is what was done to it.

    While it `is_silent` nobody is told what it keeps; kinds that are `forbidden` nobody may apply.
    """

    def __init__(self, *things: tuple[Kind, Object], namespace: str = "default", served: bool = True) -> None:
        self.namespace = namespace
        self.served = served
        self.is_silent = False
        self.forbidden: set[Kind] = set()
        self.things: dict[Ref, Object] = {}
        self.log: list[str] = []
        self._numbers = 0
        for kind, thing in things:
            self.put(kind, thing)

    def put(self, kind: Kind, thing: Object) -> None:
        """As somebody else does it: not in the log."""
        self._numbers += 1
        made = copy.deepcopy(thing)
        made["metadata"].setdefault("uid", f"uid-{self._numbers}")
        made["metadata"]["resourceVersion"] = str(self._numbers)
        self.things[ref_of(made, kind)] = made

    def close(self) -> None:
        """There is nothing to end."""

    def _answers(self) -> None:
        if self.is_silent:
            raise Unreachable("it does not answer")

    def get(self, ref: Ref) -> Object | None:
        self._answers()
        return copy.deepcopy(self.things.get(ref))

    def serves(self, kind: Kind) -> bool:  # noqa: ARG002 - the port's signature
        return self.served

    def find(self, kind: Kind, namespace: str = "", selector: str = "") -> list[Object]:
        self._answers()
        key, _, value = selector.partition("=")
        return [
            copy.deepcopy(thing)
            for ref, thing in self.things.items()
            if ref.kind == kind
            and namespace in ("", ref.namespace)
            and (not key or labels(thing).get(key) == value)
        ]

    def apply(self, kind: Kind, thing: Object, *, force: bool = False, rehearsed: bool = False) -> Object:  # noqa: ARG002
        ref = ref_of(thing, kind)
        if kind in self.forbidden:
            raise Refused(f"may not patch {ref}", code=403)
        if rehearsed:
            return thing
        there = self.things.get(ref, {"metadata": {}})
        self.log.append(f"apply {ref}")
        self.put(kind, _merged(there, thing))
        return self.things[ref]

    def merge(self, ref: Ref, changes: Object) -> Object:
        there = self.things[ref]
        version = text(changes, "metadata", "resourceVersion")
        if version and version != text(there, "metadata", "resourceVersion"):
            raise ConflictError("the object has been modified")
        self.log.append(f"merge {ref}")
        self.put(ref.kind, _merged(there, changes))
        return self.things[ref]

    def delete(self, kind: Kind, thing: Object) -> None:
        ref = ref_of(thing, kind)
        self.log.append(f"delete {ref}")
        there = self.things.get(ref)
        if there is None or text(there, "metadata", "uid") != text(thing, "metadata", "uid"):
            return
        if there["metadata"].get("finalizers"):
            there["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        else:
            del self.things[ref]


def _merged(there: Any, changes: Any) -> Any:
    if not isinstance(there, dict) or not isinstance(changes, dict):
        return changes
    return there | {key: _merged(there.get(key), value) for key, value in changes.items()}


class Time:
    """A clock that a test winds: `steps` happen one by one, each time somebody sleeps."""

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


def _made(name: str, spec: Object, status: Object, **metadata: Any) -> Object:
    meta = {"name": name, "namespace": NS, "creationTimestamp": "2026-01-01T00:00:00Z", **metadata}
    return {"metadata": meta, "spec": spec, "status": status}


def catalog(state: str = "READY", address: str = "10.0.0.7:50051", **status: Any) -> Object:
    spec = {"sourceType": "grpc", **({"address": address} if address else {"image": "q.io/a/c:1"})}
    connection = {"lastObservedState": state} if state else {}
    return _made("op-catalog", spec, {"connectionState": connection, **status})


def group(name: str = "og", *watched: str) -> Object:
    spec = {"targetNamespaces": list(watched)} if watched else {}
    return _made(name, spec, {"namespaces": list(watched) or [""]})


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
    wanted = {"name": PKG, "source": "op-catalog", "sourceNamespace": NS, "installPlanApproval": approval}
    status: Object = {"conditions": list(conditions)}
    status |= {"installedCSV": installed} if installed else {}
    status |= {"currentCSV": current} if current else {}
    status |= {"state": state} if state else {}
    status |= {"installPlanRef": {"name": plan, "namespace": NS}} if plan else {}
    return _made(name, wanted | spec, status)


def plan(phase: str, *installs: str, name: str = "install-1", approved: bool = True, **status: Any) -> Object:
    spec = {"clusterServiceVersionNames": list(installs), "approved": approved}
    return _made(name, spec, {"phase": phase, **status})


def csv(name: str, phase: str = "Succeeded", reason: str = "", replaces: str = "", **rest: Any) -> Object:
    spec: Object = {
        "install": {"spec": {"deployments": [{"name": "op-controller"}]}},
        "customresourcedefinitions": {"owned": [{"name": "ops.example.com", "kind": "Op", "version": "v1"}]},
    }
    spec |= {"replaces": replaces} if replaces else {}
    spec |= rest.pop("spec", {})
    return _made(name, spec, {"phase": phase, "reason": reason, **rest})


def deployment(ready: int = 1, wanted: int = 1, **status: Any) -> Object:
    spec = {"replicas": wanted, "selector": {"matchLabels": {"app": "op"}}}
    replicas = {"availableReplicas": ready, "updatedReplicas": ready, "observedGeneration": 1}
    return _made("op-controller", spec, replicas | status, generation=1)


def pod(name: str = "op-1", phase: str = "Running", app: str = "op", **status: Any) -> Object:
    return _made(name, {}, {"phase": phase, **status}, labels={"app": app, "olm.catalogSource": "op-catalog"})


def operator_condition(name: str, status: str, message: str = "", generation: int = 1) -> Object:
    said = {"type": "Upgradeable", "status": status, "message": message, "observedGeneration": generation}
    return _made(name, {}, {"conditions": [said]}, generation=1)


def crd() -> Object:
    names = {"kind": "Op", "plural": "ops"}
    spec = {
        "group": "example.com",
        "names": names,
        "scope": "Namespaced",
        "versions": [{"name": "v1", "served": True, "storage": True}],
    }
    return {"metadata": {"name": "ops.example.com", "uid": "crd"}, "spec": spec}


_KINDS = {
    "catalog": CATALOG_SOURCE,
    "group": OPERATOR_GROUP,
    "subscription": SUBSCRIPTION,
    "plan": INSTALL_PLAN,
    "csv": CSV,
    "deployment": DEPLOYMENT,
    "pod": POD,
    "condition": OPERATOR_CONDITION,
    "crd": CRD,
}


def world(**things: Object | Iterable[Object]) -> Kept:
    """A cluster with these objects, by the words above: one, or several."""
    kept = Kept()
    for word, given in things.items():
        for thing in [given] if isinstance(given, dict) else given:
            kept.put(_KINDS[word], thing)
    return kept


def observed(**things: Object | Iterable[Object]) -> Observed:
    """What is seen of package `op` in a cluster with these objects."""
    return observe(world(**things), PKG, NS)
