"""What uninstalling an operator takes away, in which order, and what it leaves. Changes nothing by itself."""

from __future__ import annotations

__all__ = ["Removal", "Wanted", "survey"]

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from everpath.errors import UsageError
from everpath.olm.manifests import MANAGED_BY, MANAGER, default_catalog
from everpath.olm.objects import (
    CATALOG_SOURCE,
    CRD,
    CSV,
    OPERATOR_GROUP,
    SUBSCRIPTION,
    VOLUME_CLAIM,
    Cluster,
    Kind,
    Object,
    Ref,
    Refused,
    dig,
    items,
    labels,
    name_of,
    ref_of,
    text,
)
from everpath.olm.snapshot import Observed

_LONGEST_LABEL: Final = 63


class Wanted(NamedTuple):
    """What is to go beyond the Subscription and the operator itself."""

    custom_resources: bool = True
    crds: bool = False
    catalog: bool = False


@dataclass(frozen=True, slots=True)
class Removal:
    """What goes, in its order, and what stays. `is_running`: somebody is there to see to finalizers.

    `home` is the operator's namespace: only of what is elsewhere it is told where.
    """

    custom_resources: tuple[tuple[Kind, Object], ...] = ()
    subscriptions: tuple[Object, ...] = ()
    csvs: tuple[Object, ...] = ()
    groups: tuple[Object, ...] = ()
    catalogs: tuple[Object, ...] = ()
    crds: tuple[Object, ...] = ()
    stays: tuple[str, ...] = ()
    is_running: bool = False
    home: str = ""

    def told(self, ref: Ref) -> str:
        return _told(ref, self.home)

    @property
    def is_empty(self) -> bool:
        return not any(self.stages)

    @property
    def stages(self) -> tuple[tuple[tuple[Kind, Object], ...], ...]:
        """What goes at a time; each stage is gone before the next begins."""
        return (
            self.custom_resources,
            _of(SUBSCRIPTION, self.subscriptions),
            _of(CSV, self.csvs),
            (*_of(OPERATOR_GROUP, self.groups), *_of(CATALOG_SOURCE, self.catalogs)),
            _of(CRD, self.crds),
        )


def _of(kind: Kind, things: Iterable[Object]) -> tuple[tuple[Kind, Object], ...]:
    return tuple((kind, thing) for thing in things)


def survey(cluster: Cluster, observed: Observed, wanted: Wanted) -> Removal:
    """What uninstalling would take away. Nothing is changed. Raises UsageError for what must not go."""
    csvs = _own_csvs(observed)
    crds = [crd for name in _owned(csvs) if (crd := _crd(cluster, name)) is not None]
    if wanted.crds:
        crds += _marked_crds(cluster, observed, {name_of(crd) for crd in crds})
    # With a definition goes whatever is made with it, wherever that is: all of it is told, and waited for.
    watched = set() if wanted.crds else _watched(observed, csvs)
    resources = tuple(_custom_resources(cluster, watched, crds))
    elsewhere = _other_owners(cluster, observed, csvs, crds) if wanted.crds else []
    if elsewhere:
        hint = "leave out --delete-crds"
        raise UsageError(f"others need the CustomResourceDefinitions: {', '.join(elsewhere)}", hint=hint)
    lonely = _is_alone(cluster, observed, csvs)
    catalogs, kept_catalog = _catalogs(cluster, observed, wanted)
    return Removal(
        custom_resources=resources if wanted.custom_resources else (),
        subscriptions=observed.subscriptions,
        csvs=tuple(csvs),
        groups=tuple(g for g in observed.groups if lonely and _is_ours(g)),
        catalogs=catalogs,
        crds=tuple(crds) if wanted.crds else (),
        stays=(
            *([] if wanted.custom_resources else _named(resources, observed.namespace)),
            *([] if wanted.crds else _named(_of(CRD, crds), observed.namespace)),
            *kept_catalog,
            *_volumes(cluster, observed.namespace),
        ),
        is_running=any(text(csv, "status", "phase") in ("Succeeded", "Replacing") for csv in csvs),
        home=observed.namespace,
    )


def _own_csvs(observed: Observed) -> list[Object]:
    """What is installed, what it is moving to, and what that replaces; also after the Subscription has gone.

    OLM marks whatever belongs to a package in a namespace with a label of its own.
    """
    names = {observed.installed, observed.current} - {""}
    names |= {text(observed.csv(name), "spec", "replaces") for name in names}
    mark = _mark(observed)
    return [csv for csv in observed.csvs if name_of(csv) in names or mark in labels(csv)]


def _mark(observed: Observed) -> str:
    """The label by which OLM knows what belongs to a package in a namespace, cut to what a label may be."""
    name = f"{observed.package}.{observed.namespace}"[:_LONGEST_LABEL].rstrip("._-")
    return f"operators.coreos.com/{name}"


def _marked_crds(cluster: Cluster, observed: Observed, known: set[str]) -> list[Object]:
    """Definitions that OLM brought in for the package, also where no CSV is left to name them."""
    return [crd for crd in cluster.find(CRD, selector=_mark(observed)) if name_of(crd) not in known]


def _owned(csvs: Iterable[Object]) -> list[str]:
    return list(
        dict.fromkeys(
            text(one, "name")
            for csv in csvs
            for one in items(csv, "spec", "customresourcedefinitions", "owned")
        )
    )


def _crd(cluster: Cluster, name: str) -> Object | None:
    return cluster.get(Ref(CRD, "", name))


def _custom_resources(
    cluster: Cluster, watched: set[str], crds: Iterable[Object]
) -> Iterator[tuple[Kind, Object]]:
    """Those in the namespaces that are watched, or in all if none is named."""
    for crd in crds:
        kind = _served(crd)
        if kind is None:
            continue
        for one in cluster.find(kind):
            if not kind.is_namespaced or not watched or text(one, "metadata", "namespace") in watched:
                yield kind, one


def _watched(observed: Observed, csvs: Iterable[Object]) -> set[str]:
    """What the operator watches: what another has in another namespace is not ours. Empty: all namespaces.

    As OLM noted it on the CSV, else as the OperatorGroup says. Where neither tells, its own namespace alone.
    """
    noted = [_annotation(csv, "olm.targetNamespaces") for csv in csvs]
    if noted and None not in noted:
        named = [set(filter(None, (one or "").split(","))) for one in noted]
        return set() if not all(named) else set().union(*named)
    if len(observed.groups) != 1:
        return {observed.namespace}
    (group,) = observed.groups
    told = items(group, "status", "namespaces") or items(group, "spec", "targetNamespaces")
    return {name for name in told if name}


def _annotation(thing: Object, key: str) -> str | None:
    found = (dig(thing, "metadata", "annotations") or {}).get(key)
    return found if isinstance(found, str) else None


def _served(crd: Object) -> Kind | None:
    versions = [one for one in items(crd, "spec", "versions") if dig(one, "served") is True]
    if not versions:
        return None
    names = dig(crd, "spec", "names") or {}
    return Kind(
        f"{text(crd, 'spec', 'group')}/{text(versions[0], 'name')}",
        text(names, "kind"),
        text(names, "plural"),
        text(crd, "spec", "scope") == "Namespaced",
    )


def _other_owners(
    cluster: Cluster, observed: Observed, csvs: Iterable[Object], crds: Iterable[Object]
) -> list[str]:
    own, wanted = {name_of(csv) for csv in csvs}, {name_of(crd) for crd in crds}
    found = []
    for csv in cluster.find(CSV):
        where = text(csv, "metadata", "namespace")
        if "olm.copiedFrom" in labels(csv) or (where == observed.namespace and name_of(csv) in own):
            continue
        needed = {*_owned([csv]), *(text(o, "name") for o in _required(csv))}
        if needed & wanted:
            found.append(f"{name_of(csv)} in namespace {where}")
    return sorted(found)


def _required(csv: Object) -> list[Object]:
    return items(csv, "spec", "customresourcedefinitions", "required")


def _is_alone(cluster: Cluster, observed: Observed, csvs: Iterable[Object]) -> bool:
    own = {name_of(csv) for csv in csvs}
    others = [csv for csv in observed.csvs if name_of(csv) not in own]
    return not others and len(cluster.find(SUBSCRIPTION, observed.namespace)) == len(observed.subscriptions)


def _catalogs(cluster: Cluster, observed: Observed, wanted: Wanted) -> tuple[tuple[Object, ...], list[str]]:
    catalog = observed.catalog or _made_for(cluster, observed)
    if catalog is None:
        return (), []
    name, where = name_of(catalog), text(catalog, "metadata", "namespace")
    if not wanted.catalog:
        return (), _named([(CATALOG_SOURCE, catalog)], observed.namespace)
    own = {text(one, "metadata", "uid") for one in observed.subscriptions}
    users = [
        f"{text(one, 'metadata', 'namespace')}/{name_of(one)}"
        for one in cluster.find(SUBSCRIPTION)
        if text(one, "spec", "source") == name
        and text(one, "spec", "sourceNamespace") == where
        and text(one, "metadata", "uid") not in own
    ]
    if users:
        hint = "leave out --delete-catalog"
        raise UsageError(
            f"others follow CatalogSource {name}: Subscriptions {', '.join(sorted(users))}", hint=hint
        )
    return (catalog,), []


def _made_for(cluster: Cluster, observed: Observed) -> Object | None:
    """The catalog that an install made, where no Subscription is left to name it."""
    found = cluster.get(Ref(CATALOG_SOURCE, observed.namespace, default_catalog(observed.package)))
    return found if found is not None and _is_ours(found) else None


def _is_ours(thing: Object) -> bool:
    return labels(thing).get(MANAGED_BY) == MANAGER


def _named(resources: Iterable[tuple[Kind, Object]], home: str) -> list[str]:
    return [_told(ref_of(one, kind), home) for kind, one in resources]


def _told(ref: Ref, home: str) -> str:
    return str(ref) if ref.namespace in ("", home) else f"{ref} in namespace {ref.namespace}"


def _volumes(cluster: Cluster, namespace: str) -> list[str]:
    """People's data: never ours to delete, so it is only told."""
    try:
        claims = cluster.find(VOLUME_CLAIM, namespace)
    except Refused:
        return []
    return [f"PersistentVolumeClaim {name_of(claim)}" for claim in claims]
