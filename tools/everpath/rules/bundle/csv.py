"""The ClusterServiceVersion: its name, its fields, and what it says of the clusters it runs on."""

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
from everpath.manifest_access import FieldPath, as_string, items_at, string_at, value_at
from everpath.model.bundle_contents import BundleFolder, Manifest
from everpath.ranges import Range, RangeError
from everpath.rules.bundle.kubernetes_names import dns_subdomain, label_value
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import bundle_folder_rule
from everpath.versions import VersionError, parse, parse_tolerant, underline

#: Annotations that OLM reads, by their names in lower case.
CASED: Final[Mapping[str, str]] = {
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

#: Fields that must hold something, below what holds something itself, with what to write.
_REQUIRED: Final[tuple[tuple[FieldPath, FieldPath, str], ...]] = (
    ((), ("metadata",), "add metadata with the name of the CSV"),
    ((), _SPEC, "add spec"),
    (_SPEC, (*_SPEC, "displayName"), "add the name that consoles show"),
    (_SPEC, _INSTALL, "add install with strategy: deployment and the deployments"),
    (_INSTALL, (*_INSTALL, "strategy"), "add strategy: deployment"),
    (_DETAILS, (*_DETAILS, "deployments"), "add deployments"),
)
_STRUCTS: Final[Mapping[FieldPath, str]] = {
    ("metadata",): "meta.ObjectMeta",
    _SPEC: "v1alpha1.ClusterServiceVersionSpec",
    _INSTALL: "v1alpha1.NamedInstallStrategy",
    _DETAILS: "v1alpha1.StrategyDetailsDeployment",
}


def _name_fault(name: str) -> str | None:
    return dns_subdomain(name) or label_value(name)


@bundle_folder_rule("EP621", "csv-name", Severity.ERROR, "csv", "opm")
def csv_name(bundle: BundleFolder) -> Iterator[Flaw]:
    """The name of a CSV is a DNS subdomain of at most 63 characters.

    It is the name of an object and the value of labels on everything OLM creates for it; the API server
    refuses any other. Cost: one match.
    """
    if bundle.csv is None:
        return
    name = string_at(bundle.csv.body, "metadata", "name")
    if fault := _name_fault(name):
        yield Flaw(
            bundle.csv.place.at("metadata", "name"),
            f"metadata.name {name!r} cannot be the name of a CSV: {fault}" if name else "the CSV has no name",
            because=("OLM puts it on labels of whatever it creates; the API server refuses it",),
            fix="name it PACKAGE.vVERSION, in lower case and at most 63 characters",
        )


@bundle_folder_rule("EP622", "replaces-name", Severity.ERROR, "csv", "opm")
def replaces_name(bundle: BundleFolder) -> Iterator[Flaw]:
    """spec.replaces is a name that a CSV can have.

    No release is called anything else, so that nobody is ever upgraded along this edge. Cost: one match.
    """
    if bundle.csv is None:
        return
    name = string_at(bundle.csv.body, "spec", "replaces")
    if name and (fault := _name_fault(name)):
        yield Flaw(
            bundle.csv.place.at("spec", "replaces"),
            f"spec.replaces {name!r} cannot be the name of a CSV: {fault}",
            because=("no release can have the name, so none is upgraded along this edge",),
            fix="write the metadata.name of the release it replaces",
        )


def _modes(csv: Manifest) -> list[tuple[int, str, bool]]:
    """The install modes: place in the list, type, whether it is supported."""
    items = items_at(csv.body, "spec", "installModes")
    return [(i, string_at(mode, "type"), bool(value_at(mode, "supported"))) for i, mode in items]


@bundle_folder_rule("EP629", "install-modes", Severity.ERROR, "csv", "opm")
def install_modes(bundle: BundleFolder) -> Iterator[Flaw]:
    """A CSV lists its install modes, and at least one of them is supported.

    OLM installs an operator only in a namespace whose OperatorGroup fits one of them: with none it is
    installed nowhere. Cost: one look at each.
    """
    if bundle.csv is None:
        return
    modes = _modes(bundle.csv)
    if not any(supported for _, _, supported in modes):
        yield Flaw(
            bundle.csv.place.at("spec", "installModes"),
            "no install mode is supported" if modes else "the CSV lists no install modes",
            because=("no OperatorGroup fits it: OLM installs it in no namespace",),
            fix=f"set supported: true for {_MODES}",
        )


@bundle_folder_rule("EP630", "conversion-install-modes", Severity.ERROR, "csv", "opm")
def conversion_install_modes(bundle: BundleFolder) -> Iterator[Flaw]:
    """An operator with a conversion webhook supports AllNamespaces and no other install mode.

    A CRD has one webhook for the whole cluster; OLM refuses the CSV otherwise. Cost: one look at each
    webhook.
    """
    if bundle.csv is None:
        return
    others = [kind for _, kind, supported in _modes(bundle.csv) if supported != (kind == _ALL)]
    for i, webhook in items_at(bundle.csv.body, "spec", "webhookdefinitions"):
        if others and value_at(webhook, "conversionCRDs"):
            yield Flaw(
                bundle.csv.place.at("spec", "webhookdefinitions", i, "conversionCRDs"),
                f"a conversion webhook serves the whole cluster, and {others[0]} says otherwise",
                because=("OLM refuses a CSV whose CRDs are converted for some namespaces alone",),
                fix="support AllNamespaces alone, or remove conversionCRDs",
            )


@bundle_folder_rule("EP631", "duplicate-install-mode", Severity.ERROR)
def duplicate_install_mode(bundle: BundleFolder) -> Iterator[Flaw]:
    """No install mode is listed twice.

    OLM goes by one of them. operator-framework/api means to report it and never does. Cost: one look-up each.
    """
    if bundle.csv is None:
        return
    seen: dict[str, bool] = {}
    for i, kind, supported in _modes(bundle.csv):
        if kind in seen:
            says = "says the same" if seen[kind] == supported else "says the opposite"
            place = bundle.csv.place.at("spec", "installModes", i)
            yield Flaw(place, f"the install mode {kind} is listed twice, and {says}", fix="keep one of them")
        seen[kind] = supported


@bundle_folder_rule("EP632", "no-min-kube-version", Severity.WARNING, "csv", "operatorhub/v2")
def no_min_kube_version(bundle: BundleFolder) -> Iterator[Flaw]:
    """A CSV says from which Kubernetes version on it works.

    Without spec.minKubeVersion OLM installs it on any cluster, also where an API it needs does not exist.
    Cost: none.
    """
    if bundle.csv is not None and not string_at(bundle.csv.body, "spec", "minKubeVersion").strip():
        yield Flaw(
            bundle.csv.place.at("spec", "minKubeVersion"),
            "the CSV does not say which Kubernetes it needs at least",
            because=("OLM installs it on any cluster, however old",),
            fix="add spec.minKubeVersion, such as 1.29.0",
        )


@bundle_folder_rule("EP633", "min-kube-version", Severity.ERROR, "csv", "operatorhub/v2", "opm")
def min_kube_version(bundle: BundleFolder) -> Iterator[Flaw]:
    """spec.minKubeVersion is a version of three numbers, without a v.

    OLM cannot compare anything else with the cluster's version and does not install the operator.
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
            f"minKubeVersion {stated!r} is no version",
            because=tuple(error.pretty().splitlines()),
            fix=f"write {_tolerated(stated) or '1.29.0'}",
        )


def _tolerated(stated: str) -> str | None:
    """What was meant by a text that is nearly a version."""
    try:
        return str(parse_tolerant(stated))
    except VersionError:
        return None


@bundle_folder_rule("EP634", "required-field", Severity.ERROR, "csv", "opm")
def required_field(bundle: BundleFolder) -> Iterator[Flaw]:
    """A CSV has what no CSV can do without: a name to show, an install strategy, and what it deploys.

    The CRD of CSVs demands them, so that the API server refuses the object. Cost: one look-up each.
    """
    if bundle.csv is None:
        return
    body = bundle.csv.body
    for within, way, fix in _REQUIRED:
        if _is_empty(body, way) and not _is_empty(body, within):
            yield Flaw(
                bundle.csv.place.at(*way),
                f"{'.'.join(map(str, way))} is missing",
                because=("the API server refuses the CSV: the field is required",),
                fix=fix,
            )


def _is_empty(body: Mapping[str, Any], way: FieldPath) -> bool:
    """Whether Go would hold a value for nothing: none, an empty text, a struct of which no field is set."""
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
    """The annotations that OLM reads are written in the case in which it reads them.

    `olm.skiprange` is an annotation like any other, and nobody is offered the release. Cost: one look-up
    each.
    """
    if bundle.csv is not None:
        yield from misspelt(bundle.csv)


def misspelt(manifest: Manifest) -> Iterator[Flaw]:
    """Annotations that are OLM's but for their case."""
    for key in manifest.annotations:
        right = CASED.get(str(key).lower())
        if right is not None and key != right:
            yield Flaw(
                manifest.place.key("metadata", "annotations", key),
                f"OLM does not read the annotation {key}",
                because=(f"it reads {right}; case counts",),
                fix=f"write {right}",
            )


@bundle_folder_rule("EP636", "properties-annotation", Severity.WARNING, "csv")
def properties_annotation(bundle: BundleFolder) -> Iterator[Flaw]:
    """Properties are written in metadata/properties.yaml, not in the annotation olm.properties of the CSV.

    OLM writes this annotation itself, on the cluster. The file is checked by opm; the annotation is JSON in
    YAML that nobody checks. Cost: one look-up.
    """
    if bundle.csv is not None and "olm.properties" in bundle.csv.annotations:
        yield Flaw(
            bundle.csv.place.key("metadata", "annotations", "olm.properties"),
            "the CSV states properties in the annotation olm.properties",
            because=("OLM uses this annotation itself, for the CSVs of a cluster",),
            fix="move them to metadata/properties.yaml",
        )


@bundle_folder_rule("EP637", "csv-api-version", Severity.ERROR, "csv", "opm")
def csv_api_version(bundle: BundleFolder) -> Iterator[Flaw]:
    """A CSV is of operators.coreos.com/v1alpha1.

    Without an apiVersion no API server knows what it is. Another one is a warning: OLM writes the right one
    when it creates the object, kubectl does not. Cost: one comparison.
    """
    right = "operators.coreos.com/v1alpha1"
    if bundle.csv is not None and bundle.csv.api_version != right:
        stated = bundle.csv.api_version
        yield Flaw(
            bundle.csv.place.at("apiVersion"),
            f"the CSV is of apiVersion {stated!r}" if stated else "the CSV has no apiVersion",
            because=("no API server knows a ClusterServiceVersion of it",),
            fix=f"write apiVersion: {right}",
            severity=Severity.WARNING if stated else None,
        )


@bundle_folder_rule("EP611", "release-and-substitute", Severity.ERROR, "opm")
def release_and_substitute(bundle: BundleFolder) -> Iterator[Flaw]:
    """A bundle has spec.release or the annotation olm.substitutesFor, not both.

    Each says that the bundle takes the place of another of the same version, in two ways that opm does not
    combine. Cost: two look-ups.
    """
    if bundle.csv is None:
        return
    release = string_at(bundle.csv.body, "spec", "release")
    substitutes = as_string(bundle.csv.annotations.get("olm.substitutesFor"))
    if release and substitutes:
        yield Flaw(
            bundle.csv.place.at("spec", "release"),
            f"the CSV has release {release!r} and substitutes for {substitutes}",
            because=("opm refuses a bundle that has both",),
            fix="keep spec.release and remove the annotation",
        )


@bundle_folder_rule("EP612", "skip-range", Severity.ERROR)
def skip_range(bundle: BundleFolder) -> Iterator[Flaw]:
    """The annotation olm.skipRange is a range that OLM can read.

    OLM ignores one it cannot read as if it were not there, and opm refuses a catalog made of it. It is what
    EP301 and EP433 say of a catalog, said before there is one. Cost: one parse.
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
            f"olm.skipRange does not parse: {error.reason}",
            because=tuple(underline(error.text, *error.span, error.reason).splitlines()),
            fix=error.hint or "write a range such as '>=1.0.0 <1.2.0'",
        )
