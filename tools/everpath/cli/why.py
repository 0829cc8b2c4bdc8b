"""`everpath why`: what OLM looked at for one installed version, what it refused and why, and what to edit."""

from __future__ import annotations

__all__ = ["why"]

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from everpath.cli import completers
from everpath.cli.asking import (
    Market,
    channel_list,
    named,
    range_warnings,
    refuse_foreign_options,
    version_range,
)
from everpath.cli.config import POLICIES, Config, load
from everpath.cli.inputs import Inputs, say_unread
from everpath.cli.options import (
    config_options,
    extension_options,
    one_name,
    one_package_option,
    progress_option,
    quiet_option,
    update_mode_option,
)
from everpath.cli.served import Served, served
from everpath.cli.terminal import ProgressLine, wants_colour
from everpath.cli.writing import write
from everpath.errors import ExitCode, UsageError
from everpath.explain import Question, explain
from everpath.graph import PackageGraph
from everpath.model import Catalog
from everpath.reporters.explanation import Told, document
from everpath.resolvers import PolicyName
from everpath.resolvers.extensions import Source
from everpath.simulate import Asked, Terms, released

if TYPE_CHECKING:
    from everpath.cli.live import Live

FORMATS: Final = ("text", "json")


class Request(NamedTuple):
    """The command line as it was given."""

    paths: tuple[str, ...]
    package: str | None
    channel: str | None
    installed: str | None
    policy: str | None
    fresh: bool
    starting_csv: str | None
    channel_list: str | None
    version_range: str
    upgrade_constraint_policy: str
    priorities: tuple[str, ...]
    output: str
    output_file: str | None
    default_update_mode: str | None
    config_file: str | None
    no_config: bool
    quiet: bool
    no_progress: bool
    live: bool
    namespace: str | None
    kubeconfig: str | None
    context: str | None


@click.command("why", short_help="Why does this version move, or not?")
@click.argument("paths", nargs=-1, metavar="[[NAME=]PATH[@PRIORITY]]...")
@one_package_option
@click.option(
    "-c",
    "--channel",
    "channel",
    metavar="NAME",
    callback=one_name,
    shell_complete=completers.channels,
    help="The channel that is followed.  [default: the default channel, or one that has what is installed]",
)
@click.option("--installed", metavar="NAME|VERSION", help="What runs on the cluster: a CSV or its version.")
@click.option("--fresh", is_flag=True, help="Nothing is installed yet.")
@click.option("--starting-csv", metavar="NAME", help="The same for a Subscription with this startingCSV.")
@click.option("--live", is_flag=True, help="Ask a cluster what its Subscription follows and has installed.")
@click.option("-n", "--namespace", metavar="NAME", callback=one_name, help="With --live: its namespace.")
@click.option("--kubeconfig", metavar="FILE", help="With --live: the configuration of kubectl.")
@click.option("--context", metavar="NAME", help="With --live: the context in it.")
@click.option("--policy", type=click.Choice(POLICIES), help="Whose decision.  [default: both]")
@extension_options
@click.option("-o", "--output", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option("--output-file", metavar="FILE", help="Write the answer there, whole or not at all.")
@update_mode_option
@config_options
@quiet_option
@progress_option
def why(**options: Any) -> int:
    """Why does OLM move this version, or not?

    What it looked at, in order; what it refused, and for what reason; what it takes; where the road
    ends; what to edit; and what only the cluster can tell, with the command that shows it. For OLM
    v0 (a Subscription) and OLM v1 (a ClusterExtension). What is installed need not be in the
    catalog. Several PATHs are the catalogs of one cluster.

    \b
    $ everpath why catalog/ -p searchkeeper --installed 0.1.1
    $ everpath why catalog/ -p searchkeeper -c candidate --installed searchkeeper.v0.1.1 --policy v0
    $ everpath why catalog/ -p searchkeeper --fresh
    $ everpath why catalog/ -p searchkeeper --live -n search
    $ everpath why redhat=a/@100 community=b/ -p searchkeeper --installed 0.1.1 -o json

    \b
    Exit codes:
      0  it arrives                           2  a wrong command line or configuration
      1  it stays behind, goes in a circle    3  input, or part of it, that cannot be read
         or fails, under some resolver
    """
    return _why(Request(**options))


def _why(request: Request) -> int:
    _refuse_contradictions(request)
    now = _live(request) if request.live else None
    if now is not None:
        request = _asked_by(request, now)
    config = load(request.config_file, wanted=not request.no_config)
    refuse_foreign_options(request, request.policy or config.policy)
    warnings = range_warnings(request.version_range)
    request = request._replace(version_range=version_range(request.version_range))
    catalogs = served(request.paths or config.paths, request.priorities)
    inputs = Inputs([catalog.path for catalog in catalogs], config, request.default_update_mode)
    with ProgressLine(sys.stderr, wanted=not (request.no_progress or request.quiet)) as progress:
        read = list(inputs.catalogs(progress))
        names = catalogs or served(inputs.chosen)
        inputs.verify([request.package] if request.package else (), channel_list(request.channel_list) or ())
        market = Market(names, read)
        sources = _sources(request, config, market, inputs)
        explanation = explain(sources, _question(request, config, sources), _by_name(names, read))
    colour = request.output_file is None and wants_colour(sys.stdout, os.environ)
    view = _view(request.output)
    told = Told(explanation, inputs.locate, colour, warnings, brief=request.quiet or request.live)
    if now is not None:
        view = _with_status(view, now, colour=colour, is_json=request.output == "json")
    write(view(told), request.output_file, machine=request.output == "json")
    return _exit_code(market, is_content=explanation.is_content)


def _refuse_contradictions(request: Request) -> None:
    """Raise UsageError for options that cannot be meant together, and for a question without a subject."""
    ways = {
        "--installed": request.installed is not None,
        "--fresh": request.fresh,
        "--starting-csv": request.starting_csv is not None,
    }
    given = [way for way, is_given in ways.items() if is_given]
    _refuse_deaf_options(request, given)
    if not given and not request.live:
        hint = "--installed NAME or --installed VERSION; --fresh if nothing is"
        raise UsageError("say what is installed", hint=hint)
    if len(given) > 1:
        hint = "something is installed, or nothing is"
        raise UsageError(f"{given[0]} and {given[1]} exclude each other", hint=hint)
    if any(name is not None and not name.strip() for name in (request.installed, request.starting_csv)):
        raise UsageError("an empty name is nothing to ask about", hint="give the name of a CSV, or a version")


def _refuse_deaf_options(request: Request, given: Sequence[str]) -> None:
    """Raise UsageError for what a cluster answers, or what only asking one has a use for."""
    if not request.live:
        for option in ("namespace", "kubeconfig", "context"):
            if getattr(request, option) is not None:
                raise UsageError(f"--{option} goes with --live", hint="add --live, or leave it out")
        return
    for option in (*given, *(["-c"] if request.channel else []), *(["--policy"] if request.policy else [])):
        raise UsageError(
            f"{option} and --live exclude each other", hint="the Subscription says what is asked"
        )


def _live(request: Request) -> Live:
    from everpath.cli.live import live  # noqa: PLC0415 - only who asks a cluster pays for it

    return live(request.package, request.namespace, request.kubeconfig, request.context)


def _asked_by(request: Request, now: Live) -> Request:
    """The question that a Subscription is."""
    return request._replace(
        package=now.package,
        channel=now.channel,
        installed=now.installed,
        starting_csv=now.starting,
        fresh=now.installed is None and now.starting is None,
        policy="v0",
    )


def _with_status(
    view: Callable[[Told], Iterator[str]], now: Live, *, colour: bool, is_json: bool
) -> Callable[[Told], Iterator[str]]:
    """What the cluster says, and then what the catalog does."""
    from everpath.olm.views import chain_data, status_text  # noqa: PLC0415
    from everpath.reporters.colour import Paint  # noqa: PLC0415

    def shown(told: Told) -> Iterator[str]:
        if is_json:
            yield from view(told._replace(live=chain_data(now.chain)))
            return
        yield from status_text(now.chain, Paint(colour))
        yield "\n"
        yield from view(told)

    return shown


def _by_name(names: Sequence[Served], read: Sequence[Catalog]) -> dict[str, Catalog]:
    return {one.name: catalog for one, catalog in zip(names, read, strict=True)}


def _sources(request: Request, config: Config, market: Market, inputs: Inputs) -> list[Source]:
    """Who offers the package: the one that is named, the only one, or the only one that has it installed."""
    wanted = [request.package] if request.package else list(config.packages)
    chosen = market.packages(wanted)
    if len(chosen) > 1 and (subject := request.installed or request.starting_csv) is not None:
        chosen = {p: s for p, s in chosen.items() if released(_graphs(s), subject, guess=False)} or chosen
    if not chosen:
        inputs.verify(wanted, ())
        raise inputs.no_package()
    if len(chosen) != 1:
        said = f"say which of {named(chosen)} is meant"
        raise UsageError(said, hint=f"-p NAME; {inputs.listing('packages')} lists them")
    return next(iter(chosen.values()))


def _graphs(sources: Sequence[Source]) -> list[PackageGraph]:
    return [source.package for source in sources if source.package is not None]


def _question(request: Request, config: Config, sources: Sequence[Source]) -> Question:
    graphs = _graphs(sources)
    asked = _asked(request.installed, graphs) if request.installed is not None else None
    policy = request.policy or config.policy or "both"
    policies: tuple[PolicyName, ...] = (
        ("v0",) if policy == "v0" else ("v1",) if policy == "v1" else ("v0", "v1")
    )
    channel = request.channel or (config.channels[0] if len(config.channels) == 1 else None)
    return Question(
        package=graphs[0].name,
        channel=channel or _usual_channel(graphs, asked.name if asked is not None else request.starting_csv),
        asked=asked,
        policies=policies,
        starting=request.starting_csv,
        terms=Terms(
            channels=channel_list(request.channel_list),
            version_range=request.version_range,
            self_certified=request.upgrade_constraint_policy == "SelfCertified",
        ),
    )


def _asked(text: str, graphs: Sequence[PackageGraph]) -> Asked:
    meant = released(graphs, text)
    if len(meant) > 1:
        names = ", ".join(sorted(one.name for one in meant))
        raise UsageError(f"{text} is the version of several: {names}", hint="--installed NAME says which")
    return meant[0]


def _usual_channel(graphs: Sequence[PackageGraph], name: str | None) -> str:
    """The default channel, unless it does not have what is installed and others do."""
    default = next((graph.package.default_channel for graph in graphs if graph.package.default_channel), "")
    holding = sorted({channel for graph in graphs for channel in graph.channels_by_entry.get(name or "", ())})
    if default and (default in holding or not holding):
        return default
    return next(iter(holding or sorted(name for graph in graphs for name in graph.by_name)), default)


def _view(output: str) -> Callable[[Told], Iterator[str]]:
    if output == "json":
        return document
    from everpath.reporters.explanation_text import text  # noqa: PLC0415

    return text


def _exit_code(market: Market, *, is_content: bool) -> int:
    if market.unread:
        say_unread(market.unread)
        return ExitCode.UNREADABLE
    return ExitCode.CLEAN if is_content else ExitCode.FINDINGS
