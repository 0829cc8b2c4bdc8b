"""The bundle as a whole: what its manifests say of each other, and how much they weigh."""

from __future__ import annotations

__all__ = [
    "bundle_size",
    "crd_not_owned",
    "duplicate_crd",
    "owned_crd_missing",
    "related_image",
    "release_name",
    "service_account_twice",
]

from collections.abc import Iterator
from typing import Final

from everpath.manifest_access import items_at, string_at
from everpath.model import Gvk
from everpath.model.bundle_contents import BundleFolder, Manifest
from everpath.rules.bundle.crds import Crd, crds
from everpath.rules.findings import Flaw, Severity
from everpath.rules.image_references import corrected_reference, reference_error
from everpath.rules.registry import bundle_folder_rule
from everpath.wording import join_names

_OWNED: Final = ("spec", "customresourcedefinitions", "owned")
_LARGEST: Final = 1 << 20
_LARGE: Final = 0.85 * _LARGEST


def _apis(crd: Crd) -> Iterator[Gvk]:
    """The APIs that a CRD defines."""
    # One of v1beta1 without any is one with a version of no name to upstream.
    for _, version in crd.versions or ([((), None)] if crd.is_old else []):
        yield Gvk(crd.string_at("group"), string_at(version, "name"), crd.string_at("names", "kind"))


def _is_hidden(crd: Crd, api: Gvk) -> bool:
    """Whether opm does not see an API: of a CRD of v1beta1 with spec.version it sees no other version."""
    return crd.is_old and crd.string_at("version") not in ("", api.version)


def _owned(csv: Manifest) -> Iterator[tuple[int, Gvk, str]]:
    """The APIs a CSV owns: place in the list, API, name of the CRD."""
    for i, crd in items_at(csv.body, *_OWNED):
        name = string_at(crd, "name")
        group = name.partition(".")[2] if "." in name else name
        yield i, Gvk(group, string_at(crd, "version"), string_at(crd, "kind")), name


@bundle_folder_rule("EP653", "duplicate-crd", Severity.ERROR, "bundle")
def duplicate_crd(bundle: BundleFolder) -> Iterator[Flaw]:
    """No API is defined by two CRDs of a bundle.

    OLM applies both, one after the other, and which schema stays is a matter of order. Cost: one look-up
    each.
    """
    seen: dict[Gvk, Crd] = {}
    for crd in crds(bundle):
        for api in _apis(crd):
            if api in seen:
                yield Flaw(
                    crd.place("names", "kind"),
                    f"{api} is defined twice",
                    because=(f"{seen[api].manifest.place.file} defines it, too",),
                    fix="keep one of the two files",
                )
            seen[api] = crd


@bundle_folder_rule("EP654", "owned-crd-missing", Severity.ERROR, "bundle", "opm")
def owned_crd_missing(bundle: BundleFolder) -> Iterator[Flaw]:
    """Every CRD that the CSV owns is in the bundle, with the version the CSV names.

    OLM waits for the CRD and the operator never starts; opm does not even render the bundle. Cost: one
    look-up each.
    """
    if bundle.csv is None:
        return
    there = {api: crd.name for crd in crds(bundle) for api in _apis(crd) if not _is_hidden(crd, api)}
    for i, api, name in _owned(bundle.csv):
        if there.get(api) == name:
            continue
        yield Flaw(
            bundle.csv.place.at(*_OWNED, i),
            f"the CSV owns {api}, and no CRD {_lack(api in there, name)}",
            because=_alternatives(api, there),
            fix="add the CRD to manifests/, or remove it from the owned ones",
        )


def _lack(is_defined: bool, name: str) -> str:
    return f"is called {name}" if is_defined else "defines it"


def _alternatives(api: Gvk, there: dict[Gvk, str]) -> tuple[str, ...]:
    near = [f"{a} (CRD {name})" for a, name in there.items() if a.kind == api.kind]
    found = f"the bundle defines {join_names(near)}" if near else "the bundle has no CRD of this kind"
    return found, "opm says: owned CRD not found in bundle"


@bundle_folder_rule("EP655", "crd-not-owned", Severity.ERROR, "bundle")
def crd_not_owned(bundle: BundleFolder) -> Iterator[Flaw]:
    """Every CRD of the bundle is one that the CSV owns, in one of its versions at least.

    OLM installs the CRD and does not know whose it is: another operator may own it as well, and nothing stops
    both from being installed. Cost: one look-up each.
    """
    if bundle.csv is None:
        return
    there = {api for crd in crds(bundle) for api in _apis(crd)}
    owned = {(api.group, api.kind) for _, api, _ in _owned(bundle.csv) if api in there}
    for crd in crds(bundle):
        strangers = [api for api in _apis(crd) if (api.group, api.kind) not in owned]
        for api in dict.fromkeys(strangers):
            yield Flaw(
                crd.manifest.place.at("metadata", "name"),
                f"the bundle defines {api}, which the CSV does not own",
                because=("OLM does not know whose API it is: another operator may own it, too",),
                fix="list it under spec.customresourcedefinitions.owned, or take the CRD out of the bundle",
            )


@bundle_folder_rule("EP656", "service-account-twice", Severity.ERROR, "bundle")
def service_account_twice(bundle: BundleFolder) -> Iterator[Flaw]:
    """No ServiceAccount of the bundle is one that a deployment of the CSV runs under.

    OLM creates that account itself and replaces what it finds; the two undo each other. Cost: one look-up
    each.
    """
    if bundle.csv is None:
        return
    way = ("spec", "template", "spec", "serviceAccountName")
    deployments = items_at(bundle.csv.body, "spec", "install", "spec", "deployments")
    used = {string_at(deployment, *way) for _, deployment in deployments}
    for account in bundle.contents.of_kind("ServiceAccount"):
        if account.api_version == "v1" and account.name in used:
            yield Flaw(
                account.place.at("metadata", "name"),
                f"a deployment of the CSV runs under the ServiceAccount {account.name}, which OLM creates",
                because=("OLM makes the account from the CSV's permissions",),
                fix="remove the ServiceAccount from the bundle",
            )


@bundle_folder_rule("EP657", "bundle-size", Severity.ERROR, "bundle")
def bundle_size(bundle: BundleFolder) -> Iterator[Flaw]:
    """The files of a bundle, compressed, fit into one object of the cluster: one mebibyte.

    OLM v0 unpacks a bundle into a ConfigMap and fails where it is larger. From 85 % on it is a warning.
    Cost: small folders are only added up, large ones are compressed.
    """
    size = bundle.size
    if size is None or size.compressed <= _LARGE:
        return
    is_over = size.compressed > _LARGEST
    yield Flaw(
        bundle.contents.place,
        f"the bundle takes {size.compressed:,} bytes compressed, {'more than' if is_over else 'nearly'} "
        f"the {_LARGEST:,} there are",
        because=(f"its files take {size.uncompressed:,} bytes; OLM unpacks them into one ConfigMap",),
        fix="shorten descriptions in CRDs and the icon, or leave out what OLM does not need",
        severity=None if is_over else Severity.WARNING,
    )


@bundle_folder_rule("EP658", "release-name", Severity.ERROR, "bundle")
def release_name(bundle: BundleFolder) -> Iterator[Flaw]:
    """A bundle with spec.release is called PACKAGE-vVERSION-RELEASE.

    Two releases of one version would have one name otherwise. Cost: one comparison.
    """
    if bundle.csv is None or not (release := string_at(bundle.csv.body, "spec", "release")):
        return
    version = string_at(bundle.csv.body, "spec", "version")
    right = f"{bundle.package or ''}-v{version}-{release}"
    if bundle.name != right:
        yield Flaw(
            bundle.csv.place.at("metadata", "name"),
            f"the bundle has a release and is called {bundle.name or ''}, not {right}",
            because=("operator-sdk bundle validate refuses it",),
            fix=f"call it {right}",
        )


@bundle_folder_rule("EP659", "related-image", Severity.ERROR, "bundle")
def related_image(bundle: BundleFolder) -> Iterator[Flaw]:
    """Every related image is a reference that can be pulled.

    Mirrors copy what is listed there; one that cannot be read breaks the mirror, or is missing in it.
    Cost: one match each.
    """
    if bundle.csv is None:
        return
    for i, image in items_at(bundle.csv.body, "spec", "relatedImages"):
        stated = string_at(image, "image")
        fault = reference_error(stated) if stated else "it is empty"
        if fault:
            guess = corrected_reference(stated)
            yield Flaw(
                bundle.csv.place.at("spec", "relatedImages", i, "image"),
                f"the related image {stated!r} is no reference: {fault}",
                because=("whoever mirrors the catalog cannot pull it",),
                fix=f"write {guess}" if guess else "write host/path:tag or host/path@sha256:…, or remove it",
            )
