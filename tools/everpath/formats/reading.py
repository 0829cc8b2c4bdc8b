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
    from everpath.formats.facts import Note
    from everpath.formats.index_cache import IndexCache

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
    cache: IndexCache | None = None,
    default_mode: UpdateMode | None = None,
) -> Reading:
    """The catalog at a path: a file-based one (folder, file, `-` for standard input), a bundle folder, an
    operators repository, or a package-manifest folder.

    `thorough` parses every byte; `cache` remembers what a repository said; `default_mode` makes the edges
    of packages whose ci.yaml names no mode. Raises UnreadableInput when nothing can be read.
    """
    sources = sources or Sources()
    assembly = Assembly()
    path = path.rstrip(os.sep) or path
    if not Path(path).is_dir() or not _read_bundles(path, assembly, progress, cache, default_mode):
        from everpath.formats.fbc import read_fbc  # noqa: PLC0415

        stream = sys.stdin.buffer if path == _STANDARD_INPUT else None
        read_fbc(path, assembly, sources, progress, thorough=thorough, stream=stream)
    return Reading(assembly.build(path), sources)


def _read_bundles(
    path: str,
    assembly: Assembly,
    progress: Progress | None,
    cache: IndexCache | None,
    default_mode: UpdateMode | None,
) -> bool:
    """Read a folder that is, or holds, bundles or package manifests; False if it is none of these."""
    from everpath.formats.bundle_folder import is_bundle_folder  # noqa: PLC0415
    from everpath.formats.package_manifest import is_package_manifest  # noqa: PLC0415
    from everpath.formats.repository import is_repository, read_repository  # noqa: PLC0415

    if is_bundle_folder(path) and not is_package_manifest(path):
        _read_one_bundle(path, assembly, default_mode)
    elif is_repository(path):
        mode = default_mode or UpdateMode.SEMVER
        read_repository(path, assembly, cache=cache, default_mode=mode, progress=progress)
    elif is_package_manifest(path):
        _read_manifests(path, assembly)
    else:
        return False
    return True


def _read_one_bundle(path: str, assembly: Assembly, mode: UpdateMode | None) -> None:
    """A bundle alone has nobody to take its place in an order of versions: its own edges count."""
    from everpath.formats.bundle_folder import find_layouts, read_bundle  # noqa: PLC0415
    from everpath.formats.bundle_model import Files, add_notes, add_packages, bundle_of  # noqa: PLC0415
    from everpath.formats.visits import Visit  # noqa: PLC0415

    name, files = _name(path), Files(path)
    visit = Visit(path)
    notes: list[Note] = []
    facts = read_bundle(visit, "", find_layouts(visit, ""), notes)
    add_notes(assembly, files, notes, name)
    if facts is not None:
        add_packages(assembly, [bundle_of(facts, name, files, assembly)], mode or UpdateMode.REPLACES)


def _read_manifests(path: str, assembly: Assembly) -> None:
    from everpath.formats.bundle_model import Files  # noqa: PLC0415
    from everpath.formats.package_manifest import add_package_manifests, read_package_manifests  # noqa: PLC0415
    from everpath.formats.visits import Visit  # noqa: PLC0415

    facts = read_package_manifests(Visit(path))
    add_package_manifests(assembly, facts, Files(path), _name(path))


def _name(path: str) -> str:
    """What a folder is called: the package of bundles that do not say theirs."""
    return Path(path).resolve().name
