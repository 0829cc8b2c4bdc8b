"""`everpath compare`: who a new catalog strands."""

from __future__ import annotations

__all__ = ["compare"]

import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import click

from everpath.app.config import POLICIES, Config, load
from everpath.app.inputs import Inputs, unreadable_parts
from everpath.cli.github_actions import MAX_SUMMARY_ROWS, append_step_summary, workspace
from everpath.cli.options import (
    channel_option,
    config_options,
    package_option,
    progress_option,
    update_mode_option,
)
from everpath.cli.output import write_output
from everpath.cli.terminal import ProgressLine, wants_colour
from everpath.compare.catalogs import Comparison, Scope
from everpath.compare.catalogs import compare as compared
from everpath.compare.matrix import Matrix, compare_sequence
from everpath.errors import ExitCode, UsageError
from everpath.model import Catalog
from everpath.reporters.comparison import (
    COMPARISON_FORMATS,
    ComparisonReport,
    MatrixReport,
    UnreadPart,
    reporter,
)
from everpath.reporters.formatting import count
from everpath.resolvers import ResolverName
from everpath.rules.findings import Severity

_FAIL_ON: Final = ("stranded", "different-path", "never")


class Request(NamedTuple):
    """The command line as it was given."""

    paths: tuple[str, ...]
    is_matrix: bool
    packages: tuple[str, ...]
    channels: tuple[str, ...]
    policy: str | None
    fail_on: str
    output: str | None
    output_file: str | None
    show_all: bool
    default_update_mode: str | None
    config_file: str | None
    no_config: bool
    quiet: bool
    no_progress: bool


@click.command("compare", short_help="Find installed versions that lose their upgrade path.")
@click.argument("paths", nargs=-1, metavar="OLD NEW")
@click.option(
    "--matrix",
    "is_matrix",
    is_flag=True,
    help="Compare each of several catalogs with the next: [NAME=]PATH [NAME=]PATH ...",
)
@package_option
@channel_option
@click.option("--policy", type=click.Choice(POLICIES), help="Whose users to think of.  [default: both]")
@click.option(
    "--fail-on",
    type=click.Choice(_FAIL_ON),
    default="stranded",
    show_default=True,
    help="Exit with 1 if a version is cut off (stranded), or also if a path changes (different-path).",
)
@click.option(
    "-o",
    "--output",
    type=click.Choice(COMPARISON_FORMATS),
    help="How to report.  [default: text; github under GitHub Actions]",
)
@click.option("--output-file", metavar="FILE", help="Write the report there, whole or not at all.")
@click.option("--all", "show_all", is_flag=True, help="Tell also what is well; json always has all.")
@update_mode_option
@config_options
@click.option("-q", "--quiet", is_flag=True, help="Print changes and nothing else.")
@progress_option
def compare(**options: Any) -> int:
    """Who does a new catalog strand?

    Follows everybody who may have a version of OLD installed, from any channel, under OLM v0 and v1, into
    NEW: who can no longer reach the head, who gets there by another way, which edit did it, and what
    mends it. OLD and NEW are whatever validate-graph reads; one of them may be - for standard input.
    Waivers do not apply: they are for what a catalog is, not for whom it leaves behind.

    \b
    $ everpath compare published/ catalog/ -p searchkeeper
    package searchkeeper, channel stable

    \b
    error[stranded]: Clusters on searchkeeper.v0.2.0 can no longer be upgraded to the head ...
      --> catalog/searchkeeper.yaml:13:3
       = before: searchkeeper.v0.2.0 → searchkeeper.v0.2.2 (head)
       = now: searchkeeper.v0.2.0 (no further update)
       = reason: nothing in the new channel replaces searchkeeper.v0.2.0, skips it or covers 0.2.0
       = caused by: searchkeeper.v0.2.2 no longer skips searchkeeper.v0.2.0
       = fix: add searchkeeper.v0.2.0 to the skips of searchkeeper.v0.2.2

    \b
    ...

    \b
    $ git worktree add /tmp/base main && everpath compare /tmp/base/catalog catalog
    $ opm render quay.io/me/catalog:latest | everpath compare - catalog/ -p me
    $ everpath compare --matrix 4.18=v4.18/ 4.19=v4.19/ 4.20=v4.20/

    \b
    Exit codes:
      0  nobody is cut off                    3  input, or part of it, that cannot be read
      1  somebody is (see --fail-on)          4  a registry that does not answer
      2  a wrong command line or configuration
    """
    return _compare(Request(**options))


def _compare(request: Request) -> int:
    config = load(request.config_file, wanted=not request.no_config)
    named = _named(request)
    inputs = Inputs([path for _, path in named], config, request.default_update_mode)
    scope = _scope(request, config)
    with ProgressLine(sys.stderr, wanted=not (request.no_progress or request.quiet)) as progress:
        catalogs = [_whole(catalog) for catalog in inputs.catalogs(progress)]
        inputs.verify_names(scope.packages, scope.channels)
        unheard_of = [] if request.is_matrix else list(_only_in_new(catalogs[0], scope))
        found = (
            compare_sequence(catalogs, scope, report_different_paths=request.fail_on == "different-path")
            if request.is_matrix
            else compared(catalogs[0], catalogs[1], scope)
        )
    for line in unheard_of:
        click.echo(line, err=True)
    output = request.output or ("github" if os.environ.get("GITHUB_ACTIONS") == "true" else "text")
    names = tuple(name for name, _ in named)
    unread = tuple(_unread(names, catalogs))
    told = replace(_told(request, found, inputs, scope, names, output), unread_parts=unread)
    write_output(reporter(output)(told), request.output_file, machine=output == "json")
    _tell(request, told, output)
    return _exit_code(request, found, unread)


def _named(request: Request) -> list[tuple[str, str]]:
    """The catalogs by the names that the report gives them."""
    paths = request.paths
    if request.is_matrix:
        if len(paths) < 2:
            hint = "everpath compare --matrix 4.18=v4.18/ 4.19=v4.19/ 4.20=v4.20/"
            raise UsageError("--matrix takes two catalogs or more", hint=hint)
        named = [_parted(path) for path in paths]
        names = [name for name, _ in named]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise UsageError(
                f"two catalogs are called {twice[0]}, and the report could not tell them apart",
                hint="name each: everpath compare --matrix 4.18=v4.18/ 4.19=v4.19/",
            )
        return named
    if len(paths) != 2:
        more = "; --matrix takes more than two" if len(paths) > 2 else ""
        raise UsageError(
            f"compare takes two catalogs, OLD and NEW, and got {len(paths)}{more}",
            hint="everpath compare published/ catalog/",
        )
    return [(path, path) for path in paths]


def _parted(word: str) -> tuple[str, str]:
    """`NAME=PATH`, unless a path of that spelling exists."""
    name, equals, path = word.partition("=")
    if not equals or not name or not path or os.path.exists(word):  # noqa: PTH110 - says no where pathlib raises
        return word, word
    return name, path


def _whole(catalog: Catalog) -> Catalog:
    """The catalog, if it is one: in the folder of one bundle everything else seems to be gone."""
    if any(package.is_one_release for package in catalog.packages):
        raise UsageError(
            f"{catalog.name} is the folder of one bundle and does not say what else its package has",
            hint="compare two catalogs, or two operators repositories",
        )
    return catalog


def _only_in_new(old: Catalog, scope: Scope) -> Iterator[str]:
    """Names that were asked for and that nobody can have anything of."""
    looked_at = [package for package in old.packages if scope.has_package(package.name)]
    channels = (
        {channel.name for package in looked_at for channel in package.channels} if scope.channels else ()
    )
    for kind, wanted, known in (
        ("package", scope.packages, old.by_name),
        ("channel", scope.channels, channels),
    ):
        for name in sorted(wanted):
            if name not in known:
                yield f"warning: OLD has no {kind} {name}: there is nobody to follow from there"


def _scope(request: Request, config: Config) -> Scope:
    policy = request.policy or config.policy or "both"
    policies: dict[str, tuple[ResolverName, ...]] = {"v0": ("v0",), "v1": ("v1",), "both": ("v0", "v1")}
    return Scope(
        packages=frozenset(request.packages or config.packages),
        channels=frozenset(request.channels or config.channels),
        resolvers=policies[policy],
    )


def _told(
    request: Request,
    found: Comparison | Matrix,
    inputs: Inputs,
    scope: Scope,
    names: Sequence[str],
    output: str,
) -> ComparisonReport | MatrixReport:
    common: dict[str, Any] = {
        "resolvers": scope.resolvers,
        "locate": inputs.locate,
        "show": Severity.NOTE if request.show_all else Severity.WARNING,
        "workspace": workspace(),
        "colour": output == "text" and request.output_file is None and wants_colour(sys.stdout, os.environ),
        "is_brief": request.quiet,
    }
    if isinstance(found, Matrix):
        return MatrixReport(matrix=found, catalogs=tuple(names), **common)
    return ComparisonReport(comparison=found, old=names[0], new=names[1], **common)


def _tell(request: Request, told: ComparisonReport | MatrixReport, output: str) -> None:
    """What goes elsewhere than into the report: GitHub's summary page, and standard error."""
    if output == "github":
        from everpath.reporters.comparison_markdown import table  # noqa: PLC0415 - only GitHub wants it

        append_step_summary(table(told, MAX_SUMMARY_ROWS))
    if request.output_file is not None and not request.quiet:
        click.echo(f"{told.summary} Written to {request.output_file}.", err=True)


def _exit_code(request: Request, found: Comparison | Matrix, unread: Sequence[UnreadPart]) -> ExitCode:
    for catalog, parts in Counter(part.catalog for part in unread).items():
        what = f"{count(parts, 'part')} of {catalog} could not be read"
        click.echo(f"warning: {what}; everpath validate-graph says which, and so does -o json", err=True)
    if unread:
        return ExitCode.UNREADABLE
    fails = (found.stranded or found.errors) and request.fail_on != "never"
    fails = fails or (found.changed_paths and request.fail_on == "different-path")
    return ExitCode.FINDINGS if fails else ExitCode.CLEAN


def _unread(names: Sequence[str], catalogs: Sequence[Catalog]) -> Iterator[UnreadPart]:
    for name, catalog in zip(names, catalogs, strict=True):
        yield from (UnreadPart(name, problem.place, problem.message) for problem in unreadable_parts(catalog))
