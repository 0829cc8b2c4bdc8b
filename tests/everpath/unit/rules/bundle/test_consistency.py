"""Rules about agreement between the manifests of a bundle."""

from __future__ import annotations

from typing import Any

import pytest

from everpath.model import Place
from everpath.model.bundle_contents import PACKAGE_ANNOTATION, BundleFolder, BundleSize, Contents, Manifest
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import Rule, rules_for_subjects

RULES: dict[str, Rule] = {rule.id: rule for rule in rules_for_subjects({"bundle folder"})}
Pointer = tuple[str | int, ...]


def flaws(rule: str, *bodies: dict[str, Any], **fields: Any) -> list[Flaw]:
    """What a rule says of some manifests, each in a file of its own."""
    manifests = tuple(Manifest(Place(f"{i}.yaml"), body) for i, body in enumerate(bodies))
    contents = Contents("f", Place("f"), manifests, {PACKAGE_ANNOTATION: "acme"})
    found = list(RULES[rule].check(BundleFolder(contents, **fields)))
    assert all(flaw.because and flaw.fix for flaw in found)
    return found


def shown(rule: str, *bodies: dict[str, Any]) -> list[tuple[str, Pointer]]:
    return [(flaw.place.file, flaw.place.pointer) for flaw in flaws(rule, *bodies)]


def crd(*versions: str, kind: str = "Cache", group: str = "acme.io", name: str = "") -> dict[str, Any]:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": name or f"{kind.lower()}s.{group}"},
        "spec": {"group": group, "names": {"kind": kind}, "versions": [{"name": v} for v in versions]},
    }


def old_crd(*versions: str, version: str = "") -> dict[str, Any]:
    made = crd(*versions)
    made["apiVersion"] = "apiextensions.k8s.io/v1beta1"
    made["spec"] |= {"version": version} if version else {}
    return made


def csv(*owned: tuple[str, str, str], **spec: Any) -> dict[str, Any]:
    """A CSV that owns some APIs: name of the CRD, version and kind of each."""
    listed = [{"name": name, "version": version, "kind": kind} for name, version, kind in owned]
    return {
        "kind": "ClusterServiceVersion",
        "metadata": {"name": "acme.v1"},
        "spec": {"customresourcedefinitions": {"owned": listed}, **spec},
    }


CACHES = "caches.acme.io"
OWNED: Pointer = ("spec", "customresourcedefinitions", "owned")
NAME: Pointer = ("metadata", "name")


def test_each_rule_belongs_to_a_validator() -> None:
    table = {id_: (r.name, r.severity, r.validators) for id_, r in RULES.items() if "EP653" <= id_ <= "EP659"}
    bundle = ("bundle",)
    assert table == {
        "EP653": ("duplicate-crd", Severity.ERROR, bundle),
        "EP654": ("owned-crd-missing", Severity.ERROR, ("bundle", "opm")),
        "EP655": ("crd-not-owned", Severity.ERROR, bundle),
        "EP656": ("service-account-twice", Severity.ERROR, bundle),
        "EP657": ("bundle-size", Severity.ERROR, bundle),
        "EP658": ("release-name", Severity.ERROR, bundle),
        "EP659": ("related-image", Severity.ERROR, bundle),
    }


def test_every_api_of_two_crds_is_reported_with_the_other_file() -> None:
    found = flaws("EP653", crd("v1", "v2"), crd("v3"), crd("v1", "v2", "v4"), crd("v1", kind="Store"))
    assert [(flaw.place.file, flaw.place.pointer) for flaw in found] == [
        ("2.yaml", ("spec", "names", "kind"))
    ] * 2
    assert {flaw.because for flaw in found} == {("the first is in 0.yaml",)}


def test_crd_with_a_duplicate_version_is_reported() -> None:
    assert len(flaws("EP653", crd("v1", "v1", "v1"))) == 2


def test_v1beta1_without_versions_has_a_version_without_a_name() -> None:
    assert len(flaws("EP653", old_crd(), old_crd())) == 1
    assert flaws("EP653", crd(), crd()) == []


def test_owned_api_that_is_missing_is_reported() -> None:
    assert flaws("EP654", csv((CACHES, "v1", "Cache"), (CACHES, "v2", "Cache")), crd("v1", "v2")) == []


@pytest.mark.parametrize(
    ("owned", "message", "near"),
    [
        ((CACHES, "v2", "Cache"), "no CRD defines it", "the bundle defines"),
        ((CACHES, "v1", "Store"), "no CRD defines it", "the bundle has no CRD of this kind"),
        (("stores.acme.io", "v1", "Cache"), "no CRD is named stores.acme.io", "the bundle defines"),
        (("acme", "v1", "Cache"), "no CRD defines it", "the bundle defines"),
    ],
)
def test_missing_owned_api_is_reported_with_similar_ones(
    owned: tuple[str, str, str], message: str, near: str
) -> None:
    [first, second] = flaws("EP654", csv((CACHES, "v1", "Cache"), owned, owned), crd("v1"))
    assert (first.place.pointer, second.place.pointer) == ((*OWNED, 1), (*OWNED, 2))
    assert first.message.endswith(message)
    reason, upstream = first.because
    assert str(reason).startswith(near)
    assert upstream == "opm reports: owned CRD not found in bundle"


def test_crd_name_without_a_dot_is_also_the_group() -> None:
    assert flaws("EP654", csv(("acme", "v1", "Cache")), crd("v1", group="acme", name="acme")) == []


@pytest.mark.parametrize(("version", "hidden"), [("", []), ("v1", ["v2"]), ("v2", ["v1"])])
def test_opm_uses_only_spec_version_of_v1beta1(version: str, hidden: list[str]) -> None:
    found = flaws(
        "EP654", csv((CACHES, "v1", "Cache"), (CACHES, "v2", "Cache")), old_crd("v1", "v2", version=version)
    )
    assert [("v1", "v2")[int(flaw.place.pointer[-1])] for flaw in found] == hidden


def test_spec_version_of_v1_is_ignored() -> None:
    made = crd("v1")
    made["spec"]["version"] = "v9"
    assert flaws("EP654", csv((CACHES, "v1", "Cache")), made) == []


def test_crd_with_one_owned_version_is_owned() -> None:
    assert flaws("EP655", csv((CACHES, "v1", "Cache")), crd("v1", "v2")) == []


def test_every_api_of_an_unowned_crd_is_reported_once() -> None:
    owner, stores = (
        csv((CACHES, "v1", "Cache"), ("stores.acme.io", "v9", "Store")),
        crd("v1", "v2", "v1", kind="Store"),
    )
    assert shown("EP655", owner, stores, crd("v1"), crd("v1", group="other.io")) == [
        ("1.yaml", NAME),
        ("1.yaml", NAME),
        ("3.yaml", NAME),
    ]


def test_service_account_of_a_deployment_is_reported() -> None:
    deployments = [
        {"spec": {"template": {"spec": {"serviceAccountName": name}}}} for name in ("first", "second")
    ]
    owner = csv(install={"spec": {"deployments": deployments}})
    accounts = [
        {"apiVersion": version, "kind": "ServiceAccount", "metadata": {"name": name}}
        for name, version in (("second", "v1"), ("other", "v1"), ("first", "v1"), ("first", "v2"))
    ]
    assert shown("EP656", owner, *accounts) == [("1.yaml", NAME), ("3.yaml", NAME)]


MEBIBYTE = 1024 * 1024


@pytest.mark.parametrize(
    ("compressed", "severities"),
    [
        (MEBIBYTE * 85 // 100, []),
        (MEBIBYTE * 85 // 100 + 1, [Severity.WARNING]),
        (MEBIBYTE, [Severity.WARNING]),
        (MEBIBYTE + 1, [None]),
    ],
)
def test_bundle_size_is_limited_to_a_mebibyte(compressed: int, severities: list[Severity | None]) -> None:
    found = flaws("EP657", size=BundleSize(9 * MEBIBYTE, compressed))
    assert [flaw.severity for flaw in found] == severities
    assert all(flaw.place == Place("f") for flaw in found)
    assert all(("cannot unpack" in flaw.message) == (compressed > MEBIBYTE) for flaw in found)
    assert flaws("EP657") == []


@pytest.mark.parametrize(
    ("release", "name", "right"),
    [
        (None, "acme.v1", None),
        ("", "acme.v1", None),
        ("2", "acme-v1.0.0-2", None),
        ("2", "acme.v1", "acme-v1.0.0-2"),
        (3, "acme-v1.0.0-2", "acme-v1.0.0-3"),
        ("2", "", "acme-v1.0.0-2"),
    ],
)
def test_name_of_a_bundle_with_a_release_ends_in_it(release: object, name: str, right: str | None) -> None:
    made = csv(version="1.0.0", release=release)
    made["metadata"]["name"] = name
    found = flaws("EP658", made)
    assert [(flaw.place.pointer, flaw.fix) for flaw in found] == (
        [(NAME, f"rename it to {right}")] if right else []
    )
    assert all(flaw.message.endswith(f"must be {right}, not {name}") for flaw in found)


def test_expected_name_without_a_package_starts_with_a_dash() -> None:
    body = csv(version="1.0.0", release="2")
    [flaw] = RULES["EP658"].check(BundleFolder(Contents("f", Place("f"), (Manifest(Place("c"), body),))))
    assert flaw.fix == "rename it to -v1.0.0-2"


@pytest.mark.parametrize(
    ("image", "fix"),
    [
        ("", "write host/path:tag or host/path@sha256:…, or remove it"),
        (None, "write host/path:tag or host/path@sha256:…, or remove it"),
        ("https://quay.io/a/b:1", "write quay.io/a/b:1"),
        ("quay.io/a/b@sha256:1", "write host/path:tag or host/path@sha256:…, or remove it"),
    ],
)
def test_related_images_are_valid_references(image: object, fix: str) -> None:
    images = [{"image": "quay.io/a/b:1"}, {"image": image}, {"image": image}]
    found = flaws("EP659", csv(relatedImages=images))
    assert [flaw.place.pointer for flaw in found] == [("spec", "relatedImages", i, "image") for i in (1, 2)]
    assert {flaw.fix for flaw in found} == {fix}
    assert bool(image) or {flaw.message for flaw in found} == {
        "the related image '' cannot be mirrored: it is empty"
    }


@pytest.mark.parametrize("rule", ["EP654", "EP655", "EP656", "EP658", "EP659"])
def test_without_a_csv_consistency_rules_report_nothing(rule: str) -> None:
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": ""}}
    assert flaws(rule, crd("v1"), account) == []
