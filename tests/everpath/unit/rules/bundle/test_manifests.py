"""Rules about manifests of all kinds."""

from __future__ import annotations

from typing import Any

import pytest

from everpath.model import Place
from everpath.model.bundle_contents import BundleFolder, Contents, Manifest
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import Rule, rules_for_subjects

RULES: dict[str, Rule] = {rule.id: rule for rule in rules_for_subjects({"bundle folder"})}
CSV: dict[str, Any] = {"kind": "ClusterServiceVersion"}
Told = list[tuple[tuple[str | int, ...], str]]


def flaws(rule: str, *bodies: dict[str, Any]) -> list[Flaw]:
    """What a rule says of some manifests, each in a file of its own."""
    manifests = tuple(Manifest(Place(f"{i}.yaml"), body) for i, body in enumerate(bodies))
    found = list(RULES[rule].check(BundleFolder(Contents("f", Place("f"), manifests))))
    assert all(flaw.because and flaw.fix for flaw in found)
    return found


def files(rule: str, *bodies: dict[str, Any]) -> list[str]:
    return [flaw.place.file for flaw in flaws(rule, *bodies)]


def test_each_rule_belongs_to_its_validators() -> None:
    table = {id_: (r.name, r.severity, r.validators) for id_, r in RULES.items() if "EP607" <= id_ <= "EP610"}
    assert table == {
        "EP607": ("unsupported-kind", Severity.ERROR, ("opm",)),
        "EP608": ("object-metadata", Severity.ERROR, ("opm", "crd")),
        "EP609": ("crd-api-version", Severity.ERROR, ("crd", "opm")),
        "EP610": ("field-type", Severity.ERROR, ("csv", "crd", "bundle", "opm")),
    }


APPLIED = (
    "ClusterServiceVersion CustomResourceDefinition ClusterRole ClusterRoleBinding Service ServiceAccount "
    "Role RoleBinding PrometheusRule ServiceMonitor PodMonitor Secret ConfigMap PodDisruptionBudget "
    "PriorityClass VerticalPodAutoscaler ConsoleYAMLSample ConsoleQuickStart ConsoleCLIDownload ConsoleLink "
    "ConsolePlugin NetworkPolicy"
)


def test_only_22_kinds_are_supported() -> None:
    kinds = [{"kind": kind} for kind in APPLIED.split()]
    assert len(kinds) == 22
    assert flaws("EP607", *kinds) == []
    found = flaws("EP607", {"kind": "Pod"}, CSV, {"kind": "Job"})
    assert [(flaw.place.file, flaw.place.pointer) for flaw in found] == [
        ("0.yaml", ("kind",)),
        ("2.yaml", ("kind",)),
    ]


def test_bundle_without_a_csv_can_have_any_kind() -> None:
    assert flaws("EP607", {"kind": "Pod"}) == []


def described(**metadata: Any) -> Told:
    """What is wrong with metadata, that of two manifests alike."""
    body = {"kind": "ConfigMap", "metadata": {"name": "a", **metadata}}
    found = flaws("EP608", body, body)
    half = len(found) // 2
    assert [flaw.place.file for flaw in found] == ["0.yaml"] * half + ["1.yaml"] * half
    expected = [(flaw.place.pointer, str(flaw.fix)) for flaw in found]
    assert expected[:half] == expected[half:]
    assert all(pointer[0] == "metadata" for pointer, _ in expected)
    return [(pointer[1:], fix) for pointer, fix in expected[:half]]


def test_metadata_of_supported_kinds_other_than_the_csv_is_checked() -> None:
    nameless = {"kind": "ConfigMap"}
    assert files("EP608", nameless, {"kind": "Pod"}, CSV, nameless) == ["0.yaml", "3.yaml"]
    assert files("EP608", nameless, {"kind": "Pod"}) == ["0.yaml", "1.yaml"]


@pytest.mark.parametrize("metadata", [None, [], {}, {"name": ""}])
def test_an_object_has_a_name(metadata: Any) -> None:
    [flaw] = flaws("EP608", {"kind": "ConfigMap", "metadata": metadata})
    assert (flaw.place.pointer, flaw.message) == (
        ("metadata",),
        "the API server rejects ConfigMap: it has no name",
    )
    assert flaw.fix == "add metadata.name"


OWNER = {"apiVersion": "v1", "kind": "A", "name": "a", "uid": "1"}
CONTROLLER = OWNER | {"controller": True}
OLM_SETS = "remove ownerReferences: OLM sets them"
LARGEST = 256 * 1024


@pytest.mark.parametrize(
    "metadata",
    [
        {"namespace": "", "generation": 0, "labels": ["a"], "annotations": "a"},
        {"generation": 1},
        {"generation": "-1"},
        {"labels": {"a/b": "c", "d": ""}, "annotations": {"A/B": "c d"}},
        {"annotations": {"a": "b" * (LARGEST - 1)}},
        {"ownerReferences": [CONTROLLER, OWNER | {"controller": "true"}, OWNER]},
        {"ownerReferences": [OWNER | {"kind": "Event", "apiVersion": "events.k8s.io/v1"}]},
        {"finalizers": ["orphan", "a/b"]},
        {"finalizers": ["foregroundDeletion"]},
    ],
)
def test_valid_metadata_is_accepted(metadata: dict[str, Any]) -> None:
    assert described(**metadata) == []


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({"namespace": "b"}, [(("namespace",), "remove it: OLM sets the namespace")]),
        ({"generation": -1}, [(("generation",), "remove metadata.generation")]),
        (
            {"labels": {"a": "b c", "d e": "f", "g h": "i j"}},
            [
                (("labels", "a"), "use an annotation"),
                (("labels", "d e"), "use a valid key"),
                (("labels", "g h"), "use a valid key"),
                (("labels", "g h"), "use an annotation"),
            ],
        ),
        (
            {"annotations": {"a b": "", "c": "", "d/e/f": ""}},
            [(("annotations", key), "use a valid key") for key in ("a b", "d/e/f")],
        ),
        (
            {"annotations": {"a": "b" * (LARGEST // 2), "c": "d" * (LARGEST // 2)}},
            [(("annotations",), "shorten them")],
        ),
        ({"annotations": {"a": "é" * (LARGEST // 2)}}, [(("annotations",), "shorten them")]),
        (
            {"ownerReferences": [OWNER, {}, OWNER | {"uid": ""}]},
            [*[(("ownerReferences", 1), OLM_SETS)] * 4, (("ownerReferences", 2), OLM_SETS)],
        ),
        (
            {"ownerReferences": [OWNER | {"kind": "Event"}] * 2},
            [(("ownerReferences", n), "remove this owner reference") for n in (0, 1)],
        ),
        ({"ownerReferences": [CONTROLLER, OWNER, CONTROLLER]}, [(("ownerReferences",), OLM_SETS)]),
        ({"finalizers": ["a b", "c", "d e"]}, [(("finalizers",), "write DOMAIN/NAME")] * 2),
        *(
            (
                {"finalizers": ["orphan", *others, "foregroundDeletion"]},
                [(("finalizers",), "keep one")],
            )
            for others in ([], ["a"])
        ),
    ],
)
def test_invalid_metadata_is_reported(metadata: dict[str, Any], expected: Told) -> None:
    assert described(**metadata) == expected


def test_missing_fields_of_an_owner_reference_are_reported() -> None:
    found = flaws("EP608", {"kind": "Role", "metadata": {"name": "r", "ownerReferences": [{}]}})
    assert [flaw.message for flaw in found] == [
        f"the API server rejects Role r: an owner reference has no {key}"
        for key in ("apiVersion", "kind", "name", "uid")
    ]


def test_size_of_annotations_with_surrogates_is_computed() -> None:
    assert described(annotations={"a": "\ud800"}) == []


NEW, OLD = "apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1"


def crd(api: str, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": api, "kind": "CustomResourceDefinition", "metadata": {"name": "as.b.c"}, **fields}


def test_a_crd_is_of_one_of_two_api_versions() -> None:
    found = flaws("EP609", crd(NEW), crd(OLD), crd("apiextensions.k8s.io/v2"), {"kind": "Role"}, crd(""))
    assert [(flaw.place.file, flaw.place.pointer, flaw.message) for flaw in found] == [
        (
            "2.yaml",
            ("apiVersion",),
            (
                "operator-sdk rejects the bundle: CustomResourceDefinition as.b.c has the apiVersion "
                "apiextensions.k8s.io/v2"
            ),
        ),
        (
            "4.yaml",
            ("apiVersion",),
            "operator-sdk rejects the bundle: CustomResourceDefinition as.b.c has no apiVersion",
        ),
    ]
    assert {flaw.fix for flaw in found} == {"write apiVersion: apiextensions.k8s.io/v1"}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            CSV | {"spec": {"displayName": 5}},
            ["spec.displayName must be a string, not the number 5"],
        ),
        (crd(NEW, spec={"scope": 1, "version": 2}), ["spec.scope must be a string, not the number 1"]),
        (
            crd(OLD, spec={"scope": 1, "version": 2}),
            [f"spec.{key} must be a string, not the number {n}" for key, n in (("scope", 1), ("version", 2))],
        ),
        (crd("v2", spec={"scope": 1}), []),
        (
            {"kind": "ConfigMap", "apiVersion": 1, "metadata": []},
            [
                "apiVersion must be a string, not the number 1",
                "metadata must be a mapping, not a list",
            ],
        ),
        *(
            (
                {"kind": kind, "rules": [{"verbs": "a, not b"}]},
                ["rules.0.verbs must be a list, not the string 'a, not b'"] if kind != "RoleBinding" else [],
            )
            for kind in ("Role", "ClusterRole", "RoleBinding")
        ),
        (
            {
                "kind": "PodDisruptionBudget",
                "spec": {"minAvailable": [], "maxUnavailable": 1.5, "selector": 1},
            },
            [
                f"spec.{key} must be a string or a 32-bit integer, not {value}"
                for key, value in (("maxUnavailable", "the number 1.5"), ("minAvailable", "a list"))
            ],
        ),
        ({"kind": "PodDisruptionBudget", "spec": []}, ["spec must be a mapping, not a list"]),
        (
            {"kind": "PriorityClass", "value": "1", "globalDefault": "true"},
            [
                "value must be a 32-bit integer, not the string '1'",
                "globalDefault must be true or false, not the string 'true'",
            ],
        ),
    ],
)
def test_field_of_a_wrong_type_is_reported(body: dict[str, Any], expected: list[str]) -> None:
    found = flaws("EP610", body, body)
    called = f"{body['kind']} as.b.c" if body["kind"].startswith("Custom") else body["kind"]
    assert [flaw.message for flaw in found] == [
        f"the API server rejects {called}: {message}" for message in expected
    ] * 2
    ways = [message.partition(" ")[0] for message in expected] * 2
    assert [".".join(map(str, flaw.place.pointer)) for flaw in found] == ways


@pytest.mark.parametrize(
    ("value", "fix"),
    [
        (1, "quote it"),
        (1.5, "quote it"),
        (True, "quote it"),
        (False, "quote it"),
        ([], "write a string"),
        ({}, "write a string"),
    ],
)
def test_fix_for_an_unquoted_string_is_to_quote_it(value: Any, fix: str) -> None:
    labels = {"a must be b": value}
    [flaw] = flaws("EP610", {"kind": "ConfigMap", "metadata": {"labels": labels}})
    assert flaw.fix == fix


@pytest.mark.parametrize("labels", ["a, not b", 1, True])
def test_fix_for_another_type_is_not_to_quote_it(labels: Any) -> None:
    [flaw] = flaws("EP610", {"kind": "ConfigMap", "metadata": {"labels": labels}})
    assert flaw.fix == "write a mapping"
