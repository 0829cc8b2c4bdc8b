"""A write with the states before and after it, as the invariants read them."""

from __future__ import annotations

__all__ = ["ObservedState", "Transition", "template_version"]

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from searchkeeper.api.codec import decode_records
from searchkeeper.api.spec import ClusterSpec
from searchkeeper.api.validation import parse_cluster_spec
from searchkeeper.images import image_version
from searchkeeper.kubernetes.operations import Delete, Key, Manifest
from searchkeeper.opensearch.view import Node, ShardState
from searchkeeper.planner import Operation
from searchkeeper.testing.fake_cluster import FakeClusterState
from searchkeeper.testing.fake_kubernetes.manifests import is_ready, is_terminating
from searchkeeper.testing.fake_opensearch.state import FakeEngine, FakeShardCopy
from searchkeeper.testing.ports import StatusPatch
from searchkeeper.upgrade.ledger import UpgradeLedger
from searchkeeper.versions import Release

_USABLE: Final = (ShardState.STARTED, ShardState.RELOCATING)


@dataclass(frozen=True)
class ObservedState:
    """A state, from the point of view of one SearchCluster."""

    state: FakeClusterState
    key: Key

    @cached_property
    def resource(self) -> Manifest | None:
        return self.state.cluster.objects.get(self.key)

    @cached_property
    def status(self) -> Mapping[str, Any]:
        return (self.resource or {}).get("status") or {}

    @cached_property
    def spec(self) -> ClusterSpec:
        """The spec; an empty one if the resource is missing or invalid."""
        return parse_cluster_spec(self.resource or {})[0]

    @cached_property
    def ledger(self) -> UpgradeLedger:
        return UpgradeLedger.of(decode_records(self.status).ledger)

    @cached_property
    def recorded(self) -> UpgradeLedger:
        """The ledger; for the rest of a reconcile in which the status was lost, the one before the loss."""
        lost = dict(self.state.lost_statuses).get(self.key)
        return self.ledger if lost is None else UpgradeLedger.of(decode_records(lost).ledger)

    @cached_property
    def is_deleting(self) -> bool:
        """Whether the SearchCluster is being deleted."""
        return self.resource is not None and is_terminating(self.resource)

    @property
    def engine(self) -> FakeEngine:
        return self.state.engine

    def all_of(self, kind: str) -> dict[str, Manifest]:
        """Every object of a kind, by name."""
        return {key.name: each for key, each in self.state.cluster.objects.items() if key.kind == kind}

    def pod(self, name: str) -> Manifest | None:
        return self.state.cluster.objects.get(Key("v1", "Pod", self.key.namespace, name))

    def stateful_set_of(self, pod: str) -> Manifest | None:
        return self.all_of("StatefulSet").get(pod.rpartition("-")[0])

    def is_available(self, name: str) -> bool:
        """Whether the pod is ready and not terminating, and its node has joined."""
        pod = self.pod(name)
        has_joined = name in self.engine.names
        return has_joined and pod is not None and is_ready(pod) and not is_terminating(pod)

    def node(self, name: str) -> Node | None:
        return self.engine.node(name)

    def is_usable(self, copy: FakeShardCopy) -> bool:
        """Whether a copy is started on a node that has joined and whose pod is not terminating.

        The readiness of the pod does not matter: the engine serves and recovers from the copy anyway.
        """
        pod = None if copy.node is None else self.pod(copy.node)
        is_present = pod is not None and not is_terminating(pod) and copy.node in self.engine.names
        return copy.state in _USABLE and is_present


@dataclass(frozen=True)
class Transition:
    """One write of an operator release, with the states before and after it."""

    before: ObservedState
    write: Operation
    after: ObservedState
    release: Release

    @property
    def key(self) -> Key | None:
        """The written object; None for engine calls and events."""
        write = self.write.patch if isinstance(self.write, StatusPatch) else self.write
        key = getattr(write, "key", None)
        return key if isinstance(key, Key) else None

    @property
    def written(self) -> Manifest | None:
        """The written object after the write."""
        return None if self.key is None else self.after.state.cluster.objects.get(self.key)

    @property
    def deleted_pod(self) -> str | None:
        return self._deleted_name("Pod")

    @property
    def replaced_pod(self) -> str | None:
        """The deleted pod of a cluster that stays, which must do without it until it is replaced."""
        return None if self.before.is_deleting else self.deleted_pod

    @property
    def deleted_claim(self) -> str | None:
        """The pod whose volume claim is deleted."""
        name = self._deleted_name("PersistentVolumeClaim")
        return None if name is None else name.removeprefix("data-")

    def _deleted_name(self, kind: str) -> str | None:
        match self.write:
            case Delete(key) if key.kind == kind:
                return key.name
            case _:
                return None


def template_version(workload: Manifest) -> str:
    """Return the engine version of a StatefulSet's template."""
    return image_version(workload["spec"]["template"]["spec"]["containers"][0]["image"])
