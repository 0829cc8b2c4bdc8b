"""The snapshot of a reconcile: what is derived from the status of a pod."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from searchkeeper.observe import observe
from searchkeeper.releases import newest
from searchkeeper.testing.fake_kubernetes.object_store import replace_object
from tests.support.searchkeeper.operator_runs import CLUSTER
from tests.support.searchkeeper.operator_scenarios import pods, running_cluster

INITIALIZING = {"name": "opensearch", "state": {"waiting": {"reason": "PodInitializing"}}}


def observed_problem(status: dict[str, Any]) -> str | None:
    """Return the problem that is observed of a pod with this status."""
    cluster = running_cluster()
    live = {**pods(cluster)["data-0"], "status": status}
    cluster.state = replace(cluster.state, cluster=replace_object(cluster.state.cluster, live)[0])
    snapshot = observe(cluster, cluster, CLUSTER, newest(), cluster.state.now)
    assert snapshot is not None
    return next(pod.problem for pod in snapshot.pods if pod.name == "logs-data-0")


@pytest.mark.parametrize("reason", ["ImagePullBackOff", "CrashLoopBackOff"])
def test_problem_of_an_init_container_is_the_problem_of_its_pod(reason: str) -> None:
    init = [{"name": "users", "state": {"waiting": {"reason": reason}}}]
    assert observed_problem({"initContainerStatuses": init, "containerStatuses": [INITIALIZING]}) == reason


def test_pod_whose_init_container_runs_is_initializing() -> None:
    init = [{"name": "users", "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}}]
    status = {"initContainerStatuses": init, "containerStatuses": [INITIALIZING]}
    assert observed_problem(status) == "PodInitializing"
