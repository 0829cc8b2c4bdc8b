"""Image locations: a registry, an OCI layout folder, an OCI archive or a Docker archive.

The names of the transports are those of skopeo.
"""

from __future__ import annotations

__all__ = ["ImageLocation", "Transport", "looks_like_image", "open_image", "parse_location", "write_image"]

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from everpath.errors import UsageError
from everpath.oci.references import REGISTRY_PREFIX, Reference, invalid_reference, parse_reference

if TYPE_CHECKING:
    from everpath.oci.descriptors import Image
    from everpath.oci.registry import RegistryOptions

Transport = Literal["docker", "oci", "oci-archive", "docker-archive"]

_PATH_TRANSPORTS: Final[tuple[Transport, ...]] = ("oci-archive", "docker-archive", "oci")


@dataclass(frozen=True, slots=True)
class ImageLocation:
    """Where an image is. In a registry it has a reference; on disk it has a path, and optionally a tag."""

    transport: Transport
    reference: Reference | None = None
    path: str = ""
    tag: str | None = None

    def __str__(self) -> str:
        if self.reference is not None:
            return str(self.reference)
        return f"{self.transport}:{self.path}{f':{self.tag}' if self.tag else ''}"


def parse_location(text: str) -> ImageLocation:
    """Parse `TRANSPORT:PATH[:TAG]`, or a reference with or without `docker://`. Raises UsageError.

    The tag follows the first colon of the path, as in skopeo; that of a docker-archive is a whole reference.
    """
    for transport in _PATH_TRANSPORTS:
        if text.startswith(f"{transport}:"):
            path, _, tag = text[len(transport) + 1 :].partition(":")
            if not path:
                hint = f"write {transport}:PATH, or {transport}:PATH:TAG"
                raise invalid_reference(text, "the path is missing", hint)
            return ImageLocation(transport, None, path, tag or None)
    return ImageLocation("docker", parse_reference(text))


def looks_like_image(text: str) -> bool:
    """True for a text with a transport, and for a repository with a tag or digest; else it is a path.

    `name:tag` without a slash is a path too: it is more often a mistyped file name than an image of Docker
    Hub.
    """
    if text.startswith((REGISTRY_PREFIX, *(f"{transport}:" for transport in _PATH_TRANSPORTS))):
        return True
    if "/" not in text or not ("@" in text or ":" in text.rpartition("/")[2]):
        return False
    try:
        parse_reference(text)
    except UsageError:
        return False
    return True


def open_image(location: ImageLocation, options: RegistryOptions | None = None) -> Image:
    """Open an image. Raises UnreadableInput, and Unreachable for a registry that does not return it.

    Modules are imported when they are needed: the registry client imports HTTP and TLS.
    """
    if location.reference is not None:
        from everpath.oci.registry import RegistryOptions, resolve_image  # noqa: PLC0415

        return resolve_image(location.reference, options or RegistryOptions())
    if location.transport == "oci":
        from everpath.oci.layouts import open_layout  # noqa: PLC0415

        return open_layout(location.path, location.tag)
    if location.transport == "oci-archive":
        from everpath.oci.oci_archives import open_oci_archive  # noqa: PLC0415

        return open_oci_archive(location.path, location.tag)
    from everpath.oci.docker_archives import open_docker_archive  # noqa: PLC0415

    return open_docker_archive(location.path, location.tag)


def write_image(image: Image, location: ImageLocation) -> None:
    """Write an image to disk, all of it or nothing. Raises UsageError if the path cannot be written."""
    if location.transport == "oci":
        from everpath.oci.layouts import write_layout  # noqa: PLC0415

        write_layout(image, location.path, location.tag)
    elif location.transport == "oci-archive":
        from everpath.oci.oci_archives import write_oci_archive  # noqa: PLC0415

        write_oci_archive(image, location.path, location.tag)
    else:
        from everpath.oci.docker_archives import write_docker_archive  # noqa: PLC0415

        write_docker_archive(image, location.path, location.tag)
