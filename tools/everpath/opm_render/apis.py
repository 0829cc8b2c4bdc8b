"""The APIs that a bundle provides and requires, as opm derives them from its CRDs and its CSV."""

from __future__ import annotations

__all__ = ["ApiKey", "check_owned_crds", "provided_apis", "required_apis"]

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from everpath.go_types import GoType, field, text_field, type_mismatches
from everpath.model import Gvk, OpmError
from everpath.model.bundle_contents import Contents, Manifest
from everpath.opm_render.manifest_checks import crd_api_version

_API: GoType = dict.fromkeys(("group", "kind", "name", "version"), "string")
_API_LISTS: GoType = {"owned": [_API], "required": [_API]}


class ApiKey(NamedTuple):
    """An API and the plural of its kind, as opm compares CSV and CRDs (registry.APIKey)."""

    gvk: Gvk
    plural: str

    def __str__(self) -> str:
        group, version, kind = self.gvk
        return f"{group}/{version}/{kind} ({self.plural})"


def provided_apis(contents: Contents, csv: Manifest) -> Iterator[ApiKey]:
    """Every version of every CRD, served or not, and the API services that the CSV owns."""
    for crd in contents.crds:
        api_version = crd_api_version(crd)
        spec = crd.spec if api_version else {}
        names = spec.get("names") or {}
        versions = [(version or {}).get("name") or "" for version in spec.get("versions") or ()]
        if api_version == "v1beta1" and spec.get("version"):
            versions.append(spec["version"])
        for version in versions:
            gvk = Gvk(spec.get("group") or "", version, names.get("kind") or "")
            yield ApiKey(gvk, names.get("plural") or "")
    yield from _api_services(csv, "owned")


def required_apis(csv: Manifest) -> Iterator[ApiKey]:
    """The CRDs and API services that the CSV requires."""
    yield from (api for _, api in _crds(csv, "required"))
    yield from _api_services(csv, "required")


def check_owned_crds(contents: Contents, csv: Manifest) -> None:
    """Raise `OpmError` if the bundle lacks a CRD that the CSV owns. Additional CRDs are allowed."""
    provided = set(provided_apis(contents, csv))
    for index, api in _crds(csv, "owned"):
        if api not in provided:
            place = csv.place.at("spec", "customresourcedefinitions", "owned", index)
            message = f"the CSV owns {api}, which no CustomResourceDefinition of the bundle defines"
            fix = "add the CRD to the manifests, or use the name, kind and version of the CRD"
            raise OpmError(message, place, fix)


def _crds(csv: Manifest, list_name: str) -> Iterator[tuple[int, ApiKey]]:
    """The CRDs in a list of the CSV, with their indices."""
    for index, item in _items(csv, "customresourcedefinitions", list_name):
        name = text_field(item, "name")
        plural, dot, group = name.partition(".")
        if not dot:
            place = csv.place.at("spec", "customresourcedefinitions", list_name, index, "name")
            message = f"the CRD name {name!r} is not of the form PLURAL.GROUP"
            raise OpmError(message, place, "write the name of the CustomResourceDefinition")
        gvk = Gvk(group, text_field(item, "version"), text_field(item, "kind"))
        yield index, ApiKey(gvk, plural)


def _api_services(csv: Manifest, list_name: str) -> Iterator[ApiKey]:
    for _, item in _items(csv, "apiservicedefinitions", list_name):
        gvk = Gvk(*(text_field(item, key) for key in ("group", "version", "kind")))
        yield ApiKey(gvk, text_field(item, "name"))


def _items(csv: Manifest, section: str, list_name: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    lists = csv.spec.get(section)
    place = csv.place.at("spec", section)
    for mismatch in type_mismatches(lists, _API_LISTS):
        raise OpmError(f"{section} of the CSV is invalid: {mismatch.message}", place.at(*mismatch.path))
    items = field(lists, list_name)
    for index, item in enumerate(items if isinstance(items, list) else ()):
        if item is None:
            message = f"an entry of {section}.{list_name} is null"
            raise OpmError(message, place.at(list_name, index), "remove it, or write the API")
        yield index, item
