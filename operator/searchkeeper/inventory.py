"""The components of a cluster that have a version: every engine node, and Dashboards."""

from __future__ import annotations

__all__ = [
    "Component",
    "StepState",
    "UpgradeStep",
    "dashboards_components",
    "missing_components",
    "present_components",
]

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from searchkeeper.desired import names
from searchkeeper.images import image_version
from searchkeeper.reconcilers.context import ReconcileContext


@dataclass(frozen=True, slots=True)
class Component:
    """An engine node or Dashboards. `version` is empty while the component does not exist."""

    name: str
    version: str
    target: str

    @property
    def is_up_to_date(self) -> bool:
        return self.version == self.target


class StepState(StrEnum):
    """How far one step of an upgrade is. At most one step is `next`."""

    DONE = "done"
    CURRENT = "current"
    NEXT = "next"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class UpgradeStep:
    """The upgrade of one component.

    `problem` is the kubelet's or scheduler's reason for a pod that is not ready, such as ImagePullBackOff.
    """

    name: str
    state: StepState
    version: str
    problem: str | None = None


def present_components(ctx: ReconcileContext, target: str) -> Iterator[Component]:
    """Components that exist: engine nodes in rollout order of their pools, then Dashboards."""
    for pool in ctx.pools:
        for pod in pool.pods:
            yield Component(pod.name, pod.engine_version, target)
    yield from dashboards_components(ctx, target)


def missing_components(ctx: ReconcileContext, target: str) -> Iterator[Component]:
    """Components that the spec wants and that do not exist yet."""
    cluster = ctx.snapshot.cluster.key.name
    for pool in ctx.pools:
        present = {pod.name for pod in pool.pods}
        for ordinal in range(pool.replicas):
            name = f"{names.pool_name(cluster, pool.spec.name)}-{ordinal}"
            if name not in present:
                yield Component(name, "", target)
    if ctx.spec.dashboards.enabled and not any(dashboards_components(ctx, target)):
        yield Component(names.dashboards(cluster), "", target)


def dashboards_components(ctx: ReconcileContext, target: str) -> Iterator[Component]:
    """The Dashboards Deployment, if it exists."""
    for key, manifest in sorted(ctx.snapshot.objects.items()):
        if key.kind == "Deployment":
            image = manifest["spec"]["template"]["spec"]["containers"][0]["image"]
            yield Component(key.name, image_version(image), target)
