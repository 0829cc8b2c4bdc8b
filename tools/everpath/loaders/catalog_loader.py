"""One door for every input: a path goes in, a catalog comes out, whatever shape it had.

The shape decides the reader, because people should not need to say what theirs is called. A reader is
imported when its shape may be met.
"""

from __future__ import annotations

__all__ = ["Progress", "Reading", "prepare", "read"]

import os
import stat
import sys
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from everpath.errors import UnreadableInput
from everpath.loaders.partition import WHOLE, Share
from everpath.loaders.sources import STANDARD_INPUT, Sources, unreadable
from everpath.model import Catalog, UpdateMode
from everpath.model.builder import CatalogBuilder

if TYPE_CHECKING:
    from everpath.file_cache import FileCache
    from everpath.loaders.bundle.repository import PackageFilter

#: Is told how far a long reading has come: done, of how many, what comes next.
Progress = Callable[[int, int, str], None]


class Reading(NamedTuple):
    """A catalog, and the sources to ask for its lines."""

    catalog: Catalog
    sources: Sources


def read(  # noqa: PLR0913 - each is a choice of the user's
    path: str,
    *,
    sources: Sources | None = None,
    progress: Progress | None = None,
    thorough: bool = False,
    cache: Callable[[], FileCache | None] | None = None,
    default_mode: UpdateMode | None = None,
    share: Share = WHOLE,
    package_filter: Callable[[], PackageFilter | None] | None = None,
) -> Reading:
    """The catalog at a path: a file-based one (folder, file, `-` for standard input), a bundle folder, an
    operators repository, or a package-manifest folder.

    `thorough` parses every byte; `cache` gives the index that remembers what a repository said;
    `default_mode` makes the edges of packages whose ci.yaml names no mode; of a folder with several packages
    only those of the `share` are read, and of a repository none that the `package_filter` leaves out. Raises
    UnreadableInput when nothing can be read.
    """
    sources = sources or Sources()
    builder = CatalogBuilder()
    path = path.rstrip(os.sep) or path
    wanted = _Wanted(progress, thorough, cache, default_mode, share, package_filter)
    if not _is_folder(path) or not _read_bundles(path, builder, wanted):
        from everpath.loaders.fbc.loader import read_fbc  # noqa: PLC0415

        if path == STANDARD_INPUT:
            sources.keep_stream(path, _standard_input())
            _require_content(path, sources)
        read_fbc(path, builder, sources, progress, thorough=thorough, share=share)
    return Reading(builder.build(path), sources)


def prepare(path: str) -> None:
    """Import what reading a folder will need, for whoever forks first: else every process imports it.

    A wrong guess at the format costs a few milliseconds and nothing else.
    """
    from everpath.loaders.bundle import detect  # noqa: PLC0415

    if detect.is_repository(path):
        import_module("everpath.loaders.bundle.repository")
        return
    names = (name for _, _, files in os.walk(path) for name in files)
    is_json = next(names, "").endswith(".json")
    import_module("everpath.loaders.fbc.loader")
    import_module(f"everpath.loaders.fbc.partial_{'json' if is_json else 'yaml'}")


def _is_folder(path: str) -> bool:
    """Whether a path is a folder. Raises `UnreadableInput` where that cannot be told."""
    try:
        return path != STANDARD_INPUT and stat.S_ISDIR(os.stat(path).st_mode)
    except OSError as error:
        raise unreadable(path, error) from error


def _standard_input() -> BinaryIO:
    if sys.stdin is None:
        hint = "pipe a catalog into everpath, or name a file: opm render IMAGE | everpath validate-graph -"
        raise UnreadableInput("cannot read standard input: it is closed", hint=hint, file=STANDARD_INPUT)
    return sys.stdin.buffer


def _require_content(path: str, sources: Sources) -> None:
    """A pipe without a byte is nearly always a command before it that failed."""
    if not sources.size(path):
        hint = "does the command before the pipe print a catalog? `set -o pipefail` shows where it fails"
        raise UnreadableInput("standard input is empty", hint=hint, file=path)


class _Wanted(NamedTuple):
    """How to read, for those readers that have a choice."""

    progress: Progress | None
    thorough: bool
    cache: Callable[[], FileCache | None] | None
    mode: UpdateMode | None
    share: Share
    package_filter: Callable[[], PackageFilter | None] | None


def _read_bundles(path: str, builder: CatalogBuilder, wanted: _Wanted) -> bool:
    """Read a folder that is, or holds, bundles or package manifests; False if it is none of these.

    What is about one package cannot be parted, and is all in the first share.
    """
    from everpath.loaders.bundle import detect  # noqa: PLC0415

    manifests = detect.is_package_manifest(path)
    is_ours = wanted.share.number == 0
    if not manifests and detect.is_bundle_folder(path):
        from everpath.loaders.bundle.bundle_folder import load_bundle_folder  # noqa: PLC0415

        # A bundle alone has nobody to take its place in an order of versions: its own edges count.
        if is_ours:
            load_bundle_folder(path, builder, mode=wanted.mode or UpdateMode.REPLACES)
    elif detect.is_repository(path):
        from everpath.loaders.bundle.repository import load_repository  # noqa: PLC0415

        load_repository(
            path,
            builder,
            cache=wanted.cache() if wanted.cache else None,
            default_mode=wanted.mode or UpdateMode.SEMVER,
            thorough=wanted.thorough,
            progress=wanted.progress,
            share=wanted.share,
            package_filter=wanted.package_filter() if wanted.package_filter else None,
        )
    elif manifests:
        from everpath.loaders.packagemanifest.package_file import load_package_manifests  # noqa: PLC0415

        if is_ours:
            load_package_manifests(path, builder, thorough=wanted.thorough)
    else:
        return False
    return True
