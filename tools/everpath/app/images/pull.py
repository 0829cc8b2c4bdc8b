"""Pull the files of a catalog or bundle out of an image, or copy the image."""

from __future__ import annotations

__all__ = ["PulledImage", "pull"]

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from everpath.errors import UsageError
from everpath.oci.transports import ImageLocation, open_image, parse_location, write_image

if TYPE_CHECKING:
    from everpath.oci.descriptors import Image
    from everpath.oci.payload import PayloadKind
    from everpath.oci.registry import ProgressCallback, RegistryOptions


@dataclass(frozen=True, slots=True)
class PulledImage:
    """The image, its digest, and where its files or its copy are."""

    source: ImageLocation
    digest: str
    output: str

    def __str__(self) -> str:
        return f"{self.source} ({self.digest}) is in {self.output}."


def pull(
    kind: PayloadKind,
    source: str,
    output: str | None = None,
    registry: RegistryOptions | None = None,
    *,
    on_progress: ProgressCallback = lambda _: None,
) -> PulledImage:
    """Extract the files of a catalog or bundle to a folder, or copy the image to a layout or archive.

    `output` is a new or empty folder, or `oci:FOLDER[:TAG]`, `oci-archive:FILE` or `docker-archive:FILE`; by
    default a folder with the name of the repository. All files are written or none. Raises Unreachable,
    UnreadableInput and UsageError.
    """
    from everpath.oci.registry import with_progress  # noqa: PLC0415 - imports HTTP and TLS

    location = parse_location(source)
    if not output:
        if location.reference is None:
            raise UsageError("the output has no name", hint="name a folder with -o")
        output = location.reference.repository.rpartition("/")[2]
    if output.startswith("docker://"):
        raise UsageError(f"{output} is in a registry", hint="everpath catalog push copies an image there")
    if output.startswith(("oci:", "oci-archive:", "docker-archive:")):
        target = _copy_location(location, parse_location(output))
        image = open_image(location, registry)
        write_image(with_progress(image, on_progress), target)
    else:
        image = open_image(location, registry)
        _extract(kind, with_progress(image, on_progress), output, str(location))
    return PulledImage(location, image.root.digest, output)


def _extract(kind: PayloadKind, image: Image, folder: str, name: str) -> None:
    from everpath.oci.payload import extract_payload, find_payload  # noqa: PLC0415 - a copy does not need it

    path = Path(folder)
    if path.is_symlink() or (path.exists() and (not path.is_dir() or any(path.iterdir()))):
        raise UsageError(f"{folder} exists and is not an empty folder", hint="name another folder with -o")
    payload = find_payload(image, name)
    if payload.kind != kind:
        raise UsageError(f"{name} is a {payload.kind}, not a {kind}", hint=f"everpath {payload.kind} pull")
    # The parents stay if the extraction fails; they are empty.
    path.parent.mkdir(parents=True, exist_ok=True)
    extract_payload(image, payload, folder, name)


def _copy_location(source: ImageLocation, target: ImageLocation) -> ImageLocation:
    """Return the location of the copy. Without a tag it gets that of the source, with the name for Docker."""
    if target.tag is not None:
        return target
    reference = source.reference
    if target.transport == "docker-archive":
        return replace(target, tag=f"{reference.name}:{reference.tag or 'latest'}" if reference else None)
    return replace(target, tag=reference.tag if reference else source.tag)
