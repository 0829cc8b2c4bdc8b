"""Rules about the ClusterServiceVersion."""

from __future__ import annotations

from typing import Any

import pytest

from everpath.model import Place
from everpath.model.bundle_contents import BundleFolder, Contents, Manifest
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import Rule, rules_for_subjects

RULES: dict[str, Rule] = {rule.id: rule for rule in rules_for_subjects({"bundle folder"})}
OURS = {
    "EP611": ("release-and-substitute", Severity.ERROR, ("opm",)),
    "EP612": ("skip-range", Severity.ERROR, ()),
    "EP621": ("csv-name", Severity.ERROR, ("csv", "opm")),
    "EP622": ("replaces-name", Severity.ERROR, ("csv", "opm")),
    "EP629": ("install-modes", Severity.ERROR, ("csv", "opm")),
    "EP630": ("conversion-install-modes", Severity.ERROR, ("csv", "opm")),
    "EP631": ("duplicate-install-mode", Severity.ERROR, ()),
    "EP632": ("no-min-kube-version", Severity.WARNING, ("csv", "operatorhub/v2")),
    "EP633": ("min-kube-version", Severity.ERROR, ("csv", "operatorhub/v2", "opm")),
    "EP634": ("required-field", Severity.ERROR, ("csv", "opm")),
    "EP635": ("annotation-case", Severity.ERROR, ("csv", "opm")),
    "EP636": ("properties-annotation", Severity.WARNING, ("csv",)),
    "EP637": ("csv-api-version", Severity.ERROR, ("csv", "opm")),
}


def of_csv(rule: str, body: dict[str, Any]) -> list[Flaw]:
    """What a rule says of a CSV."""
    manifest = Manifest(Place("csv.yaml"), {"kind": "ClusterServiceVersion", **body})
    found = list(RULES[rule].check(BundleFolder(Contents("f", Place("f"), (manifest,)))))
    # A mode that is listed twice proves itself.
    assert all(flaw.fix and (flaw.because or rule == "EP631") for flaw in found)
    return found


def flaws(rule: str, **spec: Any) -> list[Flaw]:
    return of_csv(rule, {"spec": spec})


def noted(rule: str, **annotations: Any) -> list[Flaw]:
    return of_csv(rule, {"metadata": {"annotations": annotations}})


def fixes(found: list[Flaw]) -> list[tuple[tuple[str | int, ...], str]]:
    return [(flaw.place.pointer, str(flaw.fix)) for flaw in found]


def test_each_rule_belongs_to_its_validators() -> None:
    assert {id_: (r.name, r.severity, r.validators) for id_, r in RULES.items() if id_ in OURS} == OURS


@pytest.mark.parametrize("rule", OURS)
def test_without_a_csv_nothing_is_reported(rule: str) -> None:
    assert list(RULES[rule].check(BundleFolder(Contents("f", Place("f"))))) == []


WRONG_NAMES = ["A.v1", "a/b", "a_b", "a" * 64]


@pytest.mark.parametrize("name", ["", *WRONG_NAMES])
def test_name_of_a_csv_fits_into_a_label(name: str) -> None:
    [flaw] = of_csv("EP621", {"metadata": {"name": name}})
    assert flaw.place.pointer == ("metadata", "name")
    assert (flaw.message == "the API server rejects the CSV: it has no name", repr(name) in flaw.message) == (
        not name,
        bool(name),
    )
    assert of_csv("EP621", {"metadata": {"name": "a.v1.0.0"}}) == []


@pytest.mark.parametrize("name", WRONG_NAMES)
def test_replaces_is_a_valid_name(name: str) -> None:
    assert [p for p, _ in fixes(flaws("EP622", replaces=name))] == [("spec", "replaces")]
    assert flaws("EP622", replaces="a.v1.0.0") == flaws("EP622", replaces="") == flaws("EP622") == []


def modes(**supported: bool) -> list[dict[str, Any]]:
    return [{"type": kind, "supported": value} for kind, value in supported.items()]


def test_at_least_one_install_mode_is_supported() -> None:
    assert flaws("EP629", installModes=modes(OwnNamespace=False, AllNamespaces=True)) == []
    for listed, message in (
        (
            modes(OwnNamespace=False, AllNamespaces=False),
            "OLM v0 cannot install the operator: the CSV supports no install mode",
        ),
        ([], "OLM v0 cannot install the operator: the CSV lists no install modes"),
    ):
        [flaw] = flaws("EP629", installModes=listed)
        assert (flaw.place.pointer, flaw.message) == (("spec", "installModes"), message)


CONVERTING = [{}, {"conversionCRDs": ["as.b.c"]}, {"conversionCRDs": []}, {"conversionCRDs": ["ds.b.c"]}]


@pytest.mark.parametrize(
    ("listed", "blamed"),
    [
        (modes(OwnNamespace=False, AllNamespaces=True), None),
        (modes(AllNamespaces=True), None),
        ([], None),
        (modes(OwnNamespace=True, AllNamespaces=True), "OwnNamespace"),
        (modes(AllNamespaces=False), "AllNamespaces"),
        (modes(SingleNamespace=True, OwnNamespace=True), "SingleNamespace"),
    ],
)
def test_a_conversion_webhook_is_for_all_namespaces(listed: list[Any], blamed: str | None) -> None:
    found = flaws("EP630", installModes=listed, webhookdefinitions=CONVERTING)
    assert [p for p, _ in fixes(found)] == [
        ("spec", "webhookdefinitions", i, "conversionCRDs") for i in ((1, 3) if blamed else ())
    ]
    assert all(str(flaw.because[0]).startswith(f"{blamed} is ") for flaw in found)


def test_no_install_mode_is_listed_twice() -> None:
    own, other = modes(OwnNamespace=True, AllNamespaces=True)
    opposite = own | {"supported": False}
    assert flaws("EP631", installModes=[own, other]) == []
    found = flaws("EP631", installModes=[own, other, own, opposite, opposite])
    assert [(flaw.place.pointer[-1], flaw.message.partition("have ")[2]) for flaw in found] == [
        (2, "the same value"),
        (3, "different values"),
        (4, "the same value"),
    ]
    assert {flaw.place.pointer[:-1] for flaw in found} == {("spec", "installModes")}


@pytest.mark.parametrize("stated", [None, "", " "])
def test_csv_has_a_min_kube_version(stated: str | None) -> None:
    assert [p for p, _ in fixes(flaws("EP632", minKubeVersion=stated))] == [("spec", "minKubeVersion")]
    assert flaws("EP633", minKubeVersion=stated) == flaws("EP632", minKubeVersion="x") == []


@pytest.mark.parametrize(
    ("stated", "fix"), [("v1.29.0", "1.29.0"), ("1.28", "1.28.0"), (" 1.27.0", "1.27.0"), ("new", "1.29.0")]
)
def test_min_kube_version_is_a_version(stated: str, fix: str) -> None:
    found = flaws("EP633", minKubeVersion=stated)
    assert fixes(found) == [(("spec", "minKubeVersion"), f"write {fix}")]
    assert any("^" in str(line) for line in found[0].because)
    assert flaws("EP633", minKubeVersion="1.29.0") == []


INSTALL = {"strategy": "deployment", "spec": {"deployments": [1]}}
WHOLE = {"metadata": {"name": "a"}, "spec": {"displayName": "A", "install": INSTALL}}


def whole(*way: str, value: Any) -> dict[str, Any]:
    """A CSV that lacks nothing, but for another value somewhere."""
    return {**WHOLE, way[0]: _changed(WHOLE[way[0]], way[1:], value)} if way else WHOLE


def _changed(holder: Any, way: tuple[str, ...], value: Any) -> Any:
    return {**holder, way[0]: _changed(holder[way[0]], way[1:], value)} if way else value


@pytest.mark.parametrize("nothing", [None, "", False])
@pytest.mark.parametrize(
    ("way", "missing"),
    [
        (("metadata",), ["metadata"]),
        (("spec",), ["spec"]),
        (("spec", "displayName"), ["spec.displayName"]),
        (("spec", "install"), ["spec.install"]),
        (("spec", "install", "strategy"), ["spec.install.strategy"]),
        (("spec", "install", "spec", "deployments"), []),
    ],
)
def test_missing_field_is_reported_without_those_below_it(
    way: tuple[str, ...], missing: list[str], nothing: Any
) -> None:
    found = of_csv("EP634", whole(*way, value=nothing))
    assert [flaw.message for flaw in found] == [
        f"the API server rejects the CSV: the required field {name} is missing" for name in missing
    ]
    assert [p for p, _ in fixes(found)] == [way] * len(missing)
    assert of_csv("EP634", WHOLE) == []


@pytest.mark.parametrize("way", [("spec", "displayName"), ("spec", "install", "strategy")])
@pytest.mark.parametrize("value", [{}, [], 0])
def test_a_field_of_another_type_is_not_missing(way: tuple[str, ...], value: Any) -> None:
    assert of_csv("EP634", whole(*way, value=value)) == []


def test_deployments_are_missing_in_a_strategy_with_other_fields() -> None:
    for nothing in ({}, {"unheard": "of"}, {"permissions": None}):
        assert of_csv("EP634", whole("spec", "install", "spec", value=nothing)) == []
    found = of_csv("EP634", whole("spec", "install", "spec", value={"permissions": [1]}))
    assert fixes(found) == [(("spec", "install", "spec", "deployments"), "add deployments")]


@pytest.mark.parametrize(
    ("way", "field"), [(("metadata",), "labels"), (("spec",), "provider"), (("spec", "install"), "spec")]
)
def test_struct_without_values_counts_as_missing(way: tuple[str, ...], field: str) -> None:
    for nothing in ({}, {"unheard": "of"}, *({field: v} for v in (None, "", False, {}, {"a": {"b": 0}}))):
        [flaw] = of_csv("EP634", whole(*way, value=nothing))
        assert flaw.place.pointer == way
    for something in ({field: {"a": "", "b": {"c": 1}}}, {field.upper(): {"a": "b"}}, {field: True}):
        assert way not in {p for p, _ in fixes(of_csv("EP634", whole(*way, value=something)))}


NAMES = [
    "olm.operatorGroup",
    "olm.operatorNamespace",
    "olm.targetNamespaces",
    "olm.providedAPIs",
    "olm.skipRange",
]


@pytest.mark.parametrize("name", NAMES)
def test_annotation_of_olm_has_the_exact_case(name: str) -> None:
    found = noted("EP635", **{"a": "b", name.lower(): "", name.upper(): "", name: "", "olm.other": ""})
    assert fixes(found) == [
        (("metadata", "annotations", key), f"write {name}") for key in (name.lower(), name.upper())
    ]
    assert all(flaw.place.on_key for flaw in found)


def test_properties_in_the_annotation_are_a_warning() -> None:
    [flaw] = noted("EP636", **{"olm.properties": ""})
    assert (flaw.place.pointer, flaw.place.on_key) == (("metadata", "annotations", "olm.properties"), True)
    assert noted("EP636", **{"olm.property": ""}) == []


def test_csv_has_the_right_api_version() -> None:
    assert of_csv("EP637", {"apiVersion": "operators.coreos.com/v1alpha1"}) == []
    [other] = of_csv("EP637", {"apiVersion": "v1"})
    [none] = of_csv("EP637", {})
    assert other.place.pointer == none.place.pointer == ("apiVersion",)
    assert (other.severity, none.severity) == (Severity.WARNING, None)
    assert (other.message, none.message) == (
        "the API server rejects the CSV: the apiVersion 'v1' does not exist",
        "the API server rejects the CSV: it has no apiVersion",
    )


@pytest.mark.parametrize(
    ("release", "substitute", "is_reported"), [("1", "a.v1", True), ("", "a.v1", False), ("1", "", False)]
)
def test_csv_has_a_release_or_a_substitute(release: str, substitute: str, is_reported: bool) -> None:
    notes = {"annotations": {"olm.substitutesFor": substitute}}
    found = of_csv("EP611", {"metadata": notes, "spec": {"release": release}})
    assert [p for p, _ in fixes(found)] == [("spec", "release")] * is_reported


@pytest.mark.parametrize(
    ("span", "fix"),
    [
        ("<1.0.0", None),
        ("", None),
        ("<v1.0.0", "write '<1.0.0'"),
        ("x", "write a range such as '>=1.0.0 <1.2.0'"),
    ],
)
def test_skip_range_parses(span: str, fix: str | None) -> None:
    found = noted("EP612", **{"olm.skipRange": span})
    assert fixes(found) == ([(("metadata", "annotations", "olm.skipRange"), fix)] if fix else [])
    assert all(flaw.because[0] == span and "^" in str(flaw.because[1]) for flaw in found)
