"""Rules about objects that can harm the cluster."""

from __future__ import annotations

from typing import Any

import pytest

from everpath.model import Place
from everpath.model.bundle_contents import BundleFolder, Contents, Manifest
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import Rule, rules_for_subjects

RULES: dict[str, Rule] = {rule.id: rule for rule in rules_for_subjects({"bundle folder"})}


def flaws(rule: str, *bodies: dict[str, Any]) -> list[Flaw]:
    """What a rule says of some objects, each in a file of its own."""
    manifests = tuple(Manifest(Place(f"{i}.yaml"), body) for i, body in enumerate(bodies))
    found = list(RULES[rule].check(BundleFolder(Contents("f", Place("f"), manifests))))
    assert all(flaw.because and flaw.fix for flaw in found)
    return found


def places(rule: str, *bodies: dict[str, Any]) -> list[tuple[str, tuple[str | int, ...]]]:
    return [(flaw.place.file, flaw.place.pointer) for flaw in flaws(rule, *bodies)]


def budget(**spec: Any) -> dict[str, Any]:
    return {"kind": "PodDisruptionBudget", "metadata": {"name": "few"}, "spec": spec}


def role(*rules: dict[str, Any], kind: str = "Role") -> dict[str, Any]:
    return {"kind": kind, "metadata": {"name": "mighty"}, "rules": list(rules)}


def right(group: str, resource: str, verb: str, *names: str) -> dict[str, Any]:
    """A right to one thing; others stand before it in each list."""
    return {
        "apiGroups": ["", group],
        "resources": ["pods", resource],
        "verbs": ["get", verb],
        "resourceNames": ["mine", *names],
    }


def test_each_rule_belongs_to_a_validator() -> None:
    assert {
        id_: (r.name, r.severity, r.validators) for id_, r in RULES.items() if "EP681" <= id_ <= "EP685"
    } == {
        "EP681": ("disruption-budget", Severity.ERROR, ("object",)),
        "EP682": ("default-priority-class", Severity.ERROR, ("object",)),
        "EP683": ("rights-to-budgets", Severity.WARNING, ("object",)),
        "EP684": ("rights-to-constraints", Severity.ERROR, ("object",)),
        "EP685": ("operator-group-annotation", Severity.ERROR, ("operatorgroup",)),
    }


@pytest.mark.parametrize("spec", [{"maxUnavailable": 0}, {"maxUnavailable": "0%"}, {"minAvailable": "100%"}])
def test_budget_that_prevents_evictions_is_reported(spec: dict[str, Any]) -> None:
    [key] = spec
    assert places("EP681", budget(), budget(**spec), budget(**spec)) == [
        ("1.yaml", ("spec", key)),
        ("2.yaml", ("spec", key)),
    ]


@pytest.mark.parametrize(
    "spec",
    [{"maxUnavailable": 1}, {"maxUnavailable": "1%"}, {"maxUnavailable": False}, {"minAvailable": "99%"}, {}],
)
def test_budget_that_allows_an_eviction_is_accepted(spec: dict[str, Any]) -> None:
    assert flaws("EP681", budget(**spec)) == []


def test_budget_can_have_two_findings() -> None:
    found = flaws("EP681", budget(maxUnavailable=0, minAvailable="100%"))
    assert [flaw.message for flaw in found] == [
        "nodes cannot be drained: PodDisruptionBudget few has maxUnavailable: 0",
        "nodes cannot be drained: PodDisruptionBudget few has minAvailable: 100%",
    ]


def test_no_priority_class_is_the_default_of_the_cluster() -> None:
    default, *others = ({"kind": "PriorityClass", "globalDefault": value} for value in (True, False, "true"))
    found = places("EP682", default, *others, default)
    assert found == [("0.yaml", ("globalDefault",)), ("3.yaml", ("globalDefault",))]


@pytest.mark.parametrize("kind", ["Role", "ClusterRole"])
@pytest.mark.parametrize("verb", ["*", "create", "update", "patch"])
def test_no_role_may_write_budgets(kind: str, verb: str) -> None:
    written = right("policy", "poddisruptionbudgets", verb)
    made = role({}, written, written, kind=kind)
    assert places("EP683", made, made) == [
        (file, ("rules", i)) for file in ("0.yaml", "1.yaml") for i in (1, 2)
    ]


@pytest.mark.parametrize(
    "rule",
    [
        right("policy", "poddisruptionbudgets", "list"),
        right("policy", "pods", "create"),
        right("apps", "poddisruptionbudgets", "create"),
    ],
)
def test_a_role_may_read_budgets_and_write_other_things(rule: dict[str, Any]) -> None:
    assert flaws("EP683", role(rule)) == []


OPENSHIFT = ("security.openshift.io", "securitycontextconstraints")
OWN = "privileged restricted anyuid hostaccess hostmount-anyuid hostnetwork node-exporter nonroot"


@pytest.mark.parametrize("name", OWN.split())
@pytest.mark.parametrize("verb", ["*", "delete", "update", "patch"])
def test_no_role_may_change_a_constraint_that_openshift_comes_with(name: str, verb: str) -> None:
    found = flaws("EP684", role({}, right(*OPENSHIFT, verb, name)), role(right(*OPENSHIFT, verb, name)))
    assert [flaw.place.pointer for flaw in found] == [("rules", 1), ("rules", 0)]
    assert found[0].message == f"Role mighty may change the SecurityContextConstraints {name}"


def test_first_constraint_by_name_is_reported() -> None:
    [found] = flaws("EP684", role(right(*OPENSHIFT, "*", *OWN.split())))
    assert found.message.endswith("SecurityContextConstraints anyuid")


@pytest.mark.parametrize(
    "rule",
    [
        right(*OPENSHIFT, "use", "anyuid"),
        right(*OPENSHIFT, "update"),
        right(OPENSHIFT[0], "routes", "update", "anyuid"),
        right("apps", OPENSHIFT[1], "update", "anyuid"),
    ],
)
def test_role_can_use_defaults_and_change_its_own_constraint(rule: dict[str, Any]) -> None:
    assert flaws("EP684", role(rule)) == []


def test_annotations_of_every_operator_group_are_checked() -> None:
    group = {"kind": "OperatorGroup", "metadata": {"annotations": {"OLM.providedAPIs": "a"}}}
    assert len(flaws("EP685", group, {"kind": "Other", "metadata": group["metadata"]}, group)) == 2
