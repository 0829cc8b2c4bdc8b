"""One door to every image: in a registry, a layout folder or an archive."""

from __future__ import annotations

__all__ = ["open_image"]

from typing import TYPE_CHECKING

from everpath.oci.descriptors import Image
from everpath.oci.references import Located

if TYPE_CHECKING:
    from everpath.oci.registry import Options


def open_image(located: Located, options: Options) -> Image:
    """The image at a place. Raises UnreadableInput, and Unreachable for a registry that does not give it.

    What only one kind of place needs is imported for it.
    """
    if located.reference is not None:
        from everpath.oci.registry import resolve  # noqa: PLC0415

        return resolve(located.reference, options)
    if located.transport == "oci":
        from everpath.oci.layouts import open_layout  # noqa: PLC0415

        return open_layout(located.path, located.tag)
    if located.transport == "oci-archive":
        from everpath.oci.oci_archives import open_archive  # noqa: PLC0415

        return open_archive(located.path, located.tag)
    from everpath.oci.docker_archives import open_docker_archive  # noqa: PLC0415

    return open_docker_archive(located.path, located.tag)
