"""Fetches what commands read: the catalog or the bundle out of an image, wherever that is."""

from __future__ import annotations

__all__ = ["fetch"]

import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from everpath.cli.image_inputs import forget
from everpath.errors import Unreachable, UsageError
from everpath.file_cache import FileCache
from everpath.oci.cache import CachedPayload, ImageCache
from everpath.oci.registry import ClientOptions, TransferProgress, with_progress
from everpath.oci.transports import ImageLocation, open_image, parse_location
from everpath.signals import run_at_exit

Progress = Callable[[int, int, str], None]


def fetch(text: str, progress: Progress | None) -> tuple[str, str]:
    """A folder with what an image holds, and what to call it.

    An image that is named by its digest and kept is not asked for. Raises Unreachable, UnreadableInput,
    UsageError.
    """
    run_at_exit(forget)
    located = parse_location(text)
    store = _store()
    digest = located.reference.digest if located.reference else None
    kept = (store.find(digest) if digest else None) or _fetched(text, located, store, progress)
    return kept.folder, f"{located}:{kept.root}"


def _fetched(
    text: str, located: ImageLocation, store: ImageCache, progress: Progress | None
) -> CachedPayload:
    def hear(step: TransferProgress) -> None:
        if progress is not None:
            progress(step.transferred, step.size, f"bytes of {step.digest[:19]} fetched")

    try:
        image = with_progress(open_image(located, ClientOptions()), hear)
        try:
            return store.find_or_extract(image, str(located))
        except UsageError:
            # A cache that is full, or may not be written, is no reason to give no answer.
            return _aside().find_or_extract(image, str(located))
    except Unreachable as error:
        if "://" in text:
            raise
        # A mistyped path may look like an image.
        hint = f"{error.hint}; there is no file or folder {text} either"
        raise Unreachable(error.message, hint=hint) from error


def _store() -> ImageCache:
    """Beside the index of repositories, by the same rules; `off` is a folder that goes with the run."""
    cache = FileCache.from_environment(os.environ)
    # A user without a home, or with a full or foreign one, still wants an answer.
    with suppress(OSError):
        if cache is not None:
            kept = cache.folder / "images"
            kept.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Whose folder it is can give what is in it other names.
            if kept.stat().st_uid == os.geteuid():
                return ImageCache(kept)
    return _aside()


def _aside() -> ImageCache:
    folder = tempfile.mkdtemp(prefix="everpath-")
    run_at_exit(lambda: shutil.rmtree(folder, ignore_errors=True))
    return ImageCache(Path(folder))
