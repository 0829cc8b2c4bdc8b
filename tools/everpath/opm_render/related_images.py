"""The related images of a bundle: those of its CSV, its own, and those of the operator's containers."""

from __future__ import annotations

__all__ = ["related_images"]

from collections.abc import Iterator
from typing import Any

from everpath.go_types import field, text_field, type_mismatches
from everpath.model import OpmError
from everpath.model.bundle_contents import Manifest
from everpath.opm_render.manifest_checks import check_type


def related_images(csv: Manifest, image: str) -> list[dict[str, str]]:
    """The related images by reference; equal references stay in the order of the CSV. Raises `OpmError`."""
    listed = csv.spec.get("relatedImages")
    place = csv.place.at("spec", "relatedImages")
    for mismatch in type_mismatches(listed, "[]v1alpha1.RelatedImage"):
        raise OpmError(f"relatedImages of the CSV is invalid: {mismatch.message}", place.at(*mismatch.path))
    images = [{"name": text_field(item, "name"), "image": text_field(item, "image")} for item in listed or ()]
    known = {related["image"] for related in images}
    if image and image not in known:
        images.append({"name": "", "image": image})
    deployments = _deployments(csv)
    if field(field(csv.spec, "install"), "strategy") == "deployment":
        images += [
            {"name": "", "image": found} for found in sorted({*_container_images(deployments)} - known)
        ]
    return sorted(images, key=lambda related: related["image"])


def _deployments(csv: Manifest) -> list[Any]:
    """The deployments of the install strategy, of any name. Raises `OpmError` if one is invalid."""
    path = ("spec", "install")
    install = field(csv.spec, "install")
    check_type(install, "map any", csv, *path)
    check_type(field(install, "strategy"), "string", csv, *path, "strategy")
    spec = field(install, "spec")
    check_type(spec, "map any", csv, *path, "spec")
    deployments = field(spec, "deployments")
    check_type(deployments, "[]map any", csv, *path, "spec", "deployments")
    items = deployments if isinstance(deployments, list) else []
    for index, deployment in enumerate(items):
        item_path = (*path, "spec", "deployments", index)
        check_type(field(deployment, "name"), "string", csv, *item_path, "name")
        check_type(field(deployment, "spec"), "apps.DeploymentSpec", csv, *item_path, "spec")
    return items


def _container_images(deployments: list[Any]) -> Iterator[str]:
    for deployment in deployments:
        pod = field(field(field(deployment, "spec"), "template"), "spec")
        for key in ("containers", "initContainers"):
            containers = field(pod, key)
            for container in containers if isinstance(containers, list) else ():
                yield text_field(container, "image")
