"""Each upgrade rule reports the unsafe changes of one kind, with OLM's response."""

from __future__ import annotations

import pytest

from everpath.crd_upgrade_safety import UnsafeChange, Upgrade
from everpath.crd_upgrade_safety.unsafe_changes import ChangeKind, OlmResponse, OlmResponses
from everpath.model import Place
from everpath.rules.findings import Severity
from everpath.rules.registry import Rule, rules_for_subjects

RULES: dict[str, tuple[ChangeKind, str, Severity]] = {
    "EP701": ("stored-removed", "stored-version-removed", Severity.ERROR),
    "EP702": ("field-removed", "field-removed", Severity.ERROR),
    "EP703": ("field-retyped", "field-retyped", Severity.ERROR),
    "EP704": ("validation-tightened", "validation-tightened", Severity.WARNING),
    "EP705": ("scope-changed", "scope-changed", Severity.ERROR),
    "EP706": ("conversion-lost", "conversion-lost", Severity.ERROR),
    "EP707": ("served-removed", "served-version-removed", Severity.WARNING),
    "EP708": ("default-changed", "default-changed", Severity.WARNING),
    "EP709": ("definition-removed", "definition-removed", Severity.WARNING),
    "EP710": ("change-refused", "change-refused", Severity.WARNING),
    "EP711": ("served-versions-refused", "served-versions-refused", Severity.WARNING),
}
#: Rules about what only OLM v1 refuses.
V1_RULES = {"EP710", "EP711"}
RULES_BY_ID: dict[str, Rule] = {rule.id: rule for rule in rules_for_subjects({"upgrade"})}


def unsafe_change(kind: ChangeKind, file: str = "crd.yaml") -> UnsafeChange:
    return UnsafeChange(
        kind, "widgets.acme.io", "v2", f"{kind}.", Place(file), OlmResponses(v1=OlmResponse.REFUSES)
    )


def test_every_upgrade_rule_is_in_the_table() -> None:
    assert {rule.id: (rule.name, rule.severity) for rule in RULES_BY_ID.values()} == {
        id_: (name, severity) for id_, (_, name, severity) in RULES.items()
    }
    assert {rule.id for rule in RULES_BY_ID.values() if rule.resolver == "v1"} == V1_RULES


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_reports_every_change_of_its_kind_and_no_other(rule: str) -> None:
    kind, *_ = RULES[rule]
    others = [unsafe_change(other) for other, *_ in RULES.values() if other != kind]
    upgrade = Upgrade(
        "a", "b", (*others, unsafe_change(kind, "1.yaml"), unsafe_change(kind, "2.yaml")), (("v1", "fast"),)
    )
    flaws = list(RULES_BY_ID[rule].check(upgrade))
    assert [(flaw.place, flaw.message, flaw.entry) for flaw in flaws] == [
        (Place(file), f"a to b: {kind}.", "b") for file in ("1.yaml", "2.yaml")
    ]


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_states_the_response_of_each_olm_in_each_channel(rule: str) -> None:
    upgrade = Upgrade("a", "b", (unsafe_change(RULES[rule][0]),), (("v0", "stable"), ("v1", "fast")))
    [flaw] = RULES_BY_ID[rule].check(upgrade)
    v0, v1 = (
        "OLM v0 selects this hop in stable, and carries it out",
        "OLM v1 selects this hop in fast, and refuses it",
    )
    assert flaw.because == ((v1,) if rule in V1_RULES else (v0, v1))


@pytest.mark.parametrize("rule", RULES)
def test_a_fix_names_the_version_or_the_crd(rule: str) -> None:
    [flaw] = RULES_BY_ID[rule].check(Upgrade("a", "b", (unsafe_change(RULES[rule][0]),), (("v1", "fast"),)))
    fix = str(flaw.fix)
    assert "{" not in fix
    # The fix for a scope names neither.
    assert rule == "EP705" or "v2" in fix or "widgets.acme.io" in fix


@pytest.mark.parametrize("rule", RULES)
def test_v1_rules_report_only_hops_that_v1_takes(rule: str) -> None:
    upgrade = Upgrade("a", "b", (unsafe_change(RULES[rule][0]),), (("v0", "stable"),))
    assert len(list(RULES_BY_ID[rule].check(upgrade))) == (rule not in V1_RULES)
