"""The connection to a cluster, and following an operator on it."""

from __future__ import annotations

__all__ = ["ClusterOptions", "OperatorFollower", "connect", "system_clock"]

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from everpath.app.extras import missing_extra
from everpath.olm.follow import Clock, FollowResult, StopCondition, follow
from everpath.olm.objects import Cluster
from everpath.olm.snapshot import OperatorSnapshot, observe
from everpath.olm.status import OperatorStatus
from everpath.olm.subscription import trigger_resolution


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """The cluster to connect to. None means the default of kubectl."""

    namespace: str | None = None
    kubeconfig: str | None = None
    context: str | None = None


@contextmanager
def connect(options: ClusterOptions) -> Iterator[Cluster]:
    """Connect to the cluster that kubectl uses; its default namespace is that of the options.

    Raises UsageError if the Kubernetes client is not installed or no cluster is configured.
    """
    try:
        from everpath.olm import kube  # noqa: PLC0415 - its import takes half a second
    except ModuleNotFoundError as error:
        raise missing_extra(error, "cluster", ("kubernetes", "urllib3")) from error
    cluster = kube.connect(options.kubeconfig, options.context)
    if options.namespace is not None:
        cluster.namespace = options.namespace
    try:
        yield cluster
    finally:
        cluster.close()


def system_clock(timeout: float) -> Clock:
    """Return the clock of the system, with a timeout in seconds."""
    return Clock(time.monotonic, time.sleep, timeout)


class OperatorFollower:
    """Follows one operator, and triggers a new resolution once if OLM cannot satisfy the constraints."""

    def __init__(
        self, cluster: Cluster, package: str, namespace: str, clock: Clock, log: Callable[[str], None]
    ) -> None:
        self._cluster = cluster
        self._package = package
        self._namespace = namespace
        self._clock = clock
        self._log = log
        self._last_status: OperatorStatus | None = None

    def follow(self, stop_condition: StopCondition) -> FollowResult:
        """Follow the operator until the stop condition; log only what has changed since the last call."""

        def unblock(snapshot: OperatorSnapshot) -> bool:
            is_triggered = trigger_resolution(self._cluster, snapshot)
            if is_triggered:
                self._log("Triggered a new resolution: OLM does not retry until an object changes")
            return is_triggered

        result = follow(
            lambda: observe(self._cluster, self._package, self._namespace),
            stop_condition,
            self._clock,
            self._log,
            unblock,
            self._last_status,
        )
        self._last_status = result.status
        return result
