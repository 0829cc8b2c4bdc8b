"""The APIs a bundle provides and requires: what opm takes from its CRDs and its CSV."""

from __future__ import annotations

__all__ = ["Api", "check_owned", "provided_apis", "required_apis"]

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from everpath.model import Gvk
from everpath.model.bundle_contents import Contents, Manifest
from everpath.opm_render.decoding import crd_version
from everpath.opm_render.refusals import Refusal
from everpath.rules._shapes import Shape, field, misfits, text_field

_KEY: Shape = {"group": str, "kind": str, "name": str, "version": str}
_LISTS: Shape = {"owned": [_KEY], "required": [_KEY]}


class Api(NamedTuple):
    """An API and the plural of its kind, by which a CSV and a CRD must agree."""

    gvk: Gvk
    plural: str

    def __str__(self) -> str:
        group, version, kind = self.gvk
        return f"{group}/{version}/{kind} ({self.plural})"


def provided_apis(contents: Contents, csv: Manifest) -> Iterator[Api]:
    """Every version of every CRD, served or not, and the services the CSV owns."""
    for crd in contents.crds:
        yield from _defined(crd)
    for _, item in _listed(csv, "apiservicedefinitions", "owned"):
        yield Api(_gvk(item, text_field(item, "group")), text_field(item, "name"))


def required_apis(csv: Manifest) -> Iterator[Api]:
    """The CRDs and services a CSV asks for."""
    yield from (api for _, api in _crds(csv, "required"))
    for _, item in _listed(csv, "apiservicedefinitions", "required"):
        yield Api(_gvk(item, text_field(item, "group")), text_field(item, "name"))


def check_owned(contents: Contents, csv: Manifest) -> None:
    """Raise `Refusal` if a CRD the CSV owns is not among the manifests. More of them do not matter."""
    there = set(provided_apis(contents, csv))
    for index, api in _crds(csv, "owned"):
        if api not in there:
            place = csv.place.at("spec", "customresourcedefinitions", "owned", index)
            message = f"the CSV owns {api}, which no CustomResourceDefinition of the bundle defines"
            fix = "add the CRD to the manifests, or say its name, kind and version as the CRD does"
            raise Refusal(message, place, fix)


def _defined(crd: Manifest) -> Iterator[Api]:
    """A CRD's versions; of v1beta1 also the one that is named apart. Its keys count as they are spelled."""
    api = crd_version(crd)
    spec = crd.spec if api else {}
    names = spec.get("names") or {}
    found = [(version or {}).get("name") or "" for version in spec.get("versions") or ()]
    if api == "v1beta1" and spec.get("version"):
        found.append(spec["version"])
    for name in found:
        gvk = Gvk(spec.get("group") or "", name, names.get("kind") or "")
        yield Api(gvk, names.get("plural") or "")


def _crds(csv: Manifest, which: str) -> Iterator[tuple[int, Api]]:
    """The CRDs a CSV lists, by the name each must have: its plural, a dot, its group."""
    for index, item in _listed(csv, "customresourcedefinitions", which):
        name = text_field(item, "name")
        plural, dot, group = name.partition(".")
        if not dot:
            place = csv.place.at("spec", "customresourcedefinitions", which, index, "name")
            message = f"the CRD name {name!r} is not its plural, a dot and its group"
            raise Refusal(message, place, "write the name of the CustomResourceDefinition")
        yield index, Api(_gvk(item, group), plural)


def _listed(csv: Manifest, section: str, which: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    found = csv.spec.get(section)
    place = csv.place.at("spec", section)
    for misfit in misfits(found, _LISTS):
        raise Refusal(f"{section} of the CSV cannot be read: {misfit.message}", place.at(*misfit.path))
    items = field(found, which)
    for index, item in enumerate(items if isinstance(items, list) else ()):
        if item is None:
            message = f"an entry of {section}.{which} is null"
            raise Refusal(message, place.at(which, index), "remove it, or say which API is meant")
        yield index, item


def _gvk(item: Mapping[str, Any], group: str) -> Gvk:
    return Gvk(group, text_field(item, "version"), text_field(item, "kind"))
