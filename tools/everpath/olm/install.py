"""Install an operator: plan the objects to create or update, apply them, and wait until it is running."""

from __future__ import annotations

__all__ = ["PlannedChange", "apply_changes", "plan_install", "until_installed"]

from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from everpath.errors import Unreachable, UsageError
from everpath.olm.changes import ChangeType, FieldDifference, ObjectChange, differences
from everpath.olm.follow import GRACE_PERIOD, UNPACK_TIMEOUT, Outcome, StableTimer, StopCondition
from everpath.olm.install_plan import approve_install_plan
from everpath.olm.manifests import (
    CatalogType,
    InstallRequest,
    catalog_source,
    namespace,
    operator_group,
    subscription,
)
from everpath.olm.objects import (
    CATALOG_SOURCE,
    NAMESPACE,
    OPERATOR_GROUP,
    SUBSCRIPTION,
    Cluster,
    Object,
    ObjectRef,
    RequestDenied,
    name_of,
    nested_list,
    nested_str,
    nested_value,
    ref_to,
)
from everpath.olm.snapshot import OperatorSnapshot
from everpath.olm.status import OperatorStatus
from everpath.olm.subscription import is_unpacking


class PlannedChange(NamedTuple):
    """What to do with an object; `obj` is the object to apply, None if it stays unchanged."""

    type: ChangeType
    ref: ObjectRef
    obj: Object | None = None


def plan_install(cluster: Cluster, request: InstallRequest, *, force: bool = False) -> list[PlannedChange]:
    """Return the changes to make, in order. Raises UsageError if existing objects do not permit them.

    With `force` a CatalogSource or Subscription that differs is updated instead.
    """
    if not cluster.serves(SUBSCRIPTION):
        hint = "install OLM first, for example with `operator-sdk olm install`; see https://olm.operatorframework.io"
        raise Unreachable("OLM is not installed: the cluster does not serve Subscriptions", hint=hint)
    return [
        *_plan_namespaces(cluster, request),
        _plan_operator_group(cluster, request),
        _plan_catalog_source(cluster, request, force=force),
        _plan_subscription(cluster, request, force=force),
    ]


def apply_changes(
    cluster: Cluster, planned: Sequence[PlannedChange], *, force: bool = False
) -> Iterator[ObjectChange]:
    """Apply the planned changes, and yield each when it is done.

    All are first sent as a dry run, so that a denied one leaves nothing behind. Objects in a namespace that
    does not exist yet cannot be tried this way.
    """
    new_namespaces = {
        ref.name for change, ref, _ in planned if ref.kind is NAMESPACE and change is ChangeType.CREATED
    }
    for _, ref, obj in planned:
        if obj is not None and ref.namespace not in new_namespaces:
            cluster.apply(ref.kind, obj, force=force, dry_run=True)
    for change, ref, obj in planned:
        if obj is not None:
            cluster.apply(ref.kind, obj, force=force)
        yield ObjectChange(change, ref)


def _plan_namespaces(cluster: Cluster, request: InstallRequest) -> Iterator[PlannedChange]:
    for name in dict.fromkeys((request.namespace, request.catalog_namespace)):
        ref = ObjectRef(NAMESPACE, "", name)
        try:
            existing = cluster.get(ref)
        except RequestDenied as error:
            # A user with permissions in the namespace may lack the permission to get it.
            if error.code != 403:
                raise
            existing = {}
        if existing is None:
            yield PlannedChange(ChangeType.CREATED, ref, namespace(name))
        elif nested_str(existing, "metadata", "deletionTimestamp"):
            hint = "wait until it is deleted, or install into another namespace"
            raise UsageError(f"namespace {name} is being deleted", hint=hint)
        else:
            yield PlannedChange(ChangeType.UNCHANGED, ref)


def _plan_operator_group(cluster: Cluster, request: InstallRequest) -> PlannedChange:
    """Use an existing OperatorGroup: with two in a namespace OLM installs nothing."""
    existing = cluster.list_objects(OPERATOR_GROUP, request.namespace)
    if not existing:
        group = operator_group(request)
        return PlannedChange(ChangeType.CREATED, ref_to(group, OPERATOR_GROUP), group)
    if len(existing) > 1:
        names = ", ".join(sorted(map(name_of, existing)))
        hint = "delete all but one, or install into another namespace"
        raise UsageError(f"namespace {request.namespace} has several OperatorGroups: {names}", hint=hint)
    (group,) = existing
    actual = nested_list(group, "spec", "targetNamespaces")
    has_selector = bool(nested_value(group, "spec", "selector"))
    requested = request.target_namespaces or ()
    matches = not has_selector and sorted(actual) == sorted(requested)
    if matches or not request.needs_target_namespaces:
        return PlannedChange(ChangeType.UNCHANGED, ref_to(group, OPERATOR_GROUP))
    targets = "the namespaces of its selector" if has_selector else ", ".join(actual) or "all namespaces"
    raise UsageError(
        f"OperatorGroup {name_of(group)} in namespace {request.namespace} targets {targets}, "
        f"not {', '.join(requested) or 'all namespaces'}",
        hint="install into another namespace, or leave out --watch-namespaces and --install-mode",
    )


def _plan_catalog_source(cluster: Cluster, request: InstallRequest, *, force: bool) -> PlannedChange:
    ref = ObjectRef(CATALOG_SOURCE, request.catalog_namespace, request.catalog_name)
    existing = cluster.get(ref)
    if request.catalog_type is CatalogType.EXISTING:
        if existing is None:
            raise _catalog_source_not_found(cluster, request)
        return PlannedChange(ChangeType.UNCHANGED, ref)
    catalog = catalog_source(request)
    if existing is None:
        return PlannedChange(ChangeType.CREATED, ref, catalog)
    cosmetic = ("spec.displayName", "spec.publisher")
    found = [each for each in differences(existing, catalog, "spec") if each.path not in cosmetic]
    if not found:
        return PlannedChange(ChangeType.UNCHANGED, ref)
    if not force:
        raise UsageError(
            f"CatalogSource {request.catalog_name} exists and differs: {_format_differences(found)}",
            hint="--catalog-name NAME creates another one; --force changes this one for every user",
        )
    return PlannedChange(ChangeType.UPDATED, ref, catalog)


def _catalog_source_not_found(cluster: Cluster, request: InstallRequest) -> UsageError:
    names = sorted(map(name_of, cluster.list_objects(CATALOG_SOURCE, request.catalog_namespace)))
    similar = get_close_matches(request.catalog_name, names, n=1)
    if similar:
        hint = f"did you mean {similar[0]!r}?"
    elif names:
        hint = f"existing CatalogSources: {', '.join(names)}"
    else:
        hint = "there is none in the namespace; --catalog IMAGE creates one"
    return UsageError(
        f"namespace {request.catalog_namespace} has no CatalogSource {request.catalog_name}", hint=hint
    )


def _plan_subscription(cluster: Cluster, request: InstallRequest, *, force: bool) -> PlannedChange:
    existing = [
        each
        for each in cluster.list_objects(SUBSCRIPTION, request.namespace)
        if nested_str(each, "spec", "name") == request.package
    ]
    requested = subscription(request)
    if not existing:
        return PlannedChange(ChangeType.CREATED, ref_to(requested, SUBSCRIPTION), requested)
    if len(existing) > 1:
        names = ", ".join(sorted(map(name_of, existing)))
        hint = f"delete all but one: kubectl delete subscription -n {request.namespace} NAME"
        raise UsageError(f"package {request.package} has several Subscriptions: {names}", hint=hint)
    (actual,) = existing
    ref = ref_to(actual, SUBSCRIPTION)
    if request.approval is None and (approval := nested_str(actual, "spec", "installPlanApproval")):
        requested["spec"]["installPlanApproval"] = approval
    found = differences(actual, requested, "spec")
    if not found:
        return PlannedChange(ChangeType.UNCHANGED, ref)
    if not force:
        hint = "--force changes it; `everpath upgrade` upgrades the installed operator"
        is_installed = bool(nested_str(actual, "status", "installedCSV"))
        if is_installed and any(each.path == "spec.startingCSV" for each in found):
            hint = "OLM ignores startingCSV once a CSV is installed: uninstall first, or leave it out"
        raise UsageError(
            f"Subscription {ref.name} for package {request.package} exists in namespace {request.namespace} "
            f"and differs: {_format_differences(found)}",
            hint=hint,
        )
    requested["metadata"]["name"] = ref.name
    return PlannedChange(ChangeType.UPDATED, ref, requested)


def _format_differences(found: Sequence[FieldDifference]) -> str:
    return "; ".join(map(str, found))


def until_installed(
    cluster: Cluster,
    timer: StableTimer,
    on_approval: Callable[[ObjectChange], None],
    *,
    approve_first: bool,
    expects_upgrade: bool,
) -> StopCondition:
    """Return the stop condition of an install: the operator is running, and with Automatic approval settled.

    `approve_first` approves the InstallPlan of the first install. `expects_upgrade`: OLM may find a newer
    CSV, and reports AtLatestKnown until it has.
    """

    def is_manual(snapshot: OperatorSnapshot) -> bool:
        return nested_str(snapshot.subscription, "spec", "installPlanApproval") == "Manual"

    def current_outcome(snapshot: OperatorSnapshot, status: OperatorStatus) -> Outcome | None:
        is_settled = status.is_settled and not status.is_stale
        if status.running_csv and (is_manual(snapshot) or is_settled):
            return Outcome.DONE
        # While an approved CSV is being installed, the InstallPlan of the next one does not matter.
        is_installing = bool(snapshot.installed_csv) and not status.running_csv
        return Outcome.APPROVAL if status.pending_plan and not is_installing else None

    def condition(snapshot: OperatorSnapshot, status: OperatorStatus) -> Outcome | None:
        outcome = current_outcome(snapshot, status)
        if is_unpacking(snapshot) and not is_manual(snapshot):
            delay = UNPACK_TIMEOUT
        else:
            delay = GRACE_PERIOD / 2 if expects_upgrade else 0
        if delay and not timer.has_lasted(delay, outcome is not None and not status.is_blocked):
            return None
        plan = snapshot.install_plan
        if outcome is Outcome.APPROVAL and plan is not None and approve_first and not status.running_csv:
            on_approval(approve_install_plan(cluster, plan))
            return None
        return outcome

    return condition
