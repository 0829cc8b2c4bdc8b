"""`everpath status`: the chain of an operator from CatalogSource to Deployment, and what it waits for."""

from __future__ import annotations

__all__ = ["status"]

import sys
from typing import Final

import click

from everpath.app.cluster.connection import ClusterOptions, connect, system_clock
from everpath.app.cluster.status import read_statuses, watch_statuses
from everpath.cli.options.cluster import ProgressReporter, cluster_options
from everpath.cli.options.common import one_name
from everpath.cli.output import write_output
from everpath.errors import ExitCode, UsageError
from everpath.olm.reporter import status_data, status_text
from everpath.olm.status import OperatorStatus

_CLEAR_SCREEN: Final = "\x1b[2J\x1b[H"


@click.command("status", short_help="Show the state of an operator and what it waits for.")
@click.argument("package", metavar="[PACKAGE]", required=False, callback=one_name)
@click.option("--watch", is_flag=True, help="Refresh every two seconds, until Ctrl-C.")
@cluster_options
def status(package: str | None, watch: bool, connection: ClusterOptions, output: str) -> int:
    """Show the state of an operator and what it waits for.

    Lists the objects that OLM works with: CatalogSource, OperatorGroup, Subscription, InstallPlan,
    ClusterServiceVersion, Deployment, OperatorCondition; with the state of each, what it waits for,
    and what you can do. Without PACKAGE: every package with a Subscription in the namespace.

    \b
    $ everpath status searchkeeper -n search
    $ everpath status -n search -o json
    $ everpath status searchkeeper -n search --watch

    \b
    Exit codes:
      0  running, nothing to wait for         2  invalid options, or no Subscription
      1  waiting or failed                    4  the cluster does not respond, or denies access
    """
    if watch and output == "json":
        raise UsageError("--watch and -o json exclude each other", hint="leave one of them out")
    reporter = ProgressReporter(output)
    with connect(connection) as cluster:
        if not watch:
            statuses = read_statuses(cluster, package)
            _print_statuses(statuses, reporter)
            is_fine = all(each.is_settled and not each.waits for each in statuses)
            return ExitCode.CLEAN if is_fine else ExitCode.FINDINGS
        for statuses in watch_statuses(
            cluster, package, system_clock(0).sleep, lambda line: click.echo(line, err=True)
        ):
            if sys.stdout.isatty():
                click.echo(_CLEAR_SCREEN, nl=False)
            _print_statuses(statuses, reporter)
    return ExitCode.CLEAN


def _print_statuses(statuses: list[OperatorStatus], reporter: ProgressReporter) -> None:
    reporter.print_json({"packages": [status_data(each) for each in statuses]})
    if not reporter.is_json:
        for number, each in enumerate(statuses):
            separator = ["\n"] if number else []
            write_output([*separator, *status_text(each, reporter.paint)], None, machine=False)
