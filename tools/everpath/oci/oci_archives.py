"""OCI archives: an OCI layout in a tar file. The same image gives the same bytes."""

from __future__ import annotations

__all__ = ["open_oci_archive", "write_oci_archive"]

from pathlib import Path
from typing import BinaryIO, Final

from everpath.atomic_files import atomic_file
from everpath.errors import UnreadableInput
from everpath.oci.blobs import verified_chunks
from everpath.oci.descriptors import Descriptor, Image
from everpath.oci.layouts import LAYOUT_FILE, MAX_INDEX_SIZE, encode_layout_index, select_by_tag
from everpath.oci.manifests import parse_manifest, push_order
from everpath.oci.tar_reader import TarFile
from everpath.oci.tar_writer import END_OF_ARCHIVE, file_chunks, folder_chunks

_BLOBS: Final = "blobs/sha256"


def write_oci_archive(image: Image, path: str, tag: str | None = None) -> None:
    """Write an image to a file. Raises UsageError if it cannot be written, and changes nothing then."""
    with atomic_file(Path(path)) as stream:
        for folder in ("blobs", _BLOBS):
            stream.writelines(folder_chunks(folder))
        for descriptor in sorted(push_order(image), key=lambda each: each.digest):
            name = f"{_BLOBS}/{descriptor.digest.removeprefix('sha256:')}"
            stream.writelines(file_chunks(name, descriptor.size, verified_chunks(image.blobs, descriptor)))
        for name, data in (("index.json", encode_layout_index(image.root, tag)), ("oci-layout", LAYOUT_FILE)):
            stream.writelines(file_chunks(name, len(data), [data]))
        stream.write(END_OF_ARCHIVE)


def open_oci_archive(path: str, tag: str | None = None) -> Image:
    """Open the image with a tag, or the only image, of an archive. Raises UnreadableInput."""
    archive = TarFile(path)
    if "oci-layout" not in archive:
        if "manifest.json" in archive:
            hint = f"try docker-archive:{path}"
            raise UnreadableInput(f"{path} is a docker-archive, not an OCI archive", hint=hint, file=path)
        raise UnreadableInput(
            f"{path} is not an archive of an image: it has no oci-layout",
            hint="export the image again",
            file=path,
        )
    index = archive.read("index.json", MAX_INDEX_SIZE)
    images = parse_manifest(index, f"index.json of {path}", is_index=True)
    return Image(select_by_tag(images, tag, path), _ArchiveBlobs(archive))


class _ArchiveBlobs:
    """The blobs of an OCI archive."""

    def __init__(self, archive: TarFile) -> None:
        self._archive = archive

    def open(self, descriptor: Descriptor) -> BinaryIO:
        return self._archive.open(f"{_BLOBS}/{descriptor.digest.removeprefix('sha256:')}")
