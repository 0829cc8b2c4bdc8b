"""Convert package manifests between a flat folder and a folder for each version, as in operator-courier."""

from __future__ import annotations

__all__ = ["ConvertedManifests", "flatten", "nest"]

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from everpath.app.output_folder import require_free_folder
from everpath.loaders.file_warning import FileWarning
from everpath.loaders.packagemanifest.flatten import (
    FileMoves,
    flatten_manifests,
    nest_manifests,
)
from everpath.loaders.packagemanifest.package_folder import PackageFolder, load_package_folder


class ConvertedManifests(NamedTuple):
    """The folder to fill, its files by their paths below it, and warnings. Nothing is written yet."""

    folder: Path
    files: dict[str, bytes]
    warnings: tuple[FileWarning, ...]


def nest(source: str, out: str, *, force: bool = False) -> ConvertedManifests:
    """Put each version of flat package manifests into its own folder.

    `force` allows an output folder that is not empty. Raises OpmError for invalid manifests, UsageError for
    the output folder, and UnreadableInput.
    """
    return _convert(nest_manifests, source, out, force=force)


def flatten(source: str, out: str, *, force: bool = False) -> ConvertedManifests:
    """Put all versions of package manifests into one folder. Parameters and errors are those of `nest`."""
    return _convert(flatten_manifests, source, out, force=force)


def _convert(
    convert: Callable[[PackageFolder], FileMoves], source: str, out: str, *, force: bool
) -> ConvertedManifests:
    target = require_free_folder(source, out, force=force)
    folder = load_package_folder(source)
    moves = convert(folder)
    files = {name: folder.read(place) for name, place in moves.files.items()}
    return ConvertedManifests(target, files, moves.warnings)
