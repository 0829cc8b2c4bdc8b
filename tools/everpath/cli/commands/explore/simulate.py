"""`everpath simulate`: the upgrade path of every installed version."""

from __future__ import annotations

__all__ = ["simulate"]

from typing import Final

import click

from everpath.app.config.config import selected_resolvers
from everpath.app.inputs.served_catalogs import parse_served_catalogs
from everpath.app.simulate import SimulationResult
from everpath.app.simulate import simulate as run_simulation
from everpath.cli.options.common import (
    InputOptions,
    OutputOptions,
    channel_option,
    comma_list,
    input_options,
    olm_option,
    one_name,
    output_options,
    package_option,
    quiet_option,
)
from everpath.cli.options.resolver import (
    ClusterExtensionArguments,
    cluster_extension_options,
    priority_option,
    reject_options_of_other_resolver,
)
from everpath.cli.output import print_notes, print_warnings, warn_unread
from everpath.errors import ExitCode, UsageError
from everpath.reporters.simulation.report import FORMATS, SimulationReport, render
from everpath.simulate import Scenario
from everpath.upgrade_path.hops import PathEnd

_ENDS: Final = tuple(end.value for end in PathEnd if end is not PathEnd.HEAD)

_EXCLUSIVE_OPTIONS: Final = (
    ("--installed", "--fresh"),
    ("--installed", "--starting-csv"),
    ("--fresh", "--starting-csv"),
    ("--fresh", "--switch"),
    ("--starting-csv", "--switch"),
    ("--channels", "--channel"),
    ("--channels", "--switch"),
)


def _parse_ends(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> frozenset[PathEnd]:
    names = comma_list(ctx, param, values)
    for name in names:
        if name not in _ENDS:
            raise UsageError(f"--fail-on {name!r} is not an end of a path", hint=f"use {', '.join(_ENDS)}")
    return frozenset(map(PathEnd, names))


@click.command("simulate", short_help="Simulate the upgrades of every installed version.")
@click.argument("paths", nargs=-1, metavar="[[NAME=]PATH[@PRIORITY]]...")
@package_option
@channel_option
@click.option(
    "--installed",
    metavar="NAME|VERSION",
    callback=one_name,
    help="Only this installed CSV or version; it need not be in a catalog.",
)
@olm_option
@click.option("--fresh", is_flag=True, help="Simulate a new Subscription or ClusterExtension.")
@click.option(
    "--starting-csv",
    metavar="NAME",
    callback=one_name,
    help="Simulate a new Subscription with this startingCSV.",
)
@click.option(
    "--approval",
    type=click.Choice(["Automatic", "Manual"]),
    default="Automatic",
    show_default=True,
    help="InstallPlan approval; Manual lists the InstallPlans.",
)
@click.option("--switch", is_flag=True, help="Simulate a switch from every version to every other channel.")
@click.option(
    "--to-channel",
    "to_channels",
    metavar="NAME",
    multiple=True,
    callback=comma_list,
    help="Simulate a switch to this channel; may be repeated.",
)
@cluster_extension_options
@priority_option
@click.option(
    "--fail-on",
    metavar="ENDS",
    multiple=True,
    callback=_parse_ends,
    help=f"Exit with 1 if a path has one of these ends: {', '.join(_ENDS)}.",
)
@output_options(*FORMATS)
@quiet_option
@input_options
def simulate(  # noqa: PLR0913 - a parameter for each option
    *,
    paths: tuple[str, ...],
    packages: tuple[str, ...],
    channels: tuple[str, ...],
    installed: str | None,
    olm: str | None,
    fresh: bool,
    starting_csv: str | None,
    approval: str,
    switch: bool,
    to_channels: tuple[str, ...],
    extension: ClusterExtensionArguments,
    priorities: tuple[str, ...],
    fail_on: frozenset[PathEnd],
    output: OutputOptions,
    quiet: bool,
    loading: InputOptions,
) -> int:
    """Simulate the upgrades of every installed version.

    Shows for every entry of every channel the hops of its upgrade path and where it ends, under OLM v0
    (a Subscription) and OLM v1 (a ClusterExtension with that channel). Several PATHs are the catalogs
    of one cluster. Default: the paths of the configuration, or catalog/, or the current folder.

    \b
    $ everpath simulate catalog/ -p searchkeeper -c stable
    package searchkeeper, channel stable (default): 4 entries, head searchkeeper.v0.2.2

    \b
      INSTALLED            OLM v0               OLM v1
      searchkeeper.v0.2.2  stays: head          the same
      searchkeeper.v0.2.1  0.2.2: head          the same
      searchkeeper.v0.1.1  0.2.2: head          the same
      searchkeeper.v0.1.0  0.1.1 → 0.2.2: head  the same

    \b
    8 upgrade paths in 1 channel; OLM v0: 4 reach the head; OLM v1: 4 reach the head; no difference.

    \b
    $ everpath simulate catalog/ -p searchkeeper --installed 0.1.1
    $ everpath simulate catalog/ --fresh
    $ everpath simulate catalog/ --starting-csv searchkeeper.v0.1.0 --approval Manual
    $ everpath simulate catalog/ --switch --to-channel candidate
    $ everpath simulate catalog/ --version-range '0.2.x' --channels stable,candidate
    $ everpath simulate redhat=a/@100 community=b/ -p searchkeeper
    $ everpath simulate catalog/ -o json --output-file paths.json

    \b
    Exit codes:
      0  simulated                            2  invalid options or configuration
      1  a path ends as --fail-on names       3  input that cannot be read, or only in part
    """
    config = loading.load_config()
    scenario = Scenario(
        resolvers=selected_resolvers(olm or config.olm),
        channels=frozenset(channels or config.channels),
        new_install=fresh,
        starting_csv=starting_csv,
        is_switch=switch or bool(to_channels),
        targets=frozenset(to_channels),
    )
    given = {
        "--installed": installed is not None,
        "--fresh": fresh,
        "--starting-csv": starting_csv is not None,
        "--switch": scenario.is_switch,
        "--channels": extension.channel_list is not None,
        "--channel": bool(channels),
    }
    for first, second in _EXCLUSIVE_OPTIONS:
        if given[first] and given[second]:
            raise UsageError(f"{first} and {second} exclude each other", hint="leave one of them out")
    if scenario.resolvers == ("v1",) and approval == "Manual":
        raise UsageError("--approval Manual is for OLM v0", hint="OLM v1 has no approvals; leave it out")
    reject_options_of_other_resolver(
        extension,
        olm=olm or config.olm,
        starting_csv=starting_csv,
        hint="leave out --olm v0" if olm else "the configuration selects v0; add --olm v1",
    )
    scenario = scenario._replace(options=extension.parse())
    print_warnings(extension.warnings)
    catalogs = parse_served_catalogs(paths or config.paths, priorities)
    with output.progress_line(quiet=quiet) as progress:
        result = run_simulation(
            loading.inputs([catalog.path for catalog in catalogs], config),
            scenario,
            catalogs=catalogs,
            packages=packages or config.packages,
            installed=installed,
            progress=progress,
        )
    if not quiet:
        print_notes(result.notes)
    # A check must not pass because there was nothing to simulate.
    if fail_on or any(given[o] for o in ("--installed", "--fresh", "--starting-csv", "--switch")):
        _require_paths(result, scenario)
    report = SimulationReport(
        result.channels,
        scenario,
        catalogs=result.catalogs.names,
        is_manual=approval == "Manual",
        with_full_paths=installed is not None,
        is_brief=quiet,
        colour=output.colour,
        warnings=extension.warnings,
        opm_errors=result.opm_errors if output.format != "csv" else (),
    )
    output.write(render(report, output.format))
    if result.catalogs.unread:
        warn_unread(result.catalogs.unread)
        return ExitCode.UNREADABLE
    return ExitCode.FINDINGS if any(path.end in fail_on for path in result.paths) else ExitCode.CLEAN


def _require_paths(result: SimulationResult, scenario: Scenario) -> None:
    """Raise UsageError if there is no path, unless parts of the input could not be read."""
    if result.catalogs.unread or any(channel.installed for channel in result.channels):
        return
    if scenario.is_switch:
        hint = "a switch needs an installed version in another channel"
    else:
        hint = "no channel has an entry; everpath validate-graph reports what is missing"
    raise UsageError("there is nothing to simulate", hint=hint)
