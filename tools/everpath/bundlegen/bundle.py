"""The files of a bundle (registry+v1), by their paths in its folder."""

from __future__ import annotations

__all__ = ["bundle_files", "manifest_sources"]

from collections.abc import Iterator
from typing import Any, Final

from everpath.bundlegen.csv import generate_csv
from everpath.bundlegen.operator_manifests import OperatorManifests
from everpath.bundlegen.permissions import InstallPermissions, install_permissions
from everpath.bundlegen.release_metadata import ReleaseMetadata
from everpath.bundlegen.webhooks import webhook_services
from everpath.manifest_access import mapping
from everpath.model.bundle_contents import Manifest

Json = dict[str, Any]

_PREFIX: Final = "operators.operatorframework.io"
#: Fields that the API server sets, and the namespace, which OLM chooses.
_OMITTED_METADATA: Final = (
    "creationTimestamp",
    "resourceVersion",
    "uid",
    "generation",
    "managedFields",
    "namespace",
)


def bundle_files(operator: OperatorManifests, release: ReleaseMetadata) -> dict[str, Json]:
    """The document of each file, sorted by path. The same arguments give the same files."""
    permissions = install_permissions(operator)
    files = {_csv_path(release): generate_csv(operator, release, permissions)}
    for path, manifest in _manifests(operator, permissions).items():
        metadata = mapping(manifest.body, "metadata")
        files[path] = {key: value for key, value in manifest.body.items() if key != "status"} | {
            "metadata": {key: value for key, value in metadata.items() if key not in _OMITTED_METADATA}
        }
    files |= dict(_metadata_files(operator, release))
    return dict(sorted(files.items()))


def manifest_sources(operator: OperatorManifests, release: ReleaseMetadata) -> dict[str, str]:
    """The input file of each manifest of the bundle."""
    manifests = _manifests(operator, install_permissions(operator))
    sources = {path: manifest.place.file for path, manifest in manifests.items()}
    return {_csv_path(release): operator.base.place.file, **sources}


def _csv_path(release: ReleaseMetadata) -> str:
    return f"manifests/{release.package}.clusterserviceversion.yaml"


def _manifests(operator: OperatorManifests, permissions: InstallPermissions) -> dict[str, Manifest]:
    """The manifests besides the CSV, by path. Equal names in different API groups are numbered."""
    services = webhook_services(operator)
    manifests: dict[str, Manifest] = {}
    for manifest in (*operator.crds, *permissions.remaining, *operator.others):
        if manifest.kind == "Service" and manifest.name in services:
            continue  # OLM creates it
        name = manifest.name.replace(":", "_").replace("/", "_")
        stem = f"manifests/{name}_{manifest.kind.lower()}"
        path, number = f"{stem}.yaml", 2
        while path in manifests:
            path, number = f"{stem}-{number}.yaml", number + 1
        manifests[path] = manifest
    return manifests


def _metadata_files(operator: OperatorManifests, release: ReleaseMetadata) -> Iterator[tuple[str, Json]]:
    annotations = {
        f"{_PREFIX}.bundle.mediatype.v1": "registry+v1",
        f"{_PREFIX}.bundle.manifests.v1": "manifests/",
        f"{_PREFIX}.bundle.metadata.v1": "metadata/",
        f"{_PREFIX}.bundle.package.v1": release.package,
        f"{_PREFIX}.bundle.channels.v1": ",".join(release.channels),
    }
    if release.default_channel:
        annotations[f"{_PREFIX}.bundle.channel.default.v1"] = release.default_channel
    if operator.scorecard:
        annotations[f"{_PREFIX}.test.mediatype.v1"] = "scorecard+v1"
        annotations[f"{_PREFIX}.test.config.v1"] = "tests/scorecard/"
        yield "tests/scorecard/config.yaml", dict(operator.scorecard[0].body)
    yield "metadata/annotations.yaml", {"annotations": annotations | dict(release.annotations)}
    if release.dependencies:
        yield "metadata/dependencies.yaml", {"dependencies": [dict(item) for item in release.dependencies]}
    if release.properties:
        yield "metadata/properties.yaml", {"properties": [dict(item) for item in release.properties]}
