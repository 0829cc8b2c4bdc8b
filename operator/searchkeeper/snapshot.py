"""The snapshot of a reconcile: everything that it observed, as immutable values."""

from __future__ import annotations

__all__ = [
    "ClusterSnapshot",
    "ClusterView",
    "ContainerRestarts",
    "Pod",
    "PoolView",
    "StatefulSetView",
    "ZoneSettings",
]

from collections.abc import Mapping
from dataclasses import dataclass, field

from searchkeeper.api.spec import ClusterSpec, PoolSpec
from searchkeeper.images import PUBLISHED, Images
from searchkeeper.kubernetes.operations import Key, Manifest
from searchkeeper.opensearch.details import EngineDetails
from searchkeeper.opensearch.view import EngineView, Unreachable
from searchkeeper.planner import Records
from searchkeeper.versions import Release, parse


@dataclass(frozen=True, slots=True)
class ContainerRestarts:
    """A container that has restarted. `last_exit` says how it ended last.

    `ended_at` is when, in seconds since the epoch; None if unknown. `is_looping`: the kubelet waits before it
    starts the container again.
    """

    container: str
    count: int
    last_exit: str
    ended_at: int | None = None
    is_looping: bool = False


@dataclass(frozen=True, slots=True)
class ZoneSettings:
    """The settings for zones in the environment of a node. `topology_key` is the label that has its zone.

    `is_aware`: as the elected manager the node spreads shards over zones.
    """

    has_zone: bool = False
    topology_key: str | None = None
    is_aware: bool = False


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod of a pool. `template` is the digest of the template that it was made from.

    `problem` is the reason of the kubelet or the scheduler why the pod does not run. `has_started` is whether
    its process ran long enough to write to its volume. `roles` are those of the pod, which may differ from
    those of its pool; None if unknown.
    """

    name: str
    uid: str
    resource_version: str
    engine_version: str
    template: str
    is_ready: bool
    is_terminating: bool = False
    problem: str | None = None
    has_started: bool = False
    roles: frozenset[str] | None = None
    restarts: tuple[ContainerRestarts, ...] = ()
    zones: ZoneSettings = ZoneSettings()

    @property
    def ordinal(self) -> int:
        return int(self.name.rpartition("-")[2])


@dataclass(frozen=True, slots=True)
class StatefulSetView:
    """The StatefulSet of a pool. `bootstrapper` is the initial manager in the environment of its nodes.

    `zones` are as last applied: an edit, which is reverted, must not change them.
    """

    uid: str
    resource_version: str
    engine_version: str
    template: str
    configuration: int
    replicas: int
    partition: int | None
    bootstrapper: str | None = None
    zones: ZoneSettings = ZoneSettings()


@dataclass(frozen=True, slots=True)
class PoolView:
    """A pool: its spec, its SearchPool, its StatefulSet, and its pods by ordinal.

    `permitted_version`, `allotted_replicas` and `allotted_size` are the engine version, the number of nodes
    and the size of volumes that its SearchPool allows. A pool that was removed from the spec exists until its
    last node is gone.
    """

    spec: PoolSpec
    is_wanted: bool
    uid: str | None
    resource_version: str
    generation: int
    permitted_version: str | None
    current_version: int | None
    observed_generation: int | None
    records: Records
    stateful_set: StatefulSetView | None
    pods: tuple[Pod, ...]
    allotted_replicas: int | None = None
    allotted_size: str | None = None

    @property
    def replicas(self) -> int:
        """How many nodes the spec wants."""
        return self.spec.replicas if self.is_wanted else 0

    @property
    def is_over(self) -> bool:
        """Whether it needs no StatefulSet: it is not in the spec and has no nodes, present or allotted.

        Until scale-in is complete, an evicted node must be recreated with the shards that it still has.
        """
        return not (self.is_wanted or self.pods or self.allotted_replicas)

    @property
    def surplus_pods(self) -> tuple[Pod, ...]:
        """The pods to scale in: the highest ordinals, because a StatefulSet removes those first."""
        return tuple(pod for pod in self.pods if pod.ordinal >= self.replicas)

    @property
    def retained_pods(self) -> tuple[Pod, ...]:
        return tuple(pod for pod in self.pods if pod.ordinal < self.replicas)

    @property
    def outdated_pods(self) -> tuple[Pod, ...]:
        """The retained pods that were made from another template than the StatefulSet has now."""
        current = self.stateful_set
        return tuple(pod for pod in self.retained_pods if current is not None and _is_outdated(pod, current))


def _is_outdated(pod: Pod, stateful_set: StatefulSetView) -> bool:
    """Whether the pod was made from another template, or from the same one with an edited image.

    A pod that ran a newer version is not outdated: the older version cannot start on its volume.
    """
    if pod.template != stateful_set.template:
        return True
    own, wanted = parse(pod.engine_version), parse(stateful_set.engine_version)
    ran_newer = pod.has_started and own is not None and wanted is not None and own > wanted
    return pod.engine_version != stateful_set.engine_version and not ran_newer


@dataclass(frozen=True, slots=True)
class ClusterView:
    """The SearchCluster. `engine_version` is the version of every node when the last upgrade finished.

    `spec` is the one that counts: during an upgrade the locked one, but for the version and the upgrade
    policy. `raw_spec` is the written one, as canonical JSON. `spec_error` is why it is invalid; an older CRD
    may have accepted it. Then only the locked spec counts, and without an upgrade none does.
    """

    key: Key
    uid: str
    resource_version: str
    generation: int
    spec: ClusterSpec
    raw_spec: str
    is_deleting: bool
    finalizers: tuple[str, ...]
    annotations: tuple[tuple[str, str], ...]
    current_version: int | None
    engine_version: str | None
    records: Records
    spec_error: str | None = None

    @property
    def has_no_usable_spec(self) -> bool:
        """Whether the spec is invalid, and no upgrade has a locked one."""
        return self.spec_error is not None and not self.spec.pools


@dataclass(frozen=True, slots=True)
class ClusterSnapshot:
    """Everything that decisions are based on. `objects` are the manifests by key.

    `observing_since` is when this operator first observed the cluster, by the clock of `now`.
    `foreign_objects` have a name that an object of this cluster needs, and another owner. `images` are the
    repositories of the images. `details` of the engine are those that `observe` has requested.
    `secret_digests` are digests of the entries of existing Secrets that pods mount, by name of the Secret;
    their contents are not kept.
    """

    cluster: ClusterView
    pools: tuple[PoolView, ...]
    objects: Mapping[Key, Manifest]
    engine: EngineView | Unreachable
    release: Release
    now: int
    observing_since: int = 0
    foreign_objects: Mapping[Key, Manifest] = field(default_factory=dict)
    images: Images = PUBLISHED
    details: EngineDetails = field(default_factory=EngineDetails)
    secret_digests: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def pool(self, name: str) -> PoolView | None:
        return next((pool for pool in self.pools if pool.spec.name == name), None)

    @property
    def pods(self) -> tuple[Pod, ...]:
        return tuple(pod for pool in self.pools for pod in pool.pods)

    @property
    def present(self) -> frozenset[str]:
        """The names of the pods that are not terminating. Only their shard copies count."""
        return frozenset(pod.name for pod in self.pods if not pod.is_terminating)
