"""`everpath release`: cut a release, or withdraw one, and write everything that follows from it."""

from __future__ import annotations

__all__ = ["release"]

import difflib
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import click

from everpath.cli.changes import listed_changes
from everpath.cli.config import load
from everpath.cli.makers import makers
from everpath.cli.making import Project, frozen_digests, made
from everpath.cli.options import comma_list, config_options
from everpath.cli.placing import Placement, pending, place
from everpath.cli.project import file_option, open_project, pin_option, undisturbed, variant_package
from everpath.cli.remarks import tell_remarks
from everpath.cli.terminal import wants_colour
from everpath.cli.vetting import refused
from everpath.cli.writing import write
from everpath.compare import Change, ChangeKind, Comparison, compare
from everpath.drawing.scene import scenes
from everpath.errors import ExitCode, UsageError
from everpath.formats import positions
from everpath.formats.releases.editing import edited
from everpath.graph import ChannelGraph, PackageGraph
from everpath.model import Catalog, Package
from everpath.outputs.colour import Paint
from everpath.outputs.comparison import ToldComparison
from everpath.outputs.plain import count, printable
from everpath.policies import PolicyName
from everpath.releases.cutting import Wish, cut
from everpath.releases.edges import package
from everpath.releases.source import Variant
from everpath.rules.findings import Severity

_POLICIES: Final[tuple[PolicyName, ...]] = ("v0", "v1")


class _Request(NamedTuple):
    """The command line."""

    version: str
    file: str | None
    channels: tuple[str, ...]
    zstream: bool
    replaces: str | None
    skips: tuple[str, ...]
    skip_range: str | None
    withdraw: tuple[str, ...]
    reason: str | None
    min_kube_version: str | None
    pin: str | None
    dry_run: bool
    config_file: str | None
    no_config: bool
    verbose: bool
    quiet: bool

    @property
    def wish(self) -> Wish:
        """What is asked for. An empty option is an unset variable of a script, and must not mean none."""
        for option, value in (
            ("--replaces", self.replaces),
            ("--range", self.skip_range),
            ("--reason", self.reason),
            ("--min-kube-version", self.min_kube_version),
        ):
            if value is not None and not value.strip():
                raise UsageError(f"{option} is empty", hint="leave it out, or say something")
        if self.zstream and (self.replaces or self.skips or self.skip_range):
            raise UsageError(
                "--zstream works out what is replaced, skipped and covered",
                hint="leave out --replaces, --skips and --range, or --zstream",
            )
        if self.reason is not None and not self.withdraw:
            raise UsageError("--reason says why a release is withdrawn", hint="name it: --withdraw VERSION")
        return Wish(
            self.version,
            self.channels,
            self.zstream,
            self.replaces,
            self.skips,
            self.skip_range,
            self.withdraw,
            self.reason,
            self.min_kube_version,
        )


@click.command("release", short_help="Cut a release, or withdraw one.")
@click.argument("version")
@click.option(
    "-c",
    "--channel",
    "channels",
    metavar="NAME",
    multiple=True,
    callback=comma_list,
    help="Release into this channel, also what is out already; may be repeated.  "
    "[default: those of the release before it]",
)
@click.option("--zstream", is_flag=True, help="It stands in for every lower release of its X.Y.")
@click.option("--replaces", metavar="VERSION", help="What it replaces.  [default: the head of the channel]")
@click.option(
    "--skips", metavar="VERSION", multiple=True, callback=comma_list, help="What it skips; may be repeated."
)
@click.option("--range", "skip_range", metavar="RANGE", help="Which versions it covers: '>=1.2.0 <1.2.3'.")
@click.option(
    "--withdraw",
    metavar="VERSION",
    multiple=True,
    callback=comma_list,
    help="A release that nobody should install any more; may be repeated.",
)
@click.option("--reason", metavar="TEXT", help="Why it is withdrawn, as whoever runs it will read.")
@click.option("--min-kube-version", metavar="VERSION", help="The oldest Kubernetes it runs on.")
@pin_option
@file_option
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
@config_options
@click.option("-v", "--verbose", is_flag=True, help="List every file with --dry-run.")
@click.option("-q", "--quiet", is_flag=True, help="Show no graphs; only what is wrong, and what was written.")
def release(**options: Any) -> int:
    """Cut a release: edit releases.yaml, write bundle and catalog, show the graph before and after.

    The edit keeps every comment and the order of the file. The new catalog is compared with the old one for
    everybody who may have any version installed, under OLM v0 and v1: if somebody would be stranded, or if
    bundle validate or validate-graph would find an error, nothing is written. Bundles of earlier releases are
    frozen: their digests go into the file; they never change.

    \b
    $ everpath release 0.4.0                    # on top of the head, in the channels of the last one
    $ everpath release 0.3.2 --zstream          # stands in for all of 0.3, published or not
    $ everpath release 0.3.1 --withdraw 0.3.0 --reason 'loses shards when a pool shrinks'
    $ everpath release 0.4.0 --replaces 0.2.2 --skips 0.3.0,0.3.1
    $ everpath release 0.5.0 --channel candidate --dry-run
    $ everpath release 0.5.0 --channel stable   # it is out already: into one more channel

    \b
    Exit codes:
      0  written                             2  a wrong command line or source, a disk that is full
      1  somebody would be stranded, or      3  input that cannot be read
         an error would be written
    """
    return _release(_Request(**options))


def _pins(request: _Request, project: Project) -> str | None:
    """The file of digests as the source names it: from its own folder. What was pinned must stay so."""
    if request.pin is None:
        return None
    if not Path(request.pin).is_file():
        raise UsageError(f"--pin {request.pin}: there is no such file", hint="name a file of digests")
    return Path(os.path.relpath(request.pin, project.folder)).as_posix()


def _release(request: _Request) -> int:
    with undisturbed(open_project(request.file), writes=not request.dry_run):
        return _cut(request, open_project(request.file))


def _cut(request: _Request, old: Project) -> int:
    content = old.file.read_bytes()
    config = load(request.config_file, wanted=not request.no_config)
    wanted = cut(old.source, request.wish._replace(pins=_pins(request, old)), frozen_digests(old))
    new_content = edited(content, wanted.edits, str(old.file))
    new = open_project(str(old.file), new_content)
    steps = [_step(old, new, variant) for variant in new.source.variants]
    reasons = dict.fromkeys(reason for step in steps for reason in _objections(step.comparison))
    # Made before anything is told: an error should not stand below pages of graphs.
    result = None if reasons else made(new, makers())
    lines = (line for step in steps for line in _told(request, new, step))
    write(lines, None, machine=False)
    if result is None:
        click.echo(f"error: {' and '.join(reasons)}; nothing was written", err=True)
        return ExitCode.FINDINGS
    if refused(new, result, config):
        return ExitCode.FINDINGS
    tell_remarks(new, result)
    placement = result.placement._replace(files={**result.placement.files, new.file: new_content})
    if request.dry_run:
        write(_planned(request, old, (content, new_content), placement), None, machine=False)
        return ExitCode.CLEAN
    done = place(placement)
    click.echo(f"{old.source.package} {request.version}: {count(len(done), 'file')} written.", err=True)
    return ExitCode.CLEAN


class _Step(NamedTuple):
    """One catalog before and after."""

    variant: Variant
    old: Package
    new: Package
    comparison: Comparison


def _step(old: Project, new: Project, variant: Variant) -> _Step:
    """A catalog that is new has nobody to strand: it is compared with itself as it would have been before."""
    before, after = variant_package(old, variant), package(new.source, variant)
    # What is published says more of a bundle than the source, and some of it keeps OLM from installing it.
    known = before.by_name
    after = replace(after, bundles=tuple(known.get(b.name, b) for b in after.bundles))
    comparison = compare(Catalog("old", (before,)), Catalog("new", (after,)))
    return _Step(variant, before, after, comparison)


def _objections(comparison: Comparison) -> Iterator[str]:
    """Why a release is refused, if it is."""
    if comparison.stranded or comparison.errors:
        yield "somebody would be stranded"
    if any(change.kind is ChangeKind.REFUSED for change in comparison.changes):
        yield "opm would refuse the catalog"


def _told(request: _Request, new: Project, step: _Step) -> Iterator[str]:
    """The channels that change, before and after, and what that does to whom."""
    paint = Paint(wants_colour(sys.stdout, os.environ))
    catalog = f" of {step.variant.name}" if step.variant.name else ""
    if not request.quiet:
        changed = _changed(step)
        for word, whole in (("before", step.old), ("after", step.new)):
            graphs = [graph for graph in PackageGraph(whole).channels if graph.name in changed]
            if graphs:
                if step.old.channels:
                    yield f"{paint('cyan', f'{word}{catalog}')}\n\n"
                yield from _drawn(graphs, colour=paint.on)
                yield "\n"
    if not step.old.channels:
        return
    from everpath.outputs import comparison_text  # noqa: PLC0415 - beside the view of the graph

    yield from comparison_text.render(
        ToldComparison(
            policies=_POLICIES,
            locate=lambda place: positions.locate(place, new.sources),
            show=Severity.WARNING,
            colour=paint.on,
            brief=request.quiet,
            comparison=replace(step.comparison, changes=_worth_telling(request, step.comparison)),
            old=f"the catalog{catalog}",
            new=f"the new catalog{catalog}",
        )
    )


def _worth_telling(request: _Request, comparison: Comparison) -> tuple[Change, ...]:
    """Who is hurt or surprised. Other roads are no surprise where that is what the release is for."""
    is_meant = {ChangeKind.ROAD} if request.zstream or request.withdraw else set()
    told = (change for change in comparison.changes if change.severity >= Severity.WARNING)
    return tuple(change for change in told if change.kind not in is_meant)


def _changed(step: _Step) -> set[str]:
    def edges(whole: Package) -> dict[str, object]:
        return {
            c.name: {e.name: (e.replaces, e.skips, e.skip_range) for e in c.entries} for c in whole.channels
        }

    old, new = edges(step.old), edges(step.new)
    return {name for name in {*old, *new} if old.get(name) != new.get(name)}


def _drawn(graphs: Sequence[ChannelGraph], *, colour: bool) -> Iterator[str]:
    from everpath.outputs import tree_text  # noqa: PLC0415

    return tree_text.render(scenes(graphs, ()), colour=colour)


def _planned(
    request: _Request, project: Project, texts: tuple[bytes, bytes], placement: Placement
) -> Iterator[str]:
    """The difference in the source, and the other files by name."""
    name = str(project.file)
    before, after = (text.decode(errors="replace").splitlines() for text in texts)
    yield "\n"
    for line in difflib.unified_diff(before, after, name, name, lineterm=""):
        yield f"{printable(line)}\n"
    yield "\n"
    due = [(what, path) for what, path in pending(placement) if path != project.file]
    yield from listed_changes(project, due, each=request.verbose)
    yield "Nothing was written: --dry-run.\n"
