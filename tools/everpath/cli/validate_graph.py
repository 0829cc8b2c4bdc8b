"""`everpath validate-graph`: the invariant, for everyone on any version."""

from __future__ import annotations

__all__ = ["validate_graph"]

import sys
import time
from typing import Any, NamedTuple

import click

from everpath.cli.config import POLICIES, Config, load
from everpath.cli.inputs import Inputs
from everpath.cli.judging import judgements
from everpath.cli.options import (
    channel_option,
    package_option,
    update_mode_option,
)
from everpath.cli.reporting import outcome_of, output_format, report_options, selected, tell_report, today
from everpath.cli.terminal import ProgressLine
from everpath.rules.check import GRAPH, DefinitionsOf, Selection, concluded
from everpath.rules.registry import find_rules


class Request(NamedTuple):
    """The command line as it was given; None and empty mean that the configuration decides."""

    paths: tuple[str, ...]
    packages: tuple[str, ...]
    channels: tuple[str, ...]
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    fail_on: str | None
    policy: str | None
    output: str | None
    output_file: str | None
    show: str | None
    config_file: str | None
    no_config: bool
    statistics: bool
    thorough: bool
    bundles: tuple[str, ...]
    default_update_mode: str | None
    quiet: bool
    verbose: bool
    no_progress: bool
    jobs: int | None


@click.command("validate-graph", short_help="Is this catalog safe for everyone on any version of it?")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@package_option
@channel_option
@click.option("--policy", type=click.Choice(POLICIES), help="Whose users to think of.  [default: both]")
@click.option("--thorough", is_flag=True, help="Parse every byte, also where a glance would do.")
@click.option(
    "--bundles",
    metavar="DIR",
    multiple=True,
    help="Where the bundles' folders are: compare the CRDs of each two releases OLM moves between.",
)
@update_mode_option
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1, 64),
    metavar="N",
    help="Judge with this many processes.  [default: one a processor, at most 4, if there is much to read]",
)
@report_options
def validate_graph(**options: Any) -> int:
    """Is this catalog safe for everyone who runs any version of it?

    A PATH is a file-based catalog (a folder, a file, or - for standard input), a bundle folder, an
    operators repository, a package-manifest folder, or an image of a catalog or a bundle
    (quay.io/me/catalog:v1, oci:FOLDER, oci-archive:FILE). Several are judged one by one. Without
    one: the configured paths, or catalog/, or the current folder.

    \b
    $ everpath validate-graph catalog/ --select fork
    package op, channel stable: 1 error

    \b
    error[EP203 fork]: op.v1: op.v2 and op.v3 both replace it
      --> catalog/op.yaml:14:3
       |
    14 | - name: op.v1
       |   ^^^^^^^^^^^
       = because: op.v3 replaces op.v1
                  op.v2 replaces op.v1
       = fix: add op.v2 to the skips of op.v3

    \b
    1 error in 2 packages, 3 channels and 12 entries.

    \b
    $ everpath validate-graph operators/ -o concise --fail-on warning
    $ everpath validate-graph catalog/ --bundles bundles/
    $ opm render quay.io/me/catalog:latest | everpath validate-graph - -p me
    $ everpath validate-graph catalog/ -o sarif --output-file everpath.sarif

    \b
    Exit codes:
      0  no finding at or above --fail-on     3  input, or part of it, that cannot be read
      1  some finding at or above --fail-on   4  a registry that does not answer
      2  a wrong command line or configuration
    """
    return _validate(Request(**options))


def _validate(request: Request) -> int:
    began = time.perf_counter()
    config = load(request.config_file, wanted=not request.no_config)
    selection = _selection(request, config)
    inputs = Inputs(request.paths, config, request.default_update_mode, request.thorough)
    output = output_format(request, config)
    with ProgressLine(sys.stderr, wanted=not (request.no_progress or request.quiet)) as progress:
        judged = judgements(inputs, selection, request.jobs, progress, _definitions(request))
        report = concluded(judged, selection, waivers=config.waivers, today=today())
    inputs.refuse_missed(all_of_them=True)
    # What was asked for may be in what could not be read, which is told anyway.
    if not report.unreadable and not inputs.missed:
        inputs.verify(selection.packages, selection.channels)
    outcome = outcome_of(request, config, report, inputs.locate, selection.subjects, "validate-graph")
    code = tell_report(request, config, outcome, output, began)
    inputs.refuse_missed()
    return code


def _selection(request: Request, config: Config) -> Selection:
    policy = request.policy or config.policy
    subjects = GRAPH | {"upgrade"} if request.bundles else GRAPH
    return Selection(
        rules=selected(request.select, config.select, subjects),
        ignored=find_rules(request.ignore or config.ignore),
        packages=frozenset(request.packages or config.packages),
        channels=frozenset(request.channels or config.channels),
        policy="v0" if policy == "v0" else "v1" if policy == "v1" else None,
        subjects=subjects,
    )


def _definitions(request: Request) -> DefinitionsOf | None:
    if not request.bundles:
        return None
    from everpath.formats.bundles.definitions import definitions_below  # noqa: PLC0415 - rarely asked for

    return definitions_below(request.bundles)
