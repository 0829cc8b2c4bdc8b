"""The images of an operator: their names in the manifests, their replacement for a release, their digests."""

from __future__ import annotations

__all__ = [
    "final_image",
    "image_names",
    "images_without_digest",
    "operator_image",
    "related_images",
    "replace_images",
    "repository",
]

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from everpath.manifest_access import mapping, mappings, text
from everpath.model.bundle_contents import Manifest

Pod = Mapping[str, Any]

#: An environment variable with this prefix contains an image that the operator deploys.
_RELATED_IMAGE: Final = "RELATED_IMAGE_"
_DEFAULT_CONTAINER: Final = "kubectl.kubernetes.io/default-container"
_CONTAINER_LISTS: Final = ("initContainers", "containers")


def replace_images(pod: Pod, images: Mapping[str, str], digests: Mapping[str, str]) -> dict[str, Any]:
    """A pod spec with the images of the release.

    As in a kustomization, `controller:latest` is replaced if `images` has `controller`.
    """
    replaced = dict(pod)
    for key in _CONTAINER_LISTS:
        containers = []
        for container in map(dict, mappings(pod, key)):
            if image := text(container, "image"):
                container["image"] = final_image(image, images, digests)
            if variables := mappings(container, "env"):
                container["env"] = [
                    {**variable, "value": final_image(variable["value"], images, digests)}
                    if _is_image_variable(variable)
                    else dict(variable)
                    for variable in variables
                ]
            containers.append(container)
        if containers:
            replaced[key] = containers
    return replaced


def final_image(image: str, images: Mapping[str, str], digests: Mapping[str, str]) -> str:
    """The image that a release has for an image of the manifests."""
    replacement = images.get(repository(image), image)
    return digests.get(replacement, replacement)


def repository(image: str) -> str:
    """A reference without tag and digest."""
    reference = image.partition("@")[0]
    head, colon, tag = reference.rpartition(":")
    return head if colon and "/" not in tag else reference


def related_images(pods: Iterable[Pod]) -> list[dict[str, str]]:
    """Every image once, sorted by name. An image with several names has the first of them."""
    names: dict[str, str] = {}
    for name, image in _named_images(pods):
        names.setdefault(image, name)
    ordered = sorted((name, image) for image, name in names.items())
    return [{"name": name, "image": image} for name, image in ordered]


def images_without_digest(images: list[dict[str, str]]) -> list[str]:
    """The related images that are referred to by a tag."""
    return [item["image"] for item in images if "@" not in item["image"]]


def image_names(deployments: Iterable[Manifest]) -> set[str]:
    """The image names in the manifests: the keys that `images` can have."""
    pods = [mapping(deployment.spec, "template", "spec") for deployment in deployments]
    return {repository(image) for _, image in _named_images(pods)}


def operator_image(deployments: Iterable[Manifest], images: Mapping[str, str]) -> str:
    """The image of the operator's own container, as in the manifests; "" without deployments.

    It is the first container whose image is in `images`, else kubectl's default container, else `manager`,
    else the first container. Sidecars are often listed before the operator.
    """
    ranked = []
    for deployment in deployments:
        template = mapping(deployment.spec, "template")
        default = text(mapping(template, "metadata", "annotations"), _DEFAULT_CONTAINER)
        for container in mappings(template, "spec", "containers"):
            name, image = text(container, "name"), text(container, "image")
            is_default = bool(default) and name == default
            rank = (repository(image) not in images, not is_default, name != "manager")
            ranked.append((rank, image))
    return min(ranked, key=lambda item: item[0])[1] if ranked else ""


def _named_images(pods: Iterable[Pod]) -> Iterator[tuple[str, str]]:
    for pod in pods:
        for key in _CONTAINER_LISTS:
            for container in mappings(pod, key):
                if image := text(container, "image"):
                    yield text(container, "name"), image
                for variable in filter(_is_image_variable, mappings(container, "env")):
                    name = variable["name"].removeprefix(_RELATED_IMAGE).lower().replace("_", "-")
                    yield name, variable["value"]


def _is_image_variable(variable: Mapping[str, Any]) -> bool:
    return text(variable, "name").startswith(_RELATED_IMAGE) and bool(text(variable, "value"))
