"""Taking an operator away: what people made with it first, while it still runs and can clean up after it."""

from __future__ import annotations

__all__ = ["Removal", "Uninstalled", "Wanted", "survey", "uninstall"]

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from everpath.cluster.changes import Change, Did
from everpath.cluster.following import PAUSE, Clock
from everpath.cluster.objects import (
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
from everpath.cluster.observation import Observed
from everpath.cluster.resources import MANAGED_BY, MANAGER, default_catalog
from everpath.errors import UsageError


class Wanted(NamedTuple):
    """What is to go beyond the Subscription and the operator itself."""

    custom_resources: bool = True
    crds: bool = False
    catalog: bool = False


@dataclass(frozen=True, slots=True)
class Removal:
    """What goes, in its order, and what stays. `is_running`: somebody is there to see to finalizers."""

    custom_resources: tuple[tuple[Kind, Object], ...] = ()
    subscriptions: tuple[Object, ...] = ()
    csvs: tuple[Object, ...] = ()
    groups: tuple[Object, ...] = ()
    catalogs: tuple[Object, ...] = ()
    crds: tuple[Object, ...] = ()
    stays: tuple[str, ...] = ()
    is_running: bool = False

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


@dataclass(slots=True)
class Uninstalled:
    """What was done, and what is still there: each with what keeps it."""

    changes: list[Change] = field(default_factory=list)
    left: list[tuple[Ref, str]] = field(default_factory=list)


def _of(kind: Kind, things: Iterable[Object]) -> tuple[tuple[Kind, Object], ...]:
    return tuple((kind, thing) for thing in things)


def survey(cluster: Cluster, observed: Observed, wanted: Wanted) -> Removal:
    """What uninstalling would take away. Nothing is changed. Raises UsageError for what must not go."""
    csvs = _own_csvs(observed)
    crds = [crd for name in _owned(csvs) if (crd := _crd(cluster, name)) is not None]
    resources = tuple(_custom_resources(cluster, observed, crds))
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
            *([] if wanted.custom_resources else _named(resources)),
            *([] if wanted.crds else _named(_of(CRD, crds))),
            *kept_catalog,
            *_volumes(cluster, observed.namespace),
        ),
        is_running=any(text(csv, "status", "phase") in ("Succeeded", "Replacing") for csv in csvs),
    )


def _own_csvs(observed: Observed) -> list[Object]:
    """What is installed, what it is moving to, and what that replaces; also after the Subscription has gone.

    OLM marks whatever belongs to a package in a namespace with a label of its own.
    """
    names = {observed.installed, observed.current} - {""}
    names |= {text(observed.csv(name), "spec", "replaces") for name in names}
    mark = f"operators.coreos.com/{observed.package}.{observed.namespace}"
    return [csv for csv in observed.csvs if name_of(csv) in names or mark in labels(csv)]


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
    cluster: Cluster, observed: Observed, crds: Iterable[Object]
) -> Iterator[tuple[Kind, Object]]:
    """Those that this operator watches: another's in another namespace are not ours."""
    watched = _watched(observed)
    for crd in crds:
        kind = _served(crd)
        if kind is None:
            continue
        for one in cluster.find(kind):
            if not kind.is_namespaced or not watched or text(one, "metadata", "namespace") in watched:
                yield kind, one


def _watched(observed: Observed) -> set[str]:
    """Empty: all namespaces."""
    group = observed.groups[0] if len(observed.groups) == 1 else None
    told = items(group, "status", "namespaces") or items(group, "spec", "targetNamespaces")
    return {name for name in told if name}


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
        return (), [f"CatalogSource {name}"]
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


def _named(resources: Iterable[tuple[Kind, Object]]) -> list[str]:
    return [f"{kind.name} {name_of(one)}" for kind, one in resources]


def _volumes(cluster: Cluster, namespace: str) -> list[str]:
    """People's data: never ours to delete, so it is only told."""
    try:
        claims = cluster.find(VOLUME_CLAIM, namespace)
    except Refused:
        return []
    return [f"PersistentVolumeClaim {name_of(claim)}" for claim in claims]


def uninstall(cluster: Cluster, removal: Removal, clock: Clock, say: Callable[[str], None]) -> Uninstalled:
    """Stage by stage, each waited for: an operator must not go before what it has to clean up.

    Stops at the deadline with what is still there; run again, it goes on from there.
    """
    done = Uninstalled()
    deadline = clock.deadline()
    for stage in removal.stages:
        for kind, thing in stage:
            cluster.delete(kind, thing)
            change = Change(Did.DELETED, ref_of(thing, kind))
            done.changes.append(change)
            say(str(change))
        left = _await_gone(cluster, stage, clock, deadline, say)
        if left:
            done.left = left
            return done
    return done


def _await_gone(
    cluster: Cluster,
    stage: Iterable[tuple[Kind, Object]],
    clock: Clock,
    deadline: float,
    say: Callable[[str], None],
) -> list[tuple[Ref, str]]:
    """What is still there at the deadline, and why."""
    remaining = list(stage)
    told = False
    while True:
        found = [(kind, thing, _same(cluster, kind, thing)) for kind, thing in remaining]
        left = [(kind, now) for kind, _, now in found if now is not None]
        if not left:
            return []
        if clock.now() >= deadline:
            return [(ref_of(now, kind), _kept_by(now)) for kind, now in left]
        if not told:
            names = ", ".join(str(ref_of(now, kind)) for kind, now in left)
            say(f"Waiting for {names} to be gone")
            told = True
        remaining = left
        clock.sleep(PAUSE)


def _same(cluster: Cluster, kind: Kind, thing: Object) -> Object | None:
    """The object if it is still that one, and not another that took its name."""
    now = cluster.get(ref_of(thing, kind))
    is_same = text(now, "metadata", "uid") == text(thing, "metadata", "uid")
    return now if now is not None and is_same else None


def _kept_by(thing: Object) -> str:
    finalizers = items(thing, "metadata", "finalizers")
    if finalizers:
        return f"kept by its finalizers {', '.join(map(str, finalizers))}"
    return "not gone yet"
