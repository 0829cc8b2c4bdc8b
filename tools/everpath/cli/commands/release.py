"""`everpath release`: cut a release, or withdraw one, and write everything that follows from it."""

from __future__ import annotations

__all__ = ["release"]

import difflib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from everpath.app.config import Config, load
from everpath.app.project import Project
from everpath.cli import release_steps
from everpath.cli.changes import ReleaseState, listed_changes, release_document
from everpath.cli.makers import makers
from everpath.cli.making import Made, frozen_digests, made
from everpath.cli.options import comma_list, config_options
from everpath.cli.output import write_output
from everpath.cli.placing import Placement, pending, place
from everpath.cli.project import file_option, open_project, pin_option, undisturbed
from everpath.cli.release_steps import Step, reasons_against
from everpath.cli.remarks import tell_remarks
from everpath.cli.vetting import objections, refused
from everpath.errors import ExitCode, UsageError
from everpath.loaders.releases.editing import edit_releases
from everpath.releases.release_plan import ReleaseRequest, plan_release
from everpath.reporters.formatting import count, printable


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
    output: str
    config_file: str | None
    no_config: bool
    verbose: bool
    quiet: bool

    @property
    def wish(self) -> ReleaseRequest:
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
        return ReleaseRequest(
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
@click.option(
    "-o",
    "--output",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="For people, or for programs.",
)
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
    wanted = plan_release(old.source, request.wish._replace(pins=_pins(request, old)), frozen_digests(old))
    new_content = edit_releases(content, wanted.edits, str(old.file))
    new = open_project(str(old.file), new_content)
    steps = [release_steps.step(old, new, variant) for variant in new.source.variants]
    reasons = dict.fromkeys(reason for step in steps for reason in reasons_against(step.comparison))
    # Made before anything is told: an error should not stand below pages of graphs.
    result = None if reasons else made(new, makers())
    if request.output == "json":
        return _as_json(_Outcome(request, new, steps, list(reasons), result, new_content), config)
    is_meant = request.zstream or bool(request.withdraw)
    lines = (
        line
        for step in steps
        for line in release_steps.told(step, is_quiet=request.quiet, roads_are_meant=is_meant)
    )
    write_output(lines, None, machine=False)
    if result is None:
        click.echo(f"error: {' and '.join(reasons)}; nothing was written", err=True)
        return ExitCode.FINDINGS
    if refused(new, result, config):
        return ExitCode.FINDINGS
    tell_remarks(new, result)
    placement = _whole(result, new, new_content)
    if request.dry_run:
        write_output(_planned(request, old, (content, new_content), placement), None, machine=False)
        return ExitCode.CLEAN
    done = place(placement)
    click.echo(f"{old.source.package} {request.version}: {count(len(done), 'file')} written.", err=True)
    return ExitCode.CLEAN


def _whole(result: Made, new: Project, content: bytes) -> Placement:
    """What was made, and the source itself."""
    return result.placement._replace(files={**result.placement.files, new.file: content})


class _Outcome(NamedTuple):
    """A release that was worked out; without a result where somebody would be stranded."""

    request: _Request
    new: Project
    steps: Sequence[Step]
    reasons: list[str]
    result: Made | None
    content: bytes


def _as_json(outcome: _Outcome, config: Config) -> int:
    """Carried out, or not, and told as one JSON object."""
    from everpath.reporters.json_report import findings  # noqa: PLC0415

    request, new, result = outcome.request, outcome.new, outcome.result
    placement = _whole(result, new, outcome.content) if result else Placement({})
    due = list(pending(placement))
    found = list(objections(new, result, config, findings)) if result else []
    state: ReleaseState = "refused" if found or not result else "planned" if request.dry_run else "written"
    if result and not found:
        tell_remarks(new, result)
    if state == "written":
        place(placement)
    head = {"release": request.version, "state": state, "reasons": outcome.reasons}
    document = release_document(new, head, due, found, release_steps.as_json(outcome.steps))
    write_output(document, None, machine=True)
    return ExitCode.FINDINGS if state == "refused" else ExitCode.CLEAN


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
