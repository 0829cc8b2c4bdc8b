"""Where an operator stands, from the objects alone: what is said of each way to be stuck."""

from __future__ import annotations

from typing import Any

import pytest

from clusters import (
    PKG,
    catalog,
    csv,
    deployment,
    group,
    observed,
    operator_condition,
    plan,
    pod,
    subscription,
)
from everpath.olm.chain import Chain, chain

RUNNING: dict[str, Any] = {
    "catalog": catalog(),
    "group": group(),
    "subscription": subscription("op.v1.0.0", "op.v1.0.0", state="AtLatestKnown", plan="install-1"),
    "plan": plan("Complete", "op.v1.0.0"),
    "csv": csv("op.v1.0.0"),
    "deployment": deployment(),
    "pod": pod(),
    "condition": operator_condition("op.v1.0.0", "True"),
}


def condition(kind: str, reason: str = "", message: str = "", status: str = "True", **more: str) -> Any:
    return {"type": kind, "status": status, "reason": reason, "message": message, **more}


def test_an_operator_that_runs_waits_for_nothing() -> None:
    seen = chain(observed(**RUNNING))
    assert [(link.kind, link.name, link.state.value) for link in seen.links] == [
        ("CatalogSource", "op-catalog", "fine"),
        ("OperatorGroup", "og", "fine"),
        ("Subscription", "op", "fine"),
        ("InstallPlan", "install-1", "fine"),
        ("ClusterServiceVersion", "op.v1.0.0", "fine"),
        ("Deployment", "op-controller", "fine"),
        ("OperatorCondition", "op.v1.0.0", "fine"),
    ]
    assert seen.waits == ()
    assert seen.is_settled
    assert seen.headline == "op.v1.0.0 runs"


def test_nobody_asked() -> None:
    seen = chain(observed())
    assert seen.headline == "nothing is installed"
    assert told(seen) == ["a Subscription: nobody asks OLM for op in namespace ns"]
    assert "everpath install op -n ns" in seen.waits[0].remedy
    assert seen.is_stuck


def told(seen: Chain) -> list[str]:
    return [wait.sentence for wait in seen.waits]


def changed(**things: Any) -> Any:
    return observed(**(RUNNING | things))


def fresh(**things: Any) -> Any:
    """Nothing is installed yet."""
    base = {"catalog": catalog(), "group": group(), "subscription": subscription()}
    return observed(**(base | things))


CRASHING = [
    {
        "name": "manager",
        "ready": False,
        "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 10s"}},
    }
]

UPGRADE = {
    "subscription": subscription("op.v1.1.0", "op.v1.1.0", state="UpgradePending", plan="install-2"),
    "plan": plan("Complete", "op.v1.1.0", name="install-2"),
}

TABLE: dict[str, tuple[Any, list[str], bool]] = {
    "the catalog is not there": (
        fresh(catalog=[]),
        [
            "CatalogSource op-catalog in namespace ns, which the Subscription names and nobody made",
            "OLM to look at the Subscription",
        ],
        True,
    ),
    "nobody serves at the address": (
        fresh(catalog=catalog("TRANSIENT_FAILURE")),
        [
            "an answer from the registry server at 10.0.0.7:50051, which OLM cannot reach",
            "OLM to look at the Subscription",
        ],
        False,
    ),
    "the catalog's image cannot be pulled": (
        fresh(
            catalog=catalog("CONNECTING", address=""),
            pod=pod(
                "cat-1",
                "Pending",
                containerStatuses=[
                    {"name": "registry", "ready": False, "state": {"waiting": {"reason": "ErrImagePull"}}}
                ],
            ),
        ),
        [
            "CatalogSource op-catalog to be served: pod cat-1: container registry waits: ErrImagePull",
            "OLM to look at the Subscription",
        ],
        False,
    ),
    "the catalog has no pod": (
        fresh(catalog=catalog("", address="")),
        ["a pod that serves CatalogSource op-catalog", "OLM to look at the Subscription"],
        False,
    ),
    "the catalog's spec is wrong": (
        fresh(catalog=catalog("", reason="SpecInvalidError", message="image and address unset")),
        ["CatalogSource op-catalog: image and address unset", "OLM to look at the Subscription"],
        True,
    ),
    "no OperatorGroup": (
        fresh(group=[]),
        [
            "an OperatorGroup in namespace ns: without one OLM installs nothing there",
            "OLM to look at the Subscription",
        ],
        True,
    ),
    "two OperatorGroups": (
        fresh(group=[group("a"), group("b")]),
        [
            "all OperatorGroups of namespace ns but one to go: with several OLM does nothing",
            "OLM to look at the Subscription",
        ],
        True,
    ),
    "two Subscriptions": (
        fresh(subscription=[subscription(), subscription(name="op-2")]),
        ["one of the Subscriptions op, op-2 to go: a package is installed once in a namespace"],
        True,
    ),
    "no answer to the constraints": (
        fresh(
            subscription=subscription(
                "",
                "",
                condition("ResolutionFailed", "ConstraintsNotSatisfiable", "no operators\nfound in op"),
            )
        ),
        ["an answer that OLM did not find: no operators found in op"],
        True,
    ),
    "an answer older than the catalog": (
        fresh(
            catalog=catalog(
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
                "an answer that OLM did not find (said at 2026-01-01T11:00:00Z, before the catalog was last "
                "connected at 2026-01-01T12:00:00Z): no such channel"
            )
        ],
        True,
    ),
    "no answer while an upgrade is under way": (
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
            "the move that is under way; until it ends OLM cannot decide: clash",
            "op.v1.1.0 to succeed; its phase is Installing",
        ],
        False,
    ),
    "an error that is tried again": (
        fresh(
            subscription=subscription(
                "",
                "",
                condition("ResolutionFailed", "ErrorPreventedResolution", "using catalogsource a/b: x"),
            )
        ),
        ["OLM, which could not decide and tries again: using catalogsource a/b: x"],
        False,
    ),
    "another catalog is unhealthy": (
        fresh(
            subscription={
                **(asked := subscription("", "", condition("CatalogSourcesUnhealthy"))),
                "status": asked["status"]
                | {
                    "catalogHealth": [
                        {"healthy": False, "catalogSourceRef": {"namespace": "olm", "name": "hub"}},
                        {"healthy": True, "catalogSourceRef": {"namespace": "ns", "name": "op-catalog"}},
                    ]
                },
            }
        ),
        ["catalogs to be healthy: olm/hub"],
        False,
    ),
    "the bundle is unpacked": (
        fresh(subscription=subscription("", "", condition("BundleUnpacking", message="job ns/x running"))),
        ["the bundle to be unpacked: job ns/x running"],
        False,
    ),
    "the bundle is unpacked, and OLM forgot to say so": (
        fresh(
            subscription=subscription(
                "", "op.v1.0.0", condition("BundleUnpacking"), state="UpgradePending", plan="install-1"
            ),
            plan=plan("RequiresApproval", "op.v1.0.0", approved=False),
        ),
        ["InstallPlan install-1 to be approved: it installs op.v1.0.0"],
        False,
    ),
    "the bundle cannot be unpacked": (
        fresh(subscription=subscription("", "", condition("BundleUnpackFailed", message="DeadlineExceeded"))),
        ["the bundle's image to be unpacked, which failed: DeadlineExceeded"],
        True,
    ),
    "a plan waits for approval": (
        fresh(
            subscription=subscription("", "op.v1.0.0", state="UpgradePending", plan="install-1"),
            plan=plan("RequiresApproval", "op.v1.0.0", "dep.v1", approved=False),
        ),
        ["InstallPlan install-1 to be approved: it installs op.v1.0.0, dep.v1"],
        False,
    ),
    "a plan is carried out": (
        fresh(
            subscription=subscription("", "op.v1.0.0", state="UpgradePending", plan="install-1"),
            plan=plan(
                "Installing", "op.v1.0.0", plan=[{"status": "Created"}, {"status": "Unknown"}, {"status": ""}]
            ),
        ),
        ["InstallPlan install-1 to be carried out: 1 of 3 steps done"],
        False,
    ),
    "a plan waits for its bundle": (
        fresh(
            subscription=subscription("", "op.v1.0.0", state="UpgradePending", plan="install-1"),
            plan=plan(
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
            "InstallPlan install-1 to be carried out: bundle op.v1.0.0 is unpacked (unpack job not done)",
        ],
        False,
    ),
    "a plan failed": (
        fresh(
            subscription=subscription("", "op.v1.0.0", state="UpgradePending", plan="install-1"),
            plan=plan(
                "Failed",
                "op.v1.0.0",
                conditions=[condition("Installed", "InstallComponentFailed", "CRD is too large", "False")],
            ),
        ),
        ["InstallPlan install-1, which failed: CRD is too large"],
        True,
    ),
    "a CSV lacks what it requires": (
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
                "what op.v1.0.0 requires: CustomResourceDefinition backups.example.com: CRD is not present; "
                "ServiceAccount op: may not list pods"
            )
        ],
        False,
    ),
    "an install mode that is not supported": (
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
        [
            (
                "another OperatorGroup: op.v1.0.0 supports OwnNamespace, and the OperatorGroup asks for "
                "something else"
            )
        ],
        True,
    ),
    "a CSV failed and is tried again": (
        changed(csv=csv("op.v1.0.0", "Failed", "InstallCheckFailed", message="timeout")),
        ["op.v1.0.0, which failed: timeout"],
        False,
    ),
    "a CSV failed for good": (
        changed(csv=csv("op.v1.0.0", "Failed", "OwnerConflict", message="owned by other.v1")),
        ["op.v1.0.0, which failed: owned by other.v1"],
        True,
    ),
    "the old release allows no upgrade": (
        changed(
            **UPGRADE,
            csv=[
                csv("op.v1.0.0", "Replacing"),
                csv("op.v1.1.0", "Pending", "OperatorConditionNotUpgradeable", "op.v1.0.0"),
            ],
            condition=operator_condition("op.v1.0.0", "False", "a backup runs"),
        ),
        ["op.v1.0.0 to allow its upgrade: it says Upgradeable=False (a backup runs)"],
        False,
    ),
    "a CSV was deleted": (
        changed(csv=[], deployment=[], pod=[]),
        ["ClusterServiceVersion op.v1.0.0, which is called installed and somebody deleted"],
        True,
    ),
    "a container crashes": (
        changed(
            csv=csv("op.v1.0.0", "Installing", "InstallWaiting"),
            deployment=deployment(0),
            pod=pod(containerStatuses=CRASHING),
        ),
        [
            "op.v1.0.0 to succeed; its phase is Installing",
            (
                "Deployment op-controller to be available: pod op-1: container manager waits: "
                "CrashLoopBackOff (back-off 10s)"
            ),
        ],
        False,
    ),
    "a pod finds no node": (
        changed(
            csv=csv("op.v1.0.0", "Installing"),
            deployment=deployment(0),
            pod=pod(phase="Pending", conditions=[condition("PodScheduled", "", "no memory", "False")]),
        ),
        [
            "op.v1.0.0 to succeed; its phase is Installing",
            "Deployment op-controller to be available: pod op-1: cannot be scheduled: no memory",
        ],
        False,
    ),
    "pods are refused": (
        changed(
            deployment=deployment(
                0, conditions=[condition("ReplicaFailure", "FailedCreate", "quota exceeded")]
            ),
            pod=[],
        ),
        ["Deployment op-controller to be available: quota exceeded"],
        False,
    ),
    "a deployment is not there": (
        changed(deployment=[], pod=[]),
        ["Deployment op-controller to be made"],
        False,
    ),
}


@pytest.mark.parametrize(("seen", "sentences", "is_final"), TABLE.values(), ids=TABLE)
def test_what_it_waits_for_is_said(seen: Any, sentences: list[str], is_final: bool) -> None:
    made = chain(seen)
    assert told(made) == sentences
    assert made.is_stuck == is_final


def test_an_upgrade_goes_from_what_runs_to_what_is_next() -> None:
    seen = chain(
        changed(
            **UPGRADE,
            csv=[csv("op.v1.0.0", "Replacing"), csv("op.v1.1.0", "Installing", replaces="op.v1.0.0")],
        )
    )
    assert (seen.running, seen.going_to) == ("op.v1.0.0", "op.v1.1.0")
    assert seen.headline == "op.v1.0.0 runs, and is to become op.v1.1.0"
    assert not seen.is_settled


def test_a_pending_plan_is_named_and_the_old_release_runs_on() -> None:
    seen = chain(
        changed(
            subscription=subscription("op.v1.0.0", "op.v1.1.0", state="UpgradePending", plan="install-2"),
            plan=plan("RequiresApproval", "op.v1.1.0", name="install-2", approved=False),
        )
    )
    assert (seen.running, seen.going_to, seen.pending) == ("op.v1.0.0", "op.v1.1.0", "install-2")


def test_what_the_administrator_overrides_counts_before_what_the_operator_says() -> None:
    said = operator_condition("op.v1.0.0", "False", "busy")
    said["spec"] = {"overrides": [{"type": "Upgradeable", "status": "True", "message": "go"}]}
    link = chain(changed(condition=said)).links[-1]
    assert (link.state.value, link.summary) == ("fine", "Upgradeable=True: go")


def test_what_an_operator_said_of_an_older_generation_holds_it_back() -> None:
    link = chain(changed(condition=operator_condition("op.v1.0.0", "True", generation=0))).links[-1]
    assert (link.state.value, link.summary) == (
        "waiting",
        "Upgradeable=False: what the operator said is outdated",
    )


def test_copies_of_other_namespaces_are_not_what_is_installed() -> None:
    copied = csv("op.v1.0.0")
    copied["metadata"]["labels"] = {"olm.copiedFrom": "elsewhere"}
    assert chain(changed(csv=copied, deployment=[], pod=[])).running == ""


@pytest.mark.parametrize("word", RUNNING)
def test_null_is_read_as_absent(word: str) -> None:
    """Servers serve empty fields as null for a moment."""
    bare = {**RUNNING[word], "spec": None, "status": None}
    bare |= {"spec": {"name": PKG, "source": "op-catalog"}} if word == "subscription" else {}
    chain(changed(**{word: bare}))


def test_an_answer_about_a_release_that_is_gone_is_stale() -> None:
    message = "@existing/ns//op.v0.9.0 and @existing/ns//op.v1.0.0 originate from package op"
    asked = subscription(
        "op.v1.0.0",
        "op.v1.0.0",
        condition("ResolutionFailed", "ConstraintsNotSatisfiable", message),
        state="AtLatestKnown",
        plan="install-1",
    )
    seen = chain(changed(subscription=asked))
    assert told(seen) == [f"OLM to decide again: what it says is of op.v0.9.0, which is gone: {message}"]
    assert seen.is_stale
    still = chain(changed(subscription=asked, csv=[csv("op.v1.0.0"), csv("op.v0.9.0")]))
    assert not still.is_stale


def test_pods_that_are_being_replaced_are_counted_apart() -> None:
    rolling = deployment(1, updatedReplicas=0)
    link = next(link for link in chain(changed(deployment=rolling)).links if link.kind == "Deployment")
    assert (link.state.value, link.summary) == ("working", "0 of 1 updated")


def test_between_two_links_it_is_olms_turn() -> None:
    seen = chain(
        fresh(
            subscription=subscription("", "op.v1.0.0", state="UpgradePending", plan="install-1"),
            plan=plan("Complete", "op.v1.0.0"),
        )
    )
    assert told(seen) == ["OLM to bring in op.v1.0.0"]
    assert not seen.is_stuck
