"""Objects beside the CSV that may hurt the cluster they are applied to (validators object, operatorgroup)."""

from __future__ import annotations

__all__ = [
    "default_priority_class",
    "disruption_budget",
    "operator_group_annotation",
    "rights_to_budgets",
    "rights_to_constraints",
]

from collections.abc import Iterator
from typing import Any, Final

from everpath.manifest_access import as_string, items_at, value_at
from everpath.model.bundle_contents import BundleFolder, Manifest
from everpath.rules.bundle.csv import misspelt
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import bundle_folder_rule

_DEFAULT_SCCS: Final = frozenset(
    {
        "privileged",
        "restricted",
        "anyuid",
        "hostaccess",
        "hostmount-anyuid",
        "hostnetwork",
        "node-exporter",
        "nonroot",
    }
)


@bundle_folder_rule("EP681", "disruption-budget", Severity.ERROR, "object")
def disruption_budget(bundle: BundleFolder) -> Iterator[Flaw]:
    """A PodDisruptionBudget allows a pod to be evicted: maxUnavailable is not 0, minAvailable not 100%.

    Otherwise no node with such a pod can be drained, and the cluster is never upgraded. Cost: one look each.
    """
    for budget in bundle.contents.of_kind("PodDisruptionBudget"):
        spec = value_at(budget.body, "spec")
        most, least = value_at(spec, "maxUnavailable"), value_at(spec, "minAvailable")
        because = ("no node with such a pod can be drained: the cluster cannot be upgraded",)
        if most in (0, "0%") and most is not False:
            message = f"PodDisruptionBudget {budget.name} lets no pod be unavailable"
            yield Flaw(budget.place.at("spec", "maxUnavailable"), message, because, fix="write at least 1")
        if least == "100%":
            message = f"PodDisruptionBudget {budget.name} wants all pods available"
            yield Flaw(budget.place.at("spec", "minAvailable"), message, because, fix="write less than 100%")


@bundle_folder_rule("EP682", "default-priority-class", Severity.ERROR, "object")
def default_priority_class(bundle: BundleFolder) -> Iterator[Flaw]:
    """No PriorityClass of a bundle is the default of the whole cluster.

    Every pod without a class would get it, whoever's it is. Cost: one look-up each.
    """
    for priority in bundle.contents.of_kind("PriorityClass"):
        if value_at(priority.body, "globalDefault") is True:
            yield Flaw(
                priority.place.at("globalDefault"),
                f"PriorityClass {priority.name} is the default of the cluster",
                because=("every pod that names no class would get it",),
                fix="remove globalDefault",
            )


def _rules(bundle: BundleFolder) -> Iterator[tuple[Manifest, int, Any]]:
    for kind in ("Role", "ClusterRole"):
        for role in bundle.contents.of_kind(kind):
            for i, rule in items_at(role.body, "rules"):
                yield role, i, rule


def _said(rule: Any, key: str) -> set[str]:
    return {as_string(item) for _, item in items_at(rule, key)}


@bundle_folder_rule("EP683", "rights-to-budgets", Severity.WARNING, "object")
def rights_to_budgets(bundle: BundleFolder) -> Iterator[Flaw]:
    """No role of a bundle may create or change PodDisruptionBudgets.

    A wrong one keeps nodes from being drained. Cost: one look at each rule.
    """
    for role, i, rule in _rules(bundle):
        is_budget = "policy" in _said(rule, "apiGroups") and "poddisruptionbudgets" in _said(
            rule, "resources"
        )
        if is_budget and _said(rule, "verbs") & {"*", "create", "update", "patch"}:
            yield Flaw(
                role.place.at("rules", i),
                f"{role.kind} {role.name} may create or change PodDisruptionBudgets",
                because=("a wrong one keeps nodes from being drained",),
                fix="put the budget into the bundle instead, or take away the right",
            )


@bundle_folder_rule("EP684", "rights-to-constraints", Severity.ERROR, "object")
def rights_to_constraints(bundle: BundleFolder) -> Iterator[Flaw]:
    """No role of a bundle may change a security context constraint that OpenShift comes with.

    All workloads of the cluster rely on them. Cost: one look at each rule.
    """
    for role, i, rule in _rules(bundle):
        names = sorted(_said(rule, "resourceNames") & _DEFAULT_SCCS)
        is_constraint = (
            "security.openshift.io" in _said(rule, "apiGroups")
            and "securitycontextconstraints" in _said(rule, "resources")
            and _said(rule, "verbs") & {"*", "delete", "update", "patch"}
        )
        if is_constraint and names:
            yield Flaw(
                role.place.at("rules", i),
                f"{role.kind} {role.name} may change the security context constraint {names[0]}",
                because=("it is OpenShift's own, and every workload relies on it",),
                fix="ask for the verb use alone, or bring a constraint of your own",
            )


@bundle_folder_rule("EP685", "operator-group-annotation", Severity.ERROR, "operatorgroup")
def operator_group_annotation(bundle: BundleFolder) -> Iterator[Flaw]:
    """The annotations of an OperatorGroup that OLM reads are written in the case in which it reads them.

    In another case they are annotations like any other. Cost: one look-up each.
    """
    for group in bundle.contents.of_kind("OperatorGroup"):
        yield from misspelt(group)
