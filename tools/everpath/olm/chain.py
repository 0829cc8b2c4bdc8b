"""The status of an operator, from its CatalogSource to its Deployments."""

from __future__ import annotations

__all__ = ["operator_status"]

from dataclasses import replace

from everpath.olm.catalog_source import catalog_source_status, operator_group_status
from everpath.olm.csv import csv_status, operator_condition_status
from everpath.olm.install_plan import install_plan_status, requires_approval
from everpath.olm.objects import SUBSCRIPTION, name_of
from everpath.olm.snapshot import OperatorSnapshot
from everpath.olm.status import OperatorStatus, State, Wait
from everpath.olm.subscription import subscription_status
from everpath.olm.workload import deployment_statuses


def operator_status(snapshot: OperatorSnapshot) -> OperatorStatus:
    """Return the status of an operator; it depends on nothing but the snapshot."""
    chain = [
        catalog_source_status(snapshot),
        operator_group_status(snapshot),
        subscription_status(snapshot),
        install_plan_status(snapshot),
        csv_status(snapshot),
        *deployment_statuses(snapshot),
        operator_condition_status(snapshot),
    ]
    running_csv = snapshot.running_csv
    plan = snapshot.install_plan
    status = OperatorStatus(
        snapshot.package,
        snapshot.namespace,
        tuple(obj for obj in chain if obj is not None),
        running_csv,
        next_csv=snapshot.current_csv if snapshot.current_csv != running_csv else "",
        pending_plan=name_of(plan) if plan is not None and requires_approval(plan) else "",
    )
    if status.is_settled or status.waits:
        return status
    # Every object is fine, and OLM has not created the next one yet.
    wait = Wait(f"OLM to install {status.next_csv or 'the package'}")
    waiting = (
        replace(obj, state=State.WORKING, waits=(wait,)) if obj.kind == SUBSCRIPTION.name else obj
        for obj in status.chain
    )
    return replace(status, chain=tuple(waiting))
