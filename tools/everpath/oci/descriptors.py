"""Descriptors, platforms and images: the types that the other modules share."""

from __future__ import annotations

__all__ = [
    "INDEX_MEDIA_TYPE",
    "MANIFEST_MEDIA_TYPE",
    "MANIFEST_MEDIA_TYPES",
    "BlobSource",
    "Descriptor",
    "Image",
    "Platform",
]

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import BinaryIO, Final, Protocol

INDEX_MEDIA_TYPE: Final = "application/vnd.oci.image.index.v1+json"
MANIFEST_MEDIA_TYPE: Final = "application/vnd.oci.image.manifest.v1+json"
_DOCKER_INDEX: Final = "application/vnd.docker.distribution.manifest.list.v2+json"
_DOCKER_MANIFEST: Final = "application/vnd.docker.distribution.manifest.v2+json"

#: All kinds of manifests and indexes that are supported.
MANIFEST_MEDIA_TYPES: Final = (INDEX_MEDIA_TYPE, MANIFEST_MEDIA_TYPE, _DOCKER_INDEX, _DOCKER_MANIFEST)


@dataclass(frozen=True, slots=True)
class Platform:
    """Operating system, CPU architecture and its variant."""

    os: str
    architecture: str
    variant: str | None = None

    def __str__(self) -> str:
        return "/".join(part for part in (self.os, self.architecture, self.variant) if part)


@dataclass(frozen=True, slots=True)
class Descriptor:
    """Media type, digest and size of a blob, as manifests and indexes contain them."""

    media_type: str
    digest: str
    size: int
    platform: Platform | None = None
    annotations: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_index(self) -> bool:
        return self.media_type in (INDEX_MEDIA_TYPE, _DOCKER_INDEX)

    @property
    def is_manifest(self) -> bool:
        return self.media_type in (MANIFEST_MEDIA_TYPE, _DOCKER_MANIFEST)


class BlobSource(Protocol):
    """A place to read blobs from: memory, a layout folder, an archive, a registry."""

    def open(self, descriptor: Descriptor) -> BinaryIO:
        """Open a blob without checking its digest. Raises UnreadableInput if it does not exist."""


@dataclass(frozen=True, slots=True)
class Image:
    """The descriptor of a manifest or an index, and the source of all blobs below it."""

    root: Descriptor
    blobs: BlobSource
