"""`everpath generate`: bundles and catalogs from releases.yaml."""

from __future__ import annotations

__all__ = ["generate"]

import difflib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import click

from everpath.app.config import Config, load
from everpath.app.project import Project
from everpath.cli.changes import State, changes_document, listed_changes
from everpath.cli.makers import makers
from everpath.cli.making import Made, made
from everpath.cli.options import config_options
from everpath.cli.output import write_output
from everpath.cli.placing import Placement, pending, place
from everpath.cli.project import file_option, open_project, pin_option, undisturbed
from everpath.cli.remarks import tell_remarks, tell_rewritten
from everpath.cli.vetting import objections, refused
from everpath.errors import ExitCode
from everpath.reporters.formatting import count, printable

_MOST_LINES: Final = 40


@click.command("generate", short_help="Write bundles and catalog from releases.yaml.")
@file_option
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if anything would change.")
@pin_option
@click.option(
    "--format",
    "suffix",
    type=click.Choice(["yaml", "json"]),
    help="How to spell the catalog.  [default: as it is, else yaml]",
)
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="How to report.")
@config_options
@click.option("-v", "--verbose", is_flag=True, help="List every file.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
def generate(**options: Any) -> int:
    """Write the bundles and the catalogs that releases.yaml and the operator's manifests stand for.

    The same input gives the same bytes, on any machine and at any time, and a second run changes nothing. All
    files are written or none. What bundle validate or validate-graph would call an error is not written. A
    released bundle with a digest is never changed: if its folder has been, generate fails and says so. One
    without a digest is made anew; where it is not the newest and becomes another, generate warns.

    \b
    $ everpath generate
    $ everpath generate --check      # in CI: has somebody edited what is generated?
    $ everpath generate --pin digests.txt
    $ everpath generate --format json

    \b
    Exit codes:
      0  written, or nothing to write         2  a source that is wrong, a changed bundle, a disk that is full
      1  an error in what would be written;   3  input that cannot be read
         --check: something would change
    """
    return _generate(_Request(**options))


class _Request(NamedTuple):
    """The command line."""

    file: str | None
    check: bool
    pin: str | None
    suffix: str | None
    output: str
    config_file: str | None
    no_config: bool
    verbose: bool
    quiet: bool


def _generate(request: _Request) -> int:
    config = load(request.config_file, wanted=not request.no_config)
    project = open_project(request.file, pinned=request.pin)
    with undisturbed(project, writes=not request.check):
        return _made(request, open_project(request.file, pinned=request.pin), config)


def _made(request: _Request, project: Project, config: Config) -> int:
    result = made(project, makers(), request.suffix)
    due = list(pending(result.placement))
    if request.check and not request.quiet:
        tell_rewritten(project, result)
    if request.output == "json":
        return _as_json(request, project, result, due, config)
    if request.check:
        if not request.quiet:
            differences = _differences(result.placement, due)
            _print(request, project, due, *differences, _verdict(due))
        return ExitCode.FINDINGS if due else ExitCode.CLEAN
    if due and refused(project, result, config):
        return ExitCode.FINDINGS
    if due:
        tell_remarks(project, result)
    place(result.placement)
    if not project.source.releases:
        click.echo(_first_release(project), err=True)
    if not request.quiet:
        done = f"{count(len(due), 'file')} written.\n" if due else "Nothing to write: all is up to date.\n"
        _print(request, project, due, done)
    return ExitCode.CLEAN


def _first_release(project: Project) -> str:
    return f"warning: {project.file} has no release yet: everpath release 0.1.0 cuts the first"


def _as_json(
    request: _Request, project: Project, result: Made, due: Sequence[tuple[str, Path]], config: Config
) -> int:
    """The same, told as one JSON object."""
    from everpath.reporters.json_report import findings  # noqa: PLC0415

    state: State = "upToDate" if not due else "outOfDate" if request.check else "written"
    found = list(objections(project, result, config, findings)) if state == "written" else []
    if found:
        state = "refused"
    elif state == "written":
        tell_remarks(project, result)
        place(result.placement)
    write_output(changes_document(project, state, due, found), None, machine=True)
    return ExitCode.FINDINGS if state in ("refused", "outOfDate") else ExitCode.CLEAN


def _print(request: _Request, project: Project, due: Sequence[tuple[str, Path]], *more: str) -> None:
    write_output([*listed_changes(project, due, each=request.verbose), *more], None, machine=False)


def _verdict(due: Sequence[tuple[str, Path]]) -> str:
    if not due:
        return "All is up to date.\n"
    return f"{count(len(due), 'file')} out of date: run everpath generate, and commit what it writes.\n"


def _differences(placement: Placement, due: Sequence[tuple[str, Path]]) -> Iterator[str]:
    """The first differences, so that a log of CI says what it is about."""
    left = _MOST_LINES
    for what, path in due:
        if what != "change" or left <= 0:
            continue
        old, new = (
            text.decode(errors="replace").splitlines() for text in (path.read_bytes(), placement.files[path])
        )
        lines = list(difflib.unified_diff(old, new, str(path), str(path), n=1, lineterm=""))
        yield from (f"{printable(line[:200])}\n" for line in lines[:left])
        left -= len(lines)
