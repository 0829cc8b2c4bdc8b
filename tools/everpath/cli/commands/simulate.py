"""`everpath simulate`: what OLM does to every installed version, hop by hop."""

from __future__ import annotations

__all__ = ["simulate"]

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any, Final, NamedTuple

import click

from everpath.app.catalog_set import CatalogSet, find_installed, with_entry
from everpath.app.config import POLICIES, Config, load
from everpath.app.inputs import Inputs
from everpath.app.served_catalogs import parse_served_catalogs
from everpath.cli.options import (
    channel_option,
    comma_list,
    config_options,
    package_option,
    progress_option,
    quiet_option,
    update_mode_option,
)
from everpath.cli.output import print_message, warn_unread, write_output
from everpath.cli.resolver_options import (
    extension_options,
    parse_channel_list,
    parse_version_range,
    range_warnings,
    reject_options_of_other_resolver,
)
from everpath.cli.terminal import ProgressLine, wants_colour
from everpath.errors import ExitCode, UsageError
from everpath.model import OpmError
from everpath.reporters.simulation import Simulation, csv, document
from everpath.resolvers import ResolverName
from everpath.rules.opm_errors import opm_errors
from everpath.simulate import ChannelResult, ClusterExtensionOptions, Scenario, simulate_package
from everpath.upgrade_paths import PathEnd

FORMATS: Final = ("text", "json", "csv")
_ENDS: Final = tuple(end.value for end in PathEnd if end is not PathEnd.HEAD)


class Request(NamedTuple):
    """The command line as it was given."""

    paths: tuple[str, ...]
    packages: tuple[str, ...]
    channels: tuple[str, ...]
    installed: str | None
    policy: str | None
    fresh: bool
    starting_csv: str | None
    approval: str
    switch: bool
    to_channels: tuple[str, ...]
    channel_list: str | None
    version_range: str
    upgrade_constraint_policy: str
    priorities: tuple[str, ...]
    fail_on: tuple[str, ...]
    output: str
    output_file: str | None
    default_update_mode: str | None
    config_file: str | None
    no_config: bool
    quiet: bool
    no_progress: bool


@click.command("simulate", short_help="Simulate the upgrades of every installed version.")
@click.argument("paths", nargs=-1, metavar="[[NAME=]PATH[@PRIORITY]]...")
@package_option
@channel_option
@click.option("--installed", metavar="NAME|VERSION", help="Only for a cluster that runs this.")
@click.option("--policy", type=click.Choice(POLICIES), help="Whose decisions.  [default: both]")
@click.option("--fresh", is_flag=True, help="What a new Subscription or ClusterExtension gets.")
@click.option("--starting-csv", metavar="NAME", help="The same for a Subscription with this startingCSV.")
@click.option(
    "--approval",
    type=click.Choice(["Automatic", "Manual"]),
    default="Automatic",
    show_default=True,
    help="Manual: list the InstallPlans that wait to be approved.",
)
@click.option("--switch", is_flag=True, help="From every version into every other channel.")
@click.option(
    "--to-channel",
    "to_channels",
    metavar="NAME",
    multiple=True,
    callback=comma_list,
    help="With --switch: into this channel only; may be repeated.",
)
@extension_options
@click.option(
    "--fail-on",
    metavar="ENDS",
    multiple=True,
    callback=comma_list,
    help=f"Exit with 1 if a walk ends so: {', '.join(_ENDS)}.",
)
@click.option("-o", "--output", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option("--output-file", metavar="FILE", help="Write the answers there, whole or not at all.")
@update_mode_option
@config_options
@quiet_option
@progress_option
def simulate(**options: Any) -> int:
    """What will OLM do to a cluster on any version?

    For every entry of every channel: the next hop, the whole walk, and where it ends, under OLM v0
    (a Subscription) and OLM v1 (a ClusterExtension with that channel) side by side. Several PATHs
    are the catalogs of one cluster. Without one: the configured paths, or catalog/, or the current
    folder.

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
    $ everpath simulate catalog/ -o json --output-file walks.json

    \b
    Exit codes:
      0  answered                             2  a wrong command line or configuration
      1  a walk ends as --fail-on says        3  input, or part of it, that cannot be read
    """
    return _simulate(Request(**options))


def _simulate(request: Request) -> int:
    config = load(request.config_file, wanted=not request.no_config)
    scenario = _scenario(request, config)
    catalogs = parse_served_catalogs(request.paths or config.paths, request.priorities)
    inputs = Inputs([catalog.path for catalog in catalogs], config, request.default_update_mode)
    with ProgressLine(sys.stderr, wanted=not (request.no_progress or request.quiet)) as progress:
        market = CatalogSet(catalogs or parse_served_catalogs(inputs.chosen), list(inputs.catalogs(progress)))
        packages = request.packages or config.packages
        inputs.verify_names(
            packages, [*scenario.channels, *scenario.targets, *(scenario.options.channels or ())]
        )
        answers = list(_answers(request, scenario, market, packages))
    if not market.unread:
        _refuse_silence(request, answers)
    simulation = Simulation(
        answers,
        scenario,
        catalogs=market.names,
        is_manual=request.approval == "Manual",
        with_full_paths=request.installed is not None,
        is_brief=request.quiet,
        colour=request.output_file is None and wants_colour(sys.stdout, os.environ),
        warnings=range_warnings(request.version_range),
        opm_errors=tuple(_opm_errors(market, answers)) if request.output != "csv" else (),
    )
    write_output(_view(request.output)(simulation), request.output_file, machine=request.output != "text")
    return _exit_code(request, simulation, market)


def _scenario(request: Request, config: Config) -> Scenario:
    policy = request.policy or config.policy or "both"
    _refuse_contradictions(request, policy)
    policies: tuple[ResolverName, ...] = (
        ("v0",) if policy == "v0" else ("v1",) if policy == "v1" else ("v0", "v1")
    )
    return Scenario(
        resolvers=policies,
        channels=frozenset(request.channels or config.channels),
        new_install=request.fresh,
        starting_csv=request.starting_csv,
        is_switch=request.switch or bool(request.to_channels),
        targets=frozenset(request.to_channels),
        options=ClusterExtensionOptions(
            channels=parse_channel_list(request.channel_list),
            version_range=parse_version_range(request.version_range),
            self_certified=request.upgrade_constraint_policy == "SelfCertified",
        ),
    )


def _refuse_contradictions(request: Request, policy: str) -> None:
    """Raise UsageError for options that cannot be meant together."""
    ways = {
        "--installed": request.installed is not None,
        "--fresh": request.fresh,
        "--starting-csv": request.starting_csv is not None,
    }
    for one, other in combinations([way for way, given in ways.items() if given], 2):
        raise UsageError(
            f"{one} and {other} exclude each other", hint="something is installed, or nothing is"
        )
    nothing = "--fresh" if request.fresh else "--starting-csv" if request.starting_csv is not None else None
    if nothing is not None and (request.switch or request.to_channels):
        raise UsageError(
            f"{nothing} and --switch exclude each other", hint="who switches has something installed"
        )
    if request.channel_list is not None and (request.switch or request.to_channels or request.channels):
        raise UsageError("--channels takes the place of -c and --switch", hint="leave them out")
    if policy == "v1" and request.approval == "Manual":
        raise UsageError("--approval Manual is for OLM v0", hint="OLM v1 has no approvals; leave it out")
    hint = "leave out --policy v0" if request.policy else "the configuration says v0; add --policy v1"
    reject_options_of_other_resolver(
        policy=policy,
        starting_csv=request.starting_csv,
        channel_list=request.channel_list,
        version_range=request.version_range,
        upgrade_constraint_policy=request.upgrade_constraint_policy,
        hint=hint,
    )
    if any(name is not None and not name.strip() for name in (request.installed, request.starting_csv)):
        raise UsageError("an empty name is nothing to ask about", hint="give the name of a CSV, or a version")
    for end in request.fail_on:
        if end not in _ENDS:
            raise UsageError(f"no walk ends in {end!r}", hint=f"--fail-on takes {', '.join(_ENDS)}")


def _answers(
    request: Request, scenario: Scenario, market: CatalogSet, wanted: Sequence[str]
) -> Iterator[ChannelResult]:
    chosen = market.packages(wanted)
    asked = (
        find_installed(
            request.installed,
            chosen,
            warn=None if request.quiet else print_message,
            unread=market.unread,
        )
        if request.installed is not None
        else None
    )
    if request.starting_csv is not None:
        chosen = with_entry(request.starting_csv, chosen, market.unread)
    for name, sources in chosen.items():
        if asked is None or name in asked:
            only = asked[name] if asked is not None else None
            yield from simulate_package(sources, scenario, only, with_catalog_names=bool(market.names))


def _opm_errors(
    market: CatalogSet, answers: Sequence[ChannelResult]
) -> Iterator[tuple[str | None, OpmError]]:
    """Yield the errors of opm in every simulated package, with its catalog if there are several."""
    packages = [(result.catalog, result.graph.package) for result in answers if result.graph is not None]
    joint = dict.fromkeys(result.package for result in answers if result.graph is None)
    packages += (
        (source.name if market.names else None, source.package.package)
        for name in joint
        for source in market.packages([name])[name]
        if source.package is not None
    )
    for (catalog, _), package in {(catalog, id(package)): package for catalog, package in packages}.items():
        yield from ((catalog, error) for error in opm_errors(package))


def _refuse_silence(request: Request, answers: Sequence[ChannelResult]) -> None:
    """Raise UsageError where a question, or a gate, would be answered with nothing."""
    switching = request.switch or bool(request.to_channels)
    asked = switching or request.fresh or request.installed is not None or request.starting_csv is not None
    if any(sheet.installed for sheet in answers) or not (asked or request.fail_on):
        return
    if switching:
        hint = "to switch, somebody must be in a channel other than the one that is joined"
    else:
        hint = "there is no channel, or none with an entry; everpath validate-graph says what is missing"
    raise UsageError("there is nobody to simulate", hint=hint)


def _view(output: str) -> Callable[[Simulation], Iterator[str]]:
    if output == "text":
        from everpath.reporters.simulation_text import text  # noqa: PLC0415

        return text
    return document if output == "json" else csv


def _exit_code(request: Request, simulation: Simulation, market: CatalogSet) -> int:
    if market.unread:
        warn_unread(market.unread)
        return ExitCode.UNREADABLE
    failing = any(row.end.value in request.fail_on for row in simulation.paths) if request.fail_on else False
    return ExitCode.FINDINGS if failing else ExitCode.CLEAN
