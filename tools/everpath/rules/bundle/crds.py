"""Rules for CustomResourceDefinitions, as the API server validates them when they are created.

Defaults of the API server are applied first (`Crd`). Schemas are not validated, as in operator-framework/api.
"""

from __future__ import annotations

__all__ = [
    "crd_columns",
    "crd_group",
    "crd_name",
    "crd_names",
    "crd_scale",
    "crd_scope",
    "crd_stated_twice",
    "crd_versions",
]

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from everpath.manifest_access import Pointer, as_string, items_at, string_at, value_at
from everpath.model import Place
from everpath.model.bundle_contents import BundleFolder, Manifest
from everpath.rules.findings import Flaw, Severity
from everpath.rules.kubernetes_names import rfc1035_label_error, subdomain_error
from everpath.rules.registry import bundle_folder_rule

V1BETA1: Final = "apiextensions.k8s.io/v1beta1"
V1: Final = "apiextensions.k8s.io/v1"
_NOT_INSTALLED: Final = ("OLM v0: the InstallPlan fails; OLM v1: the bundle is not installed",)

_COLUMN_TYPES: Final = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS: Final = frozenset(
    {"int32", "int64", "float", "double", "byte", "date", "date-time", "password"}
)
#: v1beta1 can have its only version here, without an entry in spec.versions.
_SINGLE_VERSION: Final = ("version",)
#: Fields that v1beta1 allows in spec, for all versions, and the same fields of a version.
_SHARED: Final[Mapping[str, str]] = {
    "validation": "schema",
    "subresources": "subresources",
    "additionalPrinterColumns": "additionalPrinterColumns",
}


class Crd(NamedTuple):
    """A CRD with the defaults of the API server for its names and versions."""

    manifest: Manifest
    spec: Mapping[str, Any]
    is_v1beta1: bool

    @property
    def name(self) -> str:
        return self.manifest.name

    def string_at(self, *way: str | int) -> str:
        return string_at(self.spec, *way)

    def place(self, *way: str | int) -> Place:
        return self.manifest.place.at("spec", *way)

    @property
    def versions(self) -> list[tuple[Pointer, Any]]:
        """The path and the content of each version. v1beta1 also allows a single version in spec.version."""
        listed = [(("versions", i), version) for i, version in items_at(self.spec, "versions")]
        if listed or not self.is_v1beta1 or not self.string_at("version"):
            return [*listed]
        return [(_SINGLE_VERSION, {"name": self.string_at("version"), "storage": True})]

    def flaw(self, way: Pointer, message: str, fix: str) -> Flaw:
        return Flaw(
            self.place(*way),
            f"the API server rejects CRD {self.name}: {message}",
            because=_NOT_INSTALLED,
            fix=fix,
        )


def crds(bundle: BundleFolder) -> Iterator[Crd]:
    """Yield the CRDs of a bundle with a known apiVersion. EP609 reports the others."""
    for manifest in bundle.contents.crds:
        if manifest.api_version in (V1BETA1, V1):
            yield Crd(manifest, manifest.spec, manifest.api_version == V1BETA1)


@bundle_folder_rule("EP641", "crd-name", Severity.ERROR, "crd", "opm")
def crd_name(bundle: BundleFolder) -> Iterator[Flaw]:
    """The name of a CRD is PLURAL.GROUP.

    The API server rejects any other. Cost: one comparison a CRD.
    """
    for crd in crds(bundle):
        right = f"{crd.string_at('names', 'plural')}.{crd.string_at('group')}"
        if crd.name and (crd.name != right or subdomain_error(crd.name)):
            yield Flaw(
                crd.manifest.place.at("metadata", "name"),
                f"the API server rejects CRD {crd.name!r}: its name must be {right!r}, from plural and group",
                because=_NOT_INSTALLED,
                fix=f"rename it to {right}"
                if subdomain_error(right) is None
                else "write plural and group in lower case",
            )


@bundle_folder_rule("EP642", "crd-group", Severity.ERROR, "crd", "opm")
def crd_group(bundle: BundleFolder) -> Iterator[Flaw]:
    """The group of a CRD is a domain with at least one dot.

    The API server rejects any other. Cost: one match a CRD.
    """
    for crd in crds(bundle):
        group = crd.string_at("group")
        fault = "it is missing" if not group else subdomain_error(group)
        if fault is None and "." not in group:
            fault = "it has no dot"
        if fault:
            yield crd.flaw(
                ("group",), f"the group {group!r} is invalid: {fault}", "write a domain that you own"
            )


@bundle_folder_rule("EP643", "crd-names", Severity.ERROR, "crd", "opm")
def crd_names(bundle: BundleFolder) -> Iterator[Flaw]:
    """A CRD has plural and kind, all its names are DNS labels, and listKind differs from kind.

    The API server rejects any other. Only kinds may have upper-case letters. Cost: one match a name.
    """
    for crd in crds(bundle):
        for way, message, fix in _name_faults(crd):
            yield crd.flaw(("names", *way), message, fix)


_Fault = tuple[Pointer, str, str]


def _name_faults(crd: Crd) -> Iterator[_Fault]:
    kind = crd.string_at("names", "kind")
    names = {
        "plural": crd.string_at("names", "plural"),
        "singular": crd.string_at("names", "singular") or kind.lower(),
        "kind": kind,
        "listKind": crd.string_at("names", "listKind") or (f"{kind}List" if kind else ""),
    }
    for key, name in names.items():
        checked = name.lower() if key in ("kind", "listKind") else name
        if not name:
            yield (key,), f"it has no {key}", f"add names.{key}"
        elif fault := rfc1035_label_error(checked):
            yield (key,), f"the {key} {name!r} is invalid: {fault}", f"choose another {key}"
    for key in ("shortNames", "categories"):
        for i, item in items_at(crd.spec, "names", key):
            if fault := rfc1035_label_error(as_string(item)):
                name = as_string(item)
                yield (key, i), f"{name!r} in {key} is invalid: {fault}", "change or remove it"
    if kind and kind == names["listKind"]:
        yield ("listKind",), "listKind is the same as kind", f"write listKind: {kind}List"


@bundle_folder_rule("EP644", "crd-versions", Severity.ERROR, "crd", "opm")
def crd_versions(bundle: BundleFolder) -> Iterator[Flaw]:
    """The versions of a CRD have unique, valid names, and exactly one is the storage version.

    The API server rejects any other CRD. Cost: one test a version.
    """
    for crd in crds(bundle):
        names = [(way, string_at(version, "name")) for way, version in crd.versions]
        for way, name in names:
            if fault := rfc1035_label_error(name):
                at = way if way == _SINGLE_VERSION else (*way, "name")
                yield crd.flaw(
                    at, f"the version name {name!r} is invalid: {fault}", "write a name such as v1 or v1beta1"
                )
        twice = {name for _, name in names if [n for _, n in names].count(name) > 1}
        for name in sorted(twice):
            yield crd.flaw(("versions",), f"the version {name!r} is listed twice", "remove one of them")
        stored = sum(bool(value_at(version, "storage")) for _, version in crd.versions)
        if stored != 1:
            message = f"it has {stored or 'no'} storage version{'s' if stored else ''}"
            yield crd.flaw(("versions",), message, "set storage: true on one version, false on the others")
        stated = crd.string_at("version") if crd.is_v1beta1 else ""
        if stated and stated != names[0][1]:
            message = f"spec.version is {stated}, but the first version is {names[0][1]}"
            yield crd.flaw(("version",), message, "remove spec.version")
        yield from _deprecations(crd)


def _deprecations(crd: Crd) -> Iterator[Flaw]:
    for way, version in crd.versions:
        warning = value_at(version, "deprecationWarning")
        if not isinstance(warning, str):
            continue
        fault = None
        if value_at(version, "deprecated") is not True:
            fault = "but is not deprecated"
        elif not warning or len(warning.encode(errors="surrogatepass")) > 256:
            fault = "which must have 1 to 256 bytes"
        elif not warning.isprintable():
            fault = "which has unprintable characters"
        if fault:
            message = f"a version has a deprecationWarning {fault}"
            yield crd.flaw(
                (*way, "deprecationWarning"), message, "set deprecated: true, or correct the warning"
            )


@bundle_folder_rule("EP645", "crd-scope", Severity.ERROR, "crd", "opm")
def crd_scope(bundle: BundleFolder) -> Iterator[Flaw]:
    """The scope of a CRD is Namespaced or Cluster.

    The API server rejects any other. In v1beta1 it defaults to Namespaced. Cost: one comparison a CRD.
    """
    for crd in crds(bundle):
        scope = crd.string_at("scope") or ("Namespaced" if crd.is_v1beta1 else "")
        if scope not in ("Namespaced", "Cluster"):
            message = f"the scope {scope!r} does not exist" if scope else "it has no scope"
            yield crd.flaw(("scope",), message, "write scope: Namespaced or scope: Cluster")


@bundle_folder_rule("EP647", "crd-columns", Severity.ERROR, "crd", "opm")
def crd_columns(bundle: BundleFolder) -> Iterator[Flaw]:
    """A printer column has a name, a valid type and a JSON path that starts with a dot.

    The API server rejects the CRD otherwise. Cost: one test a column.
    """
    for crd in crds(bundle):
        for way, column in _columns(crd):
            for key, message, fix in _column_faults(column, "JSONPath" if crd.is_v1beta1 else "jsonPath"):
                yield crd.flaw((*way, key), message, fix)


def _columns(crd: Crd) -> Iterator[tuple[Pointer, Any]]:
    """Yield the path and the content of each column. v1beta1 also allows columns for all versions."""
    for i, column in items_at(crd.spec, "additionalPrinterColumns") if crd.is_v1beta1 else ():
        yield ("additionalPrinterColumns", i), column
    for way, version in crd.versions:
        for i, column in items_at(version, "additionalPrinterColumns"):
            yield (*way, "additionalPrinterColumns", i), column


def _column_faults(column: Any, path_key: str) -> Iterator[tuple[str, str, str]]:
    name, kind, form, path = (string_at(column, key) for key in ("name", "type", "format", path_key))
    if not name:
        yield "name", "a printer column has no name", "add a name"
    if kind not in _COLUMN_TYPES:
        message = (
            f"the type {kind!r} of the printer column {name!r} does not exist"
            if kind
            else f"the printer column {name!r} has no type"
        )
        yield "type", message, f"write one of {', '.join(_COLUMN_TYPES)}"
    if form and form not in _COLUMN_FORMATS:
        message = f"the format {form!r} of the printer column {name!r} does not exist"
        yield "format", message, f"write one of {', '.join(sorted(_COLUMN_FORMATS))}"
    if not path.startswith("."):
        message = f"the path {path!r} of the printer column {name!r} does not start with a dot"
        yield path_key, message, "write a path such as .status.phase"


@bundle_folder_rule("EP648", "crd-scale", Severity.ERROR, "crd", "opm")
def crd_scale(bundle: BundleFolder) -> Iterator[Flaw]:
    """The scale subresource of a CRD has specReplicasPath in spec and statusReplicasPath in status.

    The API server rejects the CRD otherwise. operator-framework/api does not check statusReplicasPath.
    Cost: one test a version.
    """
    for crd in crds(bundle):
        found = [((), crd.spec)] if crd.is_v1beta1 else []
        for way, holder in (*found, *crd.versions):
            scale = value_at(holder, "subresources", "scale")
            for key, message, fix in _scale_faults(scale) if isinstance(scale, dict) else ():
                yield crd.flaw((*way, "subresources", "scale", key), message, fix)


def _scale_faults(scale: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    for key, roots in (
        ("specReplicasPath", (".spec.",)),
        ("statusReplicasPath", (".status.",)),
        ("labelSelectorPath", (".spec.", ".status.")),
    ):
        path = string_at(scale, key)
        if not path.startswith(roots) and (path or key != "labelSelectorPath"):
            message = (
                f"{key} of the scale subresource is {path!r}"
                if path
                else f"the scale subresource has no {key}"
            )
            yield key, message, f"write a path that starts with {' or '.join(roots)}"


@bundle_folder_rule("EP652", "crd-stated-twice", Severity.ERROR, "crd", "opm")
def crd_stated_twice(bundle: BundleFolder) -> Iterator[Flaw]:
    """A CRD of v1beta1 has schema, subresources and columns in spec or in its versions, not in both.

    Nor are they the same in every version: then they must be in spec. The API server rejects the CRD
    otherwise. Cost: one comparison a version.
    """
    for crd in (c for c in crds(bundle) if c.is_v1beta1):
        for whole, each in _SHARED.items():
            stated = [value_at(version, each) for _, version in items_at(crd.spec, "versions")]
            if value_at(crd.spec, whole) and any(stated):
                yield crd.flaw((whole,), f"{whole} is set in spec and in versions", "keep one of the two")
            if stated and stated[0] and all(s == stated[0] for s in stated):
                message = f"{each} is the same in every version"
                yield crd.flaw(("versions",), message, f"move it to spec.{whole}")
