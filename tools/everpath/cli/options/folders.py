"""Options and output of the commands that fill a folder."""

from __future__ import annotations

__all__ = ["dry_run_option", "force_option", "quiet_option", "write_files"]

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import click

from everpath.app.output_folder import write_folder
from everpath.cli.file_changes import change_lines
from everpath.cli.output import write_output
from everpath.wording import count

force_option: Final = click.option(
    "--force",
    is_flag=True,
    help="Write into a folder that is not empty: files of the same names are replaced, others stay.",
)
dry_run_option: Final = click.option("--dry-run", is_flag=True, help="List the files and write none.")
quiet_option: Final = click.option("-q", "--quiet", is_flag=True, help="Print only errors.")


def write_files(folder: Path, files: Mapping[str, bytes], *, dry_run: bool, quiet: bool) -> None:
    """Write files by their paths below the folder, all or none, and list them. A dry run only lists them."""
    changes = write_folder(folder, files, dry_run=dry_run)
    if not quiet:
        summary = f"{count(len(changes), 'file')} {'to write' if dry_run else 'written'}.\n"
        write_output([*change_lines(changes), summary], None, machine=False)
