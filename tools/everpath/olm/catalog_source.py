"""The status of the CatalogSource and of the OperatorGroup."""

from __future__ import annotations

__all__ = ["catalog_source_status", "operator_group_status"]

from typing import Final

from everpath.olm.objects import (
    CATALOG_SOURCE,
    OPERATOR_GROUP,
    Object,
    name_of,
    namespace_of,
    nested_list,
    nested_str,
    normalize_whitespace,
)
from everpath.olm.snapshot import OperatorSnapshot
from everpath.olm.status import ObjectStatus, State, Wait, object_status
from everpath.olm.workload import pod_problems

#: Reasons in the status of a CatalogSource whose spec OLM rejects.
_INVALID_SPEC: Final = frozenset(("SpecInvalidError", "InvalidIntervalError", "ConfigMapError"))


def catalog_source_status(snapshot: OperatorSnapshot) -> ObjectStatus | None:
    """Return the status of the CatalogSource; None if the Subscription refers to none."""
    catalog = snapshot.catalog_source
    if catalog is None:
        return _missing_catalog_source_status(snapshot)
    source = nested_str(catalog, "spec", "address") or nested_str(catalog, "spec", "image")
    reason = nested_str(catalog, "status", "reason")
    if reason in _INVALID_SPEC:
        message = normalize_whitespace(nested_str(catalog, "status", "message")) or reason
        wait = Wait(
            f"a valid spec of CatalogSource {name_of(catalog)}: {message}",
            f"kubectl edit catalogsource {name_of(catalog)} -n {namespace_of(catalog)}",
            is_final=True,
        )
        return object_status(CATALOG_SOURCE, catalog, State.FAILED, f"{reason}, {source}", [wait])
    connection = nested_str(catalog, "status", "connectionState", "lastObservedState")
    summary = f"{connection or 'not connected yet'}, {source}"
    if connection == "READY":
        return object_status(CATALOG_SOURCE, catalog, State.FINE, summary)
    return object_status(
        CATALOG_SOURCE, catalog, State.WORKING, summary, [_connection_wait(snapshot, catalog)]
    )


def _missing_catalog_source_status(snapshot: OperatorSnapshot) -> ObjectStatus | None:
    name = nested_str(snapshot.subscription, "spec", "source")
    if not name:
        return None
    namespace = nested_str(snapshot.subscription, "spec", "sourceNamespace") or snapshot.namespace
    wait = Wait(
        f"CatalogSource {name} in namespace {namespace}, which the Subscription refers to but does not exist",
        f"everpath install {snapshot.package} -n {snapshot.namespace} --catalog IMAGE "
        f"--catalog-name {name} --catalog-namespace {namespace}",
        is_final=True,
    )
    return ObjectStatus(CATALOG_SOURCE.name, namespace, name, State.ABSENT, "not found", (wait,))


def _connection_wait(snapshot: OperatorSnapshot, catalog: Object) -> Wait:
    """Return why OLM has no connection to the registry server of a catalog."""
    name, namespace = name_of(catalog), namespace_of(catalog)
    if address := nested_str(catalog, "spec", "address"):
        return Wait(
            f"the registry server at {address} to accept connections from OLM",
            f"start it with `everpath catalog serve`; pods in namespace {namespace} must be able to reach it",
        )
    if not snapshot.catalog_pods:
        return Wait(
            f"the registry pod of CatalogSource {name} to be created",
            f"kubectl get events -n {namespace} shows why the pod is missing",
        )
    problems = "; ".join(pod_problems(snapshot.catalog_pods)) or "its pod accepts no connections yet"
    return Wait(
        f"CatalogSource {name} to become READY: {problems}",
        f"kubectl describe pods -n {namespace} -l olm.catalogSource={name}",
    )


def operator_group_status(snapshot: OperatorSnapshot) -> ObjectStatus | None:
    """Return the status of the OperatorGroup; None if there is neither a group nor a Subscription."""
    namespace, groups = snapshot.namespace, snapshot.operator_groups
    if len(groups) == 1:
        # OLM writes an empty name for "all namespaces".
        targets = nested_list(groups[0], "spec", "targetNamespaces") or nested_list(
            groups[0], "status", "namespaces"
        )
        summary = f"targets {', '.join(filter(None, targets)) or 'all namespaces'}"
        return object_status(OPERATOR_GROUP, groups[0], State.FINE, summary)
    if not groups:
        if snapshot.subscription is None:
            return None
        wait = Wait(
            f"an OperatorGroup in namespace {namespace}; OLM installs nothing without one",
            f"everpath install {snapshot.package} -n {namespace} … creates one",
            is_final=True,
        )
        return ObjectStatus(OPERATOR_GROUP.name, namespace, "", State.ABSENT, "not found", (wait,))
    names = sorted(map(name_of, groups))
    wait = Wait(
        f"the deletion of all but one OperatorGroup in namespace {namespace}; OLM installs nothing otherwise",
        f"kubectl delete operatorgroup -n {namespace} {' '.join(names[1:])}",
        is_final=True,
    )
    summary = f"{len(groups)} in one namespace"
    return ObjectStatus(OPERATOR_GROUP.name, namespace, ", ".join(names), State.FAILED, summary, (wait,))
