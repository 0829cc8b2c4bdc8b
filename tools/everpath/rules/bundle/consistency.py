"""Rules for a bundle as a whole: agreement of CSV and CRDs, objects that OLM creates itself, size."""

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
_SIZE_LIMIT: Final = 1 << 20
_SIZE_WARNING: Final = 0.85 * _SIZE_LIMIT


def _apis(crd: Crd) -> Iterator[Gvk]:
    """Yield the APIs that a CRD defines."""
    # operator-framework/api gives a CRD of v1beta1 without versions a version without a name.
    for _, version in crd.versions or ([((), None)] if crd.is_v1beta1 else []):
        yield Gvk(crd.string_at("group"), string_at(version, "name"), crd.string_at("names", "kind"))


def _owned_crds(csv: Manifest) -> Iterator[tuple[int, Gvk, str]]:
    """Yield index, API and CRD name of each owned CRD of a CSV."""
    for i, crd in items_at(csv.body, *_OWNED):
        name = string_at(crd, "name")
        group = name.partition(".")[2] if "." in name else name
        yield i, Gvk(group, string_at(crd, "version"), string_at(crd, "kind")), name


@bundle_folder_rule("EP653", "duplicate-crd", Severity.ERROR, "bundle")
def duplicate_crd(bundle: BundleFolder) -> Iterator[Flaw]:
    """No two CRDs of a bundle define the same API.

    OLM applies both, and the order decides which schema remains. Cost: one look-up an API.
    """
    seen: dict[Gvk, Crd] = {}
    for crd in crds(bundle):
        for api in _apis(crd):
            if api in seen:
                yield Flaw(
                    crd.place("names", "kind"),
                    f"the second CRD overwrites the first: both define {api}",
                    because=(f"the first is in {seen[api].manifest.place.file}",),
                    fix="remove one of the two files",
                )
            seen[api] = crd


@bundle_folder_rule("EP654", "owned-crd-missing", Severity.ERROR, "bundle", "opm")
def owned_crd_missing(bundle: BundleFolder) -> Iterator[Flaw]:
    """Every CRD that the CSV owns is in the bundle, with the version that the CSV names.

    opm rejects the bundle. In OLM v0 the CSV stays Pending, and the operator never starts. Cost: one look-up
    a CRD.
    """
    if bundle.csv is None:
        return
    there = {
        api: crd.name
        for crd in crds(bundle)
        for api in _apis(crd)
        # If a CRD of v1beta1 has spec.version, opm ignores its other versions.
        if not crd.is_v1beta1 or crd.string_at("version") in ("", api.version)
    }
    for i, api, name in _owned_crds(bundle.csv):
        if there.get(api) == name:
            continue
        problem = f"is named {name}" if api in there else "defines it"
        near = [f"{a} (CRD {crd_name})" for a, crd_name in there.items() if a.kind == api.kind]
        yield Flaw(
            bundle.csv.place.at(*_OWNED, i),
            f"opm rejects the bundle: the CSV owns {api}, but no CRD {problem}",
            because=(
                f"the bundle defines {join_names(near)}" if near else "the bundle has no CRD of this kind",
                "opm reports: owned CRD not found in bundle",
            ),
            fix="add the CRD to manifests/, or remove it from spec.customresourcedefinitions.owned",
        )


@bundle_folder_rule("EP655", "crd-not-owned", Severity.ERROR, "bundle")
def crd_not_owned(bundle: BundleFolder) -> Iterator[Flaw]:
    """The CSV owns every CRD of the bundle, in at least one version.

    OLM does not record an owner of the CRD otherwise, so that a second operator with the same CRD can be
    installed. Cost: one look-up a CRD.
    """
    if bundle.csv is None:
        return
    there = {api for crd in crds(bundle) for api in _apis(crd)}
    owned = {(api.group, api.kind) for _, api, _ in _owned_crds(bundle.csv) if api in there}
    for crd in crds(bundle):
        unowned = [api for api in _apis(crd) if (api.group, api.kind) not in owned]
        for api in dict.fromkeys(unowned):
            yield Flaw(
                crd.manifest.place.at("metadata", "name"),
                f"OLM does not record an owner of {api}: the CSV does not own this CRD of the bundle",
                because=("a second operator with the same CRD can be installed",),
                fix="add it to spec.customresourcedefinitions.owned, or remove the CRD from the bundle",
            )


@bundle_folder_rule("EP656", "service-account-twice", Severity.ERROR, "bundle")
def service_account_twice(bundle: BundleFolder) -> Iterator[Flaw]:
    """The bundle has no ServiceAccount that a deployment of the CSV uses.

    OLM creates this ServiceAccount itself, and overwrites the one of the bundle. Cost: one look-up a
    ServiceAccount.
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
                f"OLM overwrites the ServiceAccount {account.name}: a deployment of the CSV uses it",
                because=("OLM creates the ServiceAccounts of deployments from the permissions in the CSV",),
                fix="remove the ServiceAccount from the bundle",
            )


@bundle_folder_rule("EP657", "bundle-size", Severity.ERROR, "bundle")
def bundle_size(bundle: BundleFolder) -> Iterator[Flaw]:
    """The files of a bundle, compressed, fit into a ConfigMap of 1 MiB.

    OLM v0 unpacks a bundle into a ConfigMap, and fails if it is larger. From 85 % of the limit it is a
    warning. Cost: small folders are added up, large ones are compressed.
    """
    size = bundle.size
    if size is None or size.compressed <= _SIZE_WARNING:
        return
    is_over = size.compressed > _SIZE_LIMIT
    yield Flaw(
        bundle.contents.place,
        f"{'OLM v0 cannot unpack the bundle' if is_over else 'the bundle is close to the limit of OLM v0'}: "
        f"it has {size.compressed:,} bytes compressed, and {_SIZE_LIMIT:,} are allowed",
        because=(
            f"OLM v0 stores all files in one ConfigMap; uncompressed they have {size.uncompressed:,} bytes",
        ),
        fix="shorten the descriptions in CRDs, use a smaller icon, or remove files that OLM does not need",
        severity=None if is_over else Severity.WARNING,
    )


@bundle_folder_rule("EP658", "release-name", Severity.ERROR, "bundle")
def release_name(bundle: BundleFolder) -> Iterator[Flaw]:
    """The name of a bundle with spec.release is PACKAGE-vVERSION-RELEASE.

    Two releases of one version would have the same name otherwise. Cost: one comparison.
    """
    if bundle.csv is None or not (release := string_at(bundle.csv.body, "spec", "release")):
        return
    version = string_at(bundle.csv.body, "spec", "version")
    right = f"{bundle.package or ''}-v{version}-{release}"
    if bundle.name != right:
        yield Flaw(
            bundle.csv.place.at("metadata", "name"),
            f"operator-sdk rejects the bundle: its name must be {right}, not {bundle.name or ''}",
            because=("the CSV has spec.release",),
            fix=f"rename it to {right}",
            names_entry=True,
        )


@bundle_folder_rule("EP659", "related-image", Severity.ERROR, "bundle")
def related_image(bundle: BundleFolder) -> Iterator[Flaw]:
    """Every related image is a valid image reference.

    Mirroring tools copy the listed images, and fail on an invalid reference or omit it. Cost: one match an
    image.
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
                f"the related image {stated!r} cannot be mirrored: {fault}",
                because=("it is not a valid image reference",),
                fix=f"write {guess}" if guess else "write host/path:tag or host/path@sha256:…, or remove it",
            )
