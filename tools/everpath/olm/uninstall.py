"""Uninstall an operator: plan what to delete, in which order, and delete it stage by stage."""

from __future__ import annotations

__all__ = [
    "Deletion",
    "UninstallPlan",
    "UninstallResult",
    "UninstallScope",
    "execute_uninstall",
    "plan_uninstall",
]

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from everpath.errors import Unreachable, UsageError
from everpath.olm.changes import ChangeType, ObjectChange
from everpath.olm.follow import POLL_INTERVAL, Clock
from everpath.olm.manifests import MANAGED_BY, MANAGER, default_catalog_name
from everpath.olm.objects import (
    CATALOG_SOURCE,
    CRD,
    CSV,
    OPERATOR_GROUP,
    PVC,
    SUBSCRIPTION,
    Cluster,
    Kind,
    Object,
    ObjectRef,
    RequestDenied,
    labels,
    name_of,
    namespace_of,
    nested_list,
    nested_str,
    nested_value,
    ref_to,
)
from everpath.olm.snapshot import OperatorSnapshot

_MAX_LABEL_LENGTH: Final = 63


class UninstallScope(NamedTuple):
    """What to delete besides the Subscription and the CSV."""

    custom_resources: bool = True
    crds: bool = False
    catalog: bool = False


class Deletion(NamedTuple):
    """An object to delete."""

    kind: Kind
    obj: Object

    @property
    def ref(self) -> ObjectRef:
        return ref_to(self.obj, self.kind)


@dataclass(frozen=True, slots=True)
class UninstallPlan:
    """What is deleted and what is kept. `namespace` is that of the operator.

    `is_running`: the operator is running and can remove the finalizers of its custom resources.
    """

    namespace: str
    custom_resources: tuple[Deletion, ...] = ()
    subscriptions: tuple[Deletion, ...] = ()
    csvs: tuple[Deletion, ...] = ()
    operator_groups: tuple[Deletion, ...] = ()
    catalog_sources: tuple[Deletion, ...] = ()
    crds: tuple[Deletion, ...] = ()
    kept: tuple[ObjectRef, ...] = ()
    is_running: bool = False

    @property
    def stages(self) -> tuple[tuple[Deletion, ...], ...]:
        """The objects that are deleted together; a stage starts when all objects of the last are gone."""
        return (
            self.custom_resources,
            self.subscriptions,
            self.csvs,
            (*self.operator_groups, *self.catalog_sources),
            self.crds,
        )

    @property
    def deletions(self) -> tuple[Deletion, ...]:
        return tuple(deletion for stage in self.stages for deletion in stage)

    def describe(self, ref: ObjectRef) -> str:
        """Return kind and name, with the namespace if it is not that of the operator."""
        return str(ref) if ref.namespace in ("", self.namespace) else f"{ref} in namespace {ref.namespace}"


def plan_uninstall(cluster: Cluster, snapshot: OperatorSnapshot, scope: UninstallScope) -> UninstallPlan:
    """Return what to delete. Raises UsageError if another operator needs one of the objects."""
    csvs = _package_csvs(snapshot)
    crds = [crd for name in _owned_crds(csvs) if (crd := cluster.get(ObjectRef(CRD, "", name))) is not None]
    if scope.crds:
        # CRDs that OLM has installed for the package, also if no CSV exists any more.
        known = {name_of(crd) for crd in crds}
        labelled = cluster.list_objects(CRD, selector=_package_label(snapshot))
        crds += [crd for crd in labelled if name_of(crd) not in known]
    # Kubernetes deletes all custom resources of a deleted CRD, in every namespace.
    namespaces = set() if scope.crds else _watched_namespaces(snapshot, csvs)
    custom_resources = tuple(_custom_resources(cluster, namespaces, crds))
    if scope.crds and (users := _other_crd_users(cluster, snapshot, csvs, crds)):
        raise UsageError(
            f"other operators need the CustomResourceDefinitions: {', '.join(users)}",
            hint="leave out --delete-crds",
        )
    groups = snapshot.operator_groups if _is_only_package(cluster, snapshot, csvs) else ()
    catalog = snapshot.catalog_source or _get_default_catalog_source(cluster, snapshot)
    if scope.catalog and catalog and (subscriptions := _other_subscriptions(cluster, snapshot, catalog)):
        raise UsageError(
            f"other Subscriptions use CatalogSource {name_of(catalog)}: {', '.join(subscriptions)}",
            hint="leave out --delete-catalog",
        )
    kept = [
        *([] if scope.custom_resources else [deletion.ref for deletion in custom_resources]),
        *([] if scope.crds else [ref_to(crd, CRD) for crd in crds]),
        *([] if scope.catalog or catalog is None else [ref_to(catalog, CATALOG_SOURCE)]),
        *_volume_claims(cluster, snapshot.namespace),
    ]
    return UninstallPlan(
        namespace=snapshot.namespace,
        custom_resources=custom_resources if scope.custom_resources else (),
        subscriptions=_deletions(SUBSCRIPTION, snapshot.subscriptions),
        csvs=_deletions(CSV, csvs),
        operator_groups=_deletions(OPERATOR_GROUP, filter(_is_managed, groups)),
        catalog_sources=_deletions(CATALOG_SOURCE, [catalog] if scope.catalog and catalog else []),
        crds=_deletions(CRD, crds if scope.crds else []),
        kept=tuple(kept),
        is_running=any(nested_str(csv, "status", "phase") in ("Succeeded", "Replacing") for csv in csvs),
    )


def _deletions(kind: Kind, objects: Iterable[Object]) -> tuple[Deletion, ...]:
    return tuple(Deletion(kind, obj) for obj in objects)


def _package_csvs(snapshot: OperatorSnapshot) -> list[Object]:
    """Return the installed CSV, the next one, those they replace, and those with the label of the package."""
    names = {snapshot.installed_csv, snapshot.current_csv} - {""}
    names |= {nested_str(snapshot.find_csv(name), "spec", "replaces") for name in names}
    label = _package_label(snapshot)
    return [csv for csv in snapshot.csvs if name_of(csv) in names or label in labels(csv)]


def _package_label(snapshot: OperatorSnapshot) -> str:
    """Return the label that OLM sets on objects of the package, truncated like OLM does."""
    name = f"{snapshot.package}.{snapshot.namespace}"[:_MAX_LABEL_LENGTH].rstrip("._-")
    return f"operators.coreos.com/{name}"


def _owned_crds(csvs: Iterable[Object]) -> list[str]:
    names = [
        nested_str(crd, "name")
        for csv in csvs
        for crd in nested_list(csv, "spec", "customresourcedefinitions", "owned")
    ]
    return list(dict.fromkeys(names))


def _custom_resources(cluster: Cluster, namespaces: set[str], crds: Iterable[Object]) -> Iterator[Deletion]:
    """Yield the custom resources in these namespaces, or in all if there are none."""
    for crd in crds:
        kind = _served_kind(crd)
        if kind is None:
            continue
        for obj in cluster.list_objects(kind):
            if not kind.is_namespaced or not namespaces or namespace_of(obj) in namespaces:
                yield Deletion(kind, obj)


def _watched_namespaces(snapshot: OperatorSnapshot, csvs: Iterable[Object]) -> set[str]:
    """Return the namespaces that the operator watches; an empty set means all.

    Reads the annotation of OLM on the CSVs, else the OperatorGroup; without either the operator's namespace
    is returned. Custom resources in other namespaces belong to other operators.
    """
    annotations = [nested_value(csv, "metadata", "annotations", "olm.targetNamespaces") for csv in csvs]
    if annotations and all(isinstance(value, str) for value in annotations):
        by_csv = [set(filter(None, value.split(","))) for value in annotations]
        return set().union(*by_csv) if all(by_csv) else set()
    if len(snapshot.operator_groups) != 1:
        return {snapshot.namespace}
    (group,) = snapshot.operator_groups
    names = nested_list(group, "status", "namespaces") or nested_list(group, "spec", "targetNamespaces")
    return {name for name in names if name}


def _served_kind(crd: Object) -> Kind | None:
    for version in nested_list(crd, "spec", "versions"):
        if nested_value(version, "served") is True:
            return Kind(
                f"{nested_str(crd, 'spec', 'group')}/{nested_str(version, 'name')}",
                nested_str(crd, "spec", "names", "kind"),
                nested_str(crd, "spec", "names", "plural"),
                nested_str(crd, "spec", "scope") == "Namespaced",
            )
    return None


def _other_crd_users(
    cluster: Cluster, snapshot: OperatorSnapshot, csvs: Iterable[Object], crds: Iterable[Object]
) -> list[str]:
    """Return the CSVs of other operators that own or require one of the CRDs."""
    own_names, crd_names = {name_of(csv) for csv in csvs}, {name_of(crd) for crd in crds}
    users = []
    for csv in cluster.list_objects(CSV):
        name, namespace = name_of(csv), namespace_of(csv)
        if "olm.copiedFrom" in labels(csv) or (namespace == snapshot.namespace and name in own_names):
            continue
        required = nested_list(csv, "spec", "customresourcedefinitions", "required")
        needed = {*_owned_crds([csv]), *(nested_str(crd, "name") for crd in required)}
        if needed & crd_names:
            users.append(f"{name} in namespace {namespace}")
    return sorted(users)


def _is_only_package(cluster: Cluster, snapshot: OperatorSnapshot, csvs: Sequence[Object]) -> bool:
    """Whether the namespace contains no other operator, so that nothing else needs the OperatorGroup."""
    own_names = {name_of(csv) for csv in csvs}
    if any(name_of(csv) not in own_names for csv in snapshot.csvs):
        return False
    return len(cluster.list_objects(SUBSCRIPTION, snapshot.namespace)) == len(snapshot.subscriptions)


def _get_default_catalog_source(cluster: Cluster, snapshot: OperatorSnapshot) -> Object | None:
    """Return the CatalogSource of an earlier install, if the Subscription that refers to it is deleted."""
    name = default_catalog_name(snapshot.package)
    catalog = cluster.get(ObjectRef(CATALOG_SOURCE, snapshot.namespace, name))
    return catalog if catalog is not None and _is_managed(catalog) else None


def _other_subscriptions(cluster: Cluster, snapshot: OperatorSnapshot, catalog: Object) -> list[str]:
    """Return the Subscriptions of other packages that use a CatalogSource."""
    own_uids = {nested_str(each, "metadata", "uid") for each in snapshot.subscriptions}
    return sorted(
        f"{namespace_of(each)}/{name_of(each)}"
        for each in cluster.list_objects(SUBSCRIPTION)
        if nested_str(each, "spec", "source") == name_of(catalog)
        and nested_str(each, "spec", "sourceNamespace") == namespace_of(catalog)
        and nested_str(each, "metadata", "uid") not in own_uids
    )


def _is_managed(obj: Object) -> bool:
    return labels(obj).get(MANAGED_BY) == MANAGER


def _volume_claims(cluster: Cluster, namespace: str) -> list[ObjectRef]:
    """Return the PersistentVolumeClaims, which are never deleted; none if listing them is denied."""
    try:
        claims = cluster.list_objects(PVC, namespace)
    except RequestDenied:
        return []
    return [ref_to(claim, PVC) for claim in claims]


@dataclass(slots=True)
class UninstallResult:
    """What was deleted, and what remains at the deadline, each with the reason."""

    plan: UninstallPlan
    changes: list[ObjectChange] = field(default_factory=list)
    remaining: list[tuple[ObjectRef, str]] = field(default_factory=list)


def execute_uninstall(
    cluster: Cluster, plan: UninstallPlan, clock: Clock, log: Callable[[str], None]
) -> UninstallResult:
    """Delete stage by stage, and wait after each until its objects are gone.

    The operator must not be deleted before the custom resources whose finalizers it removes. At the deadline
    it stops; a second run continues.
    """
    result = UninstallResult(plan)
    deadline = clock.deadline()
    for stage in plan.stages:
        for deletion in stage:
            cluster.delete(deletion.kind, deletion.obj)
            result.changes.append(ObjectChange(ChangeType.DELETED, deletion.ref))
            log(f"Deleted {plan.describe(deletion.ref)}")
        remaining = _wait_until_deleted(cluster, plan, stage, clock, deadline, log)
        if remaining:
            for deletion in remaining:
                finalizers = ", ".join(map(str, nested_list(deletion.obj, "metadata", "finalizers")))
                reason = f"has the finalizers {finalizers}" if finalizers else "is not deleted yet"
                result.remaining.append((deletion.ref, reason))
            break
    return result


def _wait_until_deleted(
    cluster: Cluster,
    plan: UninstallPlan,
    stage: Sequence[Deletion],
    clock: Clock,
    deadline: float,
    log: Callable[[str], None],
) -> list[Deletion]:
    """Return the objects that still exist at the deadline. Retries if the cluster does not respond."""
    remaining = list(stage)
    is_logged = is_unreachable = False
    while True:
        try:
            remaining = [
                current for each in remaining if (current := _get_current(cluster, each)) is not None
            ]
        except RequestDenied:
            raise
        except Unreachable as error:
            if clock.now() >= deadline:
                raise
            if not is_unreachable:
                log(f"{error.message}; retrying")
            is_unreachable = True
        else:
            is_unreachable = False
            if not remaining or clock.now() >= deadline:
                return remaining
            if not is_logged:
                log(f"Waiting for deletion of {', '.join(plan.describe(each.ref) for each in remaining)}")
                is_logged = True
        clock.sleep(POLL_INTERVAL)


def _get_current(cluster: Cluster, deletion: Deletion) -> Deletion | None:
    """Return the object as it is now; None if it is deleted, also if another one has its name."""
    obj = cluster.get(deletion.ref)
    if obj is None or nested_value(obj, "metadata", "uid") != nested_value(deletion.obj, "metadata", "uid"):
        return None
    return Deletion(deletion.kind, obj)
