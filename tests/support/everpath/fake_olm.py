"""What OLM does on a cluster, as steps that a FakeClock runs."""

from __future__ import annotations

__all__ = [
    "Step",
    "connect_catalog",
    "create_install_plan",
    "delete_object",
    "execute_install_plan",
    "resolution_failed",
    "set_conditions",
    "start_csv",
    "wait",
]

from collections.abc import Callable

from everpath.olm.objects import (
    CATALOG_SOURCE,
    CSV,
    DEPLOYMENT,
    INSTALL_PLAN,
    POD,
    SUBSCRIPTION,
    Kind,
    Object,
    ObjectRef,
)
from tests.support.everpath.fake_cluster import NS, PKG, FakeCluster, csv, deployment, install_plan, pod

Step = Callable[[], None]


def wait() -> None:
    """Do nothing for one poll."""


def _update_status(cluster: FakeCluster, kind: Kind, name: str, **status: object) -> None:
    obj = cluster.get(ObjectRef(kind, NS, name))
    assert obj is not None
    obj["status"] = obj.get("status", {}) | status
    cluster.put(kind, obj)


def connect_catalog(cluster: FakeCluster) -> Step:
    connection = {"lastObservedState": "READY"}
    return lambda: _update_status(cluster, CATALOG_SOURCE, "op-catalog", connectionState=connection)


def create_install_plan(cluster: FakeCluster, name: str, *csvs: str, manual: bool = False) -> Step:
    """Resolve the Subscription and create an InstallPlan; the first CSV is that of the package."""

    def step() -> None:
        phase = "RequiresApproval" if manual else "Installing"
        cluster.put(INSTALL_PLAN, install_plan(phase, *csvs, name=name, approved=not manual))
        _update_status(
            cluster,
            SUBSCRIPTION,
            PKG,
            currentCSV=csvs[0],
            state="UpgradePending",
            installPlanRef={"name": name, "namespace": NS},
        )

    return step


def execute_install_plan(cluster: FakeCluster, name: str, csv_name: str, replaces: str = "") -> Step:
    """Complete an approved InstallPlan: the CSV is in phase Installing, its pod is Pending."""

    def step() -> None:
        plan = cluster.get(ObjectRef(INSTALL_PLAN, NS, name))
        assert plan is not None
        assert plan["spec"]["approved"], "the InstallPlan is not approved"
        _update_status(cluster, INSTALL_PLAN, name, phase="Complete")
        cluster.put(CSV, csv(csv_name, "Installing", replaces=replaces))
        if replaces:
            _update_status(cluster, CSV, replaces, phase="Replacing")
        cluster.put(DEPLOYMENT, deployment(0))
        cluster.put(POD, pod(phase="Pending"))
        _update_status(cluster, SUBSCRIPTION, PKG, installedCSV=csv_name, state="AtLatestKnown")

    return step


def start_csv(cluster: FakeCluster, csv_name: str, replaces: str = "") -> Step:
    """Bring a CSV to phase Succeeded, and delete the one that it replaces."""

    def step() -> None:
        _update_status(cluster, CSV, csv_name, phase="Succeeded")
        cluster.put(DEPLOYMENT, deployment(1))
        cluster.put(POD, pod())
        cluster.objects.pop(ObjectRef(CSV, NS, replaces), None)

    return step


def set_conditions(cluster: FakeCluster, *conditions: Object) -> Step:
    """Set the conditions of the Subscription."""
    return lambda: _update_status(cluster, SUBSCRIPTION, PKG, conditions=list(conditions))


def resolution_failed(message: str) -> Object:
    """Return the condition after which OLM does not resolve again until an object changes."""
    return {
        "type": "ResolutionFailed",
        "status": "True",
        "reason": "ConstraintsNotSatisfiable",
        "message": message,
    }


def delete_object(cluster: FakeCluster, ref: ObjectRef) -> Step:
    """Delete an object, as if its last finalizer was removed."""

    def step() -> None:
        del cluster.objects[ref]

    return step
