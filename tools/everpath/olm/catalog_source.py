"""The beginning of the chain: a CatalogSource that OLM can ask, and the one OperatorGroup it needs."""

from __future__ import annotations

__all__ = ["catalog_link", "group_link"]

from collections.abc import Iterator

from everpath.olm.objects import CATALOG_SOURCE, OPERATOR_GROUP, Object, items, name_of, text
from everpath.olm.snapshot import Observed
from everpath.olm.status import Link, State, Wait, link_of
from everpath.olm.workload import pod_troubles

_INVALID = frozenset(("SpecInvalidError", "InvalidIntervalError", "ConfigMapError"))


def catalog_link(observed: Observed) -> Link | None:
    """None where no Subscription names a catalog."""
    if observed.catalog is None:
        return _missing(observed)
    catalog = observed.catalog
    connection = text(catalog, "status", "connectionState", "lastObservedState")
    reason = text(catalog, "status", "reason")
    offered = text(catalog, "spec", "address") or text(catalog, "spec", "image")
    if reason in _INVALID:
        wait = Wait(
            f"CatalogSource {name_of(catalog)}: {_sentence(text(catalog, 'status', 'message')) or reason}",
            "correct its spec",
            is_final=True,
        )
        return link_of(CATALOG_SOURCE, catalog, State.FAILED, f"{reason}, {offered}", [wait])
    if connection == "READY":
        return link_of(CATALOG_SOURCE, catalog, State.FINE, f"READY, {offered}")
    summary = f"{connection or 'not connected yet'}, {offered}"
    return link_of(CATALOG_SOURCE, catalog, State.WORKING, summary, [_silence(observed, catalog)])


def _missing(observed: Observed) -> Link | None:
    name = text(observed.subscription, "spec", "source")
    if not name:
        return None
    where = text(observed.subscription, "spec", "sourceNamespace") or observed.namespace
    wait = Wait(
        f"CatalogSource {name} in namespace {where}, which the Subscription names and nobody made",
        f"everpath install {observed.package} -n {observed.namespace} --catalog IMAGE "
        f"--catalog-name {name} --catalog-namespace {where}",
        is_final=True,
    )
    return Link(CATALOG_SOURCE.name, where, name, State.ABSENT, "is not there", (wait,))


def _silence(observed: Observed, catalog: Object) -> Wait:
    """Why OLM has no answer from a catalog."""
    name, where = name_of(catalog), text(catalog, "metadata", "namespace")
    if address := text(catalog, "spec", "address"):
        return Wait(
            f"an answer from the registry server at {address}, which OLM cannot reach",
            f"start it (everpath catalog serve), and name an address that reaches it from namespace {where}: "
            "OLM asks from inside of the cluster",
        )
    troubles = pod_troubles(observed.catalog_pods)
    if not observed.catalog_pods:
        return Wait(
            f"a pod that serves CatalogSource {name}",
            f"kubectl get events -n {where} tells what keeps it from being made",
        )
    said = "; ".join(troubles) or "its pod does not answer yet"
    return Wait(
        f"CatalogSource {name} to be served: {said}",
        f"kubectl describe pods -n {where} -l olm.catalogSource={name}",
    )


def group_link(observed: Observed) -> Link | None:
    """None where nobody asks for anything: then there need be no OperatorGroup."""
    groups = observed.groups
    if len(groups) == 1:
        return link_of(OPERATOR_GROUP, groups[0], State.FINE, _watched(groups[0]))
    if not groups:
        if observed.subscription is None:
            return None
        wait = Wait(
            f"an OperatorGroup in namespace {observed.namespace}: without one OLM installs nothing there",
            f"everpath install {observed.package} -n {observed.namespace} … makes one",
            is_final=True,
        )
        return Link(OPERATOR_GROUP.name, observed.namespace, "", State.ABSENT, "there is none", (wait,))
    names = sorted(map(name_of, groups))
    wait = Wait(
        f"all OperatorGroups of namespace {observed.namespace} but one to go: with several OLM does nothing",
        f"kubectl delete operatorgroup -n {observed.namespace} {' '.join(names[1:])}",
        is_final=True,
    )
    summary = f"{len(groups)} in one namespace"
    return Link(OPERATOR_GROUP.name, observed.namespace, ", ".join(names), State.FAILED, summary, (wait,))


def _watched(group: Object) -> str:
    return f"watches {', '.join(_namespaces(group)) or 'all namespaces'}"


def _namespaces(group: Object) -> Iterator[str]:
    """OLM writes one empty name for all of them."""
    told = items(group, "spec", "targetNamespaces") or items(group, "status", "namespaces")
    return (name for name in told if name)


def _sentence(message: str) -> str:
    return " ".join(message.split())
