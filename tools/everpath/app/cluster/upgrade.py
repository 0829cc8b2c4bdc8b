"""Upgrade an operator hop by hop: approve its InstallPlans, and wait until each version is running."""

from __future__ import annotations

__all__ = ["UpgradeResult", "predict_upgrade_path", "upgrade"]

from collections.abc import Callable
from dataclasses import dataclass, field

from everpath.app.cluster.connection import OperatorFollower
from everpath.app.config.config import Config
from everpath.app.inputs.inputs import Inputs
from everpath.errors import UsageError
from everpath.graph import PackageGraph
from everpath.olm.changes import ObjectChange
from everpath.olm.follow import GRACE_PERIOD, Clock, FollowResult, Outcome, StopCondition
from everpath.olm.install_plan import approve_install_plan
from everpath.olm.objects import Cluster, name_of, nested_str
from everpath.olm.snapshot import OperatorSnapshot, observe
from everpath.olm.status import OperatorStatus
from everpath.olm.upgrade import (
    PendingHop,
    Target,
    hop_refusal,
    pending_hop,
    until_hop_offered,
    until_running,
    until_target_or_hop,
)
from everpath.resolvers.cluster_extension import ClusterCatalog
from everpath.simulate import Scenario, all_paths, find_installed, simulate_package
from everpath.upgrade_path.path import UpgradePath


@dataclass(frozen=True, slots=True)
class UpgradeResult:
    """How an upgrade ended.

    `installed` is the CSV at the start, `path` the predicted upgrade path. `is_reached`: the target is
    running, or without a target the next version of the path.
    """

    installed: str
    path: UpgradePath | None
    changes: list[ObjectChange]
    outcome: Outcome
    status: OperatorStatus
    is_reached: bool


def upgrade(  # noqa: PLR0913 - the options of the command
    cluster: Cluster,
    package: str,
    clock: Clock,
    *,
    to: str | None = None,
    catalog: str | None = None,
    before_approval: Callable[[PendingHop], None] = lambda _: None,
    log: Callable[[str], None] = lambda _: None,
) -> UpgradeResult:
    """Approve the next hop, or all hops to a version, and follow each until it is running.

    `to` is the name of a CSV or a version. `catalog` is the path of the catalog that the cluster has, from
    which the upgrade path is predicted. `before_approval` is called before each approval; an exception that
    it raises ends the upgrade. Raises UsageError if the package has no Subscription, or if the next hop does
    not lead to the target.
    """
    snapshot = observe(cluster, package, cluster.namespace)
    if snapshot.subscription is None:
        hint = f"everpath install {package} -n {cluster.namespace} --catalog IMAGE"
        raise UsageError(f"package {package} has no Subscription in namespace {cluster.namespace}", hint=hint)
    path = predict_upgrade_path(catalog, snapshot) if catalog is not None else None
    if path is not None:
        csvs = " → ".join(filter(None, [snapshot.installed_csv, *path.hops]))
        log(f"Upgrade path in channel {path.channel}: {csvs or 'none'} ({path.reason or path.end.value})")
    run = _Upgrade(
        cluster,
        package,
        clock,
        target=Target(to) if to is not None else None,
        is_predicted=catalog is not None,
        hops=tuple(path.hops) if path is not None else (),
        before_approval=before_approval,
        log=log,
    )
    result = run.approve_hops()
    return UpgradeResult(
        snapshot.installed_csv,
        path,
        run.changes,
        result.outcome,
        result.status,
        run.is_reached(result.status.running_csv),
    )


@dataclass(slots=True)
class _Upgrade:
    """An upgrade in progress. `hops` are the predicted hops, and `changes` the approvals so far."""

    cluster: Cluster
    package: str
    clock: Clock
    target: Target | None
    is_predicted: bool
    hops: tuple[str, ...]
    before_approval: Callable[[PendingHop], None]
    log: Callable[[str], None]
    changes: list[ObjectChange] = field(default_factory=list)

    def approve_hops(self) -> FollowResult:
        """Approve and follow hop by hop; return how the last one ended."""
        follower = OperatorFollower(self.cluster, self.package, self.cluster.namespace, self.clock, self.log)
        while True:
            result = follower.follow(self._until_next_hop())
            hop = pending_hop(result.snapshot)
            if result.outcome is not Outcome.APPROVAL or hop is None:
                return result
            self._approve(hop)
            result = follower.follow(until_running(hop.next_csv, self.clock.now))
            if self.target is None or result.outcome is not Outcome.DONE:
                return result

    def is_reached(self, running_csv: str) -> bool:
        """Whether the target is running, or without a target the next version."""
        if self.target is not None:
            return self.target.is_reached(running_csv, self.package)
        return bool(self.changes) or not self.hops or running_csv in self.hops

    def _until_next_hop(self) -> StopCondition:
        """Return when to stop waiting for an InstallPlan: later if the catalog predicts a hop."""
        if self.target is not None:
            return until_target_or_hop(self.target, self.package, self.clock.now)
        if not self.is_predicted:
            return until_hop_offered(GRACE_PERIOD / 2, self.clock.now)
        return until_hop_offered(GRACE_PERIOD if self.hops else 0, self.clock.now)

    def _approve(self, hop: PendingHop) -> None:
        """Approve a hop. Raises UsageError if it does not lead to the target."""
        replaced = f", replacing {hop.installed}" if hop.installed else ""
        dependencies = f", with dependencies {', '.join(hop.dependencies)}" if hop.dependencies else ""
        self.log(f"InstallPlan {name_of(hop.plan)} installs {hop.next_csv}{replaced}{dependencies}")
        if self.target is not None and (refusal := hop_refusal(hop, self.target, self.package, self.hops)):
            hint = "choose a version on the upgrade path, or leave out --to to take the next hop"
            raise UsageError(refusal, hint=hint)
        self.before_approval(hop)
        change = approve_install_plan(self.cluster, hop.plan)
        self.changes.append(change)
        self.log(str(change))


def predict_upgrade_path(catalog_path: str, snapshot: OperatorSnapshot) -> UpgradePath | None:
    """Return what OLM v0 does with the Subscription, predicted from a catalog; None if nothing is known."""
    channel = nested_str(snapshot.subscription, "spec", "channel")
    inputs = Inputs([catalog_path], Config())
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
    return next(all_paths(simulate_package([ClusterCatalog(catalog_path, 0, graph)], scenario, asked)), None)
