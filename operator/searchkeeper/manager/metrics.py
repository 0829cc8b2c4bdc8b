"""Prometheus metrics of one manager."""

from __future__ import annotations

__all__ = ["CONTENT_TYPE", "ActionCounts", "Metrics"]

from collections.abc import Mapping
from threading import RLock
from typing import Final, NamedTuple

import prometheus_client
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram

from searchkeeper.kubernetes.operations import Key

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST
_CLUSTER: Final = ("namespace", "name")
_BUCKETS: Final = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)

# Otherwise every counter has a second series with the time of its creation, which no dashboard uses.
prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]


class ActionCounts(NamedTuple):
    """How many actions of one SearchCluster or SearchPool wait, and how many of them have stalled."""

    waiting: int
    stalled: int


class Metrics:
    """One registry with all metrics. Safe to use from several threads.

    `cluster` is the key of a SearchCluster: its namespace and name are labels of every series about it.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        # Held while several series change together, so that no scrape sees half of a change.
        self._lock = RLock()
        self.reconciles = Counter(
            "searchkeeper_reconcile_total",
            "Reconciles by result.",
            (*_CLUSTER, "result"),
            registry=self.registry,
        )
        self.reconcile_duration = Histogram(
            "searchkeeper_reconcile_duration_seconds",
            "Duration of reconciles.",
            _CLUSTER,
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self.reconcile_errors = Counter(
            "searchkeeper_reconcile_errors_total",
            "Reconciles that failed and operations that were denied, by error.",
            (*_CLUSTER, "error"),
            registry=self.registry,
        )
        self.operations = Counter(
            "searchkeeper_operations_total",
            "Operations on the API server and on the engine.",
            (*_CLUSTER, "operation", "kind"),
            registry=self.registry,
        )
        self.waiting_actions = self._gauge(
            "searchkeeper_waiting_actions", "Actions that wait; pool is empty for the SearchCluster.", "pool"
        )
        self.stalled_actions = self._gauge(
            "searchkeeper_stalled_actions", "Actions that wait past their deadline.", "pool"
        )
        self.cluster_phase = self._gauge(
            "searchkeeper_cluster_phase", "1 for the phase of a SearchCluster.", "phase"
        )
        self.cluster_condition = self._gauge(
            "searchkeeper_cluster_condition", "1 for the status of a condition.", "type", "status"
        )
        self.upgrade_progress = self._gauge(
            "searchkeeper_upgrade_progress_ratio", "Share of nodes that run the target version."
        )
        self.last_reconcile = self._gauge(
            "searchkeeper_last_reconcile_timestamp_seconds", "End of the last reconcile."
        )
        self.leader = Gauge(
            "searchkeeper_leader", "1 while this operator holds the Lease.", registry=self.registry
        )

    def _gauge(self, name: str, documentation: str, *labels: str) -> Gauge:
        return Gauge(name, documentation, (*_CLUSTER, *labels), registry=self.registry)

    def set_actions(self, cluster: Key, counts: Mapping[str, ActionCounts], *, replace: bool) -> None:
        """Set the counts of actions by pool. With `replace` the series of all other pools disappear."""
        with self._lock:
            for gauge in (self.waiting_actions, self.stalled_actions) if replace else ():
                gauge.remove_by_labels(_labels(cluster))
            for pool, count in counts.items():
                self.waiting_actions.labels(*_labels(cluster).values(), pool).set(count.waiting)
                self.stalled_actions.labels(*_labels(cluster).values(), pool).set(count.stalled)

    def set_state(self, cluster: Key, phase: str, conditions: Mapping[str, str], progress: float) -> None:
        """Set phase, conditions and upgrade progress; the series of earlier states disappear."""
        namespace, name = _labels(cluster).values()
        with self._lock:
            self.cluster_phase.remove_by_labels(_labels(cluster))
            self.cluster_condition.remove_by_labels(_labels(cluster))
            self.cluster_phase.labels(namespace, name, phase).set(1)
            for condition, status in conditions.items():
                self.cluster_condition.labels(namespace, name, condition, status).set(1)
            self.upgrade_progress.labels(namespace, name).set(progress)

    def remove_gauges(self, cluster: Key) -> None:
        """Remove all gauges of a cluster that another operator reconciles now. Counters stay."""
        with self._lock:
            for gauge in (
                self.waiting_actions,
                self.stalled_actions,
                self.cluster_phase,
                self.cluster_condition,
                self.upgrade_progress,
                self.last_reconcile,
            ):
                gauge.remove_by_labels(_labels(cluster))

    def remove_cluster(self, cluster: Key) -> None:
        """Remove every series of a deleted cluster."""
        with self._lock:
            self.remove_gauges(cluster)
            for metric in (self.reconciles, self.reconcile_duration, self.reconcile_errors, self.operations):
                metric.remove_by_labels(_labels(cluster))

    def render(self) -> bytes:
        """All metrics in Prometheus' text format."""
        with self._lock:
            return prometheus_client.generate_latest(self.registry)


def _labels(cluster: Key) -> dict[str, str]:
    return {"namespace": cluster.namespace, "name": cluster.name}
