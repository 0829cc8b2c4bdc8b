"""`everpath status`: the chain of an operator from CatalogSource to Deployment, and what it waits for."""

from __future__ import annotations

__all__ = ["status"]

import sys
from typing import Any, Final, NamedTuple

import click

from everpath.cli.cluster_options import ProgressReporter, cluster_options, connect, system_clock
from everpath.cli.options import one_name
from everpath.cli.output import write_output
from everpath.errors import ExitCode, Unreachable, UsageError
from everpath.olm.chain import operator_status
from everpath.olm.objects import SUBSCRIPTION, Cluster, RequestDenied, nested_str
from everpath.olm.reporter import status_data, status_text
from everpath.olm.snapshot import observe
from everpath.olm.status import OperatorStatus

_WATCH_INTERVAL: Final = 2.0
_CLEAR_SCREEN: Final = "\x1b[2J\x1b[H"


class StatusOptions(NamedTuple):
    """The options of `everpath status`."""

    package: str | None
    watch: bool
    namespace: str | None
    kubeconfig: str | None
    context: str | None
    output: str


@click.command("status", short_help="Show the state of an operator and what it waits for.")
@click.argument("package", metavar="[PACKAGE]", required=False, callback=one_name)
@click.option("--watch", is_flag=True, help="Refresh every two seconds, until Ctrl-C.")
@cluster_options
def status(**options: Any) -> int:
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
    return _status(StatusOptions(**options))


def _status(options: StatusOptions) -> int:
    if options.watch and options.output == "json":
        raise UsageError("--watch and -o json exclude each other", hint="leave one of them out")
    cluster = connect(options.kubeconfig, options.context)
    namespace = options.namespace or cluster.namespace
    if not cluster.serves(SUBSCRIPTION):
        raise Unreachable("OLM is not installed: the cluster does not serve Subscriptions")
    if not options.watch:
        return _print_statuses(options, _read_statuses(cluster, options.package, namespace))
    while True:
        try:
            statuses = _read_statuses(cluster, options.package, namespace)
        except RequestDenied:
            raise
        except Unreachable as error:
            click.echo(f"{error.message}; retrying", err=True)
        else:
            if sys.stdout.isatty():
                click.echo(_CLEAR_SCREEN, nl=False)
            _print_statuses(options, statuses)
        system_clock(0).sleep(_WATCH_INTERVAL)


def _read_statuses(cluster: Cluster, package: str | None, namespace: str) -> list[OperatorStatus]:
    if package is not None:
        packages = [package]
    else:
        subscriptions = cluster.list_objects(SUBSCRIPTION, namespace)
        packages = sorted({nested_str(each, "spec", "name") for each in subscriptions})
    if not packages:
        hint = "-n NAME selects the namespace; `kubectl get subscriptions -A` lists all Subscriptions"
        raise UsageError(f"namespace {namespace} has no Subscription", hint=hint)
    return [operator_status(observe(cluster, each, namespace)) for each in packages]


def _print_statuses(options: StatusOptions, statuses: list[OperatorStatus]) -> int:
    reporter = ProgressReporter(options.output)
    if reporter.is_json:
        reporter.print_json({"packages": [status_data(each) for each in statuses]})
    else:
        for number, each in enumerate(statuses):
            write_output(
                [*(["\n"] if number else []), *status_text(each, reporter.paint)], None, machine=False
            )
    is_fine = all(each.is_settled and not each.waits for each in statuses)
    return ExitCode.CLEAN if is_fine else ExitCode.FINDINGS
