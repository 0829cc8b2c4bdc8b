"""The ClusterServiceVersion of one release: the base one, completed from the manifests beside it."""

from __future__ import annotations

__all__ = ["cluster_service_version"]

import json
from collections.abc import Mapping
from typing import Any, Final

from everpath.bundlegen.descriptors import owned
from everpath.bundlegen.images import final_image, missing_digests, own_image, placed, related_images
from everpath.bundlegen.operator_manifests import Operator
from everpath.bundlegen.permissions import Grants
from everpath.bundlegen.release_metadata import ReleaseFacts
from everpath.bundlegen.webhooks import webhook_definitions
from everpath.errors import UsageError
from everpath.manifest_access import mapping, mappings, text
from everpath.model.bundle_contents import Manifest

Json = dict[str, Any]

#: What the base does not decide: it may be a copy of some release's CSV, or have an empty frame for an icon.
_OF_THE_RELEASE: Final = ("version", "replaces", "skips", "icon")


def cluster_service_version(operator: Operator, release: ReleaseFacts, granted: Grants) -> Json:
    """The complete CSV. What the base says stands, except where the release or the manifests know better."""
    deployments = [_deployment(manifest, release) for manifest in operator.deployments]
    own = own_image(operator.deployments, release.images)
    pods = [item["spec"]["template"]["spec"] for item in deployments]
    images = related_images(pods)
    if release.digests is not None and (loose := missing_digests(images)):
        raise UsageError(
            f"no digest is known for {', '.join(loose)}",
            hint="add a line IMAGE:TAG=IMAGE@sha256:… for each to the file that `pins:` or --pin names",
        )
    return {
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "ClusterServiceVersion",
        "metadata": _metadata(operator, release, final_image(own, release.images, release.digests or {})),
        "spec": _spec(operator, release, granted, deployments, images),
    }


def _metadata(operator: Operator, release: ReleaseFacts, image: str) -> Json:
    base = mapping(operator.base.body, "metadata")
    stated = {
        "alm-examples": _examples(operator.samples) if operator.samples else None,
        "containerImage": image,
        "olm.skipRange": release.skip_range,
    }
    annotations = {
        "operatorframework.io/suggested-namespace": release.package,
        **{key: value for key, value in operator.base.annotations.items() if key != "olm.skipRange"},
        **{key: value for key, value in stated.items() if value},
    }
    made: Json = {"name": release.name, "namespace": "placeholder", "annotations": annotations}
    return {**made, "labels": base["labels"]} if base.get("labels") else made


def _spec(
    operator: Operator,
    release: ReleaseFacts,
    granted: Grants,
    deployments: list[Json],
    images: list[dict[str, str]],
) -> Json:
    base = operator.base.spec
    spec = {key: value for key, value in base.items() if key not in _OF_THE_RELEASE}
    spec["version"] = release.version
    spec["install"] = _install(deployments, granted)
    spec["customresourcedefinitions"] = {
        **mapping(base, "customresourcedefinitions"),
        "owned": owned(operator.crds, base),
    }
    optional: Json = {
        "replaces": release.replaces,
        "skips": list(release.skips),
        "minKubeVersion": release.min_kube_version,
        "relatedImages": images,
        "webhookdefinitions": webhook_definitions(operator),
        "icon": [operator.icon.as_spec()] if operator.icon else _drawn(base),
    }
    return spec | {key: value for key, value in optional.items() if value}


def _drawn(base: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The icon of the base, if there is a picture in it: operator-sdk leaves an empty frame."""
    return [icon for icon in mappings(base, "icon") if text(icon, "base64data")]


def _install(deployments: list[Json], granted: Grants) -> Json:
    spec: Json = {"deployments": deployments}
    if granted.permissions:
        spec["permissions"] = granted.permissions
    if granted.cluster_permissions:
        spec["clusterPermissions"] = granted.cluster_permissions
    return {"strategy": "deployment", "spec": spec}


def _deployment(manifest: Manifest, release: ReleaseFacts) -> Json:
    """A deployment as the CSV holds it: its name, labels and spec, the release's images in place."""
    template = mapping(manifest.spec, "template")
    pod = placed(mapping(template, "spec"), release.images, release.digests or {})
    made: Json = {"name": manifest.name, "spec": {**manifest.spec, "template": {**template, "spec": pod}}}
    labels = mapping(manifest.body, "metadata", "labels")
    return {**made, "label": dict(labels)} if labels else made


def _examples(samples: tuple[Manifest, ...]) -> str:
    """The samples as the annotation `alm-examples` holds them: JSON, always the same for the same samples."""
    return json.dumps([sample.body for sample in samples], indent=2, sort_keys=True, ensure_ascii=False)
