"""The status of an operator, computed from its objects: states, waits and hints."""

from __future__ import annotations

from typing import Any

import pytest

from everpath.olm.chain import operator_status
from everpath.olm.status import OperatorStatus
from tests.support.everpath.fake_cluster import (
    PKG,
    catalog_source,
    csv,
    deployment,
    install_plan,
    make_snapshot,
    operator_condition,
    operator_group,
    pod,
    subscription,
)
from tests.support.everpath.fake_olm import resolution_failed

RUNNING: dict[str, Any] = {
    "catalog_source": catalog_source(),
    "operator_group": operator_group(),
    "subscription": subscription("op.v1.0.0", "op.v1.0.0", state="AtLatestKnown", plan="install-1"),
    "install_plan": install_plan("Complete", "op.v1.0.0"),
    "csv": csv("op.v1.0.0"),
    "deployment": deployment(),
    "pod": pod(),
    "operator_condition": operator_condition("op.v1.0.0", "True"),
}


def condition(
    condition_type: str, reason: str = "", message: str = "", status: str = "True", **fields: str
) -> Any:
    return {"type": condition_type, "status": status, "reason": reason, "message": message, **fields}


def test_running_operator_waits_for_nothing() -> None:
    status = operator_status(make_snapshot(**RUNNING))
    assert [(obj.kind, obj.name, obj.state.value) for obj in status.chain] == [
        ("CatalogSource", "op-catalog", "fine"),
        ("OperatorGroup", "og", "fine"),
        ("Subscription", "op", "fine"),
        ("InstallPlan", "install-1", "fine"),
        ("ClusterServiceVersion", "op.v1.0.0", "fine"),
        ("Deployment", "op-controller", "fine"),
        ("OperatorCondition", "op.v1.0.0", "fine"),
    ]
    assert status.waits == ()
    assert status.is_settled
    assert status.headline == "op.v1.0.0 is running"


def test_package_without_subscription() -> None:
    status = operator_status(make_snapshot())
    assert status.headline == "nothing is installed"
    assert messages(status) == ["a Subscription for package op in namespace ns"]
    assert "everpath install op -n ns" in status.waits[0].hint
    assert status.is_blocked


def messages(status: OperatorStatus) -> list[str]:
    return [wait.message for wait in status.waits]


def changed(**objects: Any) -> Any:
    """Return the snapshot of a running operator with some objects replaced."""
    return make_snapshot(**(RUNNING | objects))


def fresh(**objects: Any) -> Any:
    """Return the snapshot of an operator that is not installed yet."""
    base = {
        "catalog_source": catalog_source(),
        "operator_group": operator_group(),
        "subscription": subscription(),
    }
    return make_snapshot(**(base | objects))


CRASHING = [
    {
        "name": "manager",
        "ready": False,
        "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 10s"}},
    }
]

UPGRADE = {
    "subscription": subscription("op.v1.1.0", "op.v1.1.0", state="UpgradePending", plan="install-2"),
    "install_plan": install_plan("Complete", "op.v1.1.0", name="install-2"),
}

WAITS: dict[str, tuple[Any, list[str], bool]] = {
    "missing CatalogSource": (
        fresh(catalog_source=[]),
        [
            "CatalogSource op-catalog in namespace ns, which the Subscription refers to but does not exist",
            "OLM to process the Subscription",
        ],
        True,
    ),
    "unreachable registry server": (
        fresh(catalog_source=catalog_source("TRANSIENT_FAILURE")),
        [
            "the registry server at 10.0.0.7:50051 to accept connections from OLM",
            "OLM to process the Subscription",
        ],
        False,
    ),
    "catalog image that cannot be pulled": (
        fresh(
            catalog_source=catalog_source("CONNECTING", address=""),
            pod=pod(
                "cat-1",
                "Pending",
                containerStatuses=[
                    {"name": "registry", "ready": False, "state": {"waiting": {"reason": "ErrImagePull"}}}
                ],
            ),
        ),
        [
            (
                "CatalogSource op-catalog to become READY: pod cat-1: container registry is waiting: "
                "ErrImagePull"
            ),
            "OLM to process the Subscription",
        ],
        False,
    ),
    "missing registry pod": (
        fresh(catalog_source=catalog_source("", address="")),
        ["the registry pod of CatalogSource op-catalog to be created", "OLM to process the Subscription"],
        False,
    ),
    "invalid CatalogSource": (
        fresh(
            catalog_source=catalog_source("", reason="SpecInvalidError", message="image and address unset")
        ),
        [
            "a valid spec of CatalogSource op-catalog: image and address unset",
            "OLM to process the Subscription",
        ],
        True,
    ),
    "missing OperatorGroup": (
        fresh(operator_group=[]),
        [
            "an OperatorGroup in namespace ns; OLM installs nothing without one",
            "OLM to process the Subscription",
        ],
        True,
    ),
    "two OperatorGroups": (
        fresh(operator_group=[operator_group("a"), operator_group("b")]),
        [
            "the deletion of all but one OperatorGroup in namespace ns; OLM installs nothing otherwise",
            "OLM to process the Subscription",
        ],
        True,
    ),
    "two Subscriptions": (
        fresh(subscription=[subscription(), subscription(name="op-2")]),
        [
            (
                "the deletion of all but one of the Subscriptions op, op-2; "
                "OLM installs a package once per namespace"
            )
        ],
        True,
    ),
    "unsatisfiable constraints": (
        fresh(
            subscription=subscription(
                "",
                "",
                condition("ResolutionFailed", "ConstraintsNotSatisfiable", "no operators\nfound in op"),
            )
        ),
        ["resolution to succeed: no operators found in op"],
        True,
    ),
    "resolution failure older than the catalog": (
        fresh(
            catalog_source=catalog_source(
                connectionState={"lastObservedState": "READY", "lastConnect": "2026-01-01T12:00:00Z"}
            ),
            subscription=subscription(
                "",
                "",
                condition(
                    "ResolutionFailed",
                    "ConstraintsNotSatisfiable",
                    "no such channel",
                    lastTransitionTime="2026-01-01T11:00:00Z",
                ),
            ),
        ),
        [
            (
                "resolution to succeed (failed at 2026-01-01T11:00:00Z, before the catalog was connected at "
                "2026-01-01T12:00:00Z): no such channel"
            )
        ],
        True,
    ),
    "resolution failure during an upgrade": (
        changed(
            subscription=subscription(
                "op.v1.1.0",
                "op.v1.1.0",
                condition("ResolutionFailed", "ConstraintsNotSatisfiable", "clash"),
                state="UpgradePending",
                plan="install-1",
            ),
            csv=[csv("op.v1.0.0", "Replacing"), csv("op.v1.1.0", "Installing", replaces="op.v1.0.0")],
        ),
        [
            "the upgrade in progress; OLM cannot resolve before it completes: clash",
            "op.v1.1.0 to succeed; its phase is Installing",
        ],
        False,
    ),
    "resolution error that OLM retries": (
        fresh(
            subscription=subscription(
                "",
                "",
                condition("ResolutionFailed", "ErrorPreventedResolution", "using catalogsource a/b: x"),
            )
        ),
        ["resolution to succeed; OLM retries after an error: using catalogsource a/b: x"],
        False,
    ),
    "unhealthy CatalogSource": (
        fresh(
            subscription={
                **(unhealthy := subscription("", "", condition("CatalogSourcesUnhealthy"))),
                "status": unhealthy["status"]
                | {
                    "catalogHealth": [
                        {"healthy": False, "catalogSourceRef": {"namespace": "olm", "name": "hub"}},
                        {"healthy": True, "catalogSourceRef": {"namespace": "ns", "name": "op-catalog"}},
                    ]
                },
            }
        ),
        ["CatalogSources to become healthy: olm/hub"],
        False,
    ),
    "bundle is being unpacked": (
        fresh(subscription=subscription("", "", condition("BundleUnpacking", message="job ns/x running"))),
        ["the bundle to be unpacked: job ns/x running"],
        False,
    ),
    "outdated condition BundleUnpacking": (
        fresh(
            subscription=subscription(
                "", "op.v1.0.0", condition("BundleUnpacking"), state="UpgradePending", plan="install-1"
            ),
            install_plan=install_plan("RequiresApproval", "op.v1.0.0", approved=False),
        ),
        ["approval of InstallPlan install-1, which installs op.v1.0.0"],
        False,
    ),
    "failed bundle unpacking": (
        fresh(subscription=subscription("", "", condition("BundleUnpackFailed", message="DeadlineExceeded"))),
        ["the bundle to be unpacked; the last attempt failed: DeadlineExceeded"],
        True,
    ),
    "InstallPlan that requires approval": (
        fresh(
            subscription=subscription("", "op.v1.0.0", state="UpgradePending", plan="install-1"),
            install_plan=install_plan("RequiresApproval", "op.v1.0.0", "dep.v1", approved=False),
        ),
        ["approval of InstallPlan install-1, which installs op.v1.0.0, dep.v1"],
        False,
    ),
    "InstallPlan in progress": (
        fresh(
            subscription=subscription("", "op.v1.0.0", state="UpgradePending", plan="install-1"),
            install_plan=install_plan(
                "Installing",
                "op.v1.0.0",
                plan=[{"status": "Created"}, {"status": "Unknown"}, {"status": ""}],
            ),
        ),
        ["InstallPlan install-1 to complete: 1 of 3 steps done"],
        False,
    ),
    "InstallPlan that waits for its bundle": (
        fresh(
            subscription=subscription("", "op.v1.0.0", state="UpgradePending", plan="install-1"),
            install_plan=install_plan(
                "Installing",
                "op.v1.0.0",
                bundleLookups=[
                    {
                        "identifier": "op.v1.0.0",
                        "conditions": [
                            condition("BundleLookupPending", "JobIncomplete", "unpack job not done")
                        ],
                    }
                ],
            ),
        ),
        [
            "InstallPlan install-1 to complete: bundle op.v1.0.0 is being unpacked (unpack job not done)",
        ],
        False,
    ),
    "failed InstallPlan": (
        fresh(
            subscription=subscription("", "op.v1.0.0", state="UpgradePending", plan="install-1"),
            install_plan=install_plan(
                "Failed",
                "op.v1.0.0",
                conditions=[condition("Installed", "InstallComponentFailed", "CRD is too large", "False")],
            ),
        ),
        ["a new InstallPlan; install-1 failed: CRD is too large"],
        True,
    ),
    "unmet requirements": (
        changed(
            csv=csv(
                "op.v1.0.0",
                "Pending",
                "RequirementsNotMet",
                requirementStatus=[
                    {"kind": "CustomResourceDefinition", "name": "own", "status": "Present"},
                    {
                        "kind": "CustomResourceDefinition",
                        "name": "backups.example.com",
                        "status": "NotPresent",
                        "message": "CRD is not present",
                    },
                    {
                        "kind": "ServiceAccount",
                        "name": "op",
                        "status": "PresentNotSatisfied",
                        "dependents": [
                            {"status": "Satisfied", "message": "fine"},
                            {"status": "NotSatisfied", "message": "may not list pods"},
                        ],
                    },
                ],
            ),
            deployment=[],
            pod=[],
        ),
        [
            (
                "the requirements of op.v1.0.0: CustomResourceDefinition backups.example.com: CRD is not "
                "present; ServiceAccount op: may not list pods"
            )
        ],
        False,
    ),
    "unsupported install mode": (
        changed(
            csv=csv(
                "op.v1.0.0",
                "Failed",
                "UnsupportedOperatorGroup",
                spec={
                    "installModes": [
                        {"type": "OwnNamespace", "supported": True},
                        {"type": "AllNamespaces", "supported": False},
                    ]
                },
            ),
            deployment=[],
            pod=[],
        ),
        ["an OperatorGroup with an install mode that op.v1.0.0 supports: OwnNamespace"],
        True,
    ),
    "failed CSV that OLM retries": (
        changed(csv=csv("op.v1.0.0", "Failed", "InstallCheckFailed", message="timeout")),
        ["op.v1.0.0 to succeed; it failed: timeout"],
        False,
    ),
    "permanently failed CSV": (
        changed(csv=csv("op.v1.0.0", "Failed", "OwnerConflict", message="owned by other.v1")),
        ["op.v1.0.0 to succeed; it failed: owned by other.v1"],
        True,
    ),
    "replaced CSV that is not upgradeable": (
        changed(
            **UPGRADE,
            csv=[
                csv("op.v1.0.0", "Replacing"),
                csv("op.v1.1.0", "Pending", "OperatorConditionNotUpgradeable", "op.v1.0.0"),
            ],
            operator_condition=operator_condition("op.v1.0.0", "False", "a backup is running"),
        ),
        [
            (
                "op.v1.0.0 to become upgradeable; its OperatorCondition has Upgradeable=False "
                "(a backup is running)"
            )
        ],
        False,
    ),
    "deleted CSV": (
        changed(csv=[], deployment=[], pod=[]),
        [("ClusterServiceVersion op.v1.0.0, which the Subscription reports as installed but does not exist")],
        True,
    ),
    "crashing container": (
        changed(
            csv=csv("op.v1.0.0", "Installing", "InstallWaiting"),
            deployment=deployment(0),
            pod=pod(containerStatuses=CRASHING),
        ),
        [
            "op.v1.0.0 to succeed; its phase is Installing",
            (
                "Deployment op-controller to become available: pod op-1: container manager is waiting: "
                "CrashLoopBackOff (back-off 10s)"
            ),
        ],
        False,
    ),
    "unschedulable pod": (
        changed(
            csv=csv("op.v1.0.0", "Installing"),
            deployment=deployment(0),
            pod=pod(phase="Pending", conditions=[condition("PodScheduled", "", "no memory", "False")]),
        ),
        [
            "op.v1.0.0 to succeed; its phase is Installing",
            "Deployment op-controller to become available: pod op-1: is unschedulable: no memory",
        ],
        False,
    ),
    "pods that cannot be created": (
        changed(
            deployment=deployment(
                0, conditions=[condition("ReplicaFailure", "FailedCreate", "quota exceeded")]
            ),
            pod=[],
        ),
        ["Deployment op-controller to become available: quota exceeded"],
        False,
    ),
    "missing Deployment": (
        changed(deployment=[], pod=[]),
        ["Deployment op-controller to be created"],
        False,
    ),
}


@pytest.mark.parametrize(("snapshot", "expected", "is_blocked"), WAITS.values(), ids=WAITS)
def test_waits(snapshot: Any, expected: list[str], is_blocked: bool) -> None:
    status = operator_status(snapshot)
    assert messages(status) == expected
    assert status.is_blocked == is_blocked


def test_upgrade_in_progress_has_running_and_next_csv() -> None:
    status = operator_status(
        changed(
            **UPGRADE,
            csv=[csv("op.v1.0.0", "Replacing"), csv("op.v1.1.0", "Installing", replaces="op.v1.0.0")],
        )
    )
    assert (status.running_csv, status.next_csv) == ("op.v1.0.0", "op.v1.1.0")
    assert status.headline == "op.v1.0.0 is running, upgrade to op.v1.1.0 is pending"
    assert not status.is_settled


def test_pending_install_plan_keeps_the_running_csv() -> None:
    status = operator_status(
        changed(
            subscription=subscription("op.v1.0.0", "op.v1.1.0", state="UpgradePending", plan="install-2"),
            install_plan=install_plan("RequiresApproval", "op.v1.1.0", name="install-2", approved=False),
        )
    )
    assert (status.running_csv, status.next_csv, status.pending_plan) == (
        "op.v1.0.0",
        "op.v1.1.0",
        "install-2",
    )


def test_override_has_precedence_over_the_condition() -> None:
    overridden = operator_condition("op.v1.0.0", "False", "busy")
    overridden["spec"] = {"overrides": [{"type": "Upgradeable", "status": "True", "message": "go"}]}
    last = operator_status(changed(operator_condition=overridden)).chain[-1]
    assert (last.state.value, last.summary) == ("fine", "Upgradeable=True: go")


def test_condition_of_an_older_generation_is_not_upgradeable() -> None:
    last = operator_status(
        changed(operator_condition=operator_condition("op.v1.0.0", "True", generation=0))
    ).chain[-1]
    assert (last.state.value, last.summary) == (
        "waiting",
        "Upgradeable=False: the condition is outdated",
    )


def test_copied_csv_is_not_running() -> None:
    copied = csv("op.v1.0.0")
    copied["metadata"]["labels"] = {"olm.copiedFrom": "elsewhere"}
    assert operator_status(changed(csv=copied, deployment=[], pod=[])).running_csv == ""


@pytest.mark.parametrize("kind", RUNNING)
def test_null_fields_are_accepted(kind: str) -> None:
    """API servers serve empty fields as null."""
    bare = {**RUNNING[kind], "spec": None, "status": None}
    bare |= {"spec": {"name": PKG, "source": "op-catalog"}} if kind == "subscription" else {}
    operator_status(changed(**{kind: bare}))


def test_resolution_failure_about_deleted_csv_is_stale() -> None:
    message = "@existing/ns//op.v0.9.0 and @existing/ns//op.v1.0.0 originate from package op"
    unresolved = subscription(
        "op.v1.0.0",
        "op.v1.0.0",
        resolution_failed(message),
        state="AtLatestKnown",
        plan="install-1",
    )
    status = operator_status(changed(subscription=unresolved))
    assert messages(status) == [
        f"OLM to resolve again; the reported failure is about op.v0.9.0, which was deleted: {message}"
    ]
    assert status.is_stale
    current = operator_status(changed(subscription=unresolved, csv=[csv("op.v1.0.0"), csv("op.v0.9.0")]))
    assert not current.is_stale


def test_deployment_rollout_shows_updated_replicas() -> None:
    rolling = deployment(1, updatedReplicas=0)
    status = operator_status(changed(deployment=rolling))
    (last,) = [obj for obj in status.chain if obj.kind == "Deployment"]
    assert (last.state.value, last.summary) == ("working", "0 of 1 updated")


def test_missing_csv_after_complete_install_plan_waits_for_olm() -> None:
    status = operator_status(
        fresh(
            subscription=subscription("", "op.v1.0.0", state="UpgradePending", plan="install-1"),
            install_plan=install_plan("Complete", "op.v1.0.0"),
        )
    )
    assert messages(status) == ["OLM to install op.v1.0.0"]
    assert not status.is_blocked
