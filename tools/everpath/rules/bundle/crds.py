"""CustomResourceDefinitions, by the rules of the API server that will be asked to create them.

Rules about schemas are not among them: operator-framework/api leaves those out, and so does this. What the
server fills in where nothing is written (`_Crd`) is filled in first.
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

from everpath.manifest_access import FieldPath, as_string, items_at, string_at, value_at
from everpath.model import Place
from everpath.model.bundle_contents import BundleFolder, Manifest
from everpath.rules.bundle.kubernetes_names import dns_label, dns_subdomain
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import bundle_folder_rule

OLD: Final = "apiextensions.k8s.io/v1beta1"
NEW: Final = "apiextensions.k8s.io/v1"
_REFUSED: Final = ("the API server refuses the CRD, and OLM's install plan fails",)

_COLUMN_TYPES: Final = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS: Final = frozenset(
    {"int32", "int64", "float", "double", "byte", "date", "date-time", "password"}
)
#: Where v1beta1 may state its one version: a name and nothing more.
_APART: Final = ("version",)
#: What may stand in spec for all versions, or in each version, in v1beta1.
_SHARED: Final[Mapping[str, str]] = {
    "validation": "schema",
    "subresources": "subresources",
    "additionalPrinterColumns": "additionalPrinterColumns",
}


class Crd(NamedTuple):
    """A CRD as the API server sees it: with the names and versions that follow from what is written."""

    manifest: Manifest
    spec: Mapping[str, Any]
    is_old: bool

    @property
    def name(self) -> str:
        return self.manifest.name

    def string_at(self, *way: str | int) -> str:
        return string_at(self.spec, *way)

    def place(self, *way: str | int) -> Place:
        return self.manifest.place.at("spec", *way)

    @property
    def versions(self) -> list[tuple[FieldPath, Any]]:
        """Each version and the way to it. v1beta1 has one more way to state a single version."""
        listed = [(("versions", i), version) for i, version in items_at(self.spec, "versions")]
        if listed or not self.is_old or not self.string_at("version"):
            return [*listed]
        return [(_APART, {"name": self.string_at("version"), "storage": True})]

    def flaw(self, way: FieldPath, message: str, fix: str) -> Flaw:
        return Flaw(self.place(*way), f"CRD {self.name}: {message}", because=_REFUSED, fix=fix)


def crds(bundle: BundleFolder) -> Iterator[Crd]:
    """The CRDs of a bundle that are of a version there is."""
    for manifest in bundle.contents.crds:
        if manifest.api_version in (OLD, NEW):
            yield Crd(manifest, manifest.spec, manifest.api_version == OLD)


@bundle_folder_rule("EP641", "crd-name", Severity.ERROR, "crd", "opm")
def crd_name(bundle: BundleFolder) -> Iterator[Flaw]:
    """The name of a CRD is its plural, a dot, and its group.

    The API server refuses any other. Cost: one comparison a CRD.
    """
    for crd in crds(bundle):
        right = f"{crd.string_at('names', 'plural')}.{crd.string_at('group')}"
        if crd.name and (crd.name != right or dns_subdomain(crd.name)):
            yield Flaw(
                crd.manifest.place.at("metadata", "name"),
                f"the CRD is called {crd.name!r}, its plural and group make {right!r}",
                because=_REFUSED,
                fix=f"call it {right}" if dns_subdomain(right) is None else "write them in lower case",
            )


@bundle_folder_rule("EP642", "crd-group", Severity.ERROR, "crd", "opm")
def crd_group(bundle: BundleFolder) -> Iterator[Flaw]:
    """The group of a CRD is a domain with a dot in it.

    The API server refuses any other. Cost: one match a CRD.
    """
    for crd in crds(bundle):
        group = crd.string_at("group")
        fault = "it is missing" if not group else dns_subdomain(group)
        if fault is None and "." not in group:
            fault = "it has no dot"
        if fault:
            yield crd.flaw(("group",), f"its group {group!r} is none: {fault}", "write a domain of your own")


@bundle_folder_rule("EP643", "crd-names", Severity.ERROR, "crd", "opm")
def crd_names(bundle: BundleFolder) -> Iterator[Flaw]:
    """The names of a CRD are such as the API server takes: plural and kind at least, all of them DNS labels.

    Kinds may have upper case letters, and the kind of a list is another than the kind. Cost: one match a
    name.
    """
    for crd in crds(bundle):
        for way, message, fix in _name_faults(crd):
            yield crd.flaw(("names", *way), message, fix)


_Fault = tuple[FieldPath, str, str]


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
        elif fault := dns_label(checked):
            yield (key,), f"its {key} {name!r} is no name: {fault}", f"choose another {key}"
    for key in ("shortNames", "categories"):
        for i, item in items_at(crd.spec, "names", key):
            if fault := dns_label(as_string(item)):
                name = as_string(item)
                yield (key, i), f"{name!r} of {key} is no name: {fault}", "choose another, or remove it"
    if kind and kind == names["listKind"]:
        yield ("listKind",), "its listKind is its kind", f"write listKind: {kind}List"


@bundle_folder_rule("EP644", "crd-versions", Severity.ERROR, "crd", "opm")
def crd_versions(bundle: BundleFolder) -> Iterator[Flaw]:
    """The versions of a CRD have names of their own, and exactly one of them is stored.

    Without a stored version, or with two, the API server does not know what to write. Cost: one look at each.
    """
    for crd in crds(bundle):
        names = [(way, string_at(version, "name")) for way, version in crd.versions]
        for way, name in names:
            if fault := dns_label(name):
                at = way if way == _APART else (*way, "name")
                yield crd.flaw(at, f"{name!r} is no name of a version: {fault}", "write v1, v1beta1 …")
        twice = {name for _, name in names if [n for _, n in names].count(name) > 1}
        for name in sorted(twice):
            yield crd.flaw(("versions",), f"it has the version {name!r} twice", "remove one of them")
        stored = sum(bool(value_at(version, "storage")) for _, version in crd.versions)
        if stored != 1:
            message = f"{stored or 'none'} of its versions {'are' if stored else 'is'} stored"
            yield crd.flaw(("versions",), message, "set storage: true on one version, false on the others")
        yield from _first_version(crd, [name for _, name in names])
        yield from _deprecations(crd)


def _first_version(crd: Crd, names: list[str]) -> Iterator[Flaw]:
    """spec.version of v1beta1, which repeats the first of the list."""
    stated = crd.string_at("version") if crd.is_old else ""
    if stated and stated != names[0]:
        message = f"spec.version is {stated}, the first of its versions {names[0]}"
        yield crd.flaw(("version",), message, "remove spec.version")


def _deprecations(crd: Crd) -> Iterator[Flaw]:
    for way, version in crd.versions:
        warning = value_at(version, "deprecationWarning")
        if not isinstance(warning, str):
            continue
        fault = None
        if value_at(version, "deprecated") is not True:
            fault = "but the version is not deprecated"
        elif not warning or len(warning.encode(errors="surrogatepass")) > 256:
            fault = "but it has between 1 and 256 characters"
        elif not warning.isprintable():
            fault = "but only printable characters are allowed in it"
        if fault:
            message = f"a version has a deprecationWarning, {fault}"
            yield crd.flaw(
                (*way, "deprecationWarning"), message, "set deprecated: true, or correct the warning"
            )


@bundle_folder_rule("EP645", "crd-scope", Severity.ERROR, "crd", "opm")
def crd_scope(bundle: BundleFolder) -> Iterator[Flaw]:
    """The scope of a CRD is Namespaced or Cluster.

    The API server refuses any other; where v1beta1 leaves it out it is Namespaced. Cost: one comparison a
    CRD.
    """
    for crd in crds(bundle):
        scope = crd.string_at("scope") or ("Namespaced" if crd.is_old else "")
        if scope not in ("Namespaced", "Cluster"):
            message = f"its scope is {scope!r}" if scope else "it has no scope"
            yield crd.flaw(("scope",), message, "write scope: Namespaced, or Cluster")


@bundle_folder_rule("EP647", "crd-columns", Severity.ERROR, "crd", "opm")
def crd_columns(bundle: BundleFolder) -> Iterator[Flaw]:
    """A printer column has a name, a type there is, and a JSON path that begins with a dot.

    The API server refuses the CRD for one column. Cost: one look at each.
    """
    for crd in crds(bundle):
        for way, column in _columns(crd):
            for key, message, fix in _column_faults(column, "JSONPath" if crd.is_old else "jsonPath"):
                yield crd.flaw((*way, key), message, fix)


def _columns(crd: Crd) -> Iterator[tuple[FieldPath, Any]]:
    """The columns that are looked at: those of all versions once, where each has the same."""
    for i, column in items_at(crd.spec, "additionalPrinterColumns") if crd.is_old else ():
        yield ("additionalPrinterColumns", i), column
    for way, version in crd.versions:
        for i, column in items_at(version, "additionalPrinterColumns"):
            yield (*way, "additionalPrinterColumns", i), column


def _column_faults(column: Any, path_key: str) -> Iterator[tuple[str, str, str]]:
    name, kind, form, path = (string_at(column, key) for key in ("name", "type", "format", path_key))
    if not name:
        yield "name", "a printer column has no name", "name it"
    if kind not in _COLUMN_TYPES:
        message = (
            f"the printer column {name!r} is of type {kind!r}" if kind else f"the column {name!r} has no type"
        )
        yield "type", message, f"write one of {', '.join(_COLUMN_TYPES)}"
    if form and form not in _COLUMN_FORMATS:
        message = f"the printer column {name!r} is of format {form!r}"
        yield "format", message, f"write one of {', '.join(sorted(_COLUMN_FORMATS))}"
    if not path.startswith("."):
        message = f"the path of the printer column {name!r} is {path!r}"
        yield path_key, message, "write a path that begins with a dot, such as .status.phase"


@bundle_folder_rule("EP648", "crd-scale", Severity.ERROR, "crd", "opm")
def crd_scale(bundle: BundleFolder) -> Iterator[Flaw]:
    """The scale subresource of a CRD points into spec for what is wanted and into status for what is there.

    The API server refuses the CRD otherwise. operator-framework/api passes over the path into status.
    Cost: one look at each version.
    """
    for crd in crds(bundle):
        found = [((), crd.spec)] if crd.is_old else []
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
            message = f"{key} of its scale is {path!r}" if path else f"its scale has no {key}"
            yield key, message, f"write a path that begins with {' or '.join(roots)}"


@bundle_folder_rule("EP652", "crd-stated-twice", Severity.ERROR, "crd", "opm")
def crd_stated_twice(bundle: BundleFolder) -> Iterator[Flaw]:
    """A CRD of v1beta1 states schema, subresources and columns for all versions or for each, never both.

    Nor does each version state the same: then it stands in spec. The API server refuses the CRD.
    Cost: one comparison a version.
    """
    for crd in (c for c in crds(bundle) if c.is_old):
        for whole, each in _SHARED.items():
            stated = [value_at(version, each) for _, version in items_at(crd.spec, "versions")]
            if value_at(crd.spec, whole) and any(stated):
                yield crd.flaw(
                    (whole,), f"{whole} is stated for all versions and for some", "keep one of the two"
                )
            if stated and stated[0] and all(s == stated[0] for s in stated):
                message = f"every version states the same {each}"
                yield crd.flaw(("versions",), message, f"state it once, in spec.{whole}")
