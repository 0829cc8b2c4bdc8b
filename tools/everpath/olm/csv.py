"""The status of the ClusterServiceVersion and of its OperatorCondition."""

from __future__ import annotations

__all__ = ["csv_status", "operator_condition_status"]

from typing import Final

from everpath.olm.objects import (
    CSV,
    OPERATOR_CONDITION,
    Object,
    name_of,
    nested_list,
    nested_str,
    nested_value,
    normalize_whitespace,
)
from everpath.olm.snapshot import OperatorSnapshot
from everpath.olm.status import ObjectStatus, State, Wait, object_status

_NOT_UPGRADEABLE: Final = "OperatorConditionNotUpgradeable"
_INVALID_BUNDLE: Final = "the bundle is invalid: everpath bundle validate shows where"

#: Reasons of a failed CSV that OLM does not recover from, each with what the user can do.
_PERMANENT_FAILURES: Final = {
    "NoOperatorGroup": "everpath install … creates the missing OperatorGroup",
    "TooManyOperatorGroups": "delete all but one OperatorGroup in the namespace",
    "InterOperatorGroupOwnerConflict": "another operator provides the same API to the same namespaces: "
    "uninstall one of them, or change the target namespaces",
    "OwnerConflict": "another operator owns the same API: uninstall one of them",
    "InvalidInstallStrategy": _INVALID_BUNDLE,
    "InvalidWebhookDescription": _INVALID_BUNDLE,
    "InstallComponentFailedNoRetry": "OLM does not retry: fix the cause, uninstall, install again",
    "InvalidInstallModes": _INVALID_BUNDLE,
}


def csv_status(snapshot: OperatorSnapshot) -> ObjectStatus | None:
    """Return the status of the latest CSV; None if OLM has created none yet."""
    csv = snapshot.latest_csv
    if csv is None:
        return _missing_csv_status(snapshot)
    phase = nested_str(csv, "status", "phase") or "not processed yet"
    if phase == "Succeeded":
        return object_status(CSV, csv, State.FINE, phase)
    reason = nested_str(csv, "status", "reason")
    if phase == "Failed":
        state = State.FAILED
    elif reason == _NOT_UPGRADEABLE:
        state = State.WAITING
    else:
        state = State.WORKING
    summary = f"{phase}, {reason}" if reason else phase
    return object_status(CSV, csv, state, summary, [_find_wait(snapshot, csv, phase, reason)])


def _missing_csv_status(snapshot: OperatorSnapshot) -> ObjectStatus | None:
    name = snapshot.installed_csv
    if not name:
        return None
    wait = Wait(
        f"ClusterServiceVersion {name}, which the Subscription reports as installed but does not exist",
        "OLM does not create it again: "
        f"everpath uninstall {snapshot.package} -n {snapshot.namespace}, then install",
        is_final=True,
    )
    return ObjectStatus(CSV.name, snapshot.namespace, name, State.ABSENT, "not found", (wait,))


def _find_wait(  # noqa: PLR0911 - one for each cause
    snapshot: OperatorSnapshot, csv: Object, phase: str, reason: str
) -> Wait:
    name, message = name_of(csv), normalize_whitespace(nested_str(csv, "status", "message"))
    if reason == _NOT_UPGRADEABLE:
        return _upgradeable_wait(snapshot, csv, message)
    if reason == "UnsupportedOperatorGroup":
        return _install_mode_wait(snapshot, csv)
    if phase == "Pending" and (wait := _requirements_wait(csv)):
        return wait
    if phase == "Failed":
        return Wait(
            f"{name} to succeed; it failed: {message or reason or 'no reason given'}",
            _PERMANENT_FAILURES.get(reason, f"kubectl describe csv {name} -n {snapshot.namespace}"),
            is_final=reason in _PERMANENT_FAILURES,
        )
    if phase == "Replacing":
        return Wait(f"the CSV that replaces {name}")
    if phase == "Deleting":
        return Wait(f"{name} to be deleted")
    return Wait(f"{name} to succeed; its phase is {phase}" + (f": {message}" if message else ""))


def _upgradeable_wait(snapshot: OperatorSnapshot, csv: Object, csv_message: str) -> Wait:
    replaced = nested_str(csv, "spec", "replaces") or snapshot.installed_csv
    _, message = _upgradeable(snapshot.operator_condition) or (False, "")
    message = message or csv_message
    override = '[{"type":"Upgradeable","status":"True","reason":"Forced","message":"by hand"}]'
    return Wait(
        f"{replaced} to become upgradeable; its OperatorCondition has Upgradeable=False"
        + (f" ({message})" if message else ""),
        "wait until the operator allows the upgrade, or override the condition: "
        f"kubectl patch operatorcondition {replaced} -n {snapshot.namespace} "
        f'--type merge -p \'{{"spec":{{"overrides":{override}}}}}\'',
    )


def _install_mode_wait(snapshot: OperatorSnapshot, csv: Object) -> Wait:
    modes = [
        nested_str(mode, "type")
        for mode in nested_list(csv, "spec", "installModes")
        if nested_value(mode, "supported") is True
    ]
    namespaces = {
        "OwnNamespace": snapshot.namespace,
        "SingleNamespace": "OTHER",
        "MultiNamespace": "ONE,OTHER",
    }
    options = [
        f"--watch-namespaces {namespaces[mode]}" if mode in namespaces else "no --watch-namespaces"
        for mode in modes
    ]
    return Wait(
        f"an OperatorGroup with an install mode that {name_of(csv)} supports: {', '.join(modes) or 'none'}",
        f"kubectl delete operatorgroup -n {snapshot.namespace} "
        f"{' '.join(map(name_of, snapshot.operator_groups))}, "
        f"then everpath install with {' or '.join(options) or 'another version'}",
        is_final=True,
    )


def _requirements_wait(csv: Object) -> Wait | None:
    unmet = [
        requirement
        for requirement in nested_list(csv, "status", "requirementStatus")
        if nested_str(requirement, "status") not in ("Present", "")
    ]
    if not unmet:
        return None
    kinds = {nested_str(requirement, "kind") for requirement in unmet}
    hint = ""
    if "CustomResourceDefinition" in kinds:
        hint = "install the operator that provides the missing CustomResourceDefinition"
    elif "ClusterServiceVersion" in kinds:
        hint = "the CSV needs a newer Kubernetes: upgrade the cluster, or use a channel with an older version"
    return Wait(f"the requirements of {name_of(csv)}: {'; '.join(map(_format_requirement, unmet))}", hint)


def _format_requirement(requirement: Object) -> str:
    messages = [
        nested_str(requirement, "message"),
        *(
            nested_str(dependent, "message")
            for dependent in nested_list(requirement, "dependents")
            if nested_str(dependent, "status") != "Satisfied"
        ),
    ]
    message = normalize_whitespace("; ".join(dict.fromkeys(filter(None, messages))))
    kind, name = nested_str(requirement, "kind"), nested_str(requirement, "name")
    return f"{kind} {name}: {message or nested_str(requirement, 'status')}"


def operator_condition_status(snapshot: OperatorSnapshot) -> ObjectStatus | None:
    """Return whether the running operator allows its upgrade; None without an OperatorCondition."""
    condition = snapshot.operator_condition
    if condition is None:
        return None
    upgradeable = _upgradeable(condition)
    if upgradeable is None:
        return object_status(OPERATOR_CONDITION, condition, State.FINE, "Upgradeable is not set")
    is_upgradeable, message = upgradeable
    summary = f"Upgradeable={is_upgradeable}" + (f": {message}" if message else "")
    state = State.FINE if is_upgradeable else State.WAITING
    return object_status(OPERATOR_CONDITION, condition, state, summary)


def _upgradeable(operator_condition: Object | None) -> tuple[bool, str] | None:
    """Return whether OLM may replace the operator, and why; None if the condition is not set: it may.

    Mirrors isOperatorUpgradeable of OLM: an override has precedence over the condition, and a condition of an
    older generation counts as False.
    """
    for override in nested_list(operator_condition, "spec", "overrides"):
        if nested_str(override, "type") == "Upgradeable":
            return nested_str(override, "status") == "True", _explanation(override)
    for condition in nested_list(operator_condition, "status", "conditions"):
        if nested_str(condition, "type") == "Upgradeable":
            observed = nested_value(condition, "observedGeneration") or 0
            if observed != (nested_value(operator_condition, "metadata", "generation") or 0):
                return False, "the condition is outdated"
            return nested_str(condition, "status") != "False", _explanation(condition)
    return None


def _explanation(condition: Object) -> str:
    return nested_str(condition, "message") or nested_str(condition, "reason")
