"""`everpath why`: explain what OLM does with one installed version, and which edits would change that."""

from __future__ import annotations

__all__ = ["why"]

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from everpath.app.catalog_set import CatalogSet, package_count
from everpath.app.config import POLICIES, Config, load
from everpath.app.explain import default_channel
from everpath.app.inputs import Inputs
from everpath.app.served_catalogs import ServedCatalog, parse_served_catalogs
from everpath.cli import completion
from everpath.cli.options import (
    config_options,
    one_name,
    one_package_option,
    progress_option,
    quiet_option,
    update_mode_option,
)
from everpath.cli.output import warn_unread, write_output
from everpath.cli.resolver_options import (
    extension_options,
    parse_channel_list,
    parse_version_range,
    range_warnings,
    reject_options_of_other_resolver,
)
from everpath.cli.terminal import ProgressLine, wants_colour
from everpath.errors import ExitCode, UsageError
from everpath.explain import ExplainQuery, explain
from everpath.graph import PackageGraph
from everpath.model import Catalog
from everpath.reporters.explanation_json import ExplanationReport, document
from everpath.resolvers import ResolverName
from everpath.resolvers.cluster_extension import ClusterCatalog
from everpath.simulate import ClusterExtensionOptions, InstalledVersion, find_installed

if TYPE_CHECKING:
    from everpath.cli.live import LiveSubscription

FORMATS: Final = ("text", "json")


class WhyOptions(NamedTuple):
    """The options of `everpath why`."""

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


@click.command("why", short_help="Explain why OLM upgrades a version, or not.")
@click.argument("paths", nargs=-1, metavar="[[NAME=]PATH[@PRIORITY]]...")
@one_package_option
@click.option(
    "-c",
    "--channel",
    "channel",
    metavar="NAME",
    callback=one_name,
    shell_complete=completion.channels,
    help="Channel of the Subscription.  [default: the default channel, or one with the installed version]",
)
@click.option("--installed", metavar="NAME|VERSION", help="The installed CSV or its version.")
@click.option("--fresh", is_flag=True, help="Nothing is installed.")
@click.option(
    "--starting-csv", metavar="NAME", help="Nothing is installed; the Subscription has this startingCSV."
)
@click.option(
    "--live", is_flag=True, help="Read channel and installed version from the Subscription on a cluster."
)
@click.option(
    "-n", "--namespace", metavar="NAME", callback=one_name, help="With --live: namespace of the Subscription."
)
@click.option("--kubeconfig", metavar="FILE", help="With --live: path of the kubeconfig.")
@click.option("--context", metavar="NAME", help="With --live: context of the kubeconfig.")
@click.option("--policy", type=click.Choice(POLICIES), help="OLM version to explain.  [default: both]")
@extension_options
@click.option("-o", "--output", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option("--output-file", metavar="FILE", help="Write the output to this file atomically.")
@update_mode_option
@config_options
@quiet_option
@progress_option
def why(**options: Any) -> int:
    """Explain why OLM upgrades a version, or not.

    Shows the entries that OLM considers, in order; why it rejects the others; which one it installs;
    where the upgrade path ends; what to edit; and what depends on the cluster, with the command that
    shows it. For OLM v0 (a Subscription) and OLM v1 (a ClusterExtension). The installed version need
    not be in the catalog. Several PATHs are the catalogs of one cluster.

    \b
    $ everpath why catalog/ -p searchkeeper --installed 0.1.1
    $ everpath why catalog/ -p searchkeeper -c candidate --installed searchkeeper.v0.1.1 --policy v0
    $ everpath why catalog/ -p searchkeeper --fresh
    $ everpath why catalog/ -p searchkeeper --live -n search
    $ everpath why redhat=a/@100 community=b/ -p searchkeeper --installed 0.1.1 -o json

    \b
    Exit codes:
      0  the upgrade path reaches the head    2  invalid options or configuration
      1  it ends before, loops or fails,      3  input that cannot be read, or only in part
         under OLM v0 or OLM v1
    """
    return _why(WhyOptions(**options))


def _why(options: WhyOptions) -> int:
    _check_options(options)
    live = None
    if options.live:
        from everpath.cli.live import read_live_subscription  # noqa: PLC0415 - only --live needs it

        live = read_live_subscription(options.package, options.namespace, options.kubeconfig, options.context)
        options = _with_live_subscription(options, live)
    config = load(options.config_file, wanted=not options.no_config)
    reject_options_of_other_resolver(
        policy=options.policy or config.policy,
        starting_csv=options.starting_csv,
        channel_list=options.channel_list,
        version_range=options.version_range,
        upgrade_constraint_policy=options.upgrade_constraint_policy,
    )
    warnings = range_warnings(options.version_range)
    options = options._replace(version_range=parse_version_range(options.version_range))
    catalogs = parse_served_catalogs(options.paths or config.paths, options.priorities)
    inputs = Inputs([catalog.path for catalog in catalogs], config, options.default_update_mode)
    with ProgressLine(sys.stderr, wanted=not (options.no_progress or options.quiet)) as progress:
        read = list(inputs.catalogs(progress))
        names = catalogs or parse_served_catalogs(inputs.chosen)
        inputs.verify_names(
            [options.package] if options.package else (), parse_channel_list(options.channel_list) or ()
        )
        market = CatalogSet(names, read)
        sources = _sources(options, config, market, inputs)
        explanation = explain(sources, _question(options, config, sources), _by_name(names, read))
    colour = options.output_file is None and wants_colour(sys.stdout, os.environ)
    view = _view(options.output)
    told = ExplanationReport(
        explanation, inputs.locate, colour, warnings, is_brief=options.quiet or options.live
    )
    if live is not None:
        view = _with_status(view, live, colour=colour, is_json=options.output == "json")
    write_output(view(told), options.output_file, machine=options.output == "json")
    return _exit_code(market, is_content=explanation.reaches_goal)


def _check_options(options: WhyOptions) -> None:
    """Raise UsageError for options that exclude each other, and if none gives the installed version."""
    choices = {
        "--installed": options.installed is not None,
        "--fresh": options.fresh,
        "--starting-csv": options.starting_csv is not None,
    }
    given = [option for option, is_given in choices.items() if is_given]
    _check_live_options(options, given)
    if not given and not options.live:
        hint = "--installed NAME or --installed VERSION; --fresh if nothing is installed"
        raise UsageError("no installed version is given", hint=hint)
    if len(given) > 1:
        raise UsageError(f"{given[0]} and {given[1]} exclude each other", hint="leave one of them out")
    if any(name is not None and not name.strip() for name in (options.installed, options.starting_csv)):
        raise UsageError(f"{given[0]} is empty", hint="give the name of a CSV, or a version")


def _check_live_options(options: WhyOptions, given: Sequence[str]) -> None:
    """Raise UsageError for options that only --live uses, or that the Subscription replaces."""
    if not options.live:
        for option in ("namespace", "kubeconfig", "context"):
            if getattr(options, option) is not None:
                raise UsageError(f"--{option} requires --live", hint="add --live, or leave it out")
        return
    for option in (*given, *(["-c"] if options.channel else []), *(["--policy"] if options.policy else [])):
        raise UsageError(
            f"{option} and --live exclude each other", hint="--live reads it from the Subscription"
        )


def _with_live_subscription(options: WhyOptions, live: LiveSubscription) -> WhyOptions:
    return options._replace(
        package=live.package,
        channel=live.channel,
        installed=live.installed,
        starting_csv=live.starting_csv,
        fresh=live.installed is None and live.starting_csv is None,
        policy="v0",
    )


def _with_status(
    view: Callable[[ExplanationReport], Iterator[str]], live: LiveSubscription, *, colour: bool, is_json: bool
) -> Callable[[ExplanationReport], Iterator[str]]:
    """Return a view with the status of the operator before the explanation."""
    from everpath.olm.reporter import status_data, status_text  # noqa: PLC0415 - only --live needs it
    from everpath.reporters.colour import Paint  # noqa: PLC0415 - only --live needs it

    def view_with_status(told: ExplanationReport) -> Iterator[str]:
        if is_json:
            yield from view(told._replace(live=status_data(live.status)))
            return
        yield from status_text(live.status, Paint(colour))
        yield "\n"
        yield from view(told)

    return view_with_status


def _by_name(names: Sequence[ServedCatalog], read: Sequence[Catalog]) -> dict[str, Catalog]:
    return {each.name: catalog for each, catalog in zip(names, read, strict=True)}


def _sources(options: WhyOptions, config: Config, market: CatalogSet, inputs: Inputs) -> list[ClusterCatalog]:
    """Return the catalogs of the given package, the only one, or the only one with the installed CSV."""
    wanted = [options.package] if options.package else list(config.packages)
    chosen = market.packages(wanted)
    if len(chosen) > 1 and (subject := options.installed or options.starting_csv) is not None:
        chosen = {
            p: s for p, s in chosen.items() if find_installed(_graphs(s), subject, guess=False)
        } or chosen
    if not chosen:
        inputs.verify_names(wanted, ())
        raise inputs.no_package_error()
    if len(chosen) != 1:
        hint = f"-p NAME; {inputs.list_command('packages')} lists them"
        raise UsageError(f"no package is given; the input has {package_count(chosen)}", hint=hint)
    return next(iter(chosen.values()))


def _graphs(sources: Sequence[ClusterCatalog]) -> list[PackageGraph]:
    return [source.package for source in sources if source.package is not None]


def _question(options: WhyOptions, config: Config, sources: Sequence[ClusterCatalog]) -> ExplainQuery:
    graphs = _graphs(sources)
    asked = _asked(options.installed, graphs) if options.installed is not None else None
    policy = options.policy or config.policy or "both"
    policies: tuple[ResolverName, ...] = (
        ("v0",) if policy == "v0" else ("v1",) if policy == "v1" else ("v0", "v1")
    )
    channel = options.channel or (config.channels[0] if len(config.channels) == 1 else None)
    return ExplainQuery(
        package=graphs[0].name,
        channel=channel or default_channel(graphs, asked.name if asked is not None else options.starting_csv),
        installed=asked,
        resolvers=policies,
        starting_csv=options.starting_csv,
        options=ClusterExtensionOptions(
            channels=parse_channel_list(options.channel_list),
            version_range=options.version_range,
            self_certified=options.upgrade_constraint_policy == "SelfCertified",
        ),
    )


def _asked(text: str, graphs: Sequence[PackageGraph]) -> InstalledVersion:
    meant = find_installed(graphs, text)
    if len(meant) > 1:
        names = ", ".join(sorted(each.name for each in meant))
        raise UsageError(f"several CSVs have version {text}: {names}", hint="--installed NAME")
    return meant[0]


def _view(output: str) -> Callable[[ExplanationReport], Iterator[str]]:
    if output == "json":
        return document
    from everpath.reporters.explanation_text import text  # noqa: PLC0415

    return text


def _exit_code(market: CatalogSet, *, is_content: bool) -> int:
    if market.unread:
        warn_unread(market.unread)
        return ExitCode.UNREADABLE
    return ExitCode.CLEAN if is_content else ExitCode.FINDINGS
