"""Each rule about upgrades tells the breaches of one kind, with what OLM does there."""

from __future__ import annotations

import pytest

from everpath.crd_upgrade_safety import Breach, Upgrade
from everpath.crd_upgrade_safety.breaches import Fates, Kind
from everpath.model import Place
from everpath.rules.findings import Severity
from everpath.rules.registry import Rule, rules_about

RULES: dict[str, tuple[Kind, str, Severity]] = {
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
#: What only OLM v1 has to say.
OF_V1 = {"EP710", "EP711"}
KNOWN: dict[str, Rule] = {rule.id: rule for rule in rules_about({"upgrade"})}


def breach(kind: Kind, place: str = "crd.yaml") -> Breach:
    return Breach(
        kind, "widgets.acme.io", "v2", f"{kind}.", Place(place), Fates("carries it out", "refuses it")
    )


def test_every_rule_about_upgrades_is_in_the_table() -> None:
    assert {rule.id: (rule.name, rule.severity) for rule in KNOWN.values()} == {
        id_: (name, severity) for id_, (_, name, severity) in RULES.items()
    }
    assert {rule.id for rule in KNOWN.values() if rule.policy == "v1"} == OF_V1


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_tells_every_breach_of_its_kind_and_none_of_another(rule: str) -> None:
    kind, *_ = RULES[rule]
    others = [breach(other) for other, *_ in RULES.values() if other != kind]
    upgrade = Upgrade("a", "b", (*others, breach(kind, "1.yaml"), breach(kind, "2.yaml")), (("v1", "fast"),))
    flaws = list(KNOWN[rule].check(upgrade))
    assert [(flaw.place, flaw.message, flaw.entry) for flaw in flaws] == [
        (Place(file), f"a to b: {kind}.", "b") for file in ("1.yaml", "2.yaml")
    ]


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_says_what_each_olm_does_in_each_channel_that_goes_there(rule: str) -> None:
    upgrade = Upgrade("a", "b", (breach(RULES[rule][0]),), (("v0", "stable"), ("v1", "fast")))
    [flaw] = KNOWN[rule].check(upgrade)
    v0, v1 = (
        "OLM v0 takes this step in stable, and carries it out",
        "OLM v1 takes this step in fast, and refuses it",
    )
    assert flaw.because == ((v1,) if rule in OF_V1 else (v0, v1))


@pytest.mark.parametrize("rule", RULES)
def test_a_fix_names_the_version_or_the_definition_it_is_about(rule: str) -> None:
    [flaw] = KNOWN[rule].check(Upgrade("a", "b", (breach(RULES[rule][0]),), (("v1", "fast"),)))
    fix = str(flaw.fix)
    assert "{" not in fix
    # A scope is the whole definition's, whatever its name.
    assert rule == "EP705" or "v2" in fix or "widgets.acme.io" in fix


@pytest.mark.parametrize("rule", RULES)
def test_what_only_v1_refuses_is_told_only_where_v1_goes(rule: str) -> None:
    upgrade = Upgrade("a", "b", (breach(RULES[rule][0]),), (("v0", "stable"),))
    assert len(list(KNOWN[rule].check(upgrade))) == (rule not in OF_V1)
