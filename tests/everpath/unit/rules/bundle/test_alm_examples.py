"""Rules about alm-examples."""

from __future__ import annotations

import json
from typing import Any

import pytest

from everpath.model import Place
from everpath.model.bundle_contents import BundleFolder, Contents, Manifest
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import Rule, rules_for_subjects

RULES: dict[str, Rule] = {rule.id: rule for rule in rules_for_subjects({"bundle folder"})}
OWNED = ("spec", "customresourcedefinitions", "owned")
SERVED = ("spec", "apiservicedefinitions", "owned")


def flaws(rule: str, notes: dict[str, Any], *crds: dict[str, Any], served: Any = ()) -> list[Flaw]:
    """What a rule says of a CSV with some annotations that owns some APIs."""
    body = {
        "kind": "ClusterServiceVersion",
        "metadata": {"annotations": notes},
        "spec": {
            "customresourcedefinitions": {"owned": list(crds)},
            "apiservicedefinitions": {"owned": list(served)},
        },
    }
    contents = Contents("f", Place("f"), (Manifest(Place("csv.yaml"), body),))
    found = list(RULES[rule].check(BundleFolder(contents)))
    assert all(flaw.because and flaw.fix for flaw in found)
    return found


def crd(version: str, kind: str = "Cache", name: str = "caches.acme.io") -> dict[str, Any]:
    return {"name": name, "version": version, "kind": kind}


def example(version: str, kind: str = "Cache", group: str = "acme.io/") -> dict[str, Any]:
    return {"apiVersion": f"{group}{version}", "kind": kind}


def written(*examples: Any, key: str = "alm-examples") -> dict[str, Any]:
    return {key: json.dumps(examples)}


def test_each_rule_belongs_to_a_validator() -> None:
    table = {id_: (r.name, r.severity, r.validators) for id_, r in RULES.items() if "EP623" <= id_ <= "EP628"}
    assert table == {
        "EP623": ("no-examples", Severity.WARNING, ("csv",)),
        "EP624": ("two-example-annotations", Severity.WARNING, ("csv",)),
        "EP625": ("examples-do-not-parse", Severity.ERROR, ("csv", "opm")),
        "EP626": ("example-without-api", Severity.ERROR, ("csv", "opm")),
        "EP627": ("api-without-example", Severity.WARNING, ("csv",)),
        "EP628": ("owned-crd-name", Severity.ERROR, ("csv", "opm")),
    }


def test_examples_can_be_in_either_annotation() -> None:
    [flaw] = flaws("EP623", {"other": "[]"})
    assert flaw.place.pointer == ("metadata", "annotations")
    assert flaws("EP623", {"alm-examples": ""}) == flaws("EP623", {"olm.examples": ""}) == []


def test_second_annotation_is_reported() -> None:
    [flaw] = flaws("EP624", {"alm-examples": "[]", "olm.examples": "[]"})
    assert flaw.place.pointer == ("metadata", "annotations", "olm.examples")
    assert flaws("EP624", {"alm-examples": "[]"}) == flaws("EP624", {"olm.examples": "[]"}) == []


@pytest.mark.parametrize("key", ["alm-examples", "olm.examples"])
@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[", "Expecting value"),
        ("{}", "the value is not a list"),
        ('"a"', "the value is not a list"),
        ('[{"kind": "A"}, 1]', "an example has no kind"),
        ('[{"kind": "A"}, {"kind": ""}]', "an example has no kind"),
        ('[{"apiVersion": "a/v1"}]', "an example has no kind"),
    ],
)
def test_invalid_examples_are_reported_with_a_reason(key: str, text: str, fault: str) -> None:
    [flaw] = flaws("EP625", {key: text})
    assert flaw.place.pointer == ("metadata", "annotations", key)
    assert flaw.message.startswith(f"consoles show no examples, because {key} does not parse: {fault}")
    # Examples that do not parse have no other findings.
    assert flaws("EP626", {key: text}) == flaws("EP627", {key: text}, crd("v1")) == []


@pytest.mark.parametrize("text", ["", "null", "[]", '[{"kind": "A"}]'])
def test_empty_examples_parse(text: str) -> None:
    assert flaws("EP625", {"alm-examples": text}) == flaws("EP625", {}) == []


def test_alm_examples_is_used_before_olm_examples() -> None:
    both = {"olm.examples": "[", "alm-examples": "[]"}
    assert flaws("EP625", both) == []


def test_an_example_is_of_an_api_that_is_owned_as_a_crd_or_served() -> None:
    served = [{"group": "acme.io", "version": "v1", "kind": "Served"}]
    notes = written(example("v1"), example("v1", "Served"))
    assert flaws("EP626", notes, crd("v1"), served=served) == []
    assert flaws("EP627", notes, crd("v1"), served=served) == []


def test_example_of_an_api_that_is_not_owned_is_reported_once() -> None:
    notes = written(example("v9"), example("v9"), example("v1", "Other"), example("v8", group=""))
    found = flaws("EP626", notes, *(crd(f"v{n}") for n in (5, 3, 1, 4, 2)))
    assert {flaw.place.pointer for flaw in found} == {("metadata", "annotations", "alm-examples")}
    assert [flaw.fix for flaw in found] == [
        "change the example to Cache (acme.io/v5)",
        "remove the example, or add the API to the owned ones",
        "change the example to Cache (acme.io/v5)",
    ]
    assert [flaw.because for flaw in found[:2]] == [
        ("the CSV owns Cache (acme.io/v5)",),
        ("no owned API has this kind",),
    ]


def test_api_without_an_example_is_reported_at_the_owned_crd() -> None:
    served = [{"group": "acme.io", "version": "v1", "kind": kind} for kind in ("Shown", "Hidden")]
    notes = written(example("v1"), example("v1"), example("v1", "Shown"), key="olm.examples")
    found = flaws("EP627", notes, crd("v1"), crd("v2"), crd("v3"), served=served)
    assert [flaw.place.pointer for flaw in found] == [(*OWNED, 1), (*OWNED, 2), (*SERVED, 1)]
    assert found[0].because == ("olm.examples has examples of 2 APIs",)
    assert found[0].fix == "add an example to olm.examples"


def test_a_crd_whose_name_has_no_group_has_no_api() -> None:
    unnamed = crd("v1", name="caches")
    assert flaws("EP627", written(), unnamed) == []
    [first, second] = flaws("EP628", {}, crd("v1"), unnamed, unnamed)
    assert (first.place.pointer, second.place.pointer) == ((*OWNED, 1, "name"), (*OWNED, 2, "name"))


@pytest.mark.parametrize("rule", [f"EP62{n}" for n in range(3, 9)])
def test_without_a_csv_there_are_no_examples(rule: str) -> None:
    assert list(RULES[rule].check(BundleFolder(Contents("f", Place("f"))))) == []


@pytest.mark.parametrize("rule", ["EP626", "EP627"])
def test_without_examples_no_api_lacks_one(rule: str) -> None:
    assert flaws(rule, {}, crd("v1")) == []
