"""Read the status of operators on a cluster."""

from __future__ import annotations

__all__ = ["LiveSubscription", "read_live_subscription", "read_statuses", "watch_statuses"]

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from everpath.errors import Unreachable, UsageError
from everpath.olm.chain import operator_status
from everpath.olm.objects import SUBSCRIPTION, Cluster, RequestDenied, nested_str
from everpath.olm.snapshot import observe
from everpath.olm.status import OperatorStatus

_WATCH_INTERVAL: Final = 2.0


def read_statuses(cluster: Cluster, package: str | None = None) -> list[OperatorStatus]:
    """Return the status of a package, or of every package with a Subscription in the namespace.

    Raises Unreachable if OLM is not installed, and UsageError if there is no Subscription.
    """
    _require_olm(cluster)
    return _statuses(cluster, package)


def watch_statuses(
    cluster: Cluster,
    package: str | None,
    sleep: Callable[[float], None],
    log: Callable[[str], None] = lambda _: None,
) -> Iterator[list[OperatorStatus]]:
    """Yield the statuses every two seconds. If the cluster does not respond, log that and retry.

    Raises RequestDenied, and Unreachable if OLM is not installed.
    """
    _require_olm(cluster)
    while True:
        try:
            statuses = _statuses(cluster, package)
        except RequestDenied:
            raise
        except Unreachable as error:
            log(f"{error.message}; retrying")
        else:
            yield statuses
        sleep(_WATCH_INTERVAL)


def _require_olm(cluster: Cluster) -> None:
    if not cluster.serves(SUBSCRIPTION):
        raise Unreachable("OLM is not installed: the cluster does not serve Subscriptions")


def _statuses(cluster: Cluster, package: str | None) -> list[OperatorStatus]:
    packages = [package] if package is not None else _subscribed_packages(cluster)
    if not packages:
        hint = "-n NAME selects the namespace; `kubectl get subscriptions -A` lists all Subscriptions"
        raise UsageError(f"namespace {cluster.namespace} has no Subscription", hint=hint)
    return [operator_status(observe(cluster, each, cluster.namespace)) for each in packages]


class LiveSubscription(NamedTuple):
    """What OLM resolves from. `starting_csv` is set only if no CSV is installed."""

    package: str
    channel: str | None
    installed: str | None
    starting_csv: str | None
    status: OperatorStatus


def read_live_subscription(cluster: Cluster, package: str | None = None) -> LiveSubscription:
    """Read the Subscription for a package, or the only one. Raises UsageError if there is none."""
    packages = _subscribed_packages(cluster)
    if package is None and len(packages) == 1:
        (package,) = packages
    if package is None or package not in packages:
        problem = "no package is given" if package is None else f"package {package} has no Subscription"
        existing = f"Subscriptions for {', '.join(packages)}" if packages else "no Subscriptions"
        hint = "-p NAME selects the package, -n NAME the namespace"
        raise UsageError(f"{problem}; namespace {cluster.namespace} has {existing}", hint=hint)
    snapshot = observe(cluster, package, cluster.namespace)
    starting_csv = nested_str(snapshot.subscription, "spec", "startingCSV")
    return LiveSubscription(
        package,
        nested_str(snapshot.subscription, "spec", "channel") or None,
        snapshot.installed_csv or None,
        (starting_csv or None) if not snapshot.installed_csv else None,
        operator_status(snapshot),
    )


def _subscribed_packages(cluster: Cluster) -> list[str]:
    subscriptions = cluster.list_objects(SUBSCRIPTION, cluster.namespace)
    return sorted({nested_str(each, "spec", "name") for each in subscriptions})
