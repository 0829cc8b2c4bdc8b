"""Load a catalog from a path: detect what kind of input it is, and call the loader of that kind.

Each loader is imported when its kind of input is met, to keep the start of a command fast.
"""

from __future__ import annotations

__all__ = ["LoadedCatalog", "load", "preload_modules"]

import os
import stat
import sys
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Literal, NamedTuple

from everpath.errors import UnreadableInput
from everpath.loaders.partition import WHOLE, Partition
from everpath.loaders.sources import STANDARD_INPUT, Sources, unreadable_input
from everpath.model import Catalog, UpdateMode
from everpath.model.builder import CatalogBuilder
from everpath.model.progress import Progress

if TYPE_CHECKING:
    from everpath.file_cache import FileCache


_Kind = Literal["fbc", "bundle", "repository", "package-manifests"]


class LoadedCatalog(NamedTuple):
    """A catalog, and the sources that `source_positions.locate` reads lines from."""

    catalog: Catalog
    sources: Sources


def load(  # noqa: PLR0913 - each is an option of the user
    path: str,
    *,
    sources: Sources | None = None,
    progress: Progress | None = None,
    thorough: bool = False,
    cache: Callable[[], FileCache | None] | None = None,
    default_mode: UpdateMode | None = None,
    partition: Partition = WHOLE,
) -> LoadedCatalog:
    """Load the catalog at a path: everything is read when the function returns.

    The path is a file-based catalog (a folder, a file, or `-` for standard input), a bundle's folder, an
    operators repository, or a folder with package manifests. Raises `UnreadableInput` if nothing can be read;
    a part that cannot be read is a `Problem` of the catalog.

    `thorough` also parses values that the graph does not need. `cache` returns the index of a repository.
    `default_mode` sets the edges of packages whose ci.yaml has no updateGraph. Of a folder with several
    packages only those of the `partition` are loaded.
    """
    sources = sources or Sources()
    builder = CatalogBuilder()
    path = path.rstrip(os.sep) or path
    kind = _detect(path)
    if kind == "fbc":
        from everpath.loaders.fbc.loader import load_fbc  # noqa: PLC0415

        if path == STANDARD_INPUT:
            _read_standard_input(sources)
        load_fbc(path, builder, sources, progress, thorough=thorough, partition=partition)
    elif kind == "repository":
        from everpath.loaders.bundle.repository import load_repository  # noqa: PLC0415

        load_repository(
            path,
            builder,
            cache=cache() if cache else None,
            default_mode=default_mode or UpdateMode.SEMVER,
            thorough=thorough,
            progress=progress,
            partition=partition,
        )
    elif partition.number == 0:
        # One package is not divided: it is in the first partition.
        if kind == "bundle":
            from everpath.loaders.bundle.bundle_folder import load_bundle_folder  # noqa: PLC0415

            # Semver mode orders several bundles. A single one has only the edges of its CSV.
            load_bundle_folder(path, builder, mode=default_mode or UpdateMode.REPLACES)
        else:
            from everpath.loaders.packagemanifest.package_file import (  # noqa: PLC0415
                load_package_manifests,
            )

            load_package_manifests(path, builder, thorough=thorough)
    return LoadedCatalog(builder.build(path), sources)


def preload_modules(path: str) -> None:
    """Import the modules that loading a folder needs, before processes fork and each imports them.

    A wrong guess costs a few milliseconds.
    """
    from everpath.loaders.bundle import detect  # noqa: PLC0415

    if detect.is_repository(path):
        import_module("everpath.loaders.bundle.repository")
        return
    names = (name for _, _, files in os.walk(path) for name in files)
    is_json = next(names, "").endswith(".json")
    import_module("everpath.loaders.fbc.loader")
    import_module(f"everpath.loaders.fbc.partial_{'json' if is_json else 'yaml'}")


def _detect(path: str) -> _Kind:
    """Return the kind of input at a path. Raises `UnreadableInput` if the path cannot be read."""
    try:
        if path == STANDARD_INPUT or not stat.S_ISDIR(os.stat(path).st_mode):
            return "fbc"
    except OSError as error:
        raise unreadable_input(path, error) from error
    from everpath.loaders.bundle import detect  # noqa: PLC0415

    has_package_manifest = detect.is_package_manifest(path)
    if not has_package_manifest and detect.is_bundle_folder(path):
        return "bundle"
    if detect.is_repository(path):
        return "repository"
    return "package-manifests" if has_package_manifest else "fbc"


def _read_standard_input(sources: Sources) -> None:
    if sys.stdin is None:
        hint = "pipe a catalog into everpath, or name a file: opm render IMAGE | everpath validate-graph -"
        raise UnreadableInput("cannot read standard input: it is closed", hint=hint, file=STANDARD_INPUT)
    sources.add_stream(STANDARD_INPUT, sys.stdin.buffer)
    if not sources.size(STANDARD_INPUT):
        hint = "does the command before the pipe print a catalog? `set -o pipefail` shows where it fails"
        raise UnreadableInput("standard input is empty", hint=hint, file=STANDARD_INPUT)
