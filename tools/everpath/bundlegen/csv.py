"""The ClusterServiceVersion of a release: the base CSV, completed from the operator's manifests."""

from __future__ import annotations

__all__ = ["generate_csv", "scaffold_csv"]

import json
from typing import Any, Final

from everpath.bundlegen.descriptors import display_name, owned_crds
from everpath.bundlegen.images import (
    final_image,
    images_without_digest,
    operator_image,
    related_images,
    replace_images,
)
from everpath.bundlegen.operator_manifests import OperatorManifests
from everpath.bundlegen.permissions import InstallPermissions
from everpath.bundlegen.release_metadata import ReleaseMetadata
from everpath.bundlegen.webhooks import webhook_definitions
from everpath.errors import UsageError
from everpath.manifest_access import mapping, mappings, text
from everpath.model.bundle_contents import Manifest

Json = dict[str, Any]

_HEADER: Final = {"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion"}
#: Fields that are never copied from the base CSV, which may be a copy of the CSV of another release.
_NOT_COPIED: Final = ("version", "replaces", "skips", "icon")


def scaffold_csv(package: str) -> Json:
    """A base CSV with placeholders for what only the author knows. A bundle with it is valid."""
    title = " ".join(display_name(word) for word in package.replace("_", "-").split("-") if word)
    modes = {"OwnNamespace": False, "SingleNamespace": False, "MultiNamespace": False, "AllNamespaces": True}
    return {
        **_HEADER,
        "metadata": {
            "annotations": {"capabilities": "Basic Install", "categories": "Application Runtime"},
            "name": f"{package}.v0.0.0",
            "namespace": "placeholder",
        },
        "spec": {
            "description": f"TODO: describe what {title} does. Replace the other placeholders, too.",
            "displayName": title,
            "installModes": [{"supported": supported, "type": mode} for mode, supported in modes.items()],
            "keywords": [package],
            "links": [{"name": title, "url": "https://example.com"}],
            "maintainers": [{"email": "you@example.com", "name": "You"}],
            "maturity": "alpha",
            "provider": {"name": "You", "url": "https://example.com"},
        },
    }


def generate_csv(
    operator: OperatorManifests, release: ReleaseMetadata, permissions: InstallPermissions
) -> Json:
    """Generate the ClusterServiceVersion. Values of release and manifests replace those of the base CSV."""
    deployments = [_deployment(manifest, release) for manifest in operator.deployments]
    images = related_images([item["spec"]["template"]["spec"] for item in deployments])
    if release.digests is not None and (unpinned := images_without_digest(images)):
        raise UsageError(
            f"no digest is known for {', '.join(unpinned)}",
            hint="add a line IMAGE:TAG=IMAGE@sha256:… for each to the file that `pins:` or --pin names",
        )
    install: Json = {"deployments": deployments}
    if permissions.permissions:
        install["permissions"] = permissions.permissions
    if permissions.cluster_permissions:
        install["clusterPermissions"] = permissions.cluster_permissions
    return {
        **_HEADER,
        "metadata": _metadata(operator, release),
        "spec": _spec(operator, release, {"strategy": "deployment", "spec": install}, images),
    }


def _deployment(manifest: Manifest, release: ReleaseMetadata) -> Json:
    """An item of `spec.install.spec.deployments`, with the images of the release."""
    template = mapping(manifest.spec, "template")
    pod = replace_images(mapping(template, "spec"), release.images, release.digests or {})
    item: Json = {"name": manifest.name, "spec": {**manifest.spec, "template": {**template, "spec": pod}}}
    labels = mapping(manifest.body, "metadata", "labels")
    return {**item, "label": dict(labels)} if labels else item


def _metadata(operator: OperatorManifests, release: ReleaseMetadata) -> Json:
    image = operator_image(operator.deployments, release.images)
    samples = [sample.body for sample in operator.samples]
    generated = {
        "alm-examples": json.dumps(samples, indent=2, sort_keys=True, ensure_ascii=False)
        if samples
        else None,
        "containerImage": final_image(image, release.images, release.digests or {}),
        "olm.skipRange": release.skip_range,
    }
    annotations = {
        "operatorframework.io/suggested-namespace": release.package,
        **{key: value for key, value in operator.base.annotations.items() if key != "olm.skipRange"},
        **{key: value for key, value in generated.items() if value},
    }
    metadata: Json = {"name": release.name, "namespace": "placeholder", "annotations": annotations}
    labels = mapping(operator.base.body, "metadata").get("labels")
    return {**metadata, "labels": labels} if labels else metadata


def _spec(
    operator: OperatorManifests, release: ReleaseMetadata, install: Json, images: list[dict[str, str]]
) -> Json:
    base = operator.base.spec
    spec = {key: value for key, value in base.items() if key not in _NOT_COPIED}
    spec["version"] = release.version
    spec["install"] = install
    spec["customresourcedefinitions"] = {
        **mapping(base, "customresourcedefinitions"),
        "owned": owned_crds(operator.crds, base),
    }
    # operator-sdk writes an icon without data into the base CSV.
    base_icons = [icon for icon in mappings(base, "icon") if text(icon, "base64data")]
    optional: Json = {
        "replaces": release.replaces,
        "skips": list(release.skips),
        "minKubeVersion": release.min_kube_version,
        "relatedImages": images,
        "webhookdefinitions": webhook_definitions(operator),
        "icon": [operator.icon.as_spec()] if operator.icon else base_icons,
    }
    return spec | {key: value for key, value in optional.items() if value}
