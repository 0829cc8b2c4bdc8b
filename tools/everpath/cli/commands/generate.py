"""`everpath generate`: generate bundles and catalogs from releases.yaml."""

from __future__ import annotations

__all__ = ["generate"]

import difflib
from collections.abc import Iterator, Sequence
from typing import Final

import click

from everpath.app.config import Config, load
from everpath.app.project.check import check as check_files
from everpath.app.project.generate import GeneratedFiles
from everpath.app.project.generate import generate as generate_files
from everpath.app.project.project import open_project, project_lock
from everpath.app.project.warnings import generate_warnings, rewritten_bundles
from everpath.atomic_files import FileChange
from everpath.cli.file_changes import GenerateState, change_lines, generate_json
from everpath.cli.options.common import config_options
from everpath.cli.options.project import file_option, output_option, pin_option, report_wait
from everpath.cli.output import print_warnings, write_output
from everpath.cli.problem_report import problem_objects, write_problems
from everpath.errors import ExitCode
from everpath.reporters.formatting import printable
from everpath.wording import count

_MAX_DIFF_LINES: Final = 40
_UP_TO_DATE: Final = "All files are up to date.\n"


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
    project = open_project(file, pins_file=pin)
    with (
        project_lock(project, exclusive=not check, on_wait=report_wait),
        # Opened again: another process may have changed it before the lock was acquired.
        generate_files(open_project(file, pins_file=pin), suffix) as files,
    ):
        if check and not quiet:
            # Users who run generate after --check should know which bundles it rewrites.
            print_warnings(rewritten_bundles(files))
        if output == "json":
            return _generate_json(files, config, check=check)
        if check:
            return _check(files, verbose=verbose, quiet=quiet)
        return _generate(files, config, verbose=verbose, quiet=quiet)


def _check(files: GeneratedFiles, *, verbose: bool, quiet: bool) -> ExitCode:
    changes = files.changes()
    if not quiet:
        out_of_date = (
            f"{count(len(changes), 'file')} out of date: run everpath generate and commit the result.\n"
        )
        lines = change_lines(changes, files.project, every_file=verbose)
        diff = _diff_lines(files, changes)
        write_output([*lines, *diff, out_of_date if changes else _UP_TO_DATE], None, machine=False)
    return ExitCode.FINDINGS if changes else ExitCode.CLEAN


def _generate(files: GeneratedFiles, config: Config, *, verbose: bool, quiet: bool) -> ExitCode:
    changes = files.changes()
    if changes:
        if problems := check_files(files, config):
            write_problems(problems)
            return ExitCode.FINDINGS
        print_warnings(generate_warnings(files))
    # Without changes too: a killed run may have left an empty staging folder.
    files.commit()
    if not files.project.source.releases:
        print_warnings(
            [f"{files.project.file} has no release yet: run everpath release 0.1.0 to cut the first"]
        )
    if not quiet:
        lines = change_lines(changes, files.project, every_file=verbose)
        written = f"{count(len(changes), 'file')} written.\n"
        write_output([*lines, written if changes else _UP_TO_DATE], None, machine=False)
    return ExitCode.CLEAN


def _generate_json(files: GeneratedFiles, config: Config, *, check: bool) -> ExitCode:
    changes = files.changes()
    state: GenerateState = "upToDate" if not changes else "outOfDate" if check else "written"
    findings: list[str] = []
    if state == "written":
        findings = list(problem_objects(check_files(files, config)))
        if findings:
            state = "refused"
        else:
            print_warnings(generate_warnings(files))
            files.commit()
    write_output(generate_json(files.project, state, changes, findings), None, machine=True)
    return ExitCode.FINDINGS if state in ("refused", "outOfDate") else ExitCode.CLEAN


def _diff_lines(files: GeneratedFiles, changes: Sequence[FileChange]) -> Iterator[str]:
    """Yield the first lines of the differences, so that the log of a CI run shows the cause."""
    left = _MAX_DIFF_LINES
    for action, path in changes:
        if action != "change" or left <= 0:
            continue
        texts = (path.read_bytes(), files.transaction.files[path])
        old, new = (text.decode(errors="replace").splitlines() for text in texts)
        lines = list(difflib.unified_diff(old, new, str(path), str(path), n=1, lineterm=""))
        yield from (f"{printable(line[:200])}\n" for line in lines[:left])
        left -= len(lines)
