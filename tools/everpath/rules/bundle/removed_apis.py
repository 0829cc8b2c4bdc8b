"""Rules for APIs that Kubernetes has removed, and for the limits of OpenShift that bundles with them need."""

from __future__ import annotations

__all__ = ["max_openshift_version", "openshift_label", "removed_api"]

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from everpath.manifest_access import as_string, items_at, string_at, value_at
from everpath.model import Place
from everpath.model.bundle_contents import CRD, BundleFolder
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import bundle_folder_rule
from everpath.versions import VersionError, parse_tolerant

#: Removed kinds by the Kubernetes version that removed them, and by apiVersion.
_REMOVED: Final[Mapping[str, Mapping[str, frozenset[str]]]] = {
    "1.22": {
        "apiextensions.k8s.io/v1beta1": frozenset({CRD}),
        "scheduling.k8s.io/v1beta1": frozenset({"PriorityClass"}),
        "rbac.authorization.k8s.io/v1beta1": frozenset(
            {"Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"}
        ),
        "apiregistration.k8s.io/v1beta1": frozenset({"APIService"}),
        "authentication.k8s.io/v1beta1": frozenset({"TokenReview"}),
        "authorization.k8s.io/v1beta1": frozenset(
            {"LocalSubjectAccessReview", "SelfSubjectAccessReview", "SubjectAccessReview"}
        ),
        "admissionregistration.k8s.io/v1beta1": frozenset(
            {"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}
        ),
        "coordination.k8s.io/v1beta1": frozenset({"Lease"}),
        "extensions/v1beta1": frozenset({"Ingress"}),
        "networking.k8s.io/v1beta1": frozenset({"Ingress", "IngressClass"}),
        "storage.k8s.io/v1beta1": frozenset({"CSIDriver", "CSINode", "StorageClass", "VolumeAttachment"}),
        "certificates.k8s.io/v1beta1": frozenset({"CertificateSigningRequest"}),
    },
    "1.25": {
        "batch/v1beta1": frozenset({"CronJob"}),
        "discovery.k8s.io/v1beta1": frozenset({"EndpointSlice"}),
        "events.k8s.io/v1beta1": frozenset({"Event"}),
        "autoscaling/v2beta1": frozenset({"HorizontalPodAutoscaler"}),
        "policy/v1beta1": frozenset({"PodDisruptionBudget", "PodSecurityPolicy"}),
        "node.k8s.io/v1beta1": frozenset({"RuntimeClass"}),
    },
    "1.26": {"autoscaling/v2beta2": frozenset({"HorizontalPodAutoscaler"})},
}
_OPENSHIFT_LIMIT: Final = parse_tolerant("4.9")
_MAXIMUM: Final = "olm.maxOpenShiftVersion"
_LABEL: Final = "com.redhat.openshift.versions"


class _Use(NamedTuple):
    """A use of a removed API, and the Kubernetes version that removed it."""

    api: str
    place: Place
    since: str
    is_permission: bool = False


def _uses(bundle: BundleFolder) -> Iterator[_Use]:
    for manifest in bundle.contents.manifests:
        for since, apis in _REMOVED.items():
            if manifest.kind in apis.get(manifest.api_version, ()):
                name = f"{manifest.kind} {manifest.name}".strip()
                yield _Use(
                    f"{name} has the apiVersion {manifest.api_version}",
                    manifest.place.at("apiVersion"),
                    since,
                )
    if bundle.csv is not None:
        yield from _resource_uses(bundle)
        yield from _permission_uses(bundle)


def _resource_uses(bundle: BundleFolder) -> Iterator[_Use]:
    """Yield the removed kinds among the resources that the CSV lists for its CRDs."""
    assert bundle.csv is not None
    for relation in ("owned", "required"):
        way = ("spec", "customresourcedefinitions", relation)
        for i, crd in items_at(bundle.csv.body, *way):
            for j, resource in items_at(crd, "resources"):
                version, kind = (
                    string_at(resource, "version"),
                    string_at(resource, "kind"),
                )
                if kind in _REMOVED["1.25"].get(version, ()):
                    place = bundle.csv.place.at(*way, i, "resources", j, "version")
                    yield _Use(f"the CSV lists {kind} of {version} as a resource", place, "1.25")


def _permission_uses(bundle: BundleFolder) -> Iterator[_Use]:
    """Yield the permissions for PodSecurityPolicies, which have no successor."""
    assert bundle.csv is not None
    body = bundle.csv.body
    # operator-framework/api ignores permissions for listed resources, whose plural it builds with an s. So it
    # reports this one even if PodSecurityPolicy is listed.
    listed_kinds = {
        string_at(resource, "kind").lower() + "s"
        for relation in ("owned", "required")
        for _, crd in items_at(body, "spec", "customresourcedefinitions", relation)
        for _, resource in items_at(crd, "resources")
    }
    if "podsecuritypolicies" in listed_kinds:
        return
    for kind in ("clusterPermissions", "permissions"):
        way = ("spec", "install", "spec", kind)
        for i, permission in items_at(body, *way):
            for j, rule in items_at(permission, "rules"):
                groups, resources = (
                    {as_string(item) for _, item in items_at(rule, key)} for key in ("apiGroups", "resources")
                )
                if "policy" in groups and "podsecuritypolicies" in resources:
                    place = bundle.csv.place.at(*way, i, "rules", j)
                    yield _Use(
                        "the CSV has permissions for podsecuritypolicies", place, "1.25", is_permission=True
                    )


def _at_least(stated: str, since: str) -> bool:
    try:
        return parse_tolerant(stated) >= parse_tolerant(since)
    except VersionError:
        return False


@bundle_folder_rule("EP669", "removed-api", Severity.ERROR, "alpha-deprecated-apis", "operatorhub/v2")
def removed_api(bundle: BundleFolder) -> Iterator[Flaw]:
    """A bundle uses no API that was removed from the Kubernetes version it is for.

    OLM cannot apply such an object. It is an error if minKubeVersion or --kube-version is such a version,
    else a warning. Permissions for a removed API are a warning, too. Cost: one look-up a manifest.
    """
    least = string_at(bundle.csv.body, "spec", "minKubeVersion") if bundle.csv else ""
    for api, place, since, is_permission in _uses(bundle):
        stated = next((v for v in (bundle.kube_version, least) if _at_least(v, since)), None)
        supported = f"the bundle is for Kubernetes {stated}" if stated else "the bundle has no upper limit"
        yield Flaw(
            place,
            f"{api}, which Kubernetes {since} removed",
            because=(supported,),
            fix="remove the permissions" if is_permission else "use the API that replaces it",
            severity=None if stated and not is_permission else Severity.WARNING,
        )


def _uses_api_removed_in_1_22(bundle: BundleFolder) -> bool:
    return any(use.since == "1.22" for use in _uses(bundle))


@bundle_folder_rule("EP686", "max-openshift-version", Severity.ERROR, "community")
def max_openshift_version(bundle: BundleFolder) -> Iterator[Flaw]:
    """A bundle with an API that OpenShift 4.9 removed has olm.maxOpenShiftVersion below 4.9.

    This property, in the annotation olm.properties, blocks upgrades of a cluster while the bundle is
    installed. Cost: one parse if such an API is used.
    """
    if bundle.csv is None or not _uses_api_removed_in_1_22(bundle):
        return
    place = bundle.csv.place.at("metadata", "annotations", "olm.properties")
    because = ("the bundle uses an API that Kubernetes 1.22 (OpenShift 4.9) removed",)
    stated = _max_openshift(as_string(bundle.csv.annotations.get("olm.properties")))
    if stated is None:
        message = f"the operator fails after an upgrade to OpenShift 4.9: {_MAXIMUM} is missing"
        yield Flaw(place, message, because, fix=f"use the new API, or set {_MAXIMUM}: 4.8 in olm.properties")
        return
    try:
        limit = parse_tolerant(stated)
    except VersionError:
        yield Flaw(
            place,
            f"the operator fails after an upgrade to OpenShift 4.9: {_MAXIMUM} {stated!r} is not a version",
            because,
            fix="write 4.8",
        )
        return
    if str(limit) != f"{limit.major}.{limit.minor}.0":
        message = f"OpenShift uses only major and minor of {_MAXIMUM}, which is {stated}"
        fix = f"write {limit.major}.{limit.minor}"
        yield Flaw(place, message, because, fix=fix, severity=Severity.WARNING)
    elif limit >= _OPENSHIFT_LIMIT:
        yield Flaw(
            place,
            f"the operator fails on OpenShift 4.9 and later: {_MAXIMUM} is {stated}",
            because,
            fix="write 4.8",
        )


def _max_openshift(properties: str) -> str | None:
    """Return olm.maxOpenShiftVersion of the annotation olm.properties, or None."""
    import json  # noqa: PLC0415 - few bundles use such an API

    try:
        items: Any = json.loads(properties)
    except (ValueError, RecursionError):
        return None
    found = (item for item in items if value_at(item, "type") == _MAXIMUM) if isinstance(items, list) else ()
    return next((string_at(item, "value") for item in found), None)


@bundle_folder_rule("EP687", "openshift-label", Severity.ERROR, "community")
def openshift_label(bundle: BundleFolder) -> Iterator[Flaw]:
    """The image of a bundle with an API that OpenShift 4.9 removed has a label that excludes 4.9.

    Without an upper limit in com.redhat.openshift.versions the bundle is added to catalogs of clusters that
    cannot install it. The labels are in the Dockerfile of --labels, or in annotations.yaml. Cost: one test a
    line.
    """
    if bundle.csv is None or not _uses_api_removed_in_1_22(bundle):
        return
    place, stated = _versions_label(bundle)
    because = ("the bundle uses an API that Kubernetes 1.22 (OpenShift 4.9) removed",)
    if stated is None:
        message = f"the bundle is added to catalogs for OpenShift 4.9: the label {_LABEL} is missing"
        severity = None if bundle.labels else Severity.WARNING
        yield Flaw(place, message, because, fix=f"add {_LABEL}: v4.6-v4.8", severity=severity)
        return
    fault = _label_fault(stated)
    if fault:
        yield Flaw(
            place,
            f"the bundle is added to catalogs for OpenShift 4.9: {_LABEL} is {stated!r}, and {fault}",
            because,
            fix="write v4.6-v4.8, or =v4.8",
        )


def _versions_label(bundle: BundleFolder) -> tuple[Place, str | None]:
    """Return the place of the label, or where it should be, and its value."""
    if bundle.labels is None:
        place = bundle.contents.annotations_place or bundle.contents.place
        stated = (bundle.contents.annotations or {}).get(_LABEL)
        return place.at("annotations", _LABEL), as_string(stated) or None
    place, content = bundle.labels
    offset = 0
    for line in content.splitlines(keepends=True):
        if _LABEL in line:
            value = line.partition(_LABEL)[2].strip().removeprefix("=").strip("\"' ")
            return place._replace(offset=offset), value
        # Invalid UTF-8 was decoded to one surrogate for each byte.
        offset += len(line.encode(errors="surrogateescape"))
    return place, None


def _label_fault(stated: str) -> str | None:
    """Return why a label does not exclude OpenShift 4.9 and later, or None."""
    plain = stated.replace("v", "").strip()
    if not plain.startswith("=") and "-" not in plain:
        return "it has no upper limit"
    last = plain.removeprefix("=") if plain.startswith("=") else plain.partition("-")[2]
    try:
        return "its upper limit is not below 4.9" if parse_tolerant(last) >= _OPENSHIFT_LIMIT else None
    except VersionError:
        return f"{last!r} is not a version"
