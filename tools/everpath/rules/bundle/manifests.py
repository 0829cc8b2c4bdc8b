"""Rules for manifests of all kinds: supported kinds, types of fields, metadata."""

from __future__ import annotations

__all__ = ["crd_api_version", "field_type", "object_metadata", "unsupported_kind"]

from collections.abc import Iterator, Mapping
from typing import Any, Final

from everpath.go_types import type_mismatches
from everpath.manifest_access import Pointer, as_string, items_at, string_at, value_at
from everpath.model.bundle_contents import CRD, CSV, BundleFolder, Manifest
from everpath.rules.findings import Flaw, Severity
from everpath.rules.kubernetes_names import label_value_error, qualified_name_error
from everpath.rules.registry import bundle_folder_rule

_SUPPORTED_KINDS: Final = frozenset(
    {
        "ClusterServiceVersion",
        "CustomResourceDefinition",
        "ClusterRole",
        "ClusterRoleBinding",
        "Service",
        "ServiceAccount",
        "Role",
        "RoleBinding",
        "PrometheusRule",
        "ServiceMonitor",
        "PodMonitor",
        "Secret",
        "ConfigMap",
        "PodDisruptionBudget",
        "PriorityClass",
        "VerticalPodAutoscaler",
        "ConsoleYAMLSample",
        "ConsoleQuickStart",
        "ConsoleCLIDownload",
        "ConsoleLink",
        "ConsolePlugin",
        "NetworkPolicy",
    }
)
_CRD_VERSIONS: Final = ("apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1")
_STRUCTS: Final[Mapping[tuple[str, str], str]] = {
    (_CRD_VERSIONS[0], CRD): "apiextensions.CustomResourceDefinition",
    (_CRD_VERSIONS[1], CRD): "v1beta1.CustomResourceDefinition",
}
_RULES: Final = ((("rules",), "[]rbac.PolicyRule"),)
#: Parts that optional validators decode, besides the metadata.
_PARTS: Final[Mapping[str, tuple[tuple[tuple[str, ...], str], ...]]] = {
    "Role": _RULES,
    "ClusterRole": _RULES,
    "PodDisruptionBudget": (
        (("spec",), "map any"),
        (("spec", "maxUnavailable"), "!IntOrString"),
        (("spec", "minAvailable"), "!IntOrString"),
    ),
    "PriorityClass": ((("value",), "int32"), (("globalDefault",), "bool")),
}
_ANNOTATIONS_LIMIT: Final = 256 << 10
_EXCLUSIVE_FINALIZERS: Final = frozenset({"orphan", "foregroundDeletion"})


@bundle_folder_rule("EP607", "unsupported-kind", Severity.ERROR, "opm")
def unsupported_kind(bundle: BundleFolder) -> Iterator[Flaw]:
    """Every manifest is of a kind that OLM applies from a bundle.

    With any other kind the InstallPlan of OLM v0 fails, on the cluster, after opm has built the bundle.
    Cost: one look-up a manifest.
    """
    if bundle.csv is None:
        return
    for manifest in bundle.contents.manifests:
        if manifest.kind not in _SUPPORTED_KINDS:
            yield Flaw(
                manifest.place.at("kind"),
                f"the InstallPlan of OLM v0 fails: a bundle must not contain a {manifest.kind}",
                because=(f"opm reports: {manifest.kind} is not supported type for registryV1 bundle",),
                fix="remove it from the bundle; the operator can create it",
            )


@bundle_folder_rule("EP608", "object-metadata", Severity.ERROR, "opm", "crd")
def object_metadata(bundle: BundleFolder) -> Iterator[Flaw]:
    """The API server accepts the metadata of every manifest: name, labels, annotations, owners, finalizers.

    Otherwise it rejects the object when OLM applies it, and the InstallPlan fails halfway. EP621 checks the
    name of the CSV. Cost: one test a label and annotation.
    """
    for manifest in bundle.contents.manifests:
        if manifest.kind == CSV or (bundle.csv is not None and manifest.kind not in _SUPPORTED_KINDS):
            continue
        for path, message, fix in _metadata_faults(value_at(manifest.body, "metadata")):
            yield Flaw(
                manifest.place.at("metadata", *path),
                f"the API server rejects {_object_name(manifest)}: {message}",
                because=("OLM v0: the InstallPlan fails; OLM v1: the bundle is not installed",),
                fix=fix,
            )


def _object_name(manifest: Manifest) -> str:
    return f"{manifest.kind} {manifest.name}".strip()


_Fault = tuple[Pointer, str, str]


def _metadata_faults(metadata: Any) -> Iterator[_Fault]:
    if not string_at(metadata, "name"):
        yield (), "it has no name", "add metadata.name"
    namespace = string_at(metadata, "namespace")
    if namespace:
        yield (
            ("namespace",),
            f"metadata.namespace is set to {namespace!r}",
            "remove it: OLM sets the namespace",
        )
    if isinstance(generation := value_at(metadata, "generation"), int) and generation < 0:
        yield ("generation",), "its generation is negative", "remove metadata.generation"
    yield from _label_faults(metadata)
    yield from _annotation_faults(metadata)
    yield from _reference_faults(metadata)


def _pairs(metadata: Any, key: str) -> Iterator[tuple[str, str]]:
    found = value_at(metadata, key)
    return ((str(k), as_string(v)) for k, v in found.items()) if isinstance(found, dict) else iter(())


def _label_faults(metadata: Any) -> Iterator[_Fault]:
    for key, value in _pairs(metadata, "labels"):
        if fault := qualified_name_error(key):
            yield ("labels", key), f"the label key {key!r} is invalid: {fault}", "use a valid key"
        if fault := label_value_error(value):
            yield (
                ("labels", key),
                f"the value {value!r} of the label {key} is invalid: {fault}",
                "use an annotation",
            )


def _annotation_faults(metadata: Any) -> Iterator[_Fault]:
    size = 0
    for key, value in _pairs(metadata, "annotations"):
        size += len(key.encode()) + len(value.encode(errors="surrogatepass"))
        if fault := qualified_name_error(key.lower()):
            yield ("annotations", key), f"the annotation key {key!r} is invalid: {fault}", "use a valid key"
    if size > _ANNOTATIONS_LIMIT:
        message = f"its annotations have {size:,} bytes, more than {_ANNOTATIONS_LIMIT:,}"
        yield ("annotations",), message, "shorten them"


def _reference_faults(metadata: Any) -> Iterator[_Fault]:
    controllers = 0
    for i, owner in items_at(metadata, "ownerReferences"):
        for key in ("apiVersion", "kind", "name", "uid"):
            if not string_at(owner, key):
                yield (
                    ("ownerReferences", i),
                    f"an owner reference has no {key}",
                    "remove ownerReferences: OLM sets them",
                )
        controllers += value_at(owner, "controller") is True
        if (string_at(owner, "apiVersion"), string_at(owner, "kind")) == ("v1", "Event"):
            yield ("ownerReferences", i), "an Event cannot be an owner", "remove this owner reference"
    if controllers > 1:
        yield ("ownerReferences",), "it has two controllers", "remove ownerReferences: OLM sets them"
    finalizers = [as_string(name) for _, name in items_at(metadata, "finalizers")]
    for name in finalizers:
        if fault := qualified_name_error(name):
            yield ("finalizers",), f"the finalizer {name!r} is invalid: {fault}", "write DOMAIN/NAME"
    if set(finalizers) >= _EXCLUSIVE_FINALIZERS:
        yield ("finalizers",), "it has both finalizers orphan and foregroundDeletion", "keep one"


@bundle_folder_rule("EP609", "crd-api-version", Severity.ERROR, "crd", "opm")
def crd_api_version(bundle: BundleFolder) -> Iterator[Flaw]:
    """The apiVersion of a CRD is apiextensions.k8s.io/v1, or v1beta1 for Kubernetes before 1.22.

    operator-framework/api rejects a bundle with any other. Cost: one comparison a CRD.
    """
    for crd in bundle.contents.crds:
        if crd.api_version not in _CRD_VERSIONS:
            yield Flaw(
                crd.place.at("apiVersion"),
                f"operator-sdk rejects the bundle: {_object_name(crd)} has "
                + (f"the apiVersion {crd.api_version}" if crd.api_version else "no apiVersion"),
                because=("operator-sdk bundle validate reports: unsupported CRD version",),
                fix=f"write apiVersion: {_CRD_VERSIONS[0]}",
            )


@bundle_folder_rule("EP610", "field-type", Severity.ERROR, "csv", "crd", "bundle", "opm")
def field_type(bundle: BundleFolder) -> Iterator[Flaw]:
    """Every field of the CSV and of the CRDs has a value of the right type.

    Otherwise the API server rejects the object, and opm and operator-sdk cannot decode it. A common case is a
    number in place of a string. Cost: one visit a value.
    """
    for manifest in bundle.contents.manifests:
        for part, struct in _structs(manifest):
            for mismatch in type_mismatches(value_at(manifest.body, *part), struct):
                path = (*part, *mismatch.path)
                problem = mismatch._replace(path=path).message
                yield Flaw(
                    manifest.place.at(*path),
                    f"the API server rejects {_object_name(manifest)}: {problem}",
                    because=("opm and operator-sdk cannot decode it",),
                    fix="quote it" if mismatch.is_unquoted else f"write {mismatch.expected}",
                    names_entry=manifest.name == bundle.name,
                )


def _structs(manifest: Manifest) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the path of each part that validators decode, and its type."""
    if manifest.kind == CSV:
        yield (), "v1alpha1.ClusterServiceVersion"
    elif (manifest.api_version, manifest.kind) in _STRUCTS:
        yield (), _STRUCTS[manifest.api_version, manifest.kind]
    else:
        yield ("apiVersion",), "string"
        yield ("metadata",), "meta.ObjectMeta"
        yield from _PARTS.get(manifest.kind, ())
