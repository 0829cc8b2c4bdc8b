"""The end of the chain: the ClusterServiceVersion, its Deployments, and what the operator says of itself."""

from __future__ import annotations

__all__ = ["condition_link", "csv_link", "deployment_links", "upgradeable"]

from collections.abc import Iterator
from typing import Final

from everpath.olm.objects import (
    CSV,
    DEPLOYMENT,
    OPERATOR_CONDITION,
    Object,
    condition,
    dig,
    items,
    name_of,
    text,
)
from everpath.olm.snapshot import Observed
from everpath.olm.status import Link, State, Wait, link_of
from everpath.olm.workload import pod_troubles

#: Reasons of a failed CSV that OLM does not get over by itself, and what to do about each.
_LASTING: Final = {
    "NoOperatorGroup": "everpath install … makes the OperatorGroup that the namespace lacks",
    "TooManyOperatorGroups": "delete all OperatorGroups of the namespace but one",
    "InterOperatorGroupOwnerConflict": "another operator provides the same API to the same namespaces: "
    "uninstall one, or have them watch others",
    "OwnerConflict": "another operator owns the same API: uninstall one of them",
    "InvalidInstallStrategy": "the bundle is at fault: everpath bundle validate says where",
    "InvalidWebhookDescription": "the bundle is at fault: everpath bundle validate says where",
    "InstallComponentFailedNoRetry": "OLM does not try again: mend what it says, uninstall, install again",
    "InvalidInstallModes": "the bundle is at fault: everpath bundle validate says where",
}


def csv_link(observed: Observed) -> Link | None:
    """None where OLM has not come so far."""
    csv = observed.newest
    if csv is None:
        return _gone(observed)
    phase = text(csv, "status", "phase") or "not looked at yet"
    if phase == "Succeeded":
        return link_of(CSV, csv, State.FINE, phase)
    reason = text(csv, "status", "reason")
    summary = f"{phase}, {reason}" if reason else phase
    wait = _csv_wait(observed, csv, phase, reason)
    state = State.FAILED if phase == "Failed" else State.WAITING if _is_held(reason) else State.WORKING
    return link_of(CSV, csv, state, summary, [wait])


def _gone(observed: Observed) -> Link | None:
    if not observed.installed:
        return None
    wait = Wait(
        f"ClusterServiceVersion {observed.installed}, which is called installed and somebody deleted",
        f"everpath uninstall {observed.package} -n {observed.namespace}, then install: OLM makes it no more",
        is_final=True,
    )
    return Link(CSV.name, observed.namespace, observed.installed, State.ABSENT, "is not there", (wait,))


def _is_held(reason: str) -> bool:
    return reason == "OperatorConditionNotUpgradeable"


def _csv_wait(  # noqa: PLR0911 - one for each thing there is to wait for
    observed: Observed, csv: Object, phase: str, reason: str
) -> Wait:
    name, message = name_of(csv), " ".join(text(csv, "status", "message").split())
    if _is_held(reason):
        return _not_upgradeable(observed, csv, message)
    if reason == "UnsupportedOperatorGroup":
        return _unsupported(observed, csv)
    if phase == "Pending" and (unmet := list(_unmet(csv))):
        return Wait(f"what {name} requires: {'; '.join(unmet)}", _requirements_remedy(csv))
    if phase == "Failed":
        return Wait(
            f"{name}, which failed: {message or reason or 'it does not say why'}",
            _LASTING.get(reason, f"kubectl describe csv {name} -n {observed.namespace}"),
            is_final=reason in _LASTING,
        )
    if phase == "Replacing":
        return Wait(f"the release that takes the place of {name}")
    if phase == "Deleting":
        return Wait(f"{name} to be gone")
    return Wait(f"{name} to succeed; its phase is {phase}" + (f": {message}" if message else ""))


def _not_upgradeable(observed: Observed, csv: Object, message: str) -> Wait:
    held = text(csv, "spec", "replaces") or observed.installed
    said = upgradeable(observed.condition)
    why = f" ({said[1]})" if said is not None and said[1] else ""
    why = why or (f" ({message})" if message else "")
    forced = '[{"type":"Upgradeable","status":"True","reason":"Forced","message":"by hand"}]'
    return Wait(
        f"{held} to allow its upgrade: it says Upgradeable=False{why}",
        "see what it is busy with; whoever knows better: "
        f"kubectl patch operatorcondition {held} -n {observed.namespace} "
        f'--type merge -p \'{{"spec":{{"overrides":{forced}}}}}\'',
    )


def _unsupported(observed: Observed, csv: Object) -> Wait:
    """The modes a CSV supports, and how to ask for one."""
    modes = [
        text(mode, "type") for mode in items(csv, "spec", "installModes") if dig(mode, "supported") is True
    ]
    options = {"OwnNamespace": observed.namespace, "SingleNamespace": "OTHER", "MultiNamespace": "ONE,OTHER"}
    ways = [
        f"--watch-namespaces {options[mode]}" if mode in options else "no --watch-namespaces"
        for mode in modes
    ]
    return Wait(
        f"another OperatorGroup: {name_of(csv)} supports {', '.join(modes) or 'no install mode'}, "
        "and the OperatorGroup asks for something else",
        f"kubectl delete operatorgroup -n {observed.namespace} {' '.join(map(name_of, observed.groups))}, "
        f"then everpath install with {' or '.join(ways) or 'another release'}",
        is_final=True,
    )


def _unmet(csv: Object) -> Iterator[str]:
    for one in items(csv, "status", "requirementStatus"):
        if text(one, "status") in ("Present", ""):
            continue
        kind, name = text(one, "kind"), text(one, "name")
        lacking = [text(d, "message") for d in items(one, "dependents") if text(d, "status") != "Satisfied"]
        message = "; ".join(dict.fromkeys(filter(None, [text(one, "message"), *lacking])))
        yield f"{kind} {name}: {' '.join(message.split()) or text(one, 'status')}"


def _requirements_remedy(csv: Object) -> str:
    kinds = {
        text(one, "kind")
        for one in items(csv, "status", "requirementStatus")
        if text(one, "status") not in ("Present", "")
    }
    if "CustomResourceDefinition" in kinds:
        return "install the operator that provides the missing CustomResourceDefinition"
    if "ClusterServiceVersion" in kinds:
        return (
            "the release needs a newer Kubernetes: upgrade the cluster, or follow a channel with an older one"
        )
    return ""


def deployment_links(observed: Observed) -> Iterator[Link]:
    """One for each Deployment that the CSV has."""
    csv = observed.newest
    there = {name_of(one): one for one in observed.deployments}
    for name in (text(one, "name") for one in items(csv, "spec", "install", "spec", "deployments")):
        found = there.get(name)
        if found is not None:
            yield _deployment(observed, found)
        elif text(csv, "status", "phase") in ("Installing", "Succeeded"):
            wait = Wait(f"Deployment {name} to be made")
            yield Link(DEPLOYMENT.name, observed.namespace, name, State.ABSENT, "is not there", (wait,))


def _deployment(observed: Observed, found: Object) -> Link:
    wanted = dig(found, "spec", "replicas")
    wanted = 1 if wanted is None else wanted
    ready = dig(found, "status", "availableReplicas") or 0
    fresh = dig(found, "status", "updatedReplicas") or 0
    seen = (dig(found, "status", "observedGeneration") or 0) >= (dig(found, "metadata", "generation") or 0)
    is_rolling = fresh < wanted <= ready
    summary = f"{fresh} of {wanted} updated" if is_rolling else f"{ready} of {wanted} available"
    if seen and ready >= wanted and fresh >= wanted:
        return link_of(DEPLOYMENT, found, State.FINE, summary)
    stuck = [text(one, "message") for one in _refusals(found)]
    troubles = [*stuck, *pod_troubles(observed.pods)]
    wait = Wait(
        f"Deployment {name_of(found)} to be available: {'; '.join(troubles) or summary}",
        f"kubectl describe deployment {name_of(found)} -n {observed.namespace}" if troubles else "",
    )
    return link_of(DEPLOYMENT, found, State.FAILED if stuck else State.WORKING, summary, [wait])


def _refusals(found: Object) -> Iterator[Object]:
    """What a Deployment itself says is wrong: it takes too long, or its pods are refused."""
    for kind, status in (("Progressing", "False"), ("ReplicaFailure", "True")):
        one = condition(found, kind)
        if one is not None and one.get("status") == status:
            yield one


def condition_link(observed: Observed) -> Link | None:
    """What the operator says of being replaced. None where it has nothing to say it with."""
    if observed.condition is None:
        return None
    said = upgradeable(observed.condition)
    if said is None:
        return link_of(OPERATOR_CONDITION, observed.condition, State.FINE, "says nothing of upgrades")
    is_free, why = said
    summary = f"Upgradeable={is_free}" + (f": {why}" if why else "")
    state = State.FINE if is_free else State.WAITING
    return link_of(OPERATOR_CONDITION, observed.condition, state, summary)


def upgradeable(thing: Object | None) -> tuple[bool, str] | None:
    """Whether OLM may replace the operator, and its reason. None: it has not said, and OLM may.

    As OLM's isOperatorUpgradeable has it: what an administrator overrides counts before what the operator
    says, and what it said of an older generation holds the upgrade back.
    """
    for one in items(thing, "spec", "overrides"):
        if text(one, "type") == "Upgradeable":
            return text(one, "status") == "True", _said(one)
    for one in items(thing, "status", "conditions"):
        if text(one, "type") == "Upgradeable":
            if (dig(one, "observedGeneration") or 0) != (dig(thing, "metadata", "generation") or 0):
                return False, "what the operator said is outdated"
            return text(one, "status") != "False", _said(one)
    return None


def _said(one: Object) -> str:
    return text(one, "message") or text(one, "reason")
