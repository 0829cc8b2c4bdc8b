"""The status of Deployments, and the problems of their pods."""

from __future__ import annotations

__all__ = ["deployment_statuses", "pod_problems"]

from collections.abc import Iterable, Iterator

from everpath.olm.objects import (
    DEPLOYMENT,
    Object,
    find_condition,
    name_of,
    nested_list,
    nested_str,
    nested_value,
)
from everpath.olm.snapshot import OperatorSnapshot
from everpath.olm.status import ObjectStatus, State, Wait, object_status


def deployment_statuses(snapshot: OperatorSnapshot) -> Iterator[ObjectStatus]:
    """Yield the status of each Deployment in the CSV."""
    csv = snapshot.latest_csv
    existing = {name_of(deployment): deployment for deployment in snapshot.deployments}
    for deployment in nested_list(csv, "spec", "install", "spec", "deployments"):
        name = nested_str(deployment, "name")
        if name in existing:
            yield _deployment_status(snapshot, existing[name])
        elif nested_str(csv, "status", "phase") in ("Installing", "Succeeded"):
            wait = Wait(f"Deployment {name} to be created")
            yield ObjectStatus(DEPLOYMENT.name, snapshot.namespace, name, State.ABSENT, "not found", (wait,))


def _deployment_status(snapshot: OperatorSnapshot, deployment: Object) -> ObjectStatus:
    name = name_of(deployment)
    replicas = nested_value(deployment, "spec", "replicas")
    replicas = 1 if replicas is None else replicas
    available = nested_value(deployment, "status", "availableReplicas") or 0
    updated = nested_value(deployment, "status", "updatedReplicas") or 0
    generation = nested_value(deployment, "metadata", "generation") or 0
    is_observed = (nested_value(deployment, "status", "observedGeneration") or 0) >= generation
    if updated < replicas <= available:
        summary = f"{updated} of {replicas} updated"
    else:
        summary = f"{available} of {replicas} available"
    if is_observed and available >= replicas and updated >= replicas:
        return object_status(DEPLOYMENT, deployment, State.FINE, summary)
    failures = [
        nested_str(condition, "message")
        for condition_type, status in (("Progressing", "False"), ("ReplicaFailure", "True"))
        if (condition := find_condition(deployment, condition_type)) and condition.get("status") == status
    ]
    problems = [*failures, *pod_problems(snapshot.pods)]
    wait = Wait(
        f"Deployment {name} to become available: {'; '.join(problems) or summary}",
        f"kubectl describe deployment {name} -n {snapshot.namespace}" if problems else "",
    )
    state = State.FAILED if failures else State.WORKING
    return object_status(DEPLOYMENT, deployment, state, summary, [wait])


def pod_problems(pods: Iterable[Object]) -> list[str]:
    """Return the most specific problem of each pod that is not ready; pods in deletion have none."""
    problems = []
    for pod in pods:
        if nested_str(pod, "metadata", "deletionTimestamp"):
            continue
        problem = next(_problems(pod), None)
        if problem is not None:
            problems.append(f"pod {name_of(pod)}: {problem}")
    return problems


def _problems(pod: Object) -> Iterator[str]:
    """Yield the problems of a pod, the most specific first."""
    containers = [
        *nested_list(pod, "status", "initContainerStatuses"),
        *nested_list(pod, "status", "containerStatuses"),
    ]
    for container in containers:
        yield from _container_problems(container)
    scheduled = find_condition(pod, "PodScheduled")
    if nested_str(scheduled, "status") == "False":
        yield f"is unschedulable: {nested_str(scheduled, 'message') or nested_str(scheduled, 'reason')}"
    phase = nested_str(pod, "status", "phase")
    if phase == "Failed":
        details = nested_str(pod, "status", "message") or nested_str(pod, "status", "reason")
        yield f"failed: {details or 'no reason given'}"
    elif phase in ("", "Pending"):
        yield "has not started"
    elif nested_str(find_condition(pod, "Ready"), "status") == "False":
        yield "is running but not ready"


def _container_problems(container: Object) -> Iterator[str]:
    name = nested_str(container, "name")
    reason = nested_str(container, "state", "waiting", "reason")
    if reason and reason not in ("ContainerCreating", "PodInitializing"):
        message = nested_str(container, "state", "waiting", "message")
        yield f"container {name} is waiting: {reason}" + (f" ({message})" if message else "")
    terminated = nested_value(container, "state", "terminated") or nested_value(
        container, "lastState", "terminated"
    )
    if terminated and terminated.get("exitCode") and container.get("ready") is not True:
        message = nested_str(terminated, "message")
        yield f"container {name} exited with code {terminated['exitCode']}" + (
            f" ({message})" if message else ""
        )
