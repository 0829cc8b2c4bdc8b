"""Recommendations of the validator good-practices."""

from __future__ import annotations

from typing import Any

import pytest

from everpath.model import Place
from everpath.model.bundle_contents import BundleFolder, Contents, Manifest
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import Rule, rules_for_subjects

RULES: dict[str, Rule] = {rule.id: rule for rule in rules_for_subjects({"bundle folder"})}
KEY = "operators.operatorframework.io.bundle."
DEPLOYMENTS = ("spec", "install", "spec", "deployments")
NOTES = Place("annotations.yaml")


def flaws(rule: str, spec: dict[str, Any], name: str = "acme.v1.0.0") -> list[Flaw]:
    """What a rule says of a CSV."""
    body = {"kind": "ClusterServiceVersion", "metadata": {"name": name}, "spec": spec}
    contents = Contents("f", Place("f"), (Manifest(Place("csv.yaml"), body),))
    found = list(RULES[rule].check(BundleFolder(contents)))
    assert all(flaw.fix for flaw in found)
    return found


def test_each_rule_belongs_to_the_validator_of_good_practices() -> None:
    table = {id_: (r.name, r.severity, r.validators) for id_, r in RULES.items() if "EP671" <= id_ <= "EP676"}
    asked = ("good-practices",)
    assert table == {
        "EP671": ("no-requests", Severity.WARNING, asked),
        "EP672": ("crd-description", Severity.WARNING, asked),
        "EP673": ("channel-convention", Severity.WARNING, asked),
        "EP674": ("creates-crds", Severity.WARNING, asked),
        "EP675": ("csv-name-convention", Severity.WARNING, asked),
        "EP676": ("no-deployment", Severity.ERROR, asked),
    }


def deployed(*containers: dict[str, Any]) -> dict[str, Any]:
    """A deployment without containers, and one with some."""
    deployments = [{}, {"spec": {"template": {"spec": {"containers": list(containers)}}}}]
    return {"install": {"spec": {"deployments": deployments}}}


def container(resources: Any) -> dict[str, Any]:
    return {"name": "main", "resources": resources}


@pytest.mark.parametrize(
    ("resources", "missing", "severity"),
    [
        ({}, "no cpu and no memory", None),
        ({"limits": {"cpu": 1, "memory": 1}}, "no cpu and no memory", None),
        ({"requests": {}}, "no cpu and no memory", Severity.NOTE),
        ({"requests": {"cpu": 1}}, "no memory", Severity.NOTE),
        ({"requests": {"memory": 1}}, "no cpu", Severity.NOTE),
        ({"requests": "some"}, "no cpu and no memory", Severity.NOTE),
    ],
)
def test_every_container_without_requests_is_reported(
    resources: Any, missing: str, severity: Severity | None
) -> None:
    enough = container({"requests": {"cpu": 1, "memory": 1}})
    found = flaws("EP671", deployed(enough, container(resources), container(resources)))
    way = (*DEPLOYMENTS, 1, "spec", "template", "spec", "containers")
    assert [flaw.place.pointer for flaw in found] == [(*way, i, "resources") for i in (1, 2)]
    assert {(flaw.message, flaw.severity) for flaw in found} == {
        (f"the operator is evicted first: the container main requests {missing}", severity)
    }
    assert all(flaw.because for flaw in found)


def test_every_owned_and_required_crd_has_a_description() -> None:
    listed = [{"name": "a", "description": "A."}, {"name": "b"}, {"name": "c", "description": ""}]
    found = flaws("EP672", {"customresourcedefinitions": {"owned": listed, "required": listed}})
    assert [flaw.place.pointer[2:] for flaw in found] == [
        (relation, i) for relation in ("owned", "required") for i in (1, 2)
    ]
    assert found[0].message == "consoles do not describe the owned CRD b"
    assert all(
        flaw.because and flaw.place.pointer[:2] == ("spec", "customresourcedefinitions") for flaw in found
    )


def channels(listed: str | None, default: str | None, place: Place | None = NOTES) -> list[Flaw]:
    stated = {f"{KEY}channels.v1": listed, f"{KEY}channel.default.v1": default}
    contents = Contents("f", Place("f"), (), {k: v for k, v in stated.items() if v is not None}, place)
    return list(RULES["EP673"].check(BundleFolder(contents)))


@pytest.mark.parametrize(
    ("listed", "default", "words"),
    [
        ("alpha", None, "alpha"),
        ("stable-v1, beta ,fast", "beta", "beta"),
        ("beta,stable", "alpha", "beta and alpha"),
        (None, "alpha", "alpha"),
    ],
)
def test_channels_outside_of_the_convention_are_reported(
    listed: str | None, default: str | None, words: str
) -> None:
    [flaw] = channels(listed, default)
    assert flaw.message.endswith(f" in {words}")
    assert (flaw.place.file, flaw.place.pointer) == ("annotations.yaml", ("annotations", f"{KEY}channels.v1"))
    assert flaw.because == ("by convention, the name of a channel starts with candidate, fast or stable",)
    assert flaw.fix


@pytest.mark.parametrize("listed", ["candidate", "fast-v1", "stable,fast", "", None])
def test_channels_within_the_convention_are_accepted(listed: str | None) -> None:
    assert channels(listed, "stable") == []


def test_without_annotations_no_channel_is_reported() -> None:
    assert channels("alpha", None, None) == []
    assert list(RULES["EP673"].check(BundleFolder(Contents("f", Place("f"), annotations_place=NOTES)))) == []


def right(group: str, resource: str, verb: str) -> dict[str, Any]:
    return {"apiGroups": ["", group], "resources": ["pods", resource], "verbs": ["get", verb]}


@pytest.mark.parametrize("key", ["permissions", "clusterPermissions"])
@pytest.mark.parametrize("resource", ["customresourcedefinitions", "*", "[*]"])
@pytest.mark.parametrize("verb", ["create", "patch", "*", "[*]"])
def test_first_permission_to_create_crds_is_reported(key: str, resource: str, verb: str) -> None:
    mighty = right("apiextensions.k8s.io", resource, verb)
    found = flaws(
        "EP674", {"install": {"spec": {key: [{}, {"rules": [{}, mighty, mighty]}, {"rules": [mighty]}]}}}
    )
    assert [flaw.place.pointer for flaw in found] == [("spec", "install", "spec", key, 1, "rules", 1)]
    assert found[0].because


@pytest.mark.parametrize(
    "rule",
    [
        right("apiextensions.k8s.io", "customresourcedefinitions", "update"),
        right("apiextensions.k8s.io", "others", "create"),
        right("apps", "customresourcedefinitions", "create"),
    ],
)
def test_other_permissions_are_accepted(rule: dict[str, Any]) -> None:
    assert flaws("EP674", {"install": {"spec": {"permissions": [{"rules": [rule]}]}}}) == []


@pytest.mark.parametrize("name", ["acme.v1.0.0", "acme.v1.0.0-rc.1+b", "a.b.v0.0.1"])
def test_name_of_a_csv_ends_in_its_version(name: str) -> None:
    assert flaws("EP675", {}, name) == []


@pytest.mark.parametrize(
    ("name", "has_version"),
    [
        ("acme", False),
        ("acme.v1", False),
        ("acme.v1.0.0_1", False),
        ("acme.v01.0.0", False),
        ("acme-1.0.0", True),
        ("acme.v2.v1.0.0", True),
        ("", False),
    ],
)
def test_message_explains_what_a_version_is(name: str, has_version: bool) -> None:
    [flaw] = flaws("EP675", {}, name)
    assert flaw.place.pointer == ("metadata", "name")
    assert flaw.message == f"pipelines cannot read the version from the name {name}: it is not NAME.vVERSION"
    assert (flaw.because == ()) is has_version


def test_csv_has_a_deployment() -> None:
    [flaw] = flaws("EP676", {})
    assert (flaw.place.pointer, bool(flaw.because)) == (DEPLOYMENTS, True)
    assert flaws("EP676", {"install": {"spec": {"deployments": []}}}) == []


@pytest.mark.parametrize("rule", ["EP671", "EP672", "EP674", "EP675", "EP676"])
def test_without_a_csv_good_practices_report_nothing(rule: str) -> None:
    assert list(RULES[rule].check(BundleFolder(Contents("f", Place("f"))))) == []
