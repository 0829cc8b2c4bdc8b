"""The Subscription on a cluster that `everpath why --live` explains."""

from __future__ import annotations

__all__ = ["LiveSubscription", "read_live_subscription"]

from typing import NamedTuple

from everpath.cli.cluster_options import connect
from everpath.errors import UsageError
from everpath.olm.chain import operator_status
from everpath.olm.objects import SUBSCRIPTION, nested_str
from everpath.olm.snapshot import observe
from everpath.olm.status import OperatorStatus


class LiveSubscription(NamedTuple):
    """What OLM resolves from. `starting_csv` is set only if no CSV is installed."""

    package: str
    channel: str | None
    installed: str | None
    starting_csv: str | None
    status: OperatorStatus


def read_live_subscription(
    package: str | None, namespace: str | None, kubeconfig: str | None, context: str | None
) -> LiveSubscription:
    """Read the Subscription for a package, or the only one. Raises UsageError if there is none."""
    cluster = connect(kubeconfig, context)
    namespace = namespace or cluster.namespace
    packages = sorted(
        {nested_str(each, "spec", "name") for each in cluster.list_objects(SUBSCRIPTION, namespace)}
    )
    if package is None and len(packages) == 1:
        (package,) = packages
    if package is None or package not in packages:
        problem = "no package is given" if package is None else f"package {package} has no Subscription"
        existing = f"Subscriptions for {', '.join(packages)}" if packages else "no Subscriptions"
        hint = "-p NAME selects the package, -n NAME the namespace"
        raise UsageError(f"{problem}; namespace {namespace} has {existing}", hint=hint)
    snapshot = observe(cluster, package, namespace)
    starting_csv = nested_str(snapshot.subscription, "spec", "startingCSV")
    return LiveSubscription(
        package,
        nested_str(snapshot.subscription, "spec", "channel") or None,
        snapshot.installed_csv or None,
        (starting_csv or None) if not snapshot.installed_csv else None,
        operator_status(snapshot),
    )
