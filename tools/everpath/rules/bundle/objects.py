"""Rules for objects that can harm the whole cluster (validators object and operatorgroup)."""

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
from everpath.rules.bundle.csv import wrong_case_annotations
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
    """A PodDisruptionBudget allows evictions: maxUnavailable is not 0 and minAvailable is not 100%.

    Otherwise nodes with its pods cannot be drained, and the cluster cannot be upgraded. Cost: one test a
    budget.
    """
    for budget in bundle.contents.of_kind("PodDisruptionBudget"):
        spec = value_at(budget.body, "spec")
        most, least = value_at(spec, "maxUnavailable"), value_at(spec, "minAvailable")
        because = ("without draining its nodes, the cluster cannot be upgraded",)
        if most in (0, "0%") and most is not False:
            message = f"nodes cannot be drained: PodDisruptionBudget {budget.name} has maxUnavailable: {most}"
            yield Flaw(budget.place.at("spec", "maxUnavailable"), message, because, fix="write at least 1")
        if least == "100%":
            message = f"nodes cannot be drained: PodDisruptionBudget {budget.name} has minAvailable: 100%"
            yield Flaw(budget.place.at("spec", "minAvailable"), message, because, fix="write less than 100%")


@bundle_folder_rule("EP682", "default-priority-class", Severity.ERROR, "object")
def default_priority_class(bundle: BundleFolder) -> Iterator[Flaw]:
    """No PriorityClass of a bundle is the global default.

    Otherwise every pod of the cluster without a class gets its priority. Cost: one look-up a PriorityClass.
    """
    for priority in bundle.contents.of_kind("PriorityClass"):
        if value_at(priority.body, "globalDefault") is True:
            yield Flaw(
                priority.place.at("globalDefault"),
                f"pods of all namespaces get PriorityClass {priority.name}: it is the global default",
                because=("every pod without a priority class gets it",),
                fix="remove globalDefault",
            )


def _rules(bundle: BundleFolder) -> Iterator[tuple[Manifest, int, Any]]:
    for kind in ("Role", "ClusterRole"):
        for role in bundle.contents.of_kind(kind):
            for i, rule in items_at(role.body, "rules"):
                yield role, i, rule


def _values(rule: Any, key: str) -> set[str]:
    return {as_string(item) for _, item in items_at(rule, key)}


@bundle_folder_rule("EP683", "rights-to-budgets", Severity.WARNING, "object")
def rights_to_budgets(bundle: BundleFolder) -> Iterator[Flaw]:
    """No role of a bundle may create or change PodDisruptionBudgets.

    A wrong budget prevents that nodes are drained. Cost: one test an RBAC rule.
    """
    for role, i, rule in _rules(bundle):
        is_budget = "policy" in _values(rule, "apiGroups") and "poddisruptionbudgets" in _values(
            rule, "resources"
        )
        if is_budget and _values(rule, "verbs") & {"*", "create", "update", "patch"}:
            yield Flaw(
                role.place.at("rules", i),
                f"{role.kind} {role.name} may create or change PodDisruptionBudgets",
                because=("with a wrong budget, nodes cannot be drained",),
                fix="remove the permission; a bundle can contain the PodDisruptionBudget itself",
            )


@bundle_folder_rule("EP684", "rights-to-constraints", Severity.ERROR, "object")
def rights_to_constraints(bundle: BundleFolder) -> Iterator[Flaw]:
    """No role of a bundle may change a default SecurityContextConstraints object of OpenShift.

    All workloads of the cluster depend on them. Cost: one test an RBAC rule.
    """
    for role, i, rule in _rules(bundle):
        names = sorted(_values(rule, "resourceNames") & _DEFAULT_SCCS)
        is_constraint = (
            "security.openshift.io" in _values(rule, "apiGroups")
            and "securitycontextconstraints" in _values(rule, "resources")
            and _values(rule, "verbs") & {"*", "delete", "update", "patch"}
        )
        if is_constraint and names:
            yield Flaw(
                role.place.at("rules", i),
                f"{role.kind} {role.name} may change the SecurityContextConstraints {names[0]}",
                because=("it is a default of OpenShift, and all workloads depend on it",),
                fix="allow only the verb use, or add a SecurityContextConstraints of your own",
            )


@bundle_folder_rule("EP685", "operator-group-annotation", Severity.ERROR, "operatorgroup")
def operator_group_annotation(bundle: BundleFolder) -> Iterator[Flaw]:
    """The annotations of an OperatorGroup that OLM reads have the exact case.

    OLM ignores them otherwise. Cost: one look-up an annotation.
    """
    for group in bundle.contents.of_kind("OperatorGroup"):
        yield from wrong_case_annotations(group)
