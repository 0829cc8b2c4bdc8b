"""OCI layout folders: `oci-layout`, `index.json`, and blobs by digest.

A layout may hold several images with different tags. Blobs are written first and index.json last, so that
readers never see an incomplete image.
"""

from __future__ import annotations

__all__ = [
    "LAYOUT_FILE",
    "MAX_INDEX_SIZE",
    "REF_NAME_ANNOTATION",
    "blob_path",
    "encode_layout_index",
    "open_layout",
    "select_by_tag",
    "write_layout",
]

import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, Final

from everpath.atomic_files import atomic_file, atomic_folder, write_error
from everpath.errors import UnreadableInput, UsageError
from everpath.loaders.sources import unreadable_input
from everpath.oci.blobs import copy_blob, verified_chunks
from everpath.oci.descriptors import Descriptor, Image
from everpath.oci.manifests import (
    canonical_json,
    descriptor_document,
    encode_index,
    parse_manifest,
    push_order,
)
from everpath.oci.tar_reader import reject_pipe

#: The content of the file `oci-layout`.
LAYOUT_FILE: Final = b'{"imageLayoutVersion":"1.0.0"}'

#: The annotation of a descriptor in index.json that contains its tag.
REF_NAME_ANNOTATION: Final = "org.opencontainers.image.ref.name"

MAX_INDEX_SIZE: Final = 4 << 20


def open_layout(path: str, tag: str | None = None) -> Image:
    """Open the image with a tag, or the only image, of a layout folder. Raises UnreadableInput."""
    folder = Path(path)
    if not _is_layout(folder):
        problem = (
            "does not exist" if not folder.exists() else "is not an OCI layout: it has no file oci-layout"
        )
        raise UnreadableInput(f"{path} {problem}", hint="give the folder that holds index.json", file=path)
    images = parse_manifest(_read_index(folder), str(folder / "index.json"), is_index=True)
    return Image(select_by_tag(images, tag, path), _LayoutBlobs(folder))


def select_by_tag(images: Sequence[Descriptor], tag: str | None, source: str) -> Descriptor:
    """Return the image with a tag, or the only one. The hint of UnreadableInput lists the tags."""
    if tag is None and len(images) == 1:
        return images[0]
    found = [image for image in images if image.annotations.get(REF_NAME_ANNOTATION) == tag]
    if len(found) == 1 and tag is not None:
        return found[0]
    tags = sorted(
        {text for image in images if (text := image.annotations.get(REF_NAME_ANNOTATION)) is not None}
    )
    available = f"it has {', '.join(tags)}" if tags else "none of its images has a tag"
    if tag is None:
        raise UnreadableInput(
            f"{source} holds {len(images)} images", hint=f"name a tag; {available}", file=source
        )
    if not found:
        raise UnreadableInput(f"{source} has no image with the tag {tag!r}", hint=available, file=source)
    raise UnreadableInput(f"{source} has {len(found)} images with the tag {tag!r}", file=source)


def write_layout(image: Image, path: str, tag: str | None = None) -> None:
    """Write an image into a layout folder, which may exist. An image with the same tag is replaced.

    Raises UsageError if the folder is something else or cannot be written, and leaves it unchanged then.
    """
    folder = Path(path)
    if not _is_layout(folder):
        try:
            _create_layout(image, folder, tag)
        except UsageError:
            # Another process may have created the layout in the meantime.
            if not _is_layout(folder):
                raise
        else:
            return
    with _exclusive_lock(folder):
        _add_to_layout(image, folder, tag)


def encode_layout_index(root: Descriptor, tag: str | None) -> bytes:
    """Encode the index.json of a layout with one image."""
    return encode_index([_with_tag(root, tag)])


def blob_path(folder: Path, descriptor: Descriptor) -> Path:
    return folder / "blobs" / "sha256" / descriptor.digest.removeprefix("sha256:")


def _is_layout(folder: Path) -> bool:
    return (folder / "oci-layout").is_file()


def _create_layout(image: Image, folder: Path, tag: str | None) -> None:
    if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
        raise UsageError(
            f"{folder} exists and is not an OCI layout", hint="choose another folder, or delete that one"
        )
    with atomic_folder(folder) as new:
        (new / "blobs" / "sha256").mkdir(parents=True)
        for descriptor in push_order(image):
            with blob_path(new, descriptor).open("xb") as stream:
                copy_blob(image.blobs, descriptor, stream)
        (new / "oci-layout").write_bytes(LAYOUT_FILE)
        (new / "index.json").write_bytes(encode_layout_index(image.root, tag))


def _add_to_layout(image: Image, folder: Path, tag: str | None) -> None:
    """Write the missing blobs, then index.json. A failure removes the new blobs."""
    index = _add_to_index(_read_index(folder), str(folder / "index.json"), image.root, tag)
    written: list[Path] = []
    try:
        (folder / "blobs" / "sha256").mkdir(parents=True, exist_ok=True)
        for descriptor in push_order(image):
            if _has_intact_blob(folder, descriptor):
                continue
            target = blob_path(folder, descriptor)
            with atomic_file(target) as stream:
                copy_blob(image.blobs, descriptor, stream)
            written.append(target)
        with atomic_file(folder / "index.json") as stream:
            stream.write(index)
    except BaseException as error:
        for target in written:
            with suppress(OSError):
                target.unlink()
        if isinstance(error, OSError):
            raise write_error(folder, error) from error
        raise


def _add_to_index(data: bytes, name: str, root: Descriptor, tag: str | None) -> bytes:
    """Add an image to an index.json in place of the one with the same tag. All other fields are preserved."""
    images = parse_manifest(data, name, is_index=True)
    document = json.loads(data)
    others = [
        raw
        for raw, image in zip(document["manifests"], images, strict=True)
        if image.annotations.get(REF_NAME_ANNOTATION) != tag
    ]
    return canonical_json(document | {"manifests": [*others, descriptor_document(_with_tag(root, tag))]})


def _with_tag(root: Descriptor, tag: str | None) -> Descriptor:
    return replace(root, annotations={**root.annotations, **({REF_NAME_ANNOTATION: tag} if tag else {})})


def _has_intact_blob(folder: Path, descriptor: Descriptor) -> bool:
    """False for a damaged blob too: to build an image again repairs it."""
    try:
        for _ in verified_chunks(_LayoutBlobs(folder), descriptor):
            pass
    except UnreadableInput:
        return False
    return True


@contextmanager
def _exclusive_lock(folder: Path) -> Iterator[None]:
    """Keep other processes from replacing index.json. File systems without locks give no protection."""
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise write_error(folder, error) from error
    try:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _read_index(folder: Path) -> bytes:
    file = folder / "index.json"
    reject_pipe(file)
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_INDEX_SIZE + 1)
    except OSError as error:
        raise unreadable_input(str(file), error) from error
    if len(data) > MAX_INDEX_SIZE:
        raise UnreadableInput(f"{file} has more than {MAX_INDEX_SIZE:,} bytes", file=str(file))
    return data


class _LayoutBlobs:
    """The blobs of a layout folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def open(self, descriptor: Descriptor) -> BinaryIO:
        path = blob_path(self._folder, descriptor)
        reject_pipe(path)
        try:
            return path.open("rb")
        except FileNotFoundError as error:
            raise UnreadableInput(
                f"{self._folder} lacks the blob {descriptor.digest}",
                hint="the layout is incomplete: build or copy the image again",
                file=str(self._folder),
            ) from error
        except OSError as error:
            raise unreadable_input(str(path), error) from error
