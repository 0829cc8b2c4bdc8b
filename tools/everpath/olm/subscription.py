"""The status of the Subscription, and a trigger for a new resolution."""

from __future__ import annotations

__all__ = ["is_unpacking", "subscription_status", "trigger_resolution"]

import re
from collections.abc import Iterator
from typing import Final

from everpath.olm.objects import (
    SUBSCRIPTION,
    Cluster,
    Object,
    find_condition,
    is_condition_true,
    name_of,
    nested_list,
    nested_str,
    nested_value,
    normalize_whitespace,
    ref_to,
)
from everpath.olm.snapshot import OperatorSnapshot
from everpath.olm.status import ObjectStatus, State, Wait, object_status

#: The reason of ResolutionFailed after which OLM does not resolve again until an object changes.
_UNSATISFIABLE: Final = "ConstraintsNotSatisfiable"
#: Phases in which the replaced CSV exists beside the new one, or soon will.
_UPGRADING: Final = frozenset(("Pending", "InstallReady", "Installing", "Replacing", "Deleting"))
#: OLM resolves again when an annotation changes, whatever its value.
_TRIGGER_ANNOTATION: Final = "everpath.dev/resolution-trigger"


def subscription_status(snapshot: OperatorSnapshot) -> ObjectStatus:
    subscription, namespace = snapshot.subscription, snapshot.namespace
    if subscription is None:
        wait = Wait(
            f"a Subscription for package {snapshot.package} in namespace {namespace}",
            f"everpath install {snapshot.package} -n {namespace} --catalog IMAGE",
            is_final=True,
        )
        return ObjectStatus(
            SUBSCRIPTION.name, namespace, snapshot.package, State.ABSENT, "not found", (wait,)
        )
    if len(snapshot.subscriptions) > 1:
        names = sorted(map(name_of, snapshot.subscriptions))
        wait = Wait(
            f"the deletion of all but one of the Subscriptions {', '.join(names)}; "
            "OLM installs a package once per namespace",
            f"kubectl delete subscription -n {namespace} {names[-1]}",
            is_final=True,
        )
        summary = f"{len(names)} for one package"
        return ObjectStatus(SUBSCRIPTION.name, namespace, ", ".join(names), State.FAILED, summary, (wait,))
    waits = list(_waits(snapshot, subscription))
    olm_state = nested_str(subscription, "status", "state")
    if any(wait.is_final for wait in waits) or olm_state == "UpgradeFailed":
        state = State.FAILED
    elif not waits and (olm_state == "AtLatestKnown" or snapshot.install_plan is not None):
        state = State.FINE
    else:
        state = State.WORKING
    return object_status(SUBSCRIPTION, subscription, state, _summary(subscription, olm_state), waits)


def _summary(subscription: Object, olm_state: str) -> str:
    channel = nested_str(subscription, "spec", "channel") or "the default channel"
    approval = nested_str(subscription, "spec", "installPlanApproval") or "Automatic"
    is_deprecated = any(
        is_condition_true(condition) and "Deprecated" in nested_str(condition, "type")
        for condition in nested_list(subscription, "status", "conditions")
    )
    suffix = ", deprecated" if is_deprecated else ""
    return f"{olm_state or 'not processed yet'}, channel {channel}, {approval}{suffix}"


def _waits(snapshot: OperatorSnapshot, subscription: Object) -> Iterator[Wait]:
    """Yield the wait of the first condition that explains the others."""
    unpack_failed = find_condition(subscription, "BundleUnpackFailed")
    resolution_failed = find_condition(subscription, "ResolutionFailed")
    unhealthy = find_condition(subscription, "CatalogSourcesUnhealthy")
    if is_condition_true(unpack_failed):
        yield _unpack_wait(snapshot, nested_str(unpack_failed, "message"))
    elif resolution_failed is not None and is_condition_true(resolution_failed):
        yield _resolution_wait(snapshot, subscription, resolution_failed)
    elif is_condition_true(unhealthy):
        yield _catalog_health_wait(subscription, nested_str(unhealthy, "message"))
    elif is_unpacking(snapshot):
        message = nested_str(find_condition(subscription, "BundleUnpacking"), "message")
        yield Wait(
            f"the bundle to be unpacked: {normalize_whitespace(message) or 'a Job extracts the bundle image'}"
        )
    elif not nested_str(subscription, "status", "state") and snapshot.install_plan is None:
        yield Wait(
            "OLM to process the Subscription",
            "kubectl get pods -A -l app=catalog-operator shows whether OLM is running",
        )


def is_unpacking(snapshot: OperatorSnapshot) -> bool:
    """Whether OLM is unpacking the bundle of the next CSV.

    OLM unpacks before it creates the InstallPlan and leaves the condition in place. An InstallPlan that has
    not finished shows that unpacking is over.
    """
    phase = nested_str(snapshot.install_plan, "status", "phase")
    is_planned = phase not in ("", "Complete", "Failed")
    return is_condition_true(find_condition(snapshot.subscription, "BundleUnpacking")) and not is_planned


def _unpack_wait(snapshot: OperatorSnapshot, message: str) -> Wait:
    group = name_of(snapshot.operator_groups[0]) if snapshot.operator_groups else "NAME"
    return Wait(
        f"the bundle to be unpacked; the last attempt failed: {normalize_whitespace(message)}",
        "check that nodes can pull the bundle image; OLM retries only with an interval on the OperatorGroup: "
        f"kubectl annotate operatorgroup {group} -n {snapshot.namespace} "
        "operatorframework.io/bundle-unpack-min-retry-interval=5m",
        is_final=True,
    )


def _resolution_wait(snapshot: OperatorSnapshot, subscription: Object, failure: Object) -> Wait:
    """Return the message of the resolver, and whether OLM resolves again without user action."""
    message = normalize_whitespace(nested_str(failure, "message"))
    if nested_str(failure, "reason") != _UNSATISFIABLE:
        hint = ""
        if "catalogsource" in message.lower():
            hint = (
                "a broken CatalogSource blocks every Subscription in its namespace: "
                "fix or delete the one in the message"
            )
        return Wait(f"resolution to succeed; OLM retries after an error: {message}", hint)
    if any(nested_str(csv, "status", "phase") in _UPGRADING for csv in snapshot.csvs):
        return Wait(f"the upgrade in progress; OLM cannot resolve before it completes: {message}")
    trigger = (
        f"kubectl annotate subscription {name_of(subscription)} -n {snapshot.namespace} "
        f"{_TRIGGER_ANNOTATION}=$(date +%s) --overwrite"
    )
    # Names in the message look like @existing/NAMESPACE//CSV.
    existing = re.findall(rf"@existing/{re.escape(snapshot.namespace)}//([^\s,]+)", message)
    deleted = next((name for name in existing if snapshot.find_csv(name) is None), "")
    if deleted:
        return Wait(
            f"OLM to resolve again; the reported failure is about {deleted}, which was deleted: {message}",
            trigger,
            is_final=True,
            is_stale=True,
        )
    failed = nested_str(failure, "lastTransitionTime")
    connected = nested_str(snapshot.catalog_source, "status", "connectionState", "lastConnect")
    is_outdated = bool(failed) and failed < connected
    remark = f" (failed at {failed}, before the catalog was connected at {connected})" if is_outdated else ""
    return Wait(
        f"resolution to succeed{remark}: {message}",
        f"everpath why CATALOG -p {snapshot.package} --live -n {snapshot.namespace} explains the failure; "
        f"OLM resolves again when an object changes: {trigger}",
        is_final=True,
    )


def _catalog_health_wait(subscription: Object, message: str) -> Wait:
    unhealthy = [
        f"{nested_str(each, 'catalogSourceRef', 'namespace')}/{nested_str(each, 'catalogSourceRef', 'name')}"
        for each in nested_list(subscription, "status", "catalogHealth")
        if nested_value(each, "healthy") is False
    ]
    details = ", ".join(unhealthy) or normalize_whitespace(message) or "none is healthy"
    return Wait(
        f"CatalogSources to become healthy: {details}",
        "kubectl get catalogsources -A; an unhealthy one blocks every Subscription that may use it",
    )


def trigger_resolution(cluster: Cluster, snapshot: OperatorSnapshot) -> bool:
    """Make OLM resolve again if its constraints were not satisfiable; return whether it was triggered.

    OLM does not retry such a resolution until an object changes.
    """
    subscription = snapshot.subscription
    failure = find_condition(subscription, "ResolutionFailed")
    if subscription is None or nested_str(failure, "reason") != _UNSATISFIABLE:
        return False
    version = nested_str(subscription, "metadata", "resourceVersion")
    annotations = {"annotations": {_TRIGGER_ANNOTATION: version}}
    cluster.patch(ref_to(subscription, SUBSCRIPTION), {"metadata": annotations})
    return True
