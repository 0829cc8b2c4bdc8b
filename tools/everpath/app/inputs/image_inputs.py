"""Read images like folders: pull the catalog or bundle of an image into a folder, and name its files.

Every command imports this module, so the modules for images are imported only when a path has a colon.
"""

from __future__ import annotations

__all__ = ["display_name", "is_image", "pull_if_image", "with_image_names"]

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from everpath.errors import Unreachable, UnreadableInput, UsageError
from everpath.model.progress import Progress
from everpath.signals import run_at_exit

if TYPE_CHECKING:
    from everpath.oci.cache import CachedPayload, ImageCache
    from everpath.oci.registry import TransferProgress
    from everpath.oci.transports import ImageLocation


#: Folders by image, for the length of a run; and display names by folder.
_FOLDERS: dict[str, str] = {}
_DISPLAY_NAMES: dict[str, str] = {}


def is_image(path: str) -> bool:
    """True if a path names an image. An existing file or folder of that name takes precedence."""
    if ":" not in path or os.path.lexists(path):
        return False
    from everpath.oci.transports import looks_like_image  # noqa: PLC0415 - see the module's docstring

    return looks_like_image(path)


def pull_if_image(path: str, progress: Progress | None = None) -> str:
    """Return the path itself, or for an image the folder with its contents, pulled if not cached.

    Raises Unreachable, UnreadableInput and UsageError.
    """
    if not is_image(path):
        _require_path(path)
        return path
    if path not in _FOLDERS:
        folder, name = _pull(path, progress)
        _FOLDERS[path] = folder
        _DISPLAY_NAMES[folder] = name
    return _FOLDERS[path]


def _require_path(path: str) -> None:
    """Raise UnreadableInput for a missing path that looks like an image without a tag."""
    host, slash, _ = path.partition("/")
    if not slash or not host.strip(".") or not ("." in host or ":" in host) or os.path.lexists(path):
        return
    raise UnreadableInput(
        f"cannot read {path}: there is no such file or folder",
        hint="if it is an image: HOST/REPOSITORY:TAG in lower case; docker://HOST/REPOSITORY is its latest",
        file=path,
    )


def _pull(text: str, progress: Progress | None) -> tuple[str, str]:
    """Return a folder with the contents of an image, and its display name.

    An image that is given by digest and cached is not requested from the registry.
    """
    from everpath.oci.transports import parse_location  # noqa: PLC0415 - see the module's docstring

    run_at_exit(_FOLDERS.clear)
    location = parse_location(text)
    cache = _image_cache()
    digest = location.reference.digest if location.reference else None
    payload = (cache.find(digest) if digest else None) or _extract(text, location, cache, progress)
    return payload.folder, f"{location}:{payload.root}"


def _extract(
    text: str, location: ImageLocation, cache: ImageCache, progress: Progress | None
) -> CachedPayload:
    from everpath.oci.registry import with_progress  # noqa: PLC0415 - HTTP and TLS
    from everpath.oci.transports import open_image  # noqa: PLC0415 - HTTP and TLS

    def report(step: TransferProgress) -> None:
        if progress is not None:
            progress(step.transferred, step.size, f"bytes of {step.digest[:19]} fetched")

    try:
        image = with_progress(open_image(location), report)
        try:
            return cache.find_or_extract(image, str(location))
        except UsageError:
            # The cache is full or not writable: the command works without it.
            return _temporary_cache().find_or_extract(image, str(location))
    except Unreachable as error:
        if "://" in text:
            raise
        hint = f"{error.hint}; there is no file or folder {text} either"
        raise Unreachable(error.message, hint=hint) from error


def _image_cache() -> ImageCache:
    """Return the image cache in the cache folder, or a temporary one."""
    from everpath.file_cache import FileCache  # noqa: PLC0415 - see the module's docstring
    from everpath.oci.cache import ImageCache  # noqa: PLC0415 - see the module's docstring

    files = FileCache.from_environment(os.environ)
    # Without a writable home folder the command works without the cache.
    with suppress(OSError):
        if files is not None:
            folder = files.folder / "images"
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Another owner of the folder could replace its contents.
            if folder.stat().st_uid == os.geteuid():
                return ImageCache(folder)
    return _temporary_cache()


def _temporary_cache() -> ImageCache:
    import shutil  # noqa: PLC0415 - see the module's docstring
    import tempfile  # noqa: PLC0415 - see the module's docstring
    from pathlib import Path  # noqa: PLC0415 - see the module's docstring

    from everpath.oci.cache import ImageCache  # noqa: PLC0415 - see the module's docstring

    folder = tempfile.mkdtemp(prefix="everpath-")
    run_at_exit(lambda: shutil.rmtree(folder, ignore_errors=True))
    return ImageCache(Path(folder))


def display_name(file: str) -> str:
    """Return the name of a file as users know it: `quay.io/me/catalog:v1:/configs/a.yaml`."""
    for folder, name in _DISPLAY_NAMES.items():
        if file == folder or file.startswith(f"{folder}{os.sep}"):
            return f"{name}{file[len(folder) :]}"
    return file


def with_image_names(text: str) -> str:
    """Replace the folders of pulled images in a message by the names of the images.

    For errors, whose messages are complete when they are raised: loaders know only the folder. Findings have
    places, which `display_name` names before a report is written.
    """
    for folder, name in _DISPLAY_NAMES.items():
        text = text.replace(folder, name)
    return text
