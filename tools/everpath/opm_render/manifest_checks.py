"""Manifests as opm decodes them before it looks at anything else, and the few texts it takes from a CSV."""

from __future__ import annotations

__all__ = ["check_manifests", "crd_version", "csv_release", "csv_version", "fitted"]

from everpath.go_types import misfits
from everpath.model.bundle_contents import Contents, Manifest
from everpath.opm_render.go_json import go_float
from everpath.opm_render.refusals import Refusal

_GROUP = "apiextensions.k8s.io"
_CRDS = {
    "v1": "apiextensions.CustomResourceDefinition",
    "v1beta1": "v1beta1.CustomResourceDefinition",
}


def check_manifests(contents: Contents, csv: Manifest) -> None:
    """Raise `Refusal` unless the CSV's metadata and the CRDs are such as Kubernetes could hold."""
    fitted(csv.body.get("apiVersion"), "string", csv, "apiVersion")
    fitted(csv.body.get("metadata"), "meta.ObjectMeta", csv, "metadata")
    if "spec" not in csv.body:
        raise Refusal("the CSV has no spec", csv.place, "write its spec")
    spec = csv.body["spec"]
    if spec is not None and not isinstance(spec, dict):
        raise Refusal("the CSV's spec is not a mapping", csv.place.at("spec"), "write its spec")
    for crd in contents.crds:
        if version := crd_version(crd):
            fitted(crd.body, _CRDS[version], crd, folds=False)


def crd_version(crd: Manifest) -> str:
    """The version of a CRD's own API, empty if opm passes over it. Raises `Refusal` for another group's."""
    group, _, version = crd.api_version.rpartition("/")
    if version not in _CRDS:
        return ""
    if group != _GROUP:
        message = f"{crd.api_version!r} is no API that has a {crd.kind}"
        raise Refusal(message, crd.place.at("apiVersion"), f"write {_GROUP}/{version}")
    return version


def fitted(value: object, struct: str, manifest: Manifest, *steps: str | int, folds: bool = True) -> None:
    """Raise `Refusal` unless a value of a manifest fits the struct that it is read into."""
    for misfit in misfits(value, struct, folds=folds):
        way = (*steps, *misfit.path)
        message = misfit.message.replace(".".join(map(str, misfit.path)), ".".join(map(str, way)), 1)
        place = manifest.place._replace(pointer=(*manifest.place.pointer, *way))
        raise Refusal(f"{manifest.kind} {manifest.name} cannot be read: {message}", place)


def csv_version(csv: Manifest) -> str:
    """The version as written, empty if there is none. Raises `Refusal`."""
    version = csv.spec.get("version")
    if version is not None and not isinstance(version, str):
        place = csv.place.at("spec", "version")
        raise Refusal(f"the CSV's version is not a string: {version!r}", place, "put it in quotes")
    return version or ""


def csv_release(csv: Manifest) -> str:
    """The release, which may be written as a number. Raises `Refusal`."""
    release = csv.spec.get("release")
    match release:
        case None:
            return ""
        case str():
            return release
        case int() | float() if not isinstance(release, bool):
            number = float(release)
            return str(int(number)) if number.is_integer() else go_float(number)
        case _:
            place = csv.place.at("spec", "release")
            raise Refusal("the CSV's release is neither a string nor a number", place, "put it in quotes")
