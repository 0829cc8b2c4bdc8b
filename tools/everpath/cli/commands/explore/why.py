"""`everpath why`: explain what OLM does with one installed version, and which edits would change that."""

from __future__ import annotations

__all__ = ["why"]

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from everpath.app.explain import Installation, explain_inputs
from everpath.app.inputs.served_catalogs import parse_served_catalogs
from everpath.cli import completion
from everpath.cli.options.common import (
    InputOptions,
    OutputOptions,
    input_options,
    olm_option,
    one_name,
    one_package_option,
    output_options,
    quiet_option,
)
from everpath.cli.options.resolver import (
    ClusterExtensionArguments,
    cluster_extension_options,
    priority_option,
    reject_options_of_other_resolver,
)
from everpath.cli.output import print_warnings, warn_unread
from everpath.errors import ExitCode, UsageError
from everpath.explanation import Explanation

if TYPE_CHECKING:
    from everpath.app.cluster.status import LiveSubscription


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
@olm_option
@cluster_extension_options
@priority_option
@output_options("text", "json")
@quiet_option
@input_options
def why(  # noqa: PLR0913 - a parameter for each option
    *,
    paths: tuple[str, ...],
    package: str | None,
    channel: str | None,
    installed: str | None,
    fresh: bool,
    starting_csv: str | None,
    live: bool,
    namespace: str | None,
    kubeconfig: str | None,
    context: str | None,
    olm: str | None,
    extension: ClusterExtensionArguments,
    priorities: tuple[str, ...],
    output: OutputOptions,
    quiet: bool,
    loading: InputOptions,
) -> int:
    """Explain why OLM upgrades a version, or not.

    Shows the entries that OLM considers, in order; why it rejects the others; which one it installs;
    where the upgrade path ends; what to edit; and what depends on the cluster, with the command that
    shows it. For OLM v0 (a Subscription) and OLM v1 (a ClusterExtension). The installed version need
    not be in the catalog. Several PATHs are the catalogs of one cluster.

    \b
    $ everpath why catalog/ -p searchkeeper --installed 0.1.1
    $ everpath why catalog/ -p searchkeeper -c candidate --installed searchkeeper.v0.1.1 --olm v0
    $ everpath why catalog/ -p searchkeeper --fresh
    $ everpath why catalog/ -p searchkeeper --live -n search
    $ everpath why redhat=a/@100 community=b/ -p searchkeeper --installed 0.1.1 -o json

    \b
    Exit codes:
      0  the upgrade path reaches the head    2  invalid options or configuration
      1  it ends before, loops or fails,      3  input that cannot be read, or only in part
         under OLM v0 or OLM v1
    """
    installation = Installation(package, channel, installed, starting_csv)
    subscription = None
    if live:
        _reject_replaced_options(installation, olm, fresh=fresh)
        from everpath.app.cluster.connection import ClusterOptions, connect  # noqa: PLC0415 - only for --live
        from everpath.app.cluster.status import read_live_subscription  # noqa: PLC0415 - only --live needs it

        with connect(ClusterOptions(namespace, kubeconfig, context)) as cluster:
            subscription = read_live_subscription(cluster, package)
        installation = Installation(
            subscription.package, subscription.channel, subscription.installed, subscription.starting_csv
        )
        olm = "v0"
    else:
        live_options = {"--namespace": namespace, "--kubeconfig": kubeconfig, "--context": context}
        for option, value in live_options.items():
            if value is not None:
                raise UsageError(f"{option} requires --live", hint="add --live, or leave it out")
        _require_one_state(installation, fresh=fresh)
    config = loading.load_config()
    reject_options_of_other_resolver(extension, olm=olm or config.olm, starting_csv=installation.starting_csv)
    extension_fields = extension.parse()
    print_warnings(extension.warnings)
    catalogs = parse_served_catalogs(paths or config.paths, priorities)
    with output.progress_line(quiet=quiet) as progress:
        result = explain_inputs(
            loading.inputs([catalog.path for catalog in catalogs], config),
            installation,
            catalogs=catalogs,
            olm=olm,
            extension=extension_fields,
            progress=progress,
        )
    if output.format == "json":
        output.write(_json(result.explanation, subscription, extension.warnings))
    else:
        output.write(_text(result.explanation, subscription, colour=output.colour, is_brief=quiet))
    warn_unread(result.unread)
    if result.unread:
        return ExitCode.UNREADABLE
    return ExitCode.CLEAN if result.explanation.reaches_goal else ExitCode.FINDINGS


def _reject_replaced_options(installation: Installation, olm: str | None, *, fresh: bool) -> None:
    """Raise UsageError for an option whose value --live reads from the Subscription."""
    replaced = [*_state_options(installation, fresh=fresh)]
    replaced += ["-c"] if installation.channel else []
    replaced += ["--olm"] if olm else []
    if replaced:
        hint = "--live reads it from the Subscription"
        raise UsageError(f"{replaced[0]} and --live exclude each other", hint=hint)


def _require_one_state(installation: Installation, *, fresh: bool) -> None:
    """Raise UsageError unless one option says what is installed."""
    given = list(_state_options(installation, fresh=fresh))
    if not given:
        hint = "--installed NAME or --installed VERSION; --fresh if nothing is installed"
        raise UsageError("no installed version is given", hint=hint)
    if len(given) > 1:
        raise UsageError(f"{given[0]} and {given[1]} exclude each other", hint="leave one of them out")
    for name in (installation.installed, installation.starting_csv):
        if name is not None and not name.strip():
            raise UsageError(f"{given[0]} is empty", hint="give the name of a CSV, or a version")


def _state_options(installation: Installation, *, fresh: bool) -> Iterator[str]:
    """Yield the given options that say what is installed."""
    if installation.installed is not None:
        yield "--installed"
    if fresh:
        yield "--fresh"
    if installation.starting_csv is not None:
        yield "--starting-csv"


def _json(
    explanation: Explanation, subscription: LiveSubscription | None, warnings: tuple[str, ...]
) -> Iterator[str]:
    from everpath.reporters.explanation import json as explanation_json  # noqa: PLC0415 - one reporter is enough

    if subscription is None:
        return explanation_json.render(explanation, warnings=warnings)
    from everpath.olm.reporter import status_data  # noqa: PLC0415 - only --live needs it

    return explanation_json.render(explanation, warnings=warnings, live=status_data(subscription.status))


def _text(
    explanation: Explanation, subscription: LiveSubscription | None, *, colour: bool, is_brief: bool
) -> Iterator[str]:
    """Yield the explanation, with --live after the status of the operator and without checks."""
    from everpath.reporters.explanation import text as explanation_text  # noqa: PLC0415 - one reporter is enough

    if subscription is not None:
        from everpath.olm.reporter import status_text  # noqa: PLC0415 - only --live needs it
        from everpath.reporters.colour import Paint  # noqa: PLC0415 - only --live needs it

        yield from status_text(subscription.status, Paint(colour))
        yield "\n"
        is_brief = True
    yield from explanation_text.render(explanation, colour=colour, is_brief=is_brief)
