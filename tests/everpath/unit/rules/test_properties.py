"""Rules about properties of bundles."""

from __future__ import annotations

from typing import Any

import pytest

from everpath.go_types import field, type_mismatches
from everpath.go_types.properties import PROPERTY_TYPES
from everpath.model import UNREAD, Bundle, Catalog, Place, Property
from everpath.rules.findings import Severity
from tests.support.everpath.documents import (
    Document,
    bundle,
    catalog,
    channel,
    in_folder,
    package,
    package_property,
    repository,
)
from tests.support.everpath.graphs import findings, parse_report

A = "op.v1.0.0"
GVK = {"group": "a.io", "kind": "A", "version": "v1"}


def stating(*properties: Document) -> Catalog:
    return catalog(package(), channel(A), bundle(A, "", *properties))


def requiring(span: object) -> Catalog:
    return stating({"type": "olm.package.required", "value": {"packageName": "other", "versionRange": span}})


def annotated(**value: str) -> Catalog:
    """A bundle folder whose CSV has this olm.package in its annotation olm.properties."""
    stated = Property(
        "olm.package", value, Place("csv.yaml", 0, ("metadata", "annotations", "olm.properties"))
    )
    return repository(in_folder(A, "1.0.0", stated))


def test_second_olm_package_property_is_reported() -> None:
    (finding,) = parse_report(stating(package_property()), "package-property")
    assert finding.place.pointer == ("properties", 1)
    assert finding.message == f"{A} has 2 olm.package properties"
    assert finding.fix == "keep the right one"


def test_missing_olm_package_property_has_a_fix() -> None:
    (finding,) = parse_report(catalog(package(), channel(A), {**bundle(A), "properties": []}), "EP421")
    assert finding.message == f"{A} has no olm.package property"
    assert finding.fix == "add one with packageName and version"


def test_a_bundle_folder_needs_no_olm_package_property() -> None:
    assert findings(repository(in_folder(A)), "EP421") == []


def test_annotation_that_differs_from_the_csv_is_a_warning() -> None:
    found = parse_report(annotated(packageName="po", version="1.0.1"), "package-property-differs")
    assert {(f.because, f.place.pointer) for f in found} == {
        (
            ("catalog and cluster disagree: opm uses the property, OLM uses the CSV",),
            ("metadata", "annotations", "olm.properties"),
        )
    }
    assert [(f.message, f.severity) for f in found] == [
        (
            f"olm.package of {A} has packageName 'po', but the bundle has 'op'",
            Severity.WARNING,
        ),
        (
            f"olm.package of {A} has version '1.0.1', but the bundle has '1.0.0'",
            Severity.WARNING,
        ),
    ]


def test_another_package_in_a_catalog_is_reported_with_its_position() -> None:
    odd = {**bundle(A), "properties": [package_property("po")]}
    (finding,) = parse_report(catalog(package(), channel(A), odd), "EP422")
    assert finding.place.pointer == ("properties", 0, "value", "packageName")
    assert finding.because == ("opm rejects the catalog",)


def test_missing_package_name_differs_from_the_package() -> None:
    odd = {**bundle(A), "properties": [{"type": "olm.package", "value": {"version": "1.0.0"}}]}
    (finding,) = parse_report(catalog(package(), channel(A), odd), "EP422")
    assert finding.message == f"olm.package of {A} has packageName '', but the bundle has 'op'"


def test_a_package_of_a_wrong_type_is_reported_once() -> None:
    odd = {
        **bundle(A),
        "properties": [{"type": "olm.package", "value": {"packageName": 1, "version": "1.0.0"}}],
    }
    assert [f.rule for f in parse_report(catalog(package(), channel(A), odd), "EP422", "EP423")] == ["EP423"]


def test_missing_values_of_a_bundle_folder_do_not_differ() -> None:
    stated = Property("olm.package", {"packageName": "po", "version": "1.0.0"}, Place("csv.yaml"))
    bare = in_folder(A, "1.0.0", stated)
    assert bare.csv is not None
    assert findings(repository(bare._replace(csv=bare.csv._replace(package=None))), "EP422") == []


def test_an_annotation_that_agrees_is_fine() -> None:
    assert findings(annotated(packageName="op", version="1.0.0"), "EP422") == []


def test_version_of_a_catalog_is_only_in_the_property() -> None:
    assert findings(catalog(package(), channel(A), bundle(A, "1.0.1")), "EP422") == []


def test_keys_are_matched_as_in_go() -> None:
    assert field({"Version": "1", "version": "2", "VERSION": "0"}, "version") == "2"
    assert field({"other": 1}, "version") is None
    assert field("text", "version") is None


@pytest.mark.parametrize(
    ("kind", "value", "messages"),
    [
        ("olm.gvk", GVK, []),
        ("olm.gvk", None, []),
        ("olm.gvk", {**GVK, "KIND": 1}, ["KIND must be a string, not the number 1"]),
        ("olm.gvk", "a", ["the value must be a mapping, not the string 'a'"]),
        ("olm.label.required", {"label": True}, ["label must be a string, not true"]),
        ("olm.channel", {"priority": 2.0}, []),
        ("olm.channel", {"priority": True}, ["priority must be a 64-bit integer, not true"]),
        ("olm.channel", {"priority": "x"}, ["priority must be a 64-bit integer, not the string 'x'"]),
        ("olm.csv.metadata", {"keywords": ["a", 1]}, ["keywords.1 must be a string, not the number 1"]),
        ("olm.csv.metadata", {"keywords": "a"}, ["keywords must be a list, not the string 'a'"]),
        ("olm.csv.metadata", {"labels": {"a": "b", "c": []}}, ["labels.c must be a string, not a list"]),
        ("olm.csv.metadata", {"provider": [1.5]}, ["provider must be a mapping, not a list"]),
        ("olm.csv.metadata", {"unknown": {"a": 1}, "crdDescriptions": {"owned": [{"name": "a"}]}}, []),
        (
            "olm.csv.metadata",
            {"crdDescriptions": {"owned": [{"specDescriptors": [{"path": 1.5, "value": 1}]}]}},
            ["crdDescriptions.owned.0.specDescriptors.0.path must be a string, not the number 1.5"],
        ),
    ],
)
def test_property_value_has_the_type_or_a_path_to_the_error(
    kind: str, value: object, messages: list[str]
) -> None:
    assert [m.message for m in type_mismatches(value, PROPERTY_TYPES[kind])] == messages


def test_value_of_a_wrong_type_is_reported_with_its_position() -> None:
    made = stating({"type": "olm.gvk", "value": {**GVK, "version": 1}})
    (finding,) = parse_report(made, "property-does-not-parse")
    assert finding.place.pointer == ("properties", 1, "value", "version")
    assert finding.fix == "quote it"
    assert finding.because == ("opm rejects the catalog",)


def test_label_of_a_wrong_type_fails_in_olm() -> None:
    (finding,) = parse_report(stating({"type": "olm.label.required", "value": "x"}), "EP423")
    assert "every Subscription of a namespace fails" in finding.because[0]


def test_unread_value_is_not_checked() -> None:
    unread = Bundle(
        A,
        "op",
        "1.0.0",
        Place("f"),
        properties=tuple(Property(kind, UNREAD, Place("f")) for kind in (*PROPERTY_TYPES, "olm.constraint")),
    )
    made = catalog(package(), channel(A))
    (op,) = made.packages
    with_unread_value = Catalog("test", (type(op)("op", op.declarations, op.channels, (unread,)),))
    assert findings(with_unread_value, "EP422", "EP423", "EP424", "EP425", "EP427") == []


def test_s15_a_required_range_that_does_not_parse_fails_the_namespace() -> None:
    (finding,) = parse_report(requiring(">=v1.0.0"), "requirement-range")
    assert finding.message.startswith(
        f"OLM v0 cannot resolve dependencies: the range of other in {A} does not parse: "
    )
    assert finding.because[0] == ">=v1.0.0"
    assert "^" in finding.because[1]
    assert finding.because[2:] == finding.because[-1:]  # what to write instead is the fix
    assert "every Subscription of a namespace fails" in finding.because[-1]
    assert finding.fix == "write '>=1.0.0'"


@pytest.mark.parametrize("span", ["not a range", "", None])
def test_required_range_that_is_empty_does_not_parse(span: object) -> None:
    (finding,) = parse_report(requiring(span), "EP424")
    assert finding.fix == "write a range such as '>=1.0.0 <2.0.0'"


def test_a_required_range_that_crashes_the_resolver_is_an_error() -> None:
    (finding,) = parse_report(requiring("<1.0.0 || || >2.0.0"), "EP424")
    assert finding.message == f"the resolver of OLM v0 crashes: the range of other in {A} has an empty part"


def test_a_required_range_that_parses_is_fine() -> None:
    assert findings(requiring(">=1.0.0 <2.0.0"), "EP424") == []


def test_a_required_range_of_a_wrong_type_is_reported_once() -> None:
    assert [f.rule for f in parse_report(requiring(1), "EP423", "EP424")] == ["EP423"]


def test_s16_two_csv_metadata_properties_cannot_be_served() -> None:
    metadata: dict[str, Any] = {"type": "olm.csv.metadata", "value": {}}
    assert findings(stating(metadata), "EP426") == []
    (finding,) = parse_report(stating(metadata, metadata), "several-csv-metadata")
    assert finding.place.pointer == ("properties", 2)


@pytest.mark.parametrize("again", [GVK, {"Group": "a.io", "KIND": "A", "version": "v1"}])
def test_an_api_that_is_provided_twice_is_never_installed_by_v0(again: Document) -> None:
    made = stating({"type": "olm.gvk", "value": GVK}, {"type": "olm.gvk", "value": again})
    (finding,) = parse_report(made, "gvk-twice")
    assert (finding.message, finding.severity) == (
        f"OLM v0 never installs {A}: it provides A (a.io/v1) twice",
        Severity.ERROR,
    )
    assert finding.place.pointer == ("properties", 2)
    assert finding.because[0] == "OLM v0 counts it as two providers of the API, and allows one"


def test_an_api_that_is_required_twice_is_noted() -> None:
    required = {"type": "olm.gvk.required", "value": GVK}
    (finding,) = parse_report(stating(required, required), "EP427")
    assert (finding.message, finding.severity) == (f"{A} requires A (a.io/v1) twice", Severity.NOTE)


def test_an_api_that_is_provided_and_required_is_a_warning() -> None:
    made = stating({"type": "olm.gvk", "value": GVK}, {"type": "olm.gvk.required", "value": GVK})
    (finding,) = parse_report(made, "EP427")
    assert finding.message == f"OLM v1 rejects {A}: it requires A (a.io/v1), which it provides itself"
    assert finding.severity is Severity.WARNING
    assert finding.because == ("OLM v0 accepts the bundle as its own provider",)


@pytest.mark.parametrize("value", ["A", {**GVK, "version": 1}, {**GVK, "kind": []}])
def test_an_api_that_does_not_parse_is_not_counted(value: object) -> None:
    for kind in ("olm.gvk", "olm.gvk.required"):
        stated = {"type": kind, "value": value}
        assert findings(stating(stated, stated), "EP427") == []


def test_two_versions_of_an_api_are_two() -> None:
    made = stating(
        {"type": "olm.gvk", "value": GVK}, {"type": "olm.gvk.required", "value": {**GVK, "version": "v2"}}
    )
    assert findings(made, "EP427") == []
