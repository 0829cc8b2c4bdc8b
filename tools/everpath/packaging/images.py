"""The images an operator needs: which ones, under which name, and pinned to what."""

from __future__ import annotations

__all__ = ["missing_digests", "own_image", "placed", "related_images", "repository"]

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Final

from everpath.packaging._shapes import mappings, text

Pod = Mapping[str, Any]

#: An environment variable with this beginning holds an image the operator starts itself.
_RELATED: Final = "RELATED_IMAGE_"


def placed(pod: Pod, images: Mapping[str, str], digests: Mapping[str, str]) -> dict[str, Any]:
    """A pod's spec with the release's images in place of the manifests' names for them.

    `controller:latest` is replaced where `images` has `controller`, as kustomize's own `images` does it.
    """

    def final(image: str) -> str:
        chosen = images.get(repository(image), image)
        return digests.get(chosen, chosen)

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


def own_image(pods: Iterable[Pod]) -> str | None:
    """The operator's own image: that of its first container."""
    return next((text(body, "image") for pod in pods for body in mappings(pod, "containers")), None)


def missing_digests(related: list[dict[str, str]]) -> list[str]:
    """The images among these that a tag names, so that tomorrow they may be others."""
    return [item["image"] for item in related if "@" not in item["image"]]
