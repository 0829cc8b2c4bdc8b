"""The checks that opm makes while it decodes the manifests of a bundle."""

from __future__ import annotations

__all__ = ["check_manifests", "check_type", "crd_api_version", "csv_release", "csv_version"]

from everpath.go_types import type_mismatches
from everpath.model import OpmError
from everpath.model.bundle_contents import Contents, Manifest
from everpath.opm_render.go_json import format_float

_CRD_GROUP = "apiextensions.k8s.io"
_CRD_STRUCTS = {
    "v1": "apiextensions.CustomResourceDefinition",
    "v1beta1": "v1beta1.CustomResourceDefinition",
}


def check_manifests(contents: Contents, csv: Manifest) -> None:
    """Raise `OpmError` unless the metadata and spec of the CSV and all CRDs can be decoded."""
    check_type(csv.body.get("apiVersion"), "string", csv, "apiVersion")
    check_type(csv.body.get("metadata"), "meta.ObjectMeta", csv, "metadata")
    if "spec" not in csv.body:
        raise OpmError("the CSV has no spec", csv.place, "add its spec")
    spec = csv.body["spec"]
    if spec is not None and not isinstance(spec, dict):
        raise OpmError("the spec of the CSV is not a mapping", csv.place.at("spec"), "write a mapping")
    for crd in contents.crds:
        if version := crd_api_version(crd):
            check_type(crd.body, _CRD_STRUCTS[version], crd, ignore_case=False)


def check_type(
    value: object, type_: str, manifest: Manifest, *path: str | int, ignore_case: bool = True
) -> None:
    """Raise `OpmError` unless Go can decode the value at a path of a manifest into a type of `go_types`."""
    for mismatch in type_mismatches(value, type_, ignore_case=ignore_case):
        full_path = (*path, *mismatch.path)
        message = mismatch._replace(path=full_path).message
        place = manifest.place._replace(pointer=(*manifest.place.pointer, *full_path))
        raise OpmError(f"{manifest.kind} {manifest.name} is invalid: {message}", place)


def crd_api_version(crd: Manifest) -> str:
    """v1 or v1beta1; "" for a version that opm ignores. Raises `OpmError` if the group is wrong."""
    group, _, version = crd.api_version.rpartition("/")
    if version not in _CRD_STRUCTS:
        return ""
    if group != _CRD_GROUP:
        message = f"the API {crd.api_version!r} has no kind {crd.kind}"
        raise OpmError(message, crd.place.at("apiVersion"), f"write {_CRD_GROUP}/{version}")
    return version


def csv_version(csv: Manifest) -> str:
    """`spec.version` as written; "" if it is absent. Raises `OpmError`."""
    version = csv.spec.get("version")
    if version is not None and not isinstance(version, str):
        place = csv.place.at("spec", "version")
        raise OpmError(f"the version of the CSV is not a string: {version!r}", place, "quote it")
    return version or ""


def csv_release(csv: Manifest) -> str:
    """`spec.release`, which may be a number; "" if it is absent. Raises `OpmError`."""
    release = csv.spec.get("release")
    match release:
        case None:
            return ""
        case str():
            return release
        case int() | float() if not isinstance(release, bool):
            number = float(release)
            return str(int(number)) if number.is_integer() else format_float(number)
        case _:
            place = csv.place.at("spec", "release")
            raise OpmError("the release of the CSV is neither a string nor a number", place, "quote it")
