"""The files of a bundle (registry+v1), by their paths below its folder."""

from __future__ import annotations

__all__ = ["bundle_files", "origins"]

from collections.abc import Iterator
from typing import Any, Final

from everpath.bundlegen.csv import cluster_service_version
from everpath.bundlegen.operator_manifests import Operator
from everpath.bundlegen.permissions import Grants, grants
from everpath.bundlegen.release_metadata import ReleaseFacts
from everpath.bundlegen.webhooks import webhook_services
from everpath.manifest_access import mapping
from everpath.model.bundle_contents import Manifest

Json = dict[str, Any]

_PREFIX: Final = "operators.operatorframework.io"
#: What a server writes into an object and nobody may hand in.
_OF_THE_SERVER: Final = ("creationTimestamp", "resourceVersion", "uid", "generation", "managedFields")
#: OLM decides the namespace: the one in a manifest is a placeholder, or that of another way to a cluster.
_OF_THE_CLUSTER: Final = ("namespace",)


def bundle_files(operator: Operator, release: ReleaseFacts) -> dict[str, Json]:
    """Each file's document. The same operator and release give the same files, in the same order."""
    granted = grants(operator)
    files = {_csv_path(release): cluster_service_version(operator, release, granted)}
    files |= {path: _applied(manifest) for path, manifest in _placed(operator, granted).items()}
    files |= dict(_metadata(operator, release))
    return dict(sorted(files.items()))


def origins(operator: Operator, release: ReleaseFacts) -> dict[str, str]:
    """The file that each manifest of the bundle comes from."""
    placed = _placed(operator, grants(operator))
    found = {path: manifest.place.file for path, manifest in placed.items()}
    return {_csv_path(release): operator.base.place.file, **found}


def _placed(operator: Operator, granted: Grants) -> dict[str, Manifest]:
    """Manifests by path; those of one kind and name, but of two groups, are numbered."""
    found: dict[str, Manifest] = {}
    for manifest in _shipped(operator, granted):
        path, number = _path(manifest), 2
        while path in found:
            path, number = _path(manifest, f"-{number}"), number + 1
        found[path] = manifest
    return found


def _shipped(operator: Operator, granted: Grants) -> Iterator[Manifest]:
    """What goes into the bundle beside the CSV, which stands for all the rest."""
    services = webhook_services(operator)
    for manifest in (*operator.crds, *granted.unclaimed, *operator.others):
        if manifest.kind != "Service" or manifest.name not in services:
            yield manifest


def _csv_path(release: ReleaseFacts) -> str:
    return f"manifests/{release.package}.clusterserviceversion.yaml"


def _metadata(operator: Operator, release: ReleaseFacts) -> Iterator[tuple[str, Json]]:
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


def _path(manifest: Manifest, number: str = "") -> str:
    """Named after the object: a name may hold what a file's may not."""
    name = manifest.name.replace(":", "_").replace("/", "_")
    return f"manifests/{name}_{manifest.kind.lower()}{number}.yaml"


def _applied(manifest: Manifest) -> Json:
    """The object as one hands it in: without what a server adds, in no namespace."""
    made = {key: value for key, value in manifest.body.items() if key != "status"}
    metadata = mapping(manifest.body, "metadata")
    foreign = (*_OF_THE_SERVER, *_OF_THE_CLUSTER)
    return made | {"metadata": {k: v for k, v in metadata.items() if k not in foreign}}
