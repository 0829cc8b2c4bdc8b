"""`everpath upgrade`: show the next hop, approve its InstallPlan, and follow it until it is running."""

from __future__ import annotations

__all__ = ["upgrade"]

from collections.abc import Sequence
from typing import Any, NamedTuple

import click

from everpath.app.config import Config
from everpath.app.inputs import Inputs
from everpath.cli.cluster_options import (
    ProgressReporter,
    cluster_options,
    confirm,
    connect,
    follow_package,
    outcome_exit_code,
    system_clock,
    timeout_option,
)
from everpath.cli.options import one_name
from everpath.errors import ExitCode, UsageError
from everpath.graph import PackageGraph
from everpath.olm.follow import GRACE_PERIOD, Clock, FollowResult, Outcome, StopCondition
from everpath.olm.install_plan import approve_install_plan
from everpath.olm.objects import Cluster, name_of, nested_str
from everpath.olm.snapshot import OperatorSnapshot, observe
from everpath.olm.upgrade import (
    Hop,
    Target,
    hop_refusal,
    pending_hop,
    until_hop_offered,
    until_running,
    until_target_or_hop,
)
from everpath.resolvers.cluster_extension import ClusterCatalog
from everpath.simulate import Scenario, all_paths, find_installed, simulate_package
from everpath.upgrade_paths import UpgradePath


class UpgradeOptions(NamedTuple):
    """The options of `everpath upgrade`."""

    package: str
    to: str | None
    catalog: str | None
    yes: bool
    timeout: float
    namespace: str | None
    kubeconfig: str | None
    context: str | None
    output: str


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
def upgrade(**options: Any) -> int:
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
    return _upgrade(UpgradeOptions(**options))


def _upgrade(options: UpgradeOptions) -> int:
    cluster = connect(options.kubeconfig, options.context)
    namespace = options.namespace or cluster.namespace
    reporter = ProgressReporter(options.output)
    snapshot = observe(cluster, options.package, namespace)
    if snapshot.subscription is None:
        hint = f"everpath install {options.package} -n {namespace} --catalog IMAGE"
        raise UsageError(f"package {options.package} has no Subscription in namespace {namespace}", hint=hint)
    installed = snapshot.installed_csv
    row = _simulate(options.catalog, snapshot) if options.catalog is not None else None
    path = tuple(row.hops) if row is not None else ()
    if row is not None:
        csvs = " → ".join([*([installed] if installed else []), *path])
        reporter.log(
            f"Upgrade path in channel {row.channel}: {csvs or 'none'} ({row.reason or row.end.value})"
        )
    target = Target(options.to) if options.to is not None else None
    result = _Upgrade(options, cluster, namespace, reporter, path, target).run()
    running_csv = result.status.running_csv
    if target is not None:
        is_reached = target.is_reached(running_csv, options.package)
    else:
        is_reached = bool(reporter.changes) or not path or running_csv in path
    _log_result(options, result, reporter, is_reached, path)
    reporter.print_result(
        result.outcome.value,
        result.status,
        **{"from": installed or None, "path": list(path) if row is not None else None},
    )
    return outcome_exit_code(result.outcome) if is_reached else ExitCode.FINDINGS


class _Upgrade(NamedTuple):
    """An upgrade of one operator. `path` is the predicted upgrade path, empty without --catalog."""

    options: UpgradeOptions
    cluster: Cluster
    namespace: str
    reporter: ProgressReporter
    path: Sequence[str]
    target: Target | None

    def run(self) -> FollowResult:
        """Approve and follow hop by hop; return how the last one ended."""
        clock = system_clock(self.options.timeout)
        while True:
            result = self._follow(self._until_next_hop(clock), clock)
            hop = pending_hop(result.snapshot)
            if result.outcome is not Outcome.APPROVAL or hop is None:
                return result
            self._confirm_hop(hop)
            self.reporter.log_change(approve_install_plan(self.cluster, hop.plan))
            result = self._follow(until_running(hop.next_csv, clock.now), clock)
            if self.target is None or result.outcome is not Outcome.DONE:
                return result

    def _follow(self, stop_condition: StopCondition, clock: Clock) -> FollowResult:
        package = self.options.package
        return follow_package(self.cluster, package, self.namespace, stop_condition, clock, self.reporter)

    def _until_next_hop(self, clock: Clock) -> StopCondition:
        """Wait longer for an InstallPlan if the catalog predicts a hop."""
        if self.target is not None:
            return until_target_or_hop(self.target, self.options.package, clock.now)
        if self.options.catalog is None:
            return until_hop_offered(GRACE_PERIOD / 2, clock.now)
        return until_hop_offered(GRACE_PERIOD if self.path else 0, clock.now)

    def _confirm_hop(self, hop: Hop) -> None:
        """Show a hop and ask for confirmation. Raises UsageError if it does not lead to the target."""
        replaced = f", replacing {hop.installed}" if hop.installed else ""
        dependencies = f", with dependencies {', '.join(hop.dependencies)}" if hop.dependencies else ""
        self.reporter.log(f"InstallPlan {name_of(hop.plan)} installs {hop.next_csv}{replaced}{dependencies}")
        if self.target is not None:
            refusal = hop_refusal(hop, self.target, self.options.package, self.path)
            if refusal:
                hint = "choose a version on the upgrade path, or leave out --to to take the next hop"
                raise UsageError(refusal, hint=hint)
        if not confirm("Approve it?", yes=self.options.yes):
            raise click.Abort


def _log_result(
    options: UpgradeOptions,
    result: FollowResult,
    reporter: ProgressReporter,
    is_reached: bool,
    path: Sequence[str],
) -> None:
    status = result.status
    if result.outcome is Outcome.DONE and is_reached:
        suffix = "" if reporter.changes else "; OLM offers no newer version"
        reporter.log(f'"{status.running_csv}" is running{suffix}')
    elif result.outcome is Outcome.DONE:
        reporter.log(f'"{status.running_csv}" is running; OLM offers no hop to {options.to or path[0]}')
        if options.to is None:
            reporter.log(f"Check that the cluster has the same catalog as {options.catalog}")
        command = (
            f"everpath why {options.catalog or 'CATALOG'} -p {options.package} --live -n {status.namespace}"
        )
        reporter.log(f"{command} explains why")
    else:
        if result.outcome is Outcome.DEADLINE:
            reporter.log(f"Timed out: {status.headline}")
        reporter.print_waits(status)


def _simulate(path: str, snapshot: OperatorSnapshot) -> UpgradePath | None:
    """Return what OLM v0 does with the Subscription, predicted from a catalog; None if nothing is known."""
    channel = nested_str(snapshot.subscription, "spec", "channel")
    inputs = Inputs([path], Config())
    (catalog,) = inputs.catalogs(None)
    inputs.verify_names([snapshot.package], [channel] if channel else ())
    graph = PackageGraph(catalog.by_name[snapshot.package])
    installed = snapshot.installed_csv
    starting_csv = nested_str(snapshot.subscription, "spec", "startingCSV") if not installed else ""
    scenario = Scenario(
        resolvers=("v0",),
        channels=frozenset([channel or graph.package.default_channel or ""]),
        new_install=not (installed or starting_csv),
        starting_csv=starting_csv or None,
    )
    asked = find_installed([graph], installed) if installed else None
    return next(all_paths(simulate_package([ClusterCatalog(path, 0, graph)], scenario, asked)), None)
