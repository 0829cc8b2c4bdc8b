"""A folder that a command fills: all files or none, never its own input, and nothing that stood there."""

from __future__ import annotations

__all__ = ["dry_run_option", "fill", "force_option", "quiet_option", "require_free"]

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import click

from everpath.cli.output import write_output
from everpath.cli.placing import Placement, pending, place
from everpath.errors import UsageError
from everpath.reporters.formatting import count, printable

force_option: Final = click.option(
    "--force",
    is_flag=True,
    help="Write into a folder that holds something: files of the same names are replaced, others stay.",
)
dry_run_option: Final = click.option("--dry-run", is_flag=True, help="List the files and write none.")
quiet_option: Final = click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")


def require_free(source: str, out: str, *, force: bool) -> Path:
    """The folder to fill. Raises UsageError where it is, holds or is in the input, or has something in it.

    Asked before the work, which may be long.
    """
    folder, there = Path(out), Path(source).resolve()
    here = folder.resolve()
    if here == there or there in here.parents or here in there.parents:
        raise UsageError(
            f"{out} and {source} overlap, and the input must stay as it is",
            hint="write to a folder beside the input",
        )
    if os.path.lexists(folder) and not folder.is_dir():
        raise UsageError(f"{out} is not a folder", hint="name a folder, there or not")
    if not force and folder.is_dir() and any(folder.iterdir()):
        raise UsageError(
            f"{out} is not empty",
            hint="name another folder; --force writes into this one and replaces files of the same names",
        )
    return folder


def fill(folder: Path, files: Mapping[str, bytes], *, dry_run: bool, quiet: bool) -> None:
    """Write files by their paths from the folder, all or none, and list them; or only list them."""
    placement = Placement({folder / name: content for name, content in files.items()})
    due = list(pending(placement)) if dry_run else place(placement)
    if not quiet:
        done = f"{count(len(due), 'file')} {'to write' if dry_run else 'written'}.\n"
        write_output([*_listed(due), done], None, machine=False)


def _listed(due: list[tuple[str, Path]]) -> Iterator[str]:
    for what, path in due:
        yield f"{what:<7} {printable(str(path))}\n"
