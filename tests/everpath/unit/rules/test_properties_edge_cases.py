"""Rules about properties: all findings, their positions and consequences."""

from __future__ import annotations

from typing import Any

from everpath.rules.findings import Finding, Severity
from tests.support.everpath.documents import Document, bundle, catalog, channel, package, package_property
from tests.support.everpath.graphs import parse_report

A = "op.v1.0.0"
FAILS = "in OLM v0, every Subscription of a namespace fails as soon as this bundle is a candidate"


def report(rule: str, *properties: Document) -> tuple[Finding, ...]:
    """What a rule says of a bundle with these properties behind its own."""
    return parse_report(catalog(package(), channel(A), bundle(A, "", *properties)), rule)


def stating(kind: str, value: object) -> Document:
    return {"type": kind, "value": value}


def requiring(span: object) -> Document:
    return stating("olm.package.required", {"packageName": "other", "versionRange": span})


def api(kind: str, name: object) -> Document:
    return stating(kind, {"group": "a.io", "kind": name, "version": "v1"})


def test_missing_package_property_is_reported_where_it_should_be() -> None:
    made = catalog(package(), channel(A), {**bundle(A), "properties": []})
    (finding,) = parse_report(made, "EP421")
    assert finding.place.pointer == ("properties",)


def test_every_package_property_that_differs_is_reported() -> None:
    found = report("EP422", package_property("po"), package_property("opp"))
    assert [f.place.pointer for f in found] == [
        ("properties", 1, "value", "packageName"),
        ("properties", 2, "value", "packageName"),
    ]


def test_every_wrong_type_of_every_property_is_reported() -> None:
    misshapen: dict[str, Any] = {"group": 1, "kind": [], "version": "v1"}
    found = report("EP423", stating("olm.gvk", misshapen), stating("olm.package", "op"))
    assert [(f.place.pointer[1:], f.fix) for f in found] == [
        ((1, "value", "group"), "quote it"),
        ((1, "value", "kind"), "write a string, or remove the property"),
        ((2, "value"), "write a mapping, or remove the property"),
    ]


def test_every_required_range_that_does_not_parse_is_reported() -> None:
    spans: list[object] = [7, "<v1.0.0", None, ">=1.0.0", "<1.0.0 || || >2.0.0", "<v2.0.0"]
    found = report("EP424", *map(requiring, spans))
    assert [f.place.pointer for f in found] == [
        ("properties", n, "value", "versionRange") for n in (2, 3, 5, 6)
    ]
    assert (
        found[1].message
        == f"OLM v0 cannot resolve dependencies: the range of other in {A} does not parse: it is empty"
    )
    assert found[2].fix == "remove one ||"


def test_every_constraint_that_does_not_parse_is_reported_with_its_consequence() -> None:
    cases: list[object] = [
        {"package": {"packageName": "a", "versionRange": "<v1.0.0"}},
        {},
        {"all": {"constraints": []}},
    ]
    found = report("EP425", *(stating("olm.constraint", value) for value in cases))
    assert [(f.severity, f.place.pointer) for f in found] == [
        (Severity.ERROR, ("properties", 1, "value", "package", "versionRange")),
        (Severity.ERROR, ("properties", 2, "value")),
        (Severity.WARNING, ("properties", 3, "value", "all")),
    ]
    assert (found[0].because[0], found[0].because[-1]) == ("<v1.0.0", FAILS)
    assert found[0].fix == "write '<1.0.0'"


def test_constraint_of_a_wrong_type_has_a_fix() -> None:
    (finding,) = report(
        "EP425", stating("olm.constraint", {"failureMessage": 1, "all": {"constraints": [{}]}})
    )[:1]
    assert finding.fix == "correct the constraint, or remove it"


def test_second_csv_metadata_is_reported_with_its_consequence() -> None:
    (finding,) = report("EP426", *(stating("olm.csv.metadata", {}) for _ in range(3)))
    assert finding.message == f"the catalog pod does not start: {A} has 3 olm.csv.metadata properties"
    assert finding.because[0].startswith("opm validate accepts the catalog, but opm serve fails")
    assert finding.fix == "keep one of them"


def test_every_api_that_is_provided_twice_is_reported_with_its_consequence() -> None:
    found = report("EP427", *(api("olm.gvk", kind) for kind in "ABAB"))
    assert [f.place.pointer for f in found] == [("properties", 3), ("properties", 4)]
    assert found[0].because == (
        "OLM v0 counts it as two providers of the API, and allows one",
        "new installations get an older version or none, without an error message",
    )
    assert found[0].fix == "remove one of the two olm.gvk properties"


def test_every_redundant_requirement_is_reported_with_a_fix() -> None:
    required = [api("olm.gvk.required", kind) for kind in (7, "A", "B", "B")]
    found = report("EP427", api("olm.gvk", "A"), *required)
    assert [(f.severity, f.place.pointer, f.fix) for f in found] == [
        (Severity.WARNING, ("properties", 3), "remove the olm.gvk.required property"),
        (Severity.NOTE, ("properties", 5), "remove one"),
    ]
