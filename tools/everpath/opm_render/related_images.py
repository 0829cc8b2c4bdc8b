"""The images a bundle needs: those its CSV lists, its own, and those of the operator's containers."""

from __future__ import annotations

__all__ = ["related_images"]

from collections.abc import Iterator, Mapping
from typing import Any

from everpath.model.bundle_contents import Manifest
from everpath.opm_render.manifest_checks import fitted
from everpath.opm_render.refusals import Refusal
from everpath.rules._shapes import Shape, field, misfits, text_field

_IMAGES: Shape = [{"name": str, "image": str}]


def related_images(csv: Manifest, image: str) -> list[dict[str, str]]:
    """Sorted by image; of equal ones the CSV's in its order. Raises `Refusal`."""
    found = _listed(csv)
    known = {related["image"] for related in found}
    if image and image not in known:
        found.append({"name": "", "image": image})
    _check_deployments(csv)
    for operator in sorted(set(_operator_images(csv.spec)) - known):
        found.append({"name": "", "image": operator})
    return sorted(found, key=lambda related: related["image"])


def _listed(csv: Manifest) -> list[dict[str, str]]:
    images = csv.spec.get("relatedImages")
    place = csv.place.at("spec", "relatedImages")
    for misfit in misfits(images, _IMAGES):
        raise Refusal(f"the CSV's relatedImages cannot be read: {misfit.message}", place.at(*misfit.path))
    return [{"name": text_field(item, "name"), "image": text_field(item, "image")} for item in images or ()]


def _check_deployments(csv: Manifest) -> None:
    """Raise `Refusal` unless every deployment fits, whatever the strategy is called."""
    install = field(csv.spec, "install")
    way: tuple[str | int, ...] = ("spec", "install")
    fitted(install, "map any", csv, *way)
    fitted(field(install, "strategy"), "string", csv, *way, "strategy")
    fitted(field(install, "spec"), "map any", csv, *way, "spec")
    deployments = field(field(install, "spec"), "deployments")
    fitted(deployments, "[]map any", csv, *way, "spec", "deployments")
    for index, deployment in enumerate(_items(deployments)):
        at = (*way, "spec", "deployments", index)
        fitted(field(deployment, "name"), "string", csv, *at, "name")
        fitted(field(deployment, "spec"), "apps.DeploymentSpec", csv, *at, "spec")


def _operator_images(spec: Mapping[str, Any]) -> Iterator[str]:
    install = field(spec, "install")
    if field(install, "strategy") != "deployment":
        return
    for deployment in _items(field(field(install, "spec"), "deployments")):
        pod = field(field(field(deployment, "spec"), "template"), "spec")
        for key in ("containers", "initContainers"):
            for container in _items(field(pod, key)):
                yield text_field(container, "image")


def _items(value: object) -> list[object]:
    return value if isinstance(value, list) else []
