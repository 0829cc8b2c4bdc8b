"""`everpath generate`: generate bundles and catalogs from releases.yaml."""

from __future__ import annotations

__all__ = ["generate"]

import difflib
from collections.abc import Iterator, Sequence
from typing import Final

import click

from everpath.app.config.config import load
from everpath.app.project.generate import generate as generate_project
from everpath.app.project.generated_files import FileEdit
from everpath.cli.failing_findings import write_failing_findings
from everpath.cli.file_changes import change_lines, generate_json
from everpath.cli.options.common import config_options
from everpath.cli.options.project import file_option, output_option, pin_option, report_wait
from everpath.cli.output import print_warnings, write_output
from everpath.errors import ExitCode
from everpath.reporters.formatting import printable
from everpath.wording import count

_MAX_DIFF_LINES: Final = 40


@click.command("generate", short_help="Generate bundles and catalogs from releases.yaml.")
@file_option
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if a file would change.")
@pin_option
@click.option(
    "--format",
    "suffix",
    type=click.Choice(["yaml", "json"]),
    help="The format of the catalog.  [default: the one it has, else yaml]",
)
@output_option
@config_options
@click.option("-v", "--verbose", is_flag=True, help="List every file.")
@click.option("-q", "--quiet", is_flag=True, help="Print only errors.")
def generate(  # noqa: PLR0913 - a parameter for each option
    *,
    file: str | None,
    check: bool,
    pin: str | None,
    suffix: str | None,
    output: str,
    config_file: str | None,
    no_config: bool,
    verbose: bool,
    quiet: bool,
) -> int:
    """Write the bundles and catalogs of releases.yaml and the operator's manifests.

    The same input gives the same bytes on any machine, and a second run changes nothing. All files are
    written or none. Files in which bundle validate or validate-graph would report an error are not written.
    A released bundle with a digest never changes: generate fails if its folder has changed. A bundle without
    a digest is generated again; generate warns if it changes and is not the newest.

    \b
    $ everpath generate
    $ everpath generate --check      # in CI: are the generated files up to date?
    $ everpath generate --pin digests.txt
    $ everpath generate --format json

    \b
    Exit codes:
      0  written, or up to date          2  a wrong releases.yaml, a changed bundle, a full disk
      1  a file would have an error;     3  input that cannot be read
         --check: a file would change
    """
    config = load(config_file, wanted=not no_config)
    result = generate_project(
        file, config, pins_file=pin, suffix=suffix, read_only=check, on_wait=report_wait
    )
    if result.findings and output != "json":
        write_failing_findings(result.findings)
        return ExitCode.FINDINGS
    if not (check and quiet):
        print_warnings(result.warnings)
    if output == "json":
        write_output(generate_json(result), None, machine=True)
        return ExitCode.FINDINGS if result.state in ("refused", "outOfDate") else ExitCode.CLEAN
    if not check and not result.project.releases_file.releases:
        print_warnings(
            [f"{result.project.file} has no release yet: run everpath release 0.1.0 to cut the first"]
        )
    if not quiet:
        files = count(len(result.changes), "file")
        summary = {
            "written": f"{files} written.\n",
            "outOfDate": f"{files} out of date: run everpath generate and commit the result.\n",
        }.get(result.state, "All files are up to date.\n")
        lines = change_lines(result.changes, result.project, every_file=verbose)
        write_output([*lines, *_diff_lines(result.edits), summary], None, machine=False)
    return ExitCode.FINDINGS if result.state == "outOfDate" else ExitCode.CLEAN


def _diff_lines(edits: Sequence[FileEdit]) -> Iterator[str]:
    """Yield the first lines of the differences, so that the log of a CI run shows the cause."""
    left = _MAX_DIFF_LINES
    for path, *texts in edits:
        if left <= 0:
            return
        old, new = (text.decode(errors="replace").splitlines() for text in texts)
        lines = list(difflib.unified_diff(old, new, str(path), str(path), n=1, lineterm=""))
        yield from (f"{printable(line[:200])}\n" for line in lines[:left])
        left -= len(lines)
