"""OCI layout folders: `oci-layout`, `index.json`, and blobs by their digests.

A layout may hold several images, told apart by tags. Blobs are put in first and index.json last, so that a
layout that others read is never half an image.
"""

from __future__ import annotations

__all__ = [
    "LAYOUT",
    "REF_NAME",
    "blob_path",
    "layout_index",
    "open_layout",
    "pick",
    "require_no_pipe",
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

from everpath.atomic_files import draft_file, draft_folder, refused
from everpath.errors import UnreadableInput, UsageError
from everpath.loaders.sources import unreadable
from everpath.oci.checked import checked_pieces, copy_blob
from everpath.oci.descriptors import Descriptor, Image, in_push_order, named_by
from everpath.oci.manifests import descriptor_json, index_bytes, json_bytes

#: What the file `oci-layout` says.
LAYOUT: Final = b'{"imageLayoutVersion":"1.0.0"}'

#: The annotation of an image in index.json that is its tag.
REF_NAME: Final = "org.opencontainers.image.ref.name"

_LONGEST_INDEX: Final = 4 * 1024 * 1024


def open_layout(path: str, tag: str | None = None) -> Image:
    """An image of a layout folder: that of a tag, else the only one there is. Raises UnreadableInput."""
    folder = Path(path)
    if not (folder / "oci-layout").is_file():
        what = "is not there" if not folder.exists() else "is no OCI layout: it has no file oci-layout"
        raise UnreadableInput(f"{path} {what}", hint="give the folder that holds index.json", file=path)
    images = named_by(_index(folder), str(folder / "index.json"), is_index=True)
    return Image(pick(images, tag, path), _Folder(folder))


def pick(images: Sequence[Descriptor], tag: str | None, where: str) -> Descriptor:
    """The image of a tag, or the only one. Raises UnreadableInput that names those there are."""
    if tag is None and len(images) == 1:
        return images[0]
    found = [image for image in images if image.annotations.get(REF_NAME) == tag]
    if len(found) == 1 and tag is not None:
        return found[0]
    tags = sorted({image.annotations[REF_NAME] for image in images if REF_NAME in image.annotations})
    known = f"it has {', '.join(tags)}" if tags else "none of its images has a tag"
    if tag is None:
        raise UnreadableInput(f"{where} holds {len(images)} images", hint=f"name a tag; {known}", file=where)
    if not found:
        raise UnreadableInput(f"{where} has no image with the tag {tag!r}", hint=known, file=where)
    raise UnreadableInput(f"{where} has {len(found)} images with the tag {tag!r}", file=where)


def write_layout(image: Image, path: str, tag: str | None = None) -> None:
    """Put an image into a layout folder, which is made if it is not there. The image of the same tag goes.

    Raises UsageError where the folder is something else or cannot be written: it is then as it was.
    """
    folder = Path(path)
    if not _is_layout(folder):
        try:
            _require_free(folder)
            _make(image, folder, tag)
        except UsageError:
            # Another build may have made one meanwhile.
            if not _is_layout(folder):
                raise
        else:
            return
    with _alone_in(folder):
        _add(image, folder, tag)


def _is_layout(folder: Path) -> bool:
    return (folder / "oci-layout").is_file()


def _require_free(folder: Path) -> None:
    if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
        raise UsageError(
            f"{folder} is there, and no OCI layout", hint="name another folder, or take that one away"
        )


def _make(image: Image, folder: Path, tag: str | None) -> None:
    with draft_folder(folder) as draft:
        (draft / "blobs" / "sha256").mkdir(parents=True)
        for descriptor in in_push_order(image):
            with blob_path(draft, descriptor).open("xb") as stream:
                copy_blob(image.content, descriptor, stream)
        (draft / "oci-layout").write_bytes(LAYOUT)
        (draft / "index.json").write_bytes(layout_index(image.root, tag))


def layout_index(root: Descriptor, tag: str | None) -> bytes:
    """The index.json of a layout with one image."""
    return index_bytes([_tagged(root, tag)])


def _tagged(root: Descriptor, tag: str | None) -> Descriptor:
    return replace(root, annotations={**root.annotations, **({REF_NAME: tag} if tag else {})})


def _with(data: bytes, name: str, root: Descriptor, tag: str | None) -> bytes:
    """An index.json with one image more, in the place of that of the same tag. All else in it stays."""
    images = named_by(data, name, is_index=True)
    document = json.loads(data)
    others = [
        raw
        for raw, image in zip(document["manifests"], images, strict=True)
        if image.annotations.get(REF_NAME) != tag
    ]
    return json_bytes(document | {"manifests": [*others, descriptor_json(_tagged(root, tag))]})


def blob_path(folder: Path, descriptor: Descriptor) -> Path:
    """Where a layout keeps a blob."""
    return folder / "blobs" / "sha256" / descriptor.digest.removeprefix("sha256:")


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """While nobody else adds to a layout: of two who do, the last would write an index without the other's.

    File systems that know no locks hold nobody off.
    """
    try:
        held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise refused(folder, error) from error
    try:
        with suppress(OSError):
            fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


def _add(image: Image, folder: Path, tag: str | None) -> None:
    """Blobs that are missing first, then the index, in one step. What fails leaves no blob behind."""
    index = _with(_index(folder), str(folder / "index.json"), image.root, tag)
    made: list[Path] = []
    try:
        (folder / "blobs" / "sha256").mkdir(parents=True, exist_ok=True)
        for descriptor in in_push_order(image):
            target = blob_path(folder, descriptor)
            if not _is_there(folder, descriptor):
                with draft_file(target) as stream:
                    copy_blob(image.content, descriptor, stream)
                made.append(target)
        with draft_file(folder / "index.json") as stream:
            stream.write(index)
    except BaseException as error:
        for target in made:
            with suppress(OSError):
                target.unlink()
        if isinstance(error, OSError):
            raise refused(folder, error) from error
        raise


def _is_there(folder: Path, descriptor: Descriptor) -> bool:
    """Whether a blob is there and whole: who was told to build a damaged image again is helped by it."""
    try:
        for _ in checked_pieces(_Folder(folder), descriptor):
            pass
    except UnreadableInput:
        return False
    return True


def require_no_pipe(path: Path) -> None:
    """Raises UnreadableInput for what would be waited for without end."""
    if path.is_fifo():
        raise UnreadableInput(f"{path} is a pipe, not a file", hint="write it to a file", file=str(path))


def _index(folder: Path) -> bytes:
    """The bytes of index.json."""
    file = folder / "index.json"
    require_no_pipe(file)
    try:
        with file.open("rb") as stream:
            data = stream.read(_LONGEST_INDEX + 1)
    except OSError as error:
        raise unreadable(str(file), error) from error
    if len(data) > _LONGEST_INDEX:
        raise UnreadableInput(f"{file} is longer than any index of images", file=str(file))
    return data


class _Folder:
    """The blobs of a layout."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def open(self, descriptor: Descriptor) -> BinaryIO:
        path = blob_path(self._folder, descriptor)
        require_no_pipe(path)
        try:
            return path.open("rb")
        except FileNotFoundError as error:
            raise UnreadableInput(
                f"{self._folder} lacks the blob {descriptor.digest}",
                hint="the layout is not whole: build or copy the image again",
                file=str(self._folder),
            ) from error
        except OSError as error:
            raise unreadable(str(path), error) from error
