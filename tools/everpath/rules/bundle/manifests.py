"""The manifests of a bundle, whatever their kind: which kinds, which fields, which metadata."""

from __future__ import annotations

__all__ = ["crd_api_version", "field_type", "object_metadata", "unsupported_kind"]

from collections.abc import Iterator, Mapping
from typing import Any, Final

from everpath.go_types import TypeMismatch, type_mismatches
from everpath.manifest_access import FieldPath, as_string, items_at, string_at, value_at
from everpath.model.bundle_contents import CRD, CSV, BundleFolder, Manifest
from everpath.rules.bundle.kubernetes_names import label_value, qualified_name
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import bundle_folder_rule

_SUPPORTED: Final = frozenset(
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
#: What optional validators decode besides the metadata.
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
_LARGEST_ANNOTATIONS: Final = 256 << 10
_FINALIZERS: Final = frozenset({"orphan", "foregroundDeletion"})


@bundle_folder_rule("EP607", "unsupported-kind", Severity.ERROR, "opm")
def unsupported_kind(bundle: BundleFolder) -> Iterator[Flaw]:
    """Every manifest is of a kind that OLM applies from a bundle.

    OLM v0 fails the install plan of a bundle with any other kind, on the cluster, after opm has built it.
    Cost: one look-up a manifest.
    """
    if bundle.csv is None:
        return
    for manifest in bundle.contents.manifests:
        if manifest.kind not in _SUPPORTED:
            yield Flaw(
                manifest.place.at("kind"),
                f"OLM applies no {manifest.kind} from a bundle",
                because=(f"opm says: {manifest.kind} is not supported type for registryV1 bundle",),
                fix="let the operator create it, or leave it out of the bundle",
            )


@bundle_folder_rule("EP608", "object-metadata", Severity.ERROR, "opm", "crd")
def object_metadata(bundle: BundleFolder) -> Iterator[Flaw]:
    """The metadata of every manifest but the CSV is such as the API server accepts: a name, labels,
    annotations.

    It refuses the object when OLM applies it, and the install plan fails half-way. Cost: one look at each
    label and annotation.
    """
    for manifest in bundle.contents.manifests:
        if manifest.kind == CSV or (bundle.csv is not None and manifest.kind not in _SUPPORTED):
            continue
        for way, message, fix in _metadata_faults(value_at(manifest.body, "metadata")):
            yield Flaw(
                manifest.place.at("metadata", *way),
                f"{_called(manifest)}: {message}",
                because=("the API server refuses the object, and OLM's install plan fails",),
                fix=fix,
            )


def _called(manifest: Manifest) -> str:
    return f"{manifest.kind} {manifest.name}".strip()


_Fault = tuple[FieldPath, str, str]


def _metadata_faults(metadata: Any) -> Iterator[_Fault]:
    if not string_at(metadata, "name"):
        yield (), "it has no name", "name it under metadata.name"
    namespace = string_at(metadata, "namespace")
    if namespace:
        yield ("namespace",), f"the namespace {namespace!r} is stated", "remove it: OLM decides the namespace"
    if isinstance(generation := value_at(metadata, "generation"), int) and generation < 0:
        yield ("generation",), "its generation is negative", "remove it"
    yield from _label_faults(metadata)
    yield from _annotation_faults(metadata)
    yield from _reference_faults(metadata)


def _pairs(metadata: Any, key: str) -> Iterator[tuple[str, str]]:
    found = value_at(metadata, key)
    return ((str(k), as_string(v)) for k, v in found.items()) if isinstance(found, dict) else iter(())


def _label_faults(metadata: Any) -> Iterator[_Fault]:
    for key, value in _pairs(metadata, "labels"):
        if fault := qualified_name(key):
            yield ("labels", key), f"the key of the label {key!r} is none: {fault}", "give it another key"
        if fault := label_value(value):
            yield ("labels", key), f"the label {key} cannot be {value!r}: {fault}", "say it in an annotation"


def _annotation_faults(metadata: Any) -> Iterator[_Fault]:
    size = 0
    for key, value in _pairs(metadata, "annotations"):
        size += len(key.encode()) + len(value.encode(errors="surrogatepass"))
        if fault := qualified_name(key.lower()):
            yield ("annotations", key), f"the key {key!r} is none: {fault}", "give it another key"
    if size > _LARGEST_ANNOTATIONS:
        message = f"its annotations take {size:,} bytes, more than {_LARGEST_ANNOTATIONS:,}"
        yield ("annotations",), message, "shorten them"


def _reference_faults(metadata: Any) -> Iterator[_Fault]:
    """What is wrong with owners and finalizers."""
    controllers = 0
    for i, owner in items_at(metadata, "ownerReferences"):
        for key in ("apiVersion", "kind", "name", "uid"):
            if not string_at(owner, key):
                yield (
                    ("ownerReferences", i),
                    f"an owner has no {key}",
                    "remove ownerReferences: OLM sets them",
                )
        controllers += value_at(owner, "controller") is True
        if (string_at(owner, "apiVersion"), string_at(owner, "kind")) == ("v1", "Event"):
            yield ("ownerReferences", i), "an Event cannot be an owner", "remove it"
    if controllers > 1:
        yield ("ownerReferences",), "two owners are its controller", "remove ownerReferences: OLM sets them"
    finalizers = [as_string(name) for _, name in items_at(metadata, "finalizers")]
    for name in finalizers:
        if fault := qualified_name(name):
            yield ("finalizers",), f"the finalizer {name!r} is none: {fault}", "name it domain/name"
    if set(finalizers) >= _FINALIZERS:
        yield ("finalizers",), "it has both finalizers, orphan and foregroundDeletion", "keep one"


@bundle_folder_rule("EP609", "crd-api-version", Severity.ERROR, "crd", "opm")
def crd_api_version(bundle: BundleFolder) -> Iterator[Flaw]:
    """A CustomResourceDefinition is of apiextensions.k8s.io/v1, or of v1beta1 for clusters before 1.22.

    There are no others: operator-framework/api refuses to load the bundle. Cost: one comparison a CRD.
    """
    for crd in bundle.contents.crds:
        if crd.api_version not in _CRD_VERSIONS:
            yield Flaw(
                crd.place.at("apiVersion"),
                f"{_called(crd)} is of {crd.api_version or 'no API version'}",
                because=("operator-sdk bundle validate says: unsupported CRD version",),
                fix=f"write apiVersion: {_CRD_VERSIONS[0]}",
            )


@bundle_folder_rule("EP610", "field-type", Severity.ERROR, "csv", "crd", "bundle", "opm")
def field_type(bundle: BundleFolder) -> Iterator[Flaw]:
    """Every field of the CSV and of the CRDs has the type it has on the cluster.

    A number that should be a string is the usual slip: the API server refuses the object. opm and
    operator-framework/api stop at the first of them. Cost: one visit a value.
    """
    for manifest in bundle.contents.manifests:
        for part, struct in _structs(manifest):
            for mismatch in type_mismatches(value_at(manifest.body, *part), struct):
                way = (*part, *mismatch.path)
                yield Flaw(
                    manifest.place.at(*way),
                    f"{_called(manifest)}: {mismatch._replace(path=way).message}",
                    because=("the API server refuses the object; operator-sdk and opm cannot decode it",),
                    fix=_type_fix(mismatch),
                )


def _structs(manifest: Manifest) -> Iterator[tuple[tuple[str, ...], str]]:
    """The parts of a manifest that are decoded, each with the struct that it must fit."""
    if manifest.kind == CSV:
        yield (), "v1alpha1.ClusterServiceVersion"
    elif (manifest.api_version, manifest.kind) in _STRUCTS:
        yield (), _STRUCTS[manifest.api_version, manifest.kind]
    else:
        yield ("apiVersion",), "string"
        yield ("metadata",), "meta.ObjectMeta"
        yield from _PARTS.get(manifest.kind, ())


def _type_fix(mismatch: TypeMismatch) -> str:
    is_unquoted = mismatch.expected == "a string" and isinstance(mismatch.value, int | float)
    return "quote it" if is_unquoted else f"write {mismatch.expected}"
