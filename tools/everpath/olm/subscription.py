"""The middle of the chain: the Subscription that asks, and the InstallPlan that OLM answers with."""

from __future__ import annotations

__all__ = ["plan_link", "planned", "subscription_link", "unapproved", "unpacks"]

import re
from collections.abc import Iterator
from typing import Final

from everpath.olm.objects import (
    INSTALL_PLAN,
    SUBSCRIPTION,
    Object,
    condition,
    conditions,
    dig,
    items,
    name_of,
    text,
)
from everpath.olm.snapshot import Observed
from everpath.olm.status import Link, State, Wait, link_of

#: Phases in which an old and a new CSV stand side by side, or soon will.
_MOVING: Final = frozenset(("Pending", "InstallReady", "Installing", "Replacing", "Deleting"))


def subscription_link(observed: Observed) -> Link:
    asked = observed.subscription
    if asked is None:
        return _nobody_asks(observed)
    if len(observed.subscriptions) > 1:
        return _asked_twice(observed)
    waits = tuple(_subscription_waits(observed, asked))
    state = text(asked, "status", "state")
    return link_of(
        SUBSCRIPTION, asked, _subscription_state(observed, asked, waits), _summary(asked, state), waits
    )


def _nobody_asks(observed: Observed) -> Link:
    wait = Wait(
        f"a Subscription: nobody asks OLM for {observed.package} in namespace {observed.namespace}",
        f"everpath install {observed.package} -n {observed.namespace} --catalog IMAGE",
        is_final=True,
    )
    return Link(
        SUBSCRIPTION.name, observed.namespace, observed.package, State.ABSENT, "there is none", (wait,)
    )


def _asked_twice(observed: Observed) -> Link:
    names = sorted(map(name_of, observed.subscriptions))
    wait = Wait(
        f"one of the Subscriptions {', '.join(names)} to go: a package is installed once in a namespace",
        f"kubectl delete subscription -n {observed.namespace} {names[-1]}",
        is_final=True,
    )
    summary = f"{len(names)} for one package"
    return Link(SUBSCRIPTION.name, observed.namespace, ", ".join(names), State.FAILED, summary, (wait,))


def _summary(asked: Object, state: str) -> str:
    channel = text(asked, "spec", "channel") or "the default channel"
    approval = text(asked, "spec", "installPlanApproval") or "Automatic"
    gone = [text(one, "type") for one in conditions(asked) if _is_true(one) and "Deprecated" in one["type"]]
    noted = ", deprecated" if gone else ""
    return f"{state or 'not looked at yet'}, channel {channel}, {approval}{noted}"


def _subscription_state(observed: Observed, asked: Object, waits: tuple[Wait, ...]) -> State:
    state = text(asked, "status", "state")
    if any(wait.is_final for wait in waits) or state == "UpgradeFailed":
        return State.FAILED
    if waits:
        return State.WORKING
    return State.FINE if state == "AtLatestKnown" or observed.plan is not None else State.WORKING


def _subscription_waits(observed: Observed, asked: Object) -> Iterator[Wait]:
    failed = condition(asked, "ResolutionFailed")
    unhealthy = condition(asked, "CatalogSourcesUnhealthy")
    unpacked = condition(asked, "BundleUnpackFailed")
    if _is_true(unpacked):
        yield _unpack_failed(observed, text(unpacked, "message"))
    elif _is_true(failed):
        yield _resolution(observed, asked, failed or {})
    elif _is_true(unhealthy):
        yield _unhealthy(asked, unhealthy or {})
    elif unpacks(observed):
        said = _one_line(text(condition(asked, "BundleUnpacking"), "message"))
        yield Wait(f"the bundle to be unpacked: {said or 'a Job reads its image'}")
    elif not text(asked, "status", "state") and observed.plan is None:
        yield Wait(
            "OLM to look at the Subscription",
            "kubectl get pods -A -l app=catalog-operator shows whether OLM runs",
        )


def unpacks(observed: Observed) -> bool:
    """Whether OLM reads the image of what it goes to next, as it says.

    It does so before there is a plan, and forgets to say that it has: a plan that is to be approved or
    carried out tells otherwise.
    """
    is_planned = text(observed.plan, "status", "phase") not in ("", "Complete", "Failed")
    return _is_true(condition(observed.subscription, "BundleUnpacking")) and not is_planned


def _unpack_failed(observed: Observed, message: str) -> Wait:
    group = name_of(observed.groups[0]) if observed.groups else "NAME"
    return Wait(
        f"the bundle's image to be unpacked, which failed: {_one_line(message)}",
        "see that nodes can pull the image; OLM tries again where the OperatorGroup says how often: "
        f"kubectl annotate operatorgroup {group} -n {observed.namespace} "
        "operatorframework.io/bundle-unpack-min-retry-interval=5m",
        is_final=True,
    )


def _resolution(observed: Observed, asked: Object, failed: Object) -> Wait:
    """What OLM's resolver says, and whether it will think again by itself."""
    message = _one_line(text(failed, "message"))
    if text(failed, "reason") != "ConstraintsNotSatisfiable":
        return Wait(f"OLM, which could not decide and tries again: {message}", _blamed(message))
    if any(text(csv, "status", "phase") in _MOVING for csv in observed.csvs):
        return Wait(f"the move that is under way; until it ends OLM cannot decide: {message}")
    again = (
        f"kubectl label subscription {name_of(asked)} -n {observed.namespace} again=$(date +%s) --overwrite"
    )
    if gone := _gone(observed, message):
        said = f"OLM to decide again: what it says is of {gone}, which is gone: {message}"
        return Wait(said, again, is_final=True, is_stale=True)
    return Wait(
        f"an answer that OLM did not find{_staleness(observed, failed)}: {message}",
        f"everpath why CATALOG -p {observed.package} --live -n {observed.namespace} explains; "
        f"OLM asks again if something changes: {again}",
        is_final=True,
    )


def _gone(observed: Observed, message: str) -> str:
    """A CSV that the resolver speaks of as being there, and that is not."""
    there = {name_of(csv) for csv in observed.csvs}
    named = re.findall(rf"@existing/{re.escape(observed.namespace)}//([^\s,]+)", message)
    return next((name for name in named if name not in there), "")


def _staleness(observed: Observed, failed: Object) -> str:
    """OLM keeps what it said until something changes, also when the catalog has changed since."""
    said = text(failed, "lastTransitionTime")
    read = text(observed.catalog, "status", "connectionState", "lastConnect")
    return (
        f" (said at {said}, before the catalog was last connected at {read})" if said and said < read else ""
    )


def _blamed(message: str) -> str:
    if "catalogsource" in message.lower():
        return "one catalog that cannot be used stops all of its namespace: mend or delete the one it names"
    return ""


def _unhealthy(asked: Object, unhealthy: Object) -> Wait:
    sick = [
        f"{text(one, 'catalogSourceRef', 'namespace')}/{text(one, 'catalogSourceRef', 'name')}"
        for one in items(asked, "status", "catalogHealth")
        if dig(one, "healthy") is False
    ]
    said = ", ".join(sick) or _one_line(text(unhealthy, "message")) or "none is healthy"
    return Wait(
        f"catalogs to be healthy: {said}",
        "kubectl get catalogsources -A; one that is not healthy stops all that may use it",
    )


def plan_link(observed: Observed) -> Link | None:
    """None where OLM has planned nothing."""
    plan = observed.plan
    if plan is None:
        return None
    phase = text(plan, "status", "phase")
    installs = ", ".join(planned(plan)) or "nothing"
    if phase == "Complete":
        return link_of(INSTALL_PLAN, plan, State.FINE, f"Complete, installed {installs}")
    if phase == "Failed":
        return link_of(
            INSTALL_PLAN, plan, State.FAILED, f"Failed, {installs}", [_plan_failed(observed, plan)]
        )
    if unapproved(plan):
        wait = Wait(
            f"InstallPlan {name_of(plan)} to be approved: it installs {installs}",
            f"everpath upgrade {observed.package} -n {observed.namespace}",
        )
        return link_of(INSTALL_PLAN, plan, State.WAITING, f"RequiresApproval, {installs}", [wait])
    waits = [Wait(f"InstallPlan {name_of(plan)} to be carried out: {_progress(plan)}")]
    return link_of(INSTALL_PLAN, plan, State.WORKING, f"{phase or 'not begun'}, {installs}", waits)


def planned(plan: Object) -> list[str]:
    """The CSVs that a plan installs."""
    return [name for name in items(plan, "spec", "clusterServiceVersionNames") if isinstance(name, str)]


def unapproved(plan: Object) -> bool:
    """Whether a plan waits for somebody's yes."""
    return text(plan, "status", "phase") == "RequiresApproval" and dig(plan, "spec", "approved") is not True


def _plan_failed(observed: Observed, plan: Object) -> Wait:
    said = [text(one, "message") for one in conditions(plan) if one.get("status") == "False"]
    message = _one_line(" ".join(filter(None, said))) or _one_line(text(plan, "status", "message"))
    again = f"everpath uninstall {observed.package} -n {observed.namespace} --keep-custom-resources"
    return Wait(
        f"InstallPlan {name_of(plan)}, which failed: {message or 'it does not say why'}",
        f"mend what it says; OLM does not try a failed plan again: {again}, then install",
        is_final=True,
    )


def _progress(plan: Object) -> str:
    for lookup in items(plan, "status", "bundleLookups"):
        for one in items(lookup, "conditions"):
            if _is_true(one):
                said = _one_line(text(one, "message")) or text(one, "reason")
                return f"bundle {text(lookup, 'identifier')} is unpacked ({said})"
    steps = items(plan, "status", "plan")
    done = sum(text(step, "status") in ("Created", "Present") for step in steps)
    return f"{done} of {len(steps)} steps done" if steps else "its steps are not known yet"


def _is_true(one: Object | None) -> bool:
    return one is not None and one.get("status") == "True"


def _one_line(message: str) -> str:
    return " ".join(message.split())
