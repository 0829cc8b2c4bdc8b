"""APIs that Kubernetes has removed, and what OpenShift's community pipeline asks of bundles that use them."""

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

#: By the version that removed them: kinds of each apiVersion.
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
    """A removed API, where it is used and the version that removed it; `may` where only rights to it are."""

    api: str
    place: Place
    since: str
    may: bool = False


def _uses(bundle: BundleFolder) -> Iterator[_Use]:
    for manifest in bundle.contents.manifests:
        for since, apis in _REMOVED.items():
            if manifest.kind in apis.get(manifest.api_version, ()):
                name = f"{manifest.kind} {manifest.name}".strip()
                yield _Use(f"{name} is of {manifest.api_version}", manifest.place.at("apiVersion"), since)
    if bundle.csv is not None:
        yield from _resources(bundle)
        yield from _rights(bundle)


def _resources(bundle: BundleFolder) -> Iterator[_Use]:
    """Resources that the CSV says its CRDs consist of."""
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


def _rights(bundle: BundleFolder) -> Iterator[_Use]:
    """Rights to the one resource that has no successor."""
    assert bundle.csv is not None
    body = bundle.csv.body
    # operator-framework/api passes over rights to what is listed, and makes plurals with an s. That of
    # PodSecurityPolicy is another: rights to it are told all the same.
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
                    yield _Use("the CSV asks for rights to podsecuritypolicies", place, "1.25", may=True)


def _at_least(stated: str, since: str) -> bool:
    try:
        return parse_tolerant(stated) >= parse_tolerant(since)
    except VersionError:
        return False


@bundle_folder_rule("EP669", "removed-api", Severity.ERROR, "alpha-deprecated-apis", "operatorhub/v2")
def removed_api(bundle: BundleFolder) -> Iterator[Flaw]:
    """A bundle uses no API that the Kubernetes it is meant for has removed.

    Applying such an object fails. It is an error where minKubeVersion or --kube-version says that the bundle
    is meant for such a cluster, else a warning, and so are rights to what is gone. Cost: one look-up a
    manifest.
    """
    least = string_at(bundle.csv.body, "spec", "minKubeVersion") if bundle.csv else ""
    for api, place, since, may in _uses(bundle):
        stated = next((v for v in (bundle.kube_version, least) if _at_least(v, since)), None)
        meant = (
            f"the bundle is meant for {stated}" if stated else f"the bundle is not kept from {since} clusters"
        )
        yield Flaw(
            place,
            f"{api}, which Kubernetes {since} has removed",
            because=(meant,),
            fix="remove the rights" if may else "move to the API that took its place",
            severity=None if stated and not may else Severity.WARNING,
        )


def _removed_in_1_22(bundle: BundleFolder) -> bool:
    return any(use.since == "1.22" for use in _uses(bundle))


@bundle_folder_rule("EP686", "max-openshift-version", Severity.ERROR, "community")
def max_openshift_version(bundle: BundleFolder) -> Iterator[Flaw]:
    """A bundle that uses an API which OpenShift 4.9 has removed says that it is for older ones.

    The property olm.maxOpenShiftVersion, in the annotation olm.properties, keeps a cluster from being
    upgraded while the bundle is installed. Cost: one parse, where such an API is used.
    """
    if bundle.csv is None or not _removed_in_1_22(bundle):
        return
    place = bundle.csv.place.at("metadata", "annotations", "olm.properties")
    because = ("the bundle uses an API that Kubernetes 1.22, OpenShift 4.9, has removed",)
    stated = _stated_maximum(as_string(bundle.csv.annotations.get("olm.properties")))
    if stated is None:
        message = f"olm.properties does not state {_MAXIMUM}"
        yield Flaw(place, message, because, fix=f"move to the new API, or state {_MAXIMUM}: 4.8")
        return
    try:
        limit = parse_tolerant(stated)
    except VersionError:
        yield Flaw(place, f"{_MAXIMUM} {stated!r} is no version", because, fix="write 4.8")
        return
    if str(limit) != f"{limit.major}.{limit.minor}.0":
        message = f"{_MAXIMUM} is {stated}, and only major and minor count"
        fix = f"write {limit.major}.{limit.minor}"
        yield Flaw(place, message, because, fix=fix, severity=Severity.WARNING)
    elif limit >= _OPENSHIFT_LIMIT:
        yield Flaw(place, f"{_MAXIMUM} is {stated}, and 4.9 lacks the API", because, fix="write 4.8")


def _stated_maximum(properties: str) -> str | None:
    """What the annotation says, None if nothing."""
    import json  # noqa: PLC0415 - few bundles still use such an API

    try:
        items: Any = json.loads(properties)
    except (ValueError, RecursionError):
        return None
    found = (item for item in items if value_at(item, "type") == _MAXIMUM) if isinstance(items, list) else ()
    return next((string_at(item, "value") for item in found), None)


@bundle_folder_rule("EP687", "openshift-label", Severity.ERROR, "community")
def openshift_label(bundle: BundleFolder) -> Iterator[Flaw]:
    """The image of a bundle that uses an API which OpenShift 4.9 has removed is labelled for older ones.

    The label com.redhat.openshift.versions ends below 4.9, or the bundle goes into catalogs where it cannot
    be installed. The labels are in the Dockerfile that --labels names, or in annotations.yaml. Cost: one look
    at each line.
    """
    if bundle.csv is None or not _removed_in_1_22(bundle):
        return
    place, stated = _stated_label(bundle)
    because = ("the bundle uses an API that Kubernetes 1.22, OpenShift 4.9, has removed",)
    if stated is None:
        message = f"nothing says {_LABEL}"
        severity = None if bundle.labels else Severity.WARNING
        yield Flaw(place, message, because, fix=f"add {_LABEL}: v4.6-v4.8", severity=severity)
        return
    fault = _label_fault(stated)
    if fault:
        yield Flaw(place, f"{_LABEL} is {stated!r}: {fault}", because, fix="write v4.6-v4.8, or =v4.8")


def _stated_label(bundle: BundleFolder) -> tuple[Place, str | None]:
    """Where the label is, or should be, and what it says."""
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
        # Bytes that are no UTF-8 are read as surrogates, one each.
        offset += len(line.encode(errors="surrogateescape"))
    return place, None


def _label_fault(stated: str) -> str | None:
    """Why a label lets the bundle into catalogs of OpenShift 4.9 and later."""
    plain = stated.replace("v", "").strip()
    if not plain.startswith("=") and "-" not in plain:
        return "it has no upper end"
    last = plain.removeprefix("=") if plain.startswith("=") else plain.partition("-")[2]
    try:
        return "it does not end below 4.9" if parse_tolerant(last) >= _OPENSHIFT_LIMIT else None
    except VersionError:
        return f"{last!r} is no version"
