"""Where the engine's images come from, and which version an image is of."""

from __future__ import annotations

__all__ = [
    "PUBLISHED",
    "Images",
    "dashboards_image",
    "engine_image",
    "image_version",
    "images_from_options",
    "repository_of",
]

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Images:
    """The repositories of images. Which image of one: the version says it, as its tag."""

    engine: str = "docker.io/opensearchproject/opensearch"
    dashboards: str = "docker.io/opensearchproject/opensearch-dashboards"


PUBLISHED: Final = Images()


def engine_image(version: str, images: Images = PUBLISHED) -> str:
    return f"{images.engine}:{version}"


def dashboards_image(version: str, images: Images = PUBLISHED) -> str:
    return f"{images.dashboards}:{version}"


def images_from_options(engine: str | None, dashboards: str | None) -> Images:
    """The repositories of images that whoever installed the operator has named: mirrored ones are elsewhere.

    A tag or a digest in such a name is of one version, and there are others: it does not count.
    """
    return Images(
        repository_of(engine or "") or PUBLISHED.engine,
        repository_of(dashboards or "") or PUBLISHED.dashboards,
    )


def repository_of(image: str) -> str:
    """An image's name without its tag and its digest."""
    plain = image.partition("@")[0]
    return plain.removesuffix(f":{image_version(plain)}")


def image_version(image: str) -> str:
    """The tag of an image, or nothing where it has none."""
    name, colon, tag = image.partition("@")[0].rpartition(":")
    return tag if colon and name and "/" not in tag else ""
