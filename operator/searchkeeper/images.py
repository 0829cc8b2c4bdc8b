"""Where the engine's images come from, and which version an image is of."""

from __future__ import annotations

__all__ = ["DASHBOARDS", "ENGINE", "dashboards_image", "engine_image", "version_in"]

from typing import Final

ENGINE: Final = "docker.io/opensearchproject/opensearch"
DASHBOARDS: Final = "docker.io/opensearchproject/opensearch-dashboards"


def engine_image(version: str) -> str:
    return f"{ENGINE}:{version}"


def dashboards_image(version: str) -> str:
    return f"{DASHBOARDS}:{version}"


def version_in(image: str) -> str:
    """The tag of an image, or nothing where it has none."""
    name, colon, tag = image.partition("@")[0].rpartition(":")
    return tag if colon and name and "/" not in tag else ""
