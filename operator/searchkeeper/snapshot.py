"""What one cycle sees, as values: read once, fresh, and never changed."""

from __future__ import annotations

__all__ = ["ClusterSnapshot", "ClusterView", "Pod", "PoolView", "StatefulSetView"]

from collections.abc import Mapping
from dataclasses import dataclass, field

from searchkeeper.api.spec import ClusterSpec, PoolSpec
from searchkeeper.images import PUBLISHED, Images
from searchkeeper.kubernetes.operations import Key, Manifest
from searchkeeper.opensearch.view import EngineView, Unreachable
from searchkeeper.planner import Records
from searchkeeper.versions import Release, parse


@dataclass(frozen=True, slots=True)
class Pod:
    """One pod of a pool. `template` is the digest of the template it was made from: old or current.

    `problem` is what the kubelet or the scheduler complains of, in one word, when the pod is not ready.
    `has_started` is whether its process ran at least for a moment: long enough to write to its volume.
    `roles` are those that it was made with, whatever its pool is to do by now; None where nobody knows.
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

    @property
    def ordinal(self) -> int:
        return int(self.name.rpartition("-")[2])


@dataclass(frozen=True, slots=True)
class StatefulSetView:
    """The StatefulSet of a pool. `bootstrapper` is the manager that its nodes would begin a cluster with."""

    uid: str
    resource_version: str
    engine_version: str
    template: str
    configuration: int
    replicas: int
    partition: int | None
    bootstrapper: str | None = None


@dataclass(frozen=True, slots=True)
class PoolView:
    """One pool: what is wanted of it, its SearchPool, its StatefulSet and its pods, by ordinal.

    `permitted` is the engine version that the parent allows it to run at this moment, `allotted` how many
    nodes it may have. A pool that is not wanted any more is there until its last node has left.
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

    @property
    def replicas(self) -> int:
        """How many nodes it is to have in the end."""
        return self.spec.replicas if self.is_wanted else 0

    @property
    def is_over(self) -> bool:
        """Whether it needs no StatefulSet any more: nobody is wanted, nobody left, and nobody on its way.

        Nodes that have yet to leave need one: whoever of them is evicted comes back with the shards that it
        has not given away.
        """
        return not (self.is_wanted or self.pods or self.allotted_replicas)

    @property
    def surplus_pods(self) -> tuple[Pod, ...]:
        """Those that are one too many: the highest ordinals, which is where a StatefulSet shrinks."""
        return tuple(pod for pod in self.pods if pod.ordinal >= self.replicas)

    @property
    def retained_pods(self) -> tuple[Pod, ...]:
        return tuple(pod for pod in self.pods if pod.ordinal < self.replicas)

    @property
    def outdated_pods(self) -> tuple[Pod, ...]:
        """Made from another template than the StatefulSet has, and to stay: nobody is replaced who leaves."""
        wanted = self.stateful_set
        return tuple(pod for pod in self.retained_pods if wanted is not None and _is_stale(pod, wanted))


def _is_stale(pod: Pod, wanted: StatefulSetView) -> bool:
    """The mark of a template outlives an edit of the image in it: a pod of that is of another one, too.

    But whoever has run a newer version stays: it could not start again on its disk.
    """
    if pod.template != wanted.template:
        return True
    made, newest = parse(pod.engine_version), parse(wanted.engine_version)
    has_crossed = pod.has_started and made is not None and newest is not None and made > newest
    return pod.engine_version != wanted.engine_version and not has_crossed


@dataclass(frozen=True, slots=True)
class ClusterView:
    """The SearchCluster itself. `engine_version` is what every node ran when last all was well.

    `spec` is the one in force: while an upgrade is under way what was deployed at its beginning, but for the
    version and the upgrade's own policy. `written` is what stands there, as canonical JSON. `flaw` is what is
    wrong with it where nobody could follow it, as an older definition may let in: then only what an upgrade
    has locked is in force, and without one nothing is.
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
        """Whether nothing is in force: what is written cannot be followed, and no upgrade goes to its end."""
        return self.spec_error is not None and not self.spec.pools


@dataclass(frozen=True, slots=True)
class ClusterSnapshot:
    """Everything a cycle may decide on. `objects` are the manifests as they were read, by key.

    `looking_since` is when this operator began to look, by the clock that also says what `now` is.
    `strangers` have a name that something of this cluster should have, and are not its own. `images` is where
    this operator was told that the engine's come from.
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

    def pool(self, name: str) -> PoolView | None:
        return next((pool for pool in self.pools if pool.spec.name == name), None)

    @property
    def pods(self) -> tuple[Pod, ...]:
        return tuple(pod for pool in self.pools for pod in pool.pods)

    @property
    def present(self) -> frozenset[str]:
        """The pods that are there, and that nobody has sent away: what is on them can be counted on."""
        return frozenset(pod.name for pod in self.pods if not pod.is_terminating)
