"""`everpath upgrade`: show the next hop, approve its InstallPlan, and follow it until it is running."""

from __future__ import annotations

__all__ = ["upgrade"]

import click

from everpath.app.cluster.connection import ClusterOptions, connect, system_clock
from everpath.app.cluster.upgrade import UpgradeResult
from everpath.app.cluster.upgrade import upgrade as run_upgrade
from everpath.cli.options.cluster import (
    ProgressReporter,
    cluster_options,
    confirm,
    outcome_exit_code,
    timeout_option,
)
from everpath.cli.options.common import one_name
from everpath.errors import ExitCode
from everpath.olm.follow import Outcome


@click.command("upgrade", short_help="Show the next hop of an operator, approve it, and wait.")
@click.argument("package", metavar="PACKAGE", callback=one_name)
@click.option(
    "--to",
    metavar="NAME|VERSION",
    callback=one_name,
    help="Upgrade hop by hop to this version.  [default: one hop]",
)
@click.option(
    "--catalog",
    metavar="PATH",
    callback=one_name,
    help="The catalog of the cluster, to show the whole upgrade path.",
)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@timeout_option
@cluster_options
def upgrade(  # noqa: PLR0913 - a parameter for each option
    *,
    package: str,
    to: str | None,
    catalog: str | None,
    yes: bool,
    timeout: float,
    connection: ClusterOptions,
    output: str,
) -> int:
    """Show the next hop of an operator, approve it, and wait.

    For a Subscription with Manual approval: shows the InstallPlan that requires approval, what it
    installs, and with --catalog the upgrade path to the channel head. After your confirmation the
    InstallPlan is approved and followed until the new version is running. With --to this is repeated
    until that version is reached; a hop that goes beyond it is not approved.

    \b
    $ everpath upgrade searchkeeper -n search --catalog catalog/
    $ everpath upgrade searchkeeper -n search --to 0.2.2 --yes

    \b
    Exit codes:
      0  the new version is running, or       2  invalid options, or the next hop goes beyond --to
         there is no newer one                4  the cluster does not respond, or denies access
      1  not running when the timeout
         expires, or OLM offers no hop to
         --to, or none that --catalog has
    """
    reporter = ProgressReporter(output)
    with connect(connection) as cluster:
        result = run_upgrade(
            cluster,
            package,
            system_clock(timeout),
            to=to,
            catalog=catalog,
            before_approval=lambda _: confirm("Approve it?", yes=yes),
            log=reporter.log,
        )
    _log_result(result, to, catalog, reporter)
    path = list(result.path.hops) if result.path is not None else None
    reporter.print_result(
        result.outcome.value,
        result.changes,
        result.status,
        **{"from": result.installed or None, "path": path},
    )
    return outcome_exit_code(result.outcome) if result.is_reached else ExitCode.FINDINGS


def _log_result(
    result: UpgradeResult, to: str | None, catalog: str | None, reporter: ProgressReporter
) -> None:
    status = result.status
    if result.outcome is Outcome.DONE and result.is_reached:
        suffix = "" if result.changes else "; OLM offers no newer version"
        reporter.log(f'"{status.running_csv}" is running{suffix}')
    elif result.outcome is Outcome.DONE:
        expected = to or (result.path.hops[0] if result.path is not None else "")
        reporter.log(f'"{status.running_csv}" is running; OLM offers no hop to {expected}')
        if to is None:
            reporter.log(f"Check that the cluster has the same catalog as {catalog}")
        command = f"everpath why {catalog or 'CATALOG'} -p {status.package} --live -n {status.namespace}"
        reporter.log(f"{command} explains why")
    else:
        if result.outcome is Outcome.DEADLINE:
            reporter.log(f"Timed out: {status.headline}")
        reporter.print_waits(status)
