"""Rules about CRDs: conversion webhooks, selectable fields, pruning, approval."""

from __future__ import annotations

from typing import Any

import pytest

from everpath.model import Place
from everpath.model.bundle_contents import BundleFolder, Contents, Manifest
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import Rule, rules_for_subjects

RULES: dict[str, Rule] = {rule.id: rule for rule in rules_for_subjects({"bundle folder"})}
OLD, NEW = "apiextensions.k8s.io/v1beta1", "apiextensions.k8s.io/v1"
Fixes = list[tuple[tuple[str | int, ...], str]]

either_version = pytest.mark.parametrize("api", [OLD, NEW])


def flaws(
    rule: str, *specs: dict[str, Any], api: str = NEW, notes: dict[str, str] | None = None
) -> list[Flaw]:
    """What a rule says of CRDs, each in a file of its own."""
    bodies = [
        {
            "apiVersion": api,
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "as.b.c", "annotations": notes or {}},
            "spec": spec,
        }
        for spec in specs
    ]
    manifests = tuple(Manifest(Place(f"{i}.yaml"), body) for i, body in enumerate(bodies))
    found = list(RULES[rule].check(BundleFolder(Contents("f", Place("f"), manifests))))
    assert all(flaw.because and flaw.fix for flaw in found)
    assert all(flaw.message.startswith("the API server rejects CRD as.b.c: ") for flaw in found)
    return found


def fixes(rule: str, spec: dict[str, Any], api: str = NEW) -> Fixes:
    """Return the path in spec and the fix of each finding; two equal CRDs have the same findings."""
    found = [
        (flaw.place.file, (flaw.place.pointer, str(flaw.fix))) for flaw in flaws(rule, spec, spec, api=api)
    ]
    first, second = ([what for file, what in found if file == name] for name in ("0.yaml", "1.yaml"))
    assert first == second
    assert all(pointer[0] == "spec" for pointer, _ in first)
    return [(pointer[1:], fix) for pointer, fix in first]


def test_each_rule_belongs_to_two_validators() -> None:
    named = {"EP646", "EP649", "EP650", "EP651"}
    assert {id_: (r.name, r.severity, r.validators) for id_, r in RULES.items() if id_ in named} == {
        "EP646": ("crd-conversion", Severity.ERROR, ("crd", "opm")),
        "EP649": ("crd-selectable-fields", Severity.ERROR, ("crd", "opm")),
        "EP650": ("crd-preserve-unknown-fields", Severity.ERROR, ("crd", "opm")),
        "EP651": ("crd-approval", Severity.ERROR, ("crd", "opm")),
    }


SERVICE = {"service": {"name": "a", "namespace": "b"}}


def converted(
    api: str, client: Any = SERVICE, reviews: Any = ("v1",), strategy: str = "Webhook"
) -> dict[str, Any]:
    """A CRD with a conversion, each version of the API in its own way; None leaves a field out."""
    conversion: dict[str, Any] = {"strategy": strategy}
    holder = conversion if api == OLD else conversion.setdefault("webhook", {})
    if client is not None:
        holder["webhookClientConfig" if api == OLD else "clientConfig"] = client
    if reviews is not None:
        holder["conversionReviewVersions"] = list(reviews)
    return {"conversion": conversion, "preserveUnknownFields": False}


def client_at(api: str) -> tuple[str, ...]:
    return ("conversion", "webhookClientConfig") if api == OLD else ("conversion", "webhook", "clientConfig")


def reviews_at(api: str) -> tuple[str, ...]:
    return ("conversion", *(() if api == OLD else ("webhook",)), "conversionReviewVersions")


@either_version
def test_conversion_strategy_is_webhook_or_none(api: str) -> None:
    fine = [{}, {"conversion": "x"}, converted(api), converted(api, None, None, "None")]
    assert [fixes("EP646", spec, api) for spec in fine] == [[]] * 4
    for strategy in ("Magic", ""):
        spec = converted(api, None, None, strategy)
        assert fixes("EP646", spec, api) == [(("conversion", "strategy"), "write None or Webhook")]
        [flaw] = flaws("EP646", spec, api=api)
        assert ("has no strategy" in flaw.message, "'Magic'" in flaw.message) == (
            not strategy,
            bool(strategy),
        )


URL_FIX = "write https://host/path, without user, query or fragment"
PORT_FIX = "write a port from 1 to 65535"
PATH_FIX = "write /PATH in lower case"


def at_service(**fields: Any) -> dict[str, Any]:
    return {"service": {"name": "a", "namespace": "b", **fields}}


@either_version
@pytest.mark.parametrize(
    ("client", "expected"),
    [
        (None, [((), "add clientConfig")]),
        ({}, [((), "keep one of the two")]),
        ({"url": "https://a", **SERVICE}, [((), "keep one of the two")]),
        *(({"url": url}, []) for url in ("https://a", "https://a/other", "https://a.b:1/c/d")),
        *(
            ({"url": url}, [(("url",), URL_FIX)])
            for url in (
                "http://a/b",
                "https://",
                "https:///b",
                "https://u@a",
                "https://a#b",
                "https://a?b",
                "",
            )
        ),
        ({"service": {}}, [(("service", "name"), "add name"), (("service", "namespace"), "add namespace")]),
        *((at_service(port=port), []) for port in (None, 1, 65535)),
        *((at_service(port=port), [(("service", "port"), PORT_FIX)]) for port in (0, 65536, "443")),
        *((at_service(path=path), []) for path in ("", "/", "/a", "/a/", "/a.b/c-d")),
        *(
            (at_service(path=path), [(("service", "path"), PATH_FIX)])
            for path in ("a", "ba/", "//", "/a//b", "/a//", "/a/B", "/B/a")
        ),
    ],
)
def test_webhook_has_a_valid_url_or_service(api: str, client: Any, expected: Fixes) -> None:
    assert fixes("EP646", converted(api, client), api) == [
        ((*client_at(api), *way), fix) for way, fix in expected
    ]


@either_version
@pytest.mark.parametrize(
    ("reviews", "expected"),
    [
        (["v1"], []),
        (["v1beta1"], []),
        (["v9", "v1beta1"], []),
        (["v1", "v1", "v1"], [((1,), "remove one of them"), ((2,), "remove one of them")]),
        (["V1", "V1", "v1"], [((0,), "write v1"), ((1,), "remove one of them")]),
        (["v9"], [((), "add v1")]),
    ],
)
def test_review_versions_are_valid_and_unique(api: str, reviews: list[str], expected: Fixes) -> None:
    assert fixes("EP646", converted(api, reviews=reviews), api) == [
        ((*reviews_at(api), *way), fix) for way, fix in expected
    ]


@pytest.mark.parametrize("reviews", [None, []])
def test_only_v1beta1_has_default_review_versions(reviews: Any) -> None:
    assert fixes("EP646", converted(OLD, reviews=reviews), OLD) == []
    assert fixes("EP646", converted(NEW, reviews=reviews)) == [
        (reviews_at(NEW), "add conversionReviewVersions: [v1]")
    ]


@either_version
def test_without_a_webhook_its_fields_are_not_allowed(api: str) -> None:
    client = (client_at(api), "set strategy: Webhook, or remove the webhook")
    reviews = (reviews_at(api), "set strategy: Webhook, or remove conversionReviewVersions")
    assert fixes("EP646", converted(api, strategy="None"), api) == [client, reviews]
    assert fixes("EP646", converted(api, {}, (), "None"), api) == [client]
    assert fixes("EP646", converted(api, None, ["v9"], "None"), api) == [reviews]


@pytest.mark.parametrize("kept", [True, None])
def test_v1beta1_with_a_webhook_does_not_preserve_unknown_fields(kept: bool | None) -> None:
    fix = "set spec.preserveUnknownFields: false"
    spec = converted(OLD) | {"preserveUnknownFields": kept}
    assert fixes("EP646", spec, OLD) == [(("conversion", "strategy"), fix)]
    assert fixes("EP646", converted(NEW) | {"preserveUnknownFields": kept}) == []


def selecting(api: str, *paths: str, schema: Any = ()) -> dict[str, Any]:
    """A CRD that selects by fields: as a whole, or in its second and third version."""
    fields = {"selectableFields": [{"jsonPath": path} for path in paths]}
    if api == OLD:
        return fields | {"validation": dict(schema) if schema == () else schema}
    version = fields | {"schema": {"openAPIV3Schema": dict(schema) if schema == () else schema}}
    return {"versions": [{}, version, version]}


NINE = [f".spec.a{n}" for n in range(9)]
PATH = "write a path such as .spec.host"


@either_version
@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        ([".spec.host", ".status.a", ".spec.metadata"], []),
        (["", "spec.a", ".a[0]", "a."], [((n,), PATH) for n in range(4)]),
        ([".spec.a", ".metadata.name"], [((1,), "remove it")]),
        (
            [".spec.a", ".spec.a", ".spec.b", ".spec.a"],
            [((1,), "remove one of them"), ((3,), "remove one of them")],
        ),
        (NINE[:8], []),
        ([*NINE[:8], NINE[0]], [((8,), "remove one of them")]),
        (NINE, [((), "keep at most 8")]),
    ],
)
def test_selectable_fields_are_limited_and_valid(api: str, paths: list[str], expected: Fixes) -> None:
    holders: list[tuple[str | int, ...]] = [()] if api == OLD else [("versions", 1), ("versions", 2)]
    assert fixes("EP649", selecting(api, *paths), api) == [
        ((*holder, "selectableFields", *way), fix) for holder in holders for way, fix in expected
    ]


@either_version
@pytest.mark.parametrize("schema", [None, []])
def test_selectable_fields_need_a_schema(api: str, schema: Any) -> None:
    [first, *_] = fixes("EP649", selecting(api, ".spec.a", schema=schema), api)
    holder = () if api == OLD else ("versions", 1)
    assert first == ((*holder, "selectableFields"), "add the schema")
    assert fixes("EP649", selecting(api, schema=schema), api) == []


def test_selectable_fields_are_in_versions_or_in_spec_of_v1beta1() -> None:
    assert fixes("EP649", selecting(OLD, "")) == fixes("EP649", selecting(NEW, ""), OLD) == []


@pytest.mark.parametrize(
    ("api", "kept", "is_reported"),
    [
        (NEW, True, True),
        (NEW, None, False),
        (NEW, False, False),
        (OLD, True, True),
        (OLD, None, True),
        (OLD, False, False),
    ],
)
def test_preserve_unknown_fields_is_rejected_and_the_default_of_v1beta1(
    api: str, kept: bool | None, is_reported: bool
) -> None:
    spec = {"preserveUnknownFields": kept}
    assert [way for way, _ in fixes("EP650", spec, api)] == [("preserveUnknownFields",)] * is_reported
    for flaw in flaws("EP650", spec, api=api):
        assert ("default of v1beta1" in flaw.message) == (kept is None)


ANNOTATION = "api-approved.kubernetes.io"


@pytest.mark.parametrize("group", ["k8s.io", "a.k8s.io", "kubernetes.io", "b.kubernetes.io"])
def test_protected_group_needs_an_approval(group: str) -> None:
    for fine in ("https://a.b/c", "unapproved", "unapproved, for now"):
        assert flaws("EP651", {"group": group}, notes={ANNOTATION: fine}) == []
    for wrong in ("", "yes", "/docs", "https://a b", "not unapproved"):
        found = flaws(
            "EP651", {"group": "b.c"}, {"group": group}, {"group": group}, notes={ANNOTATION: wrong}
        )
        assert [(flaw.place.file, flaw.place.pointer) for flaw in found] == [
            (file, ("metadata", "annotations", ANNOTATION)) for file in ("1.yaml", "2.yaml")
        ]
        problem = f"{ANNOTATION} is {wrong!r}" if wrong else f"it has no annotation {ANNOTATION}"
        assert found[0].message.endswith(problem)


@pytest.mark.parametrize("group", ["", "example.com", "ak8s.io", "k8s.io.example.com"])
def test_other_group_needs_no_approval(group: str) -> None:
    assert flaws("EP651", {"group": group}) == []
