"""The InstallPlan: its status, the CSVs it installs, and its approval."""

from __future__ import annotations

__all__ = ["approve_install_plan", "install_plan_status", "planned_csvs", "requires_approval"]

from typing import Final

from everpath.olm.changes import ChangeType, ObjectChange
from everpath.olm.objects import (
    INSTALL_PLAN,
    Cluster,
    ConflictError,
    Object,
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

_MAX_ATTEMPTS: Final = 5


def install_plan_status(snapshot: OperatorSnapshot) -> ObjectStatus | None:
    """Return the status of the InstallPlan; None if OLM has created none."""
    plan = snapshot.install_plan
    if plan is None:
        return None
    name, phase = name_of(plan), nested_str(plan, "status", "phase")
    csvs = ", ".join(planned_csvs(plan)) or "nothing"
    if phase == "Complete":
        return object_status(INSTALL_PLAN, plan, State.FINE, f"Complete, installed {csvs}")
    if phase == "Failed":
        wait = Wait(
            f"a new InstallPlan; {name} failed: {_failure_message(plan)}",
            "OLM does not retry a failed InstallPlan; fix the cause and run "
            f"everpath uninstall {snapshot.package} -n {snapshot.namespace} --keep-custom-resources, "
            "then install",
            is_final=True,
        )
        return object_status(INSTALL_PLAN, plan, State.FAILED, f"Failed, {csvs}", [wait])
    if requires_approval(plan):
        wait = Wait(
            f"approval of InstallPlan {name}, which installs {csvs}",
            f"everpath upgrade {snapshot.package} -n {snapshot.namespace}",
        )
        return object_status(INSTALL_PLAN, plan, State.WAITING, f"RequiresApproval, {csvs}", [wait])
    wait = Wait(f"InstallPlan {name} to complete: {_progress(plan)}")
    return object_status(INSTALL_PLAN, plan, State.WORKING, f"{phase or 'not started'}, {csvs}", [wait])


def planned_csvs(plan: Object) -> list[str]:
    """Return the names of the CSVs that an InstallPlan installs."""
    return [name for name in nested_list(plan, "spec", "clusterServiceVersionNames") if isinstance(name, str)]


def requires_approval(plan: Object) -> bool:
    phase = nested_str(plan, "status", "phase")
    return phase == "RequiresApproval" and nested_value(plan, "spec", "approved") is not True


def _failure_message(plan: Object) -> str:
    messages = [
        nested_str(condition, "message")
        for condition in nested_list(plan, "status", "conditions")
        if nested_str(condition, "status") == "False"
    ]
    message = " ".join(filter(None, messages)) or nested_str(plan, "status", "message")
    return normalize_whitespace(message) or "no reason given"


def _progress(plan: Object) -> str:
    for lookup in nested_list(plan, "status", "bundleLookups"):
        for condition in nested_list(lookup, "conditions"):
            if is_condition_true(condition):
                details = normalize_whitespace(nested_str(condition, "message")) or nested_str(
                    condition, "reason"
                )
                return f"bundle {nested_str(lookup, 'identifier')} is being unpacked ({details})"
    steps = nested_list(plan, "status", "plan")
    done = sum(nested_str(step, "status") in ("Created", "Present") for step in steps)
    return f"{done} of {len(steps)} steps done" if steps else "its steps are not known yet"


def approve_install_plan(cluster: Cluster, plan: Object) -> ObjectChange:
    """Approve an InstallPlan as it was shown. Raises ConflictError if it installs other CSVs by now."""
    ref = ref_to(plan, INSTALL_PLAN)
    shown_csvs = planned_csvs(plan)
    for _ in range(_MAX_ATTEMPTS):
        version = nested_str(plan, "metadata", "resourceVersion")
        try:
            cluster.patch(ref, {"metadata": {"resourceVersion": version}, "spec": {"approved": True}})
            return ObjectChange(ChangeType.APPROVED, ref)
        except ConflictError:
            current = cluster.get(ref)
            if current is None or planned_csvs(current) != shown_csvs:
                break
            if nested_value(current, "spec", "approved") is True:
                return ObjectChange(ChangeType.APPROVED, ref)
            plan = current
    raise ConflictError(
        f"InstallPlan {ref.name} has changed since it was shown", hint="run the command again"
    )
