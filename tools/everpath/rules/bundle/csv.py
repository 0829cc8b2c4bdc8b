"""Rules for the ClusterServiceVersion: name, required fields, install modes, annotations."""

from __future__ import annotations

__all__ = [
    "annotation_case",
    "conversion_install_modes",
    "csv_api_version",
    "csv_name",
    "duplicate_install_mode",
    "install_modes",
    "min_kube_version",
    "no_min_kube_version",
    "properties_annotation",
    "release_and_substitute",
    "replaces_name",
    "required_field",
    "skip_range",
]

from collections.abc import Iterator, Mapping
from typing import Any, Final

from everpath.go_types import STRUCTS
from everpath.manifest_access import Pointer, as_string, items_at, string_at, value_at
from everpath.model.bundle_contents import BundleFolder, Manifest
from everpath.ranges import Range, RangeError
from everpath.rules.findings import Flaw, Severity
from everpath.rules.kubernetes_names import label_value_error, subdomain_error
from everpath.rules.registry import bundle_folder_rule
from everpath.versions import VersionError, parse, parse_tolerant_or_none, underline

#: The annotations that OLM reads, by their lower-case names.
OLM_ANNOTATIONS: Final[Mapping[str, str]] = {
    name.lower(): name
    for name in (
        "olm.operatorGroup",
        "olm.operatorNamespace",
        "olm.targetNamespaces",
        "olm.providedAPIs",
        "olm.skipRange",
    )
}
_ALL: Final = "AllNamespaces"
_MODES: Final = "OwnNamespace, SingleNamespace, MultiNamespace or AllNamespaces"
_SPEC: Final = ("spec",)
_INSTALL: Final = ("spec", "install")
_DETAILS: Final = ("spec", "install", "spec")

#: The parent, the required field below it, and the fix. A field is required if its parent is not empty.
_REQUIRED: Final[tuple[tuple[Pointer, Pointer, str], ...]] = (
    ((), ("metadata",), "add metadata with the name of the CSV"),
    ((), _SPEC, "add spec"),
    (_SPEC, (*_SPEC, "displayName"), "add the name that consoles show"),
    (_SPEC, _INSTALL, "add install with strategy: deployment and the deployments"),
    (_INSTALL, (*_INSTALL, "strategy"), "add strategy: deployment"),
    (_DETAILS, (*_DETAILS, "deployments"), "add deployments"),
)
_STRUCTS: Final[Mapping[Pointer, str]] = {
    ("metadata",): "meta.ObjectMeta",
    _SPEC: "v1alpha1.ClusterServiceVersionSpec",
    _INSTALL: "v1alpha1.NamedInstallStrategy",
    _DETAILS: "v1alpha1.StrategyDetailsDeployment",
}


@bundle_folder_rule("EP621", "csv-name", Severity.ERROR, "csv", "opm")
def csv_name(bundle: BundleFolder) -> Iterator[Flaw]:
    """The name of a CSV is a DNS subdomain of at most 63 characters.

    OLM uses it as the name of an object and as the value of labels. The API server rejects any other.
    Cost: one match.
    """
    if bundle.csv is None:
        return
    name = string_at(bundle.csv.body, "metadata", "name")
    if fault := (subdomain_error(name) or label_value_error(name)):
        yield Flaw(
            bundle.csv.place.at("metadata", "name"),
            f"the API server rejects the CSV: the name {name!r} is invalid: {fault}"
            if name
            else "the API server rejects the CSV: it has no name",
            because=("OLM also uses the name as the value of labels",),
            fix="write PACKAGE.vVERSION in lower case, with at most 63 characters",
            names_entry=True,
        )


@bundle_folder_rule("EP622", "replaces-name", Severity.ERROR, "csv", "opm")
def replaces_name(bundle: BundleFolder) -> Iterator[Flaw]:
    """spec.replaces is a valid name of a CSV.

    No CSV can have any other name, so that OLM never upgrades along this edge. Cost: one match.
    """
    if bundle.csv is None:
        return
    name = string_at(bundle.csv.body, "spec", "replaces")
    if name and (fault := (subdomain_error(name) or label_value_error(name))):
        yield Flaw(
            bundle.csv.place.at("spec", "replaces"),
            f"OLM never upgrades along replaces: {name!r} is not a valid name of a CSV: {fault}",
            because=("no CSV can have this name",),
            fix="write the metadata.name of the CSV that it replaces",
        )


def _modes(csv: Manifest) -> list[tuple[int, str, bool]]:
    """Return index, type and support of each install mode."""
    items = items_at(csv.body, "spec", "installModes")
    return [(i, string_at(mode, "type"), bool(value_at(mode, "supported"))) for i, mode in items]


@bundle_folder_rule("EP629", "install-modes", Severity.ERROR, "csv", "opm")
def install_modes(bundle: BundleFolder) -> Iterator[Flaw]:
    """A CSV lists its install modes, and supports at least one of them.

    OLM v0 installs an operator only if the OperatorGroup of the namespace matches a supported install mode.
    Cost: one test an install mode.
    """
    if bundle.csv is None:
        return
    modes = _modes(bundle.csv)
    if not any(supported for _, _, supported in modes):
        yield Flaw(
            bundle.csv.place.at("spec", "installModes"),
            "OLM v0 cannot install the operator: the CSV "
            + ("supports no install mode" if modes else "lists no install modes"),
            because=("no OperatorGroup matches it",),
            fix=f"set supported: true for {_MODES}",
        )


@bundle_folder_rule("EP630", "conversion-install-modes", Severity.ERROR, "csv", "opm")
def conversion_install_modes(bundle: BundleFolder) -> Iterator[Flaw]:
    """An operator with a conversion webhook supports the install mode AllNamespaces and no other.

    A CRD has one conversion webhook for the whole cluster, so that OLM rejects any other CSV. Cost: one
    test a webhook.
    """
    if bundle.csv is None:
        return
    others = [kind for _, kind, supported in _modes(bundle.csv) if supported != (kind == _ALL)]
    for i, webhook in items_at(bundle.csv.body, "spec", "webhookdefinitions"):
        if others and value_at(webhook, "conversionCRDs"):
            yield Flaw(
                bundle.csv.place.at("spec", "webhookdefinitions", i, "conversionCRDs"),
                "OLM v0 rejects the CSV: with a conversion webhook, only AllNamespaces may be supported",
                because=(f"{others[0]} is {'not ' if others[0] == _ALL else ''}supported",),
                fix="support only AllNamespaces, or remove conversionCRDs",
            )


@bundle_folder_rule("EP631", "duplicate-install-mode", Severity.ERROR)
def duplicate_install_mode(bundle: BundleFolder) -> Iterator[Flaw]:
    """No install mode is listed twice.

    OLM uses only one of the two. The check of operator-framework/api for this never reports anything.
    Cost: one look-up an install mode.
    """
    if bundle.csv is None:
        return
    seen: dict[str, bool] = {}
    for i, kind, supported in _modes(bundle.csv):
        if kind in seen:
            values = "the same value" if seen[kind] == supported else "different values"
            place = bundle.csv.place.at("spec", "installModes", i)
            message = f"OLM v0 uses only one of two install modes {kind}, which have {values}"
            yield Flaw(place, message, fix="remove one of them")
        seen[kind] = supported


@bundle_folder_rule("EP632", "no-min-kube-version", Severity.WARNING, "csv", "operatorhub/v2")
def no_min_kube_version(bundle: BundleFolder) -> Iterator[Flaw]:
    """A CSV has spec.minKubeVersion.

    Without it OLM installs the operator on any cluster, even if the cluster lacks an API that it needs.
    Cost: none.
    """
    if bundle.csv is not None and not string_at(bundle.csv.body, "spec", "minKubeVersion").strip():
        yield Flaw(
            bundle.csv.place.at("spec", "minKubeVersion"),
            "OLM installs the operator on clusters of any age: the CSV has no minKubeVersion",
            because=("without it, OLM does not check the version of the cluster",),
            fix="add spec.minKubeVersion, such as 1.29.0",
        )


@bundle_folder_rule("EP633", "min-kube-version", Severity.ERROR, "csv", "operatorhub/v2", "opm")
def min_kube_version(bundle: BundleFolder) -> Iterator[Flaw]:
    """spec.minKubeVersion is a version of three numbers, without a leading v.

    OLM cannot compare anything else with the version of the cluster, and does not install the operator.
    Cost: one parse.
    """
    if bundle.csv is None:
        return
    stated = string_at(bundle.csv.body, "spec", "minKubeVersion")
    if not stated.strip():
        return
    try:
        parse(stated)
    except VersionError as error:
        yield Flaw(
            bundle.csv.place.at("spec", "minKubeVersion"),
            f"OLM does not install the operator: minKubeVersion {stated!r} is not a version",
            because=tuple(error.pretty().splitlines()),
            fix=f"write {parse_tolerant_or_none(stated) or '1.29.0'}",
        )


@bundle_folder_rule("EP634", "required-field", Severity.ERROR, "csv", "opm")
def required_field(bundle: BundleFolder) -> Iterator[Flaw]:
    """A CSV has metadata, spec, display name, install strategy and deployments, as its CRD requires.

    The API server rejects it otherwise. Cost: one look-up a field.
    """
    if bundle.csv is None:
        return
    body = bundle.csv.body
    for within, way, fix in _REQUIRED:
        if _is_empty(body, way) and not _is_empty(body, within):
            yield Flaw(
                bundle.csv.place.at(*way),
                f"the API server rejects the CSV: the required field {'.'.join(map(str, way))} is missing",
                because=("the CRD of ClusterServiceVersion requires it",),
                fix=fix,
            )


def _is_empty(body: Mapping[str, Any], way: Pointer) -> bool:
    """Return whether Go decodes a value to its zero value, such as null or a struct without known fields."""
    value = value_at(body, *way)
    if way not in _STRUCTS or not isinstance(value, dict):
        return value is None or value == "" or value is False
    known = {field.casefold() for field in STRUCTS[_STRUCTS[way]]}
    return not any(_is_set(inner) for key, inner in value.items() if str(key).casefold() in known)


def _is_set(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_is_set, value.values()))
    return value not in (None, "", 0)


@bundle_folder_rule("EP635", "annotation-case", Severity.ERROR, "csv", "opm")
def annotation_case(bundle: BundleFolder) -> Iterator[Flaw]:
    """The annotations that OLM reads have the exact case.

    OLM ignores `olm.skiprange`, and the versions that it should cover are not upgraded. Cost: one look-up an
    annotation.
    """
    if bundle.csv is not None:
        yield from wrong_case_annotations(bundle.csv)


def wrong_case_annotations(manifest: Manifest) -> Iterator[Flaw]:
    """Yield a flaw for each annotation that differs only in case from one that OLM reads."""
    for key in manifest.annotations:
        right = OLM_ANNOTATIONS.get(str(key).lower())
        if right is not None and key != right:
            yield Flaw(
                manifest.place.key("metadata", "annotations", key),
                f"OLM ignores the annotation {key}: it reads {right}",
                because=("annotations are case-sensitive",),
                fix=f"write {right}",
            )


@bundle_folder_rule("EP636", "properties-annotation", Severity.WARNING, "csv")
def properties_annotation(bundle: BundleFolder) -> Iterator[Flaw]:
    """Properties are in metadata/properties.yaml, not in the annotation olm.properties of the CSV.

    OLM v0 writes this annotation itself, on the cluster. opm validates the file, but not the JSON in the
    annotation. Cost: one look-up.
    """
    if bundle.csv is not None and "olm.properties" in bundle.csv.annotations:
        yield Flaw(
            bundle.csv.place.key("metadata", "annotations", "olm.properties"),
            "no validator checks these properties: they are in the annotation olm.properties of the CSV",
            because=("OLM v0 writes this annotation itself, on the cluster",),
            fix="move them to metadata/properties.yaml",
        )


@bundle_folder_rule("EP637", "csv-api-version", Severity.ERROR, "csv", "opm")
def csv_api_version(bundle: BundleFolder) -> Iterator[Flaw]:
    """The apiVersion of a CSV is operators.coreos.com/v1alpha1.

    The API server rejects any other. A wrong one is only a warning, because OLM corrects it when it creates
    the object; kubectl does not. Cost: one comparison.
    """
    right = "operators.coreos.com/v1alpha1"
    if bundle.csv is not None and bundle.csv.api_version != right:
        stated = bundle.csv.api_version
        yield Flaw(
            bundle.csv.place.at("apiVersion"),
            "the API server rejects the CSV: "
            + (f"the apiVersion {stated!r} does not exist" if stated else "it has no apiVersion"),
            because=("ClusterServiceVersion exists only in operators.coreos.com/v1alpha1",),
            fix=f"write apiVersion: {right}",
            severity=Severity.WARNING if stated else None,
        )


@bundle_folder_rule("EP611", "release-and-substitute", Severity.ERROR, "opm")
def release_and_substitute(bundle: BundleFolder) -> Iterator[Flaw]:
    """A bundle has spec.release or the annotation olm.substitutesFor, not both.

    Both declare that the bundle supersedes another of the same version. opm rejects the combination.
    Cost: two look-ups.
    """
    if bundle.csv is None:
        return
    release = string_at(bundle.csv.body, "spec", "release")
    substitutes = as_string(bundle.csv.annotations.get("olm.substitutesFor"))
    if release and substitutes:
        yield Flaw(
            bundle.csv.place.at("spec", "release"),
            "opm rejects the bundle: it has both spec.release and the annotation olm.substitutesFor",
            because=(f"the release is {release!r}; the substituted bundle is {substitutes}",),
            fix="remove the annotation",
        )


@bundle_folder_rule("EP612", "skip-range", Severity.ERROR)
def skip_range(bundle: BundleFolder) -> Iterator[Flaw]:
    """The annotation olm.skipRange is a valid range.

    OLM ignores a range that does not parse, and opm rejects a catalog with it. EP301 and EP433 check
    catalogs; this rule checks the bundle before it is in one. Cost: one parse.
    """
    if bundle.csv is None:
        return
    span = as_string(bundle.csv.annotations.get("olm.skipRange"))
    if not span:
        return
    try:
        Range.parse(span)
    except RangeError as error:
        yield Flaw(
            bundle.csv.place.at("metadata", "annotations", "olm.skipRange"),
            f"OLM ignores olm.skipRange, because it does not parse: {error.reason}",
            because=tuple(underline(error.text, *error.span, error.reason).splitlines()),
            fix=error.hint or "write a range such as '>=1.0.0 <1.2.0'",
        )
