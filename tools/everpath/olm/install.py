"""Asking OLM for an operator: all is looked at before anything is changed, and only what lacks is made."""

from __future__ import annotations

__all__ = ["Intent", "approve", "ask_again", "carry_out", "install_judge", "prepare"]

from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from typing import Final, NamedTuple

from everpath.errors import Unreachable, UsageError
from everpath.olm.chain import Chain
from everpath.olm.changes import Change, Did
from everpath.olm.differences import Difference, differences, told
from everpath.olm.follow import PATIENCE, UNPACKING, Outcome, Rest
from everpath.olm.manifests import (
    CatalogKind,
    Wish,
    catalog_source,
    namespace,
    operator_group,
    subscription,
)
from everpath.olm.objects import (
    CATALOG_SOURCE,
    INSTALL_PLAN,
    KINDS,
    NAMESPACE,
    OPERATOR_GROUP,
    SUBSCRIPTION,
    Cluster,
    ConflictError,
    Object,
    Ref,
    Refused,
    condition,
    dig,
    items,
    name_of,
    ref_of,
    text,
)
from everpath.olm.snapshot import Observed
from everpath.olm.subscription import planned, unapproved, unpacks

_TRIES: Final = 5
#: What it says is of no matter: that it changes makes OLM look.
_AGAIN: Final = "everpath.dev/asked-again"


class Intent(NamedTuple):
    """What is to become of one object; `thing` is None for one that is as wanted."""

    did: Did
    ref: Ref
    thing: Object | None = None


def prepare(cluster: Cluster, wish: Wish, *, force: bool = False) -> list[Intent]:
    """What there is to do, in its order; nothing is changed. Raises UsageError for what stands in the way."""
    if not cluster.serves(SUBSCRIPTION):
        hint = "https://olm.operatorframework.io tells how to install it; `operator-sdk olm install` does"
        raise Unreachable("the cluster has no OLM: it does not know of Subscriptions", hint=hint)
    return [
        *_namespaces(cluster, wish),
        _group(cluster, wish),
        _catalog(cluster, wish, force=force),
        _subscription(cluster, wish, force=force),
    ]


def carry_out(cluster: Cluster, intents: Sequence[Intent], *, force: bool = False) -> Iterator[Change]:
    """Do it, and tell of each as it is done. What the cluster would refuse is refused with nothing done.

    Only in a namespace that is yet to be made nothing can be tried beforehand.
    """
    new = {ref.name for did, ref, _ in intents if ref.kind is NAMESPACE and did is Did.CREATED}
    for _, ref, thing in intents:
        if thing is not None and ref.namespace not in new:
            cluster.apply(KINDS[thing["kind"]], thing, force=force, rehearsed=True)
    for did, ref, thing in intents:
        if thing is not None:
            cluster.apply(KINDS[thing["kind"]], thing, force=force)
        yield Change(did, ref)


def _namespaces(cluster: Cluster, wish: Wish) -> Iterator[Intent]:
    for name in dict.fromkeys((wish.namespace, wish.catalog_namespace)):
        ref = Ref(NAMESPACE, "", name)
        try:
            there = cluster.get(ref)
        except Refused as refused:
            # Whoever may work in a namespace need not be allowed to look at it.
            if refused.code != 403:
                raise
            there = {}
        if there is None:
            yield Intent(Did.CREATED, ref, namespace(name))
        elif text(there, "metadata", "deletionTimestamp"):
            hint = "wait until it is gone, or install elsewhere"
            raise UsageError(f"namespace {name} is being deleted", hint=hint)
        else:
            yield Intent(Did.UNCHANGED, ref)


def _group(cluster: Cluster, wish: Wish) -> Intent:
    """The one there is if it fits; with two in a namespace OLM would install nothing there."""
    there = cluster.find(OPERATOR_GROUP, wish.namespace)
    made = operator_group(wish)
    if not there:
        return Intent(Did.CREATED, ref_of(made, OPERATOR_GROUP), made)
    if len(there) > 1:
        names = ", ".join(sorted(map(name_of, there)))
        hint = "delete all but one, or install into another namespace"
        raise UsageError(f"namespace {wish.namespace} has several OperatorGroups: {names}", hint=hint)
    (group,) = there
    watched, selected = items(group, "spec", "targetNamespaces"), bool(dig(group, "spec", "selector"))
    fits = not selected and sorted(watched) == sorted(wish.watched or ())
    if fits or not wish.is_particular:
        return Intent(Did.UNCHANGED, ref_of(group, OPERATOR_GROUP))
    has = "what its selector finds" if selected else ", ".join(watched) or "all namespaces"
    hint = "install into another namespace, or leave out what to watch"
    raise UsageError(
        f"OperatorGroup {name_of(group)} of namespace {wish.namespace} watches {has}, "
        f"not {', '.join(wish.watched or ()) or 'all namespaces'}",
        hint=hint,
    )


def _catalog(cluster: Cluster, wish: Wish, *, force: bool) -> Intent:
    ref = Ref(CATALOG_SOURCE, wish.catalog_namespace, wish.catalog_name)
    there = cluster.get(ref)
    if wish.catalog_kind is CatalogKind.PRESENT:
        if there is None:
            raise _no_catalog(cluster, wish)
        return Intent(Did.UNCHANGED, ref)
    made = catalog_source(wish)
    if there is None:
        return Intent(Did.CREATED, ref, made)
    other = _others(there, made)
    if not other:
        return Intent(Did.UNCHANGED, ref)
    if not force:
        hint = "--catalog-name NAME makes one of another name; --force changes this one for all who use it"
        raise UsageError(f"CatalogSource {wish.catalog_name} is another: {_listed(other)}", hint=hint)
    return Intent(Did.UPDATED, ref, made)


def _no_catalog(cluster: Cluster, wish: Wish) -> UsageError:
    names = sorted(map(name_of, cluster.find(CATALOG_SOURCE, wish.catalog_namespace)))
    near = get_close_matches(wish.catalog_name, names, n=1)
    there = f"there are: {', '.join(names)}" if names else "there is none; --catalog IMAGE makes one"
    return UsageError(
        f"namespace {wish.catalog_namespace} has no CatalogSource {wish.catalog_name}",
        hint=f"did you mean {near[0]!r}?" if near else there,
    )


def _others(there: Object, made: Object) -> list[Difference]:
    """What matters: how a catalog is called on a screen does not."""
    shown = ("spec.displayName", "spec.publisher")
    return [one for one in differences(there, made, "spec") if one.path not in shown]


def _subscription(cluster: Cluster, wish: Wish, *, force: bool) -> Intent:
    there = [
        one for one in cluster.find(SUBSCRIPTION, wish.namespace) if text(one, "spec", "name") == wish.package
    ]
    made = subscription(wish)
    if not there:
        return Intent(Did.CREATED, ref_of(made, SUBSCRIPTION), made)
    if len(there) > 1:
        names = ", ".join(sorted(map(name_of, there)))
        hint = f"delete all but one: kubectl delete subscription -n {wish.namespace} NAME"
        raise UsageError(f"package {wish.package} has several Subscriptions: {names}", hint=hint)
    (one,) = there
    ref = ref_of(one, SUBSCRIPTION)
    if wish.approval is None and (approval := text(one, "spec", "installPlanApproval")):
        made["spec"]["installPlanApproval"] = approval
    other = differences(one, made, "spec")
    if not other:
        return Intent(Did.UNCHANGED, ref)
    if not force:
        raise _other_subscription(wish, one, other)
    made["metadata"]["name"] = ref.name
    return Intent(Did.UPDATED, ref, made)


def _other_subscription(wish: Wish, there: Object, other: Sequence[Difference]) -> UsageError:
    hint = "--force changes it; `everpath upgrade` moves on what is installed"
    if any(one.path == "spec.startingCSV" for one in other) and text(there, "status", "installedCSV"):
        hint = "startingCSV counts only where nothing is installed: uninstall first, or leave it out"
    return UsageError(
        f"package {wish.package} has a Subscription in namespace {wish.namespace} already, {name_of(there)}, "
        f"and it is another: {_listed(other)}",
        hint=hint,
    )


def _listed(other: Sequence[Difference]) -> str:
    return "; ".join(map(told, other))


def install_judge(
    cluster: Cluster, approving: bool, note: Callable[[Change], None], rest: Rest, *, more_may_come: bool
) -> Callable[[Observed, Chain], Outcome | None]:
    """Done when an operator runs and, unless steps are approved by hand, nothing newer is on its way.

    Approves the plan of the first install where that is wanted. `more_may_come`: OLM has reason to go on from
    what runs, and says that all is well until it had a moment to look.
    """

    def is_by_hand(observed: Observed) -> bool:
        return text(observed.subscription, "spec", "installPlanApproval") == "Manual"

    def verdict(observed: Observed, seen: Chain) -> Outcome | None:
        if seen.running and (is_by_hand(observed) or (seen.is_settled and not seen.is_stale)):
            return Outcome.DONE
        # What was approved is on its way: the next step is nothing that was asked for.
        is_moving = bool(observed.installed) and not seen.running
        return Outcome.APPROVAL if seen.pending and not is_moving else None

    def judge(observed: Observed, seen: Chain) -> Outcome | None:
        found = verdict(observed, seen)
        is_next = unpacks(observed) and not is_by_hand(observed)
        wanted = UNPACKING if is_next else PATIENCE / 2 if more_may_come else 0
        if wanted and not rest.lasts(wanted, found is not None and not seen.is_stuck):
            return None
        if found is Outcome.APPROVAL and observed.plan is not None and approving and not seen.running:
            note(approve(cluster, observed.plan))
            return None
        return found

    return judge


def ask_again(cluster: Cluster, observed: Observed) -> bool:
    """Have OLM think again where it says that there is no answer: it does so only when something changes."""
    asked = observed.subscription
    failed = condition(asked, "ResolutionFailed")
    if asked is None or failed is None or text(failed, "reason") != "ConstraintsNotSatisfiable":
        return False
    version = text(asked, "metadata", "resourceVersion")
    cluster.merge(ref_of(asked, SUBSCRIPTION), {"metadata": {"annotations": {_AGAIN: version}}})
    return True


def approve(cluster: Cluster, plan: Object) -> Change:
    """Say yes to just what was seen. Raises ConflictError if the plan has become another meanwhile."""
    ref = ref_of(plan, INSTALL_PLAN)
    shown = planned(plan)
    for _ in range(_TRIES):
        version = text(plan, "metadata", "resourceVersion")
        try:
            cluster.merge(ref, {"metadata": {"resourceVersion": version}, "spec": {"approved": True}})
            return Change(Did.APPROVED, ref)
        except ConflictError:
            now = cluster.get(ref)
            if now is None or planned(now) != shown:
                break
            if not unapproved(now) and dig(now, "spec", "approved") is True:
                return Change(Did.APPROVED, ref)
            plan = now
    raise ConflictError(
        f"InstallPlan {ref.name} has changed since it was shown", hint="look again, then approve"
    )
