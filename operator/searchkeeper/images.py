"""Repositories of the OpenSearch images, and versions in image names."""

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
    """The repositories of the images. The version is the tag."""

    engine: str = "docker.io/opensearchproject/opensearch"
    dashboards: str = "docker.io/opensearchproject/opensearch-dashboards"


PUBLISHED: Final = Images()


def engine_image(version: str, images: Images = PUBLISHED) -> str:
    return f"{images.engine}:{version}"


def dashboards_image(version: str, images: Images = PUBLISHED) -> str:
    return f"{images.dashboards}:{version}"


def images_from_options(engine: str | None, dashboards: str | None) -> Images:
    """Return the repositories that were configured, for example a mirror, else the published ones.

    A tag or a digest in an option is ignored: it belongs to one version.
    """
    return Images(
        repository_of(engine or "") or PUBLISHED.engine,
        repository_of(dashboards or "") or PUBLISHED.dashboards,
    )


def repository_of(image: str) -> str:
    """Return the name of an image without its tag and digest."""
    plain = image.partition("@")[0]
    return plain.removesuffix(f":{image_version(plain)}")


def image_version(image: str) -> str:
    """Return the tag of an image, or an empty string."""
    name, colon, tag = image.partition("@")[0].rpartition(":")
    return tag if colon and name and "/" not in tag else ""
