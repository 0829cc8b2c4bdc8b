"""One write and the two states around it, read as what laws are about: pods, votes, copies, the ledger."""

from __future__ import annotations

__all__ = ["ObservedState", "StatusPatch", "Transition", "template_version"]

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from searchkeeper.api.codec import decode_records
from searchkeeper.api.spec import ClusterSpec
from searchkeeper.api.validation import parse_cluster_spec
from searchkeeper.images import image_version
from searchkeeper.kubernetes.operations import Delete, Key, Manifest, Patch
from searchkeeper.opensearch.view import Node, ShardState
from searchkeeper.planner import Operation
from searchkeeper.testing.fake_cluster import FakeClusterState
from searchkeeper.testing.fake_kubernetes.manifests import is_ready, is_terminating
from searchkeeper.testing.fake_opensearch.state import FakeEngine, FakeShardCopy
from searchkeeper.upgrade.ledger import UpgradeLedger
from searchkeeper.versions import Release

_USABLE: Final = (ShardState.STARTED, ShardState.RELOCATING)


@dataclass(frozen=True, slots=True)
class StatusPatch:
    """A patch that went through the status subresource."""

    patch: Patch
    is_destructive: bool = False


@dataclass(frozen=True)
class ObservedState:
    """One state of the world with one SearchCluster in it."""

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
        """Empty for a cluster that is not there, or cannot be read."""
        return parse_cluster_spec(self.resource or {})[0]

    @cached_property
    def ledger(self) -> UpgradeLedger:
        return UpgradeLedger.of(decode_records(self.status).ledger)

    @cached_property
    def is_deleting(self) -> bool:
        """Somebody has asked for its end: whatever happens now, it does not come back."""
        return self.resource is not None and is_terminating(self.resource)

    @property
    def engine(self) -> FakeEngine:
        return self.state.engine

    def all_of(self, kind: str) -> dict[str, Manifest]:
        """Every object of a kind, by name."""
        return {key.name: each for key, each in self.state.cluster.objects.items() if key.kind == kind}

    def pod(self, name: str) -> Manifest | None:
        return self.state.cluster.objects.get(Key("v1", "Pod", self.key.namespace, name))

    def is_here(self, name: str) -> bool:
        """A ready pod that nobody has sent away, whose node has joined."""
        pod = self.pod(name)
        joined = name in self.engine.names
        return joined and pod is not None and is_ready(pod) and not is_terminating(pod)

    def node(self, name: str) -> Node | None:
        return self.engine.node(name)

    def usable(self, copy: FakeShardCopy) -> bool:
        """Started on a node that has joined, whose pod nobody has sent away.

        The engine serves from it and recovers from it, whatever a readiness probe says of its pod.
        """
        pod = None if copy.node is None else self.pod(copy.node)
        is_there = pod is not None and not is_terminating(pod) and copy.node in self.engine.names
        return copy.state in _USABLE and is_there


@dataclass(frozen=True)
class Transition:
    """What a release wrote, as it found the world and as it left it."""

    before: ObservedState
    write: Operation
    after: ObservedState
    release: Release

    @property
    def key(self) -> Key | None:
        """The object that was written, if it was one."""
        write = self.write.patch if isinstance(self.write, StatusPatch) else self.write
        found = getattr(write, "key", None)
        return found if isinstance(found, Key) else None

    @property
    def written(self) -> Manifest | None:
        return None if self.key is None else self.after.state.cluster.objects.get(self.key)

    @property
    def deleted_pod(self) -> str | None:
        """The pod of a StatefulSet that is taken away."""
        return self._deleted("Pod")

    @property
    def surplus_pods(self) -> str | None:
        """The same, where the cluster stays, and has to do without it for a while."""
        return None if self.before.is_deleting else self.deleted_pod

    @property
    def deleted_claim(self) -> str | None:
        """The pod whose volume claim is taken away."""
        name = self._deleted("PersistentVolumeClaim")
        return None if name is None else name.removeprefix("data-")

    def _deleted(self, kind: str) -> str | None:
        match self.write:
            case Delete(key) if key.kind == kind:
                return key.name
            case _:
                return None


def template_version(workload: Manifest) -> str:
    """The engine version of a StatefulSet's template."""
    return image_version(workload["spec"]["template"]["spec"]["containers"][0]["image"])
