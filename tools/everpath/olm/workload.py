"""What keeps pods from running."""

from __future__ import annotations

__all__ = ["pod_troubles"]

from collections.abc import Iterable, Iterator

from everpath.olm.objects import Object, condition, dig, items, name_of, text


def pod_troubles(pods: Iterable[Object]) -> list[str]:
    """A sentence for each pod that does not run as it should; pods on their way out are no trouble."""
    living = (pod for pod in pods if not text(pod, "metadata", "deletionTimestamp"))
    return [f"pod {name_of(pod)}: {trouble}" for pod in living for trouble in list(_troubles(pod))[:1]]


def _troubles(pod: Object) -> Iterator[str]:
    """The most telling first."""
    containers = items(pod, "status", "initContainerStatuses") + items(pod, "status", "containerStatuses")
    for container in containers:
        yield from _container_troubles(container)
    scheduled = condition(pod, "PodScheduled")
    if scheduled is not None and scheduled.get("status") == "False":
        yield f"cannot be scheduled: {text(scheduled, 'message') or text(scheduled, 'reason')}"
    phase = text(pod, "status", "phase")
    if phase == "Failed":
        said = text(pod, "status", "message") or text(pod, "status", "reason")
        yield f"failed: {said or 'no reason given'}"
    elif phase in ("", "Pending"):
        yield "is not started yet"
    elif (ready := condition(pod, "Ready")) is not None and ready.get("status") == "False":
        yield "runs, but is not ready"


def _container_troubles(container: Object) -> Iterator[str]:
    name = text(container, "name")
    waiting = text(container, "state", "waiting", "reason")
    if waiting and waiting not in ("ContainerCreating", "PodInitializing"):
        yield _with_message(
            f"container {name} waits: {waiting}", text(container, "state", "waiting", "message")
        )
    ended = dig(container, "state", "terminated") or dig(container, "lastState", "terminated")
    if ended and ended.get("exitCode") and container.get("ready") is not True:
        said = f"container {name} ended with exit code {ended['exitCode']}"
        yield _with_message(said, text(ended, "message"))


def _with_message(said: str, message: str) -> str:
    return f"{said} ({message})" if message else said
