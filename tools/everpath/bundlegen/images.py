"""The images an operator needs: which ones, under which name, and pinned to what."""

from __future__ import annotations

__all__ = [
    "final_image",
    "image_names",
    "missing_digests",
    "own_image",
    "placed",
    "related_images",
    "repository",
]

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Final

from everpath.manifest_access import mapping, mappings, text
from everpath.model.bundle_contents import Manifest

Pod = Mapping[str, Any]

#: An environment variable with this beginning holds an image the operator starts itself.
_RELATED: Final = "RELATED_IMAGE_"
_DEFAULT: Final = "kubectl.kubernetes.io/default-container"
_MANAGER: Final = "manager"


def placed(pod: Pod, images: Mapping[str, str], digests: Mapping[str, str]) -> dict[str, Any]:
    """A pod's spec with the release's images in place of the manifests' names for them.

    `controller:latest` is replaced where `images` has `controller`, as kustomize's own `images` does it.
    """

    def final(image: str) -> str:
        return final_image(image, images, digests)

    def container(body: Mapping[str, Any]) -> dict[str, Any]:
        made = dict(body)
        if image := text(body, "image"):
            made["image"] = final(image)
        if variables := mappings(body, "env"):
            made["env"] = [variable(given) for given in variables]
        return made

    def variable(given: Mapping[str, Any]) -> dict[str, Any]:
        return {**given, "value": final(given["value"])} if _is_image(given) else dict(given)

    return {**pod, **{kind: [container(body) for body in found] for kind, found in _containers(pod).items()}}


def final_image(image: str, images: Mapping[str, str], digests: Mapping[str, str]) -> str:
    """The image that a release has in the place of the one that a manifest names."""
    chosen = images.get(repository(image), image)
    return digests.get(chosen, chosen)


def _containers(pod: Pod) -> dict[str, list[Mapping[str, Any]]]:
    return {kind: found for kind in ("initContainers", "containers") if (found := mappings(pod, kind))}


def _is_image(variable: Mapping[str, Any]) -> bool:
    return text(variable, "name").startswith(_RELATED) and bool(text(variable, "value"))


def repository(image: str) -> str:
    """A reference without its tag and digest."""
    plain = image.partition("@")[0]
    head, colon, tag = plain.rpartition(":")
    return head if colon and "/" not in tag else plain


def related_images(pods: Iterable[Pod]) -> list[dict[str, str]]:
    """Every image of the operator once, in order of name; the first name that an image has is kept."""
    names: dict[str, str] = {}
    for name, image in _named(pods):
        names.setdefault(image, name)
    ordered = sorted((name, image) for image, name in names.items())
    return [{"name": name, "image": image} for name, image in ordered]


def _named(pods: Iterable[Pod]) -> Iterator[tuple[str, str]]:
    for pod in pods:
        for body in chain.from_iterable(_containers(pod).values()):
            if image := text(body, "image"):
                yield text(body, "name"), image
            for variable in filter(_is_image, mappings(body, "env")):
                yield variable["name"].removeprefix(_RELATED).lower().replace("_", "-"), variable["value"]


def own_image(deployments: Iterable[Manifest], images: Mapping[str, str]) -> str:
    """The operator's own image as its manifests name it; empty where there is none.

    That of the container whose image `images` knows, else of the one that kubectl takes, else of `manager`,
    else of the first: sidecars often stand before it.
    """
    ranked = [
        (repository(text(body, "image")) not in images, not is_default, text(body, "name") != _MANAGER, body)
        for deployment in deployments
        for is_default, body in _told_apart(mapping(deployment.spec, "template"))
    ]
    return text(min(ranked, key=lambda item: item[:3])[3], "image") if ranked else ""


def _told_apart(template: Mapping[str, Any]) -> Iterator[tuple[bool, Mapping[str, Any]]]:
    """The containers of a pod, and whether each is the one that kubectl takes if none is named."""
    default = text(mapping(template, "metadata", "annotations"), _DEFAULT)
    for body in mappings(template, "spec", "containers"):
        yield bool(default) and text(body, "name") == default, body


def image_names(deployments: Iterable[Manifest]) -> set[str]:
    """What the manifests call their images: all that `images` can replace."""
    pods = [mapping(deployment.spec, "template", "spec") for deployment in deployments]
    return {repository(image) for _, image in _named(pods)}


def missing_digests(related: list[dict[str, str]]) -> list[str]:
    """The images among these that a tag names, so that tomorrow they may be others."""
    return [item["image"] for item in related if "@" not in item["image"]]
