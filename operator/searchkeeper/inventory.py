"""What has a version: each node of the engine, and Dashboards; what is there of them, and what is missing.

To upgrade one of them is a step.
"""

from __future__ import annotations

__all__ = ["Component", "StepState", "UpgradeStep", "dashboards", "missing_components", "present_components"]

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from searchkeeper.desired import names
from searchkeeper.images import image_version
from searchkeeper.reconcilers.context import ReconcileContext


@dataclass(frozen=True, slots=True)
class Component:
    """Something that has a version: which it has, none while it is not there, and which it is to have."""

    name: str
    version: str
    wanted: str

    @property
    def is_done(self) -> bool:
        return self.version == self.wanted


class StepState(StrEnum):
    DONE = "done"
    CURRENT = "current"
    NEXT = "next"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class UpgradeStep:
    """One step of an upgrade: a pod of the engine, or what comes after the last of them. One is next at most.

    `problem` is what the kubelet or the scheduler complains of, in one word.
    """

    name: str
    state: StepState
    version: str
    problem: str | None = None


def present_components(ctx: ReconcileContext, target: str) -> Iterator[Component]:
    """Every node of the engine, then Dashboards."""
    for pool in ctx.pools:
        for pod in pool.pods:
            yield Component(pod.name, pod.engine_version, target)
    yield from dashboards(ctx, target)


def missing_components(ctx: ReconcileContext, target: str) -> Iterator[Component]:
    """What is asked for and not there: it has no version yet."""
    name = ctx.snapshot.cluster.key.name
    for pool in ctx.pools:
        known = {pod.name for pod in pool.pods}
        nodes = (f"{names.pool_name(name, pool.spec.name)}-{number}" for number in range(pool.replicas))
        yield from (Component(each, "", target) for each in nodes if each not in known)
    if ctx.spec.dashboards.enabled and not any(dashboards(ctx, target)):
        yield Component(names.dashboards(name), "", target)


def dashboards(ctx: ReconcileContext, target: str) -> Iterator[Component]:
    for key, manifest in sorted(ctx.snapshot.objects.items()):
        if key.kind == "Deployment":
            image = manifest["spec"]["template"]["spec"]["containers"][0]["image"]
            yield Component(key.name, image_version(image), target)
