"""Rules about removed APIs, and their severity."""

from __future__ import annotations

import json
from typing import Any

import pytest

from everpath.model import Place
from everpath.model.bundle_contents import BundleFolder, Contents, Manifest
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import Rule, rules_for_subjects

RULES: dict[str, Rule] = {rule.id: rule for rule in rules_for_subjects({"bundle folder"})}
MAXIMUM, LABEL = "olm.maxOpenShiftVersion", "com.redhat.openshift.versions"
OLD_CRD = {
    "apiVersion": "apiextensions.k8s.io/v1beta1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "as.b.c"},
}


def csv(notes: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    return {"kind": "ClusterServiceVersion", "metadata": {"annotations": notes or {}}, "spec": spec}


def flaws(
    rule: str, *bodies: dict[str, Any], annotations: Any = None, place: Place | None = None, **fields: Any
) -> list[Flaw]:
    """What a rule says of some manifests, each in a file of its own."""
    manifests = tuple(Manifest(Place(f"{i}.yaml"), body) for i, body in enumerate(bodies))
    contents = Contents("f", Place("f"), manifests, annotations, place)
    found = list(RULES[rule].check(BundleFolder(contents, **fields)))
    assert all(flaw.because and flaw.fix for flaw in found)
    return found


def test_each_rule_belongs_to_its_validators() -> None:
    named = {"EP669", "EP686", "EP687"}
    assert {id_: (r.name, r.severity, r.validators) for id_, r in RULES.items() if id_ in named} == {
        "EP669": ("removed-api", Severity.ERROR, ("alpha-deprecated-apis", "operatorhub/v2")),
        "EP686": ("max-openshift-version", Severity.ERROR, ("community",)),
        "EP687": ("openshift-label", Severity.ERROR, ("community",)),
    }


REMOVED = """
    1.22 apiextensions.k8s.io/v1beta1 CustomResourceDefinition
    1.22 scheduling.k8s.io/v1beta1 PriorityClass
    1.22 rbac.authorization.k8s.io/v1beta1 Role ClusterRole RoleBinding ClusterRoleBinding
    1.22 apiregistration.k8s.io/v1beta1 APIService
    1.22 authentication.k8s.io/v1beta1 TokenReview
    1.22 authorization.k8s.io/v1beta1 LocalSubjectAccessReview SelfSubjectAccessReview SubjectAccessReview
    1.22 admissionregistration.k8s.io/v1beta1 MutatingWebhookConfiguration ValidatingWebhookConfiguration
    1.22 coordination.k8s.io/v1beta1 Lease
    1.22 extensions/v1beta1 Ingress
    1.22 networking.k8s.io/v1beta1 Ingress IngressClass
    1.22 storage.k8s.io/v1beta1 CSIDriver CSINode StorageClass VolumeAttachment
    1.22 certificates.k8s.io/v1beta1 CertificateSigningRequest
    1.25 batch/v1beta1 CronJob
    1.25 discovery.k8s.io/v1beta1 EndpointSlice
    1.25 events.k8s.io/v1beta1 Event
    1.25 autoscaling/v2beta1 HorizontalPodAutoscaler
    1.25 policy/v1beta1 PodDisruptionBudget PodSecurityPolicy
    1.25 node.k8s.io/v1beta1 RuntimeClass
    1.26 autoscaling/v2beta2 HorizontalPodAutoscaler
"""


@pytest.mark.parametrize("line", REMOVED.strip().splitlines())
def test_object_of_a_removed_api_is_reported_with_the_version(line: str) -> None:
    since, api, *kinds = line.split()
    bodies = [{"apiVersion": api, "kind": kind, "metadata": {"name": "a"}} for kind in kinds]
    found = flaws("EP669", *bodies, {"apiVersion": "v1", "kind": kinds[0]}, {"apiVersion": api, "kind": "A"})
    assert [(flaw.place.file, flaw.message) for flaw in found] == [
        (
            f"{i}.yaml",
            f"{kind} a has the apiVersion {api}, which Kubernetes {since} removed",
        )
        for i, kind in enumerate(kinds)
    ]
    assert {flaw.place.pointer for flaw in found} == {("apiVersion",)}
    [nameless] = flaws("EP669", {"apiVersion": api, "kind": kinds[0]})
    assert nameless.message.startswith(f"{kinds[0]} has the apiVersion {api}, ")
    assert {flaw.fix for flaw in found} == {"use the API that replaces it"}


@pytest.mark.parametrize(
    ("least", "asked", "meant"),
    [
        ("", "", None),
        ("1.21.0", "", None),
        ("", "1.21", None),
        ("new", "1.21.9", None),
        ("1.22.0", "", "1.22.0"),
        ("1.23.0", "1.21", "1.23.0"),
        ("1.21.0", "v1.22", "v1.22"),
        ("1.23.0", "1.24", "1.24"),
    ],
)
def test_removed_api_is_an_error_for_a_bundle_of_such_clusters(
    least: str, asked: str, meant: str | None
) -> None:
    [flaw] = flaws("EP669", csv(minKubeVersion=least), OLD_CRD, kube_version=asked)
    assert flaw.severity == (None if meant else Severity.WARNING)
    reason = f"the bundle is for Kubernetes {meant}" if meant else "the bundle has no upper limit"
    assert flaw.because == (reason,)


def test_resources_of_a_crd_are_checked_for_kubernetes_1_25() -> None:
    gone, there = {"version": "batch/v1beta1", "kind": "CronJob"}, {"version": "batch/v1", "kind": "CronJob"}
    earlier = {"version": "extensions/v1beta1", "kind": "Ingress"}
    listed = [{}, {"resources": [there, gone, earlier, gone]}, {"resources": [gone]}]
    found = flaws("EP669", csv(customresourcedefinitions={"owned": listed, "required": listed}))
    assert [flaw.place.pointer for flaw in found] == [
        ("spec", "customresourcedefinitions", relation, *way, "version")
        for relation in ("owned", "required")
        for way in ((1, "resources", 1), (1, "resources", 3), (2, "resources", 0))
    ]
    assert {flaw.message for flaw in found} == {
        "the CSV lists CronJob of batch/v1beta1 as a resource, which Kubernetes 1.25 removed"
    }


def right(group: str, resource: str) -> dict[str, Any]:
    return {"apiGroups": ["", group], "resources": ["pods", resource]}


PSP = right("policy", "podsecuritypolicies")


def test_permission_for_podsecuritypolicies_is_always_a_warning() -> None:
    asked = [
        {},
        {"rules": [right("policy", "a"), PSP, right("a", "podsecuritypolicies"), PSP]},
        {"rules": [PSP]},
    ]
    install = {"spec": {"permissions": asked, "clusterPermissions": asked}}
    found = flaws("EP669", csv(install=install, minKubeVersion="1.25.0"))
    assert [flaw.place.pointer for flaw in found] == [
        ("spec", "install", "spec", kind, *way)
        for kind in ("clusterPermissions", "permissions")
        for way in ((1, "rules", 1), (1, "rules", 3), (2, "rules", 0))
    ]
    assert {(flaw.severity, flaw.fix) for flaw in found} == {(Severity.WARNING, "remove the permissions")}
    assert {flaw.message.partition(", ")[2] for flaw in found} == {"which Kubernetes 1.25 removed"}
    assert {flaw.because for flaw in found} == {("the bundle is for Kubernetes 1.25.0",)}


@pytest.mark.parametrize("relation", ["owned", "required"])
@pytest.mark.parametrize(("kind", "count"), [("PodSecurityPolicy", 1), ("PodSecurityPolicie", 0), ("Pod", 1)])
def test_permission_for_a_listed_resource_is_ignored_as_upstream(
    relation: str, kind: str, count: int
) -> None:
    listed = {relation: [{}, {"resources": [{}, {"kind": kind, "version": "policy/v1"}]}]}
    install = {"spec": {"permissions": [{"rules": [PSP]}]}}
    assert len(flaws("EP669", csv(customresourcedefinitions=listed, install=install))) == count


STATED: dict[str, Any] = {"type": MAXIMUM, "value": "4.8"}
STATE = f"use the new API, or set {MAXIMUM}: 4.8 in olm.properties"


@pytest.mark.parametrize(
    ("properties", "fix"),
    [
        ([STATED], None),
        ([{"type": "other", "value": "4.9"}, STATED, STATED | {"value": "4.9"}], None),
        ([STATED | {"value": 4.8}], None),
        ([STATED | {"value": "v4.8"}], None),
        ([], STATE),
        ([{"type": "other", "value": "4.8"}, "x"], STATE),
        (STATED, STATE),
        ("[", STATE),
        ("4.8", STATE),
        ("[" * 100_000, STATE),
        ("", STATE),
        ([STATED | {"value": "new"}], "write 4.8"),
        ([STATED | {"value": "4.9"}], "write 4.8"),
        ([STATED | {"value": "4.10"}], "write 4.8"),
        ([STATED | {"value": "4.7.1"}], "write 4.7"),
        ([STATED | {"value": "4.9.0-rc"}], "write 4.9"),
    ],
)
def test_max_openshift_version_is_below_4_9(properties: Any, fix: str | None) -> None:
    stated = properties if isinstance(properties, str) else json.dumps(properties)
    found = flaws("EP686", csv({"olm.properties": stated}), OLD_CRD)
    assert [(flaw.place.file, flaw.place.pointer, flaw.fix) for flaw in found] == (
        [("0.yaml", ("metadata", "annotations", "olm.properties"), fix)] if fix else []
    )
    assert all(MAXIMUM in flaw.message for flaw in found)
    only_noted = fix in ("write 4.7", "write 4.9")
    assert [flaw.severity for flaw in found if flaw.severity] == [Severity.WARNING] * only_noted


@pytest.mark.parametrize("rule", ["EP686", "EP687"])
def test_max_openshift_version_is_needed_only_for_apis_of_1_22(rule: str) -> None:
    later = {"apiVersion": "batch/v1beta1", "kind": "CronJob"}
    assert flaws(rule, csv(), later) == flaws(rule, csv()) == flaws(rule, OLD_CRD) == []
    assert len(flaws(rule, csv(), later, OLD_CRD)) == 1


ADD, WRITE = f"add {LABEL}: v4.6-v4.8", "write v4.6-v4.8, or =v4.8"


@pytest.mark.parametrize(
    ("stated", "why"),
    [
        ("v4.6-v4.8", None),
        ("=v4.8", None),
        (" =v4.8", None),
        ("4.6-4.8.9", None),
        ("v4.6", "it has no upper limit"),
        ("v4.6-v4.9", "its upper limit is not below 4.9"),
        ("=v4.9", "its upper limit is not below 4.9"),
        ("v4.6-v4.10", "its upper limit is not below 4.9"),
        ("v4.6-new", "'new' is not a version"),
        ("=v4.6-v4.8", "'4.6-4.8' is not a version"),
    ],
)
def test_openshift_label_has_an_upper_limit_below_4_9(stated: str, why: str | None) -> None:
    notes = Place("annotations.yaml")
    in_notes = flaws("EP687", csv(), OLD_CRD, annotations={LABEL: stated}, place=notes)
    before = "FROM scratch\n# é, and a byte that is no text: \udcff\n"
    text = f'{before}LABEL {LABEL}="{stated}" \nLABEL {LABEL}=v4.6\n'
    in_labels = flaws("EP687", csv(), OLD_CRD, labels=(Place("Dockerfile"), text))
    for found, place in (
        (in_notes, notes.at("annotations", LABEL)),
        (in_labels, Place("Dockerfile", len(before.encode(errors="surrogateescape")))),
    ):
        assert [(flaw.place, flaw.fix, flaw.severity) for flaw in found] == [(place, WRITE, None)] * bool(why)
        assert all(
            flaw.message
            == f"the bundle is added to catalogs for OpenShift 4.9: {LABEL} is {stated!r}, and {why}"
            for flaw in found
        )


def test_missing_label_is_an_error_only_with_known_labels() -> None:
    notes, dockerfile = Place("annotations.yaml"), Place("Dockerfile")
    in_notes = Severity.WARNING
    for found, place, severity in (
        (flaws("EP687", csv(), OLD_CRD), Place("f").at("annotations", LABEL), in_notes),
        (
            flaws("EP687", csv(), OLD_CRD, annotations={}, place=notes),
            notes.at("annotations", LABEL),
            in_notes,
        ),
        (
            flaws("EP687", csv(), OLD_CRD, annotations={LABEL: ""}, place=notes),
            notes.at("annotations", LABEL),
            in_notes,
        ),
        (flaws("EP687", csv(), OLD_CRD, labels=(dockerfile, "FROM scratch\n")), dockerfile, None),
    ):
        assert [(flaw.place, flaw.fix, flaw.severity) for flaw in found] == [(place, ADD, severity)]
        assert (
            found[0].message
            == f"the bundle is added to catalogs for OpenShift 4.9: the label {LABEL} is missing"
        )
