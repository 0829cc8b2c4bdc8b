"""One door for every input: a path goes in, a catalog comes out, whatever shape it had.

The shape decides the reader, because people should not need to say what theirs is called. A reader is
imported when its shape may be met.
"""

from __future__ import annotations

__all__ = ["Progress", "Reading", "read"]

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from everpath.assembly import Assembly
from everpath.formats.sources import Sources
from everpath.model import Catalog, UpdateMode

if TYPE_CHECKING:
    from everpath.formats.bundles.index_cache import IndexCache

#: Is told how far a long reading has come: done, of how many, what comes next.
Progress = Callable[[int, int, str], None]

_STANDARD_INPUT: Final = "-"


@dataclass(frozen=True, slots=True)
class Reading:
    """A catalog, and the sources to ask for its lines."""

    catalog: Catalog
    sources: Sources


def read(
    path: str,
    *,
    sources: Sources | None = None,
    progress: Progress | None = None,
    thorough: bool = False,
    cache: Callable[[], IndexCache | None] | None = None,
    default_mode: UpdateMode | None = None,
) -> Reading:
    """The catalog at a path: a file-based one (folder, file, `-` for standard input), a bundle folder, an
    operators repository, or a package-manifest folder.

    `thorough` parses every byte; `cache` gives the index that remembers what a repository said;
    `default_mode` makes the edges of packages whose ci.yaml names no mode. Raises UnreadableInput when
    nothing can be read.
    """
    sources = sources or Sources()
    assembly = Assembly()
    path = path.rstrip(os.sep) or path
    wanted = _Wanted(progress, thorough, cache, default_mode)
    if not Path(path).is_dir() or not _read_bundles(path, assembly, wanted):
        from everpath.formats.fbc.catalog import read_fbc  # noqa: PLC0415

        stream = sys.stdin.buffer if path == _STANDARD_INPUT else None
        read_fbc(path, assembly, sources, progress, thorough=thorough, stream=stream)
    return Reading(assembly.build(path), sources)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """How to read, for those readers that have a choice."""

    progress: Progress | None
    thorough: bool
    cache: Callable[[], IndexCache | None] | None
    mode: UpdateMode | None


def _read_bundles(path: str, assembly: Assembly, wanted: _Wanted) -> bool:
    """Read a folder that is, or holds, bundles or package manifests; False if it is none of these."""
    from everpath.formats.bundles import shape  # noqa: PLC0415

    manifests = shape.is_package_manifest(path)
    if not manifests and shape.is_bundle_folder(path):
        from everpath.formats.bundles.one_bundle import read_bundle_folder  # noqa: PLC0415

        # A bundle alone has nobody to take its place in an order of versions: its own edges count.
        read_bundle_folder(path, assembly, mode=wanted.mode or UpdateMode.REPLACES)
    elif shape.is_repository(path):
        from everpath.formats.bundles.repository import read_repository  # noqa: PLC0415

        read_repository(
            path,
            assembly,
            cache=wanted.cache() if wanted.cache else None,
            default_mode=wanted.mode or UpdateMode.SEMVER,
            thorough=wanted.thorough,
            progress=wanted.progress,
        )
    elif manifests:
        from everpath.formats.bundles.package_manifest import read_package_manifest  # noqa: PLC0415

        read_package_manifest(path, assembly, thorough=wanted.thorough)
    else:
        return False
    return True
