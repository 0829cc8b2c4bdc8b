"""What one cycle sees, as values: read once, fresh, and never changed."""

from __future__ import annotations

__all__ = ["ClusterView", "Observed", "Pod", "PoolView", "SetView"]

from collections.abc import Mapping
from dataclasses import dataclass

from searchkeeper.engine.view import EngineView, Unreachable
from searchkeeper.kernel import Records
from searchkeeper.resources.specs import ClusterSpec, PoolSpec
from searchkeeper.versions import Release
from searchkeeper.writes import Key, Manifest


@dataclass(frozen=True, slots=True)
class Pod:
    """One pod of a pool. `template` is the digest of the template it was made from: old or current.

    `problem` is what the kubelet or the scheduler complains of, in one word, when the pod is not ready.
    """

    name: str
    uid: str
    resource_version: str
    engine_version: str
    template: str
    is_ready: bool
    is_terminating: bool = False
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class SetView:
    """The StatefulSet of a pool."""

    uid: str
    resource_version: str
    engine_version: str
    template: str
    configuration: int
    replicas: int
    partition: int | None


@dataclass(frozen=True, slots=True)
class PoolView:
    """One pool: what is wanted of it, its SearchPool, its StatefulSet and its pods, by ordinal.

    `permitted` is the engine version that the parent allows it to run at this moment.
    """

    spec: PoolSpec
    is_wanted: bool
    uid: str | None
    resource_version: str
    generation: int
    permitted: str | None
    current_version: int | None
    observed_generation: int | None
    records: Records
    stateful_set: SetView | None
    pods: tuple[Pod, ...]

    @property
    def stale_pods(self) -> tuple[Pod, ...]:
        """Made from another template than the StatefulSet has."""
        wanted = self.stateful_set
        return tuple(pod for pod in self.pods if wanted is not None and pod.template != wanted.template)


@dataclass(frozen=True, slots=True)
class ClusterView:
    """The SearchCluster itself. `engine_version` is what every node ran when last all was well.

    `written` is its spec as canonical JSON, so that it can be kept word for word while it is locked.
    """

    key: Key
    uid: str
    resource_version: str
    generation: int
    spec: ClusterSpec
    written: str
    is_deleting: bool
    finalizers: tuple[str, ...]
    annotations: tuple[tuple[str, str], ...]
    current_version: int | None
    engine_version: str | None
    records: Records


@dataclass(frozen=True, slots=True)
class Observed:
    """Everything a cycle may decide on. `objects` are the manifests as they were read, by key."""

    cluster: ClusterView
    pools: tuple[PoolView, ...]
    objects: Mapping[Key, Manifest]
    engine: EngineView | Unreachable
    release: Release
    now: int

    def pool(self, name: str) -> PoolView | None:
        return next((pool for pool in self.pools if pool.spec.name == name), None)

    @property
    def pods(self) -> tuple[Pod, ...]:
        return tuple(pod for pool in self.pools for pod in pool.pods)
