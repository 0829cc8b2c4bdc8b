"""The source that a command is about, found and read."""

from __future__ import annotations

__all__ = ["file_option", "open_project", "pin_option", "undisturbed", "variant_package"]

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import click

from everpath.app.project import Project
from everpath.errors import UnreadableInput, UsageError
from everpath.loaders.catalog_loader import load
from everpath.loaders.releases.parser import load_releases, parse_releases
from everpath.loaders.sources import Sources
from everpath.model import Package
from everpath.releases.channel_edges import catalog_package
from everpath.releases.model import Variant

_USUAL: Final = ("catalog/releases.yaml", "releases.yaml")

file_option: Final = click.option(
    "-f",
    "--file",
    metavar="FILE",
    help="The source of the releases.  [default: catalog/releases.yaml, or releases.yaml]",
)


pin_option: Final = click.option(
    "--pin",
    metavar="FILE",
    help="Pin images as this file says: lines IMAGE:TAG=IMAGE@sha256:….  [default: that of `pins:`]",
)


def open_project(file: str | None, content: bytes | None = None, pinned: str | None = None) -> Project:
    """The project of a file; with `content`, as if that were written in it. Raises ReleasesError."""
    if pinned is not None and not pinned.strip():
        raise UsageError("--pin names no file", hint="leave it out, or name a file of digests")
    path, sources = _found(file), Sources()
    source = (
        load_releases(str(path), sources) if content is None else parse_releases(content, str(path), sources)
    )
    return Project(path, source, sources, pinned=pinned)


@contextmanager
def undisturbed(project: Project, *, writes: bool) -> Iterator[None]:
    """No other run writes to the project meanwhile: a bundle must not change while its digest is taken.

    Those that only look do not keep each other waiting; nobody does where folders cannot be locked (Windows,
    some network drives).
    """
    handle = _locked(project.folder, writes=writes)
    try:
        yield
    finally:
        if handle is not None:
            os.close(handle)


def _locked(folder: Path, *, writes: bool) -> int | None:
    try:
        import fcntl  # noqa: PLC0415 - there is none on Windows

        handle = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):
        return None
    how = fcntl.LOCK_EX if writes else fcntl.LOCK_SH
    try:
        fcntl.flock(handle, how | fcntl.LOCK_NB)
    except BlockingIOError:
        click.echo(f"waiting for another everpath at work in {folder}", err=True)
        fcntl.flock(handle, how)
    except OSError:
        pass
    return handle


def _found(file: str | None) -> Path:
    if file is not None and not file.strip():
        raise UsageError("--file names no file", hint="leave it out, or name a releases.yaml")
    if file is not None:
        path = Path(file)
        return path / "releases.yaml" if path.is_dir() else path
    for name in _USUAL:
        if Path(name).exists():
            return Path(name)
    raise UnreadableInput(
        "there is no catalog/releases.yaml here",
        hint="everpath init writes one; --file names another",
        file=_USUAL[0],
    )


def variant_package(project: Project, variant: Variant) -> Package:
    """The package as users have it: from the catalog on disk, else as the source would make it."""
    file = project.catalog_file(variant)
    if file.exists():
        found = load(str(file)).catalog.by_name.get(project.source.package)
        if found is not None and found.channels:
            return found
    return catalog_package(project.source, variant)
