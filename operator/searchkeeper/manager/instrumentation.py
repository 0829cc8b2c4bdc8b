"""Both ports, with an ear at them: what is written, and what the operator makes of a cluster, is told."""

from __future__ import annotations

__all__ = ["InstrumentedApi", "InstrumentedEngine"]

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from searchkeeper.api.codec import decode_records
from searchkeeper.api.status import SummaryType
from searchkeeper.images import image_version
from searchkeeper.kubernetes.api import KubernetesApi
from searchkeeper.kubernetes.operations import Delete, EmitEvent, Key, Manifest, Patch
from searchkeeper.manager.logging import Log
from searchkeeper.manager.metrics import Metrics
from searchkeeper.opensearch.calls import Call
from searchkeeper.opensearch.client import EngineClient
from searchkeeper.opensearch.view import EngineView, Unreachable
from searchkeeper.planner import ACTION_ERROR, Status
from searchkeeper.upgrade.ledger import UPGRADE

T = TypeVar("T")

# Met on the way to any goal, for every action behind it: to tell of each would drown the one that matters.
_UNREMARKABLE: Final = "PrerequisiteNotMet"
_SUMMARY_TYPES: Final = frozenset(SummaryType)


@dataclass
class _Seen:
    """Of one cycle: statuses by resource, the versions of nodes, and whether pools were asked for at all."""

    statuses: dict[Key, Mapping[str, Any]] = field(default_factory=dict)
    nodes: dict[str, str] = field(default_factory=dict)
    has_pools: bool = False


@dataclass
class InstrumentedApi:
    """The port `Kube`. An action is told of when its answer changes, a write when it was carried out."""

    kube: KubernetesApi
    log: Log
    metrics: Metrics
    cluster: str
    # Called with every request: a cycle that asks is not stuck, however slowly it is answered.
    alive: Callable[[], None] = lambda: None
    cycle: int = 0
    # The resource versions of the statuses that this cycle has stored.
    stored: set[str] = field(default_factory=set)
    _answers: dict[Key, dict[str, tuple[str, str, str]]] = field(default_factory=dict)
    _seen: _Seen = field(default_factory=_Seen)

    def begin(self) -> None:
        """A cycle: what was seen before counts no more."""
        self.alive()
        self.cycle += 1
        self.stored = set()
        self._seen = _Seen()

    def get(self, key: Key) -> Manifest | None:
        self.alive()
        found = self.kube.get(key)
        if found is not None and key.kind == "SearchCluster":
            self._seen.statuses[key] = found.get("status") or {}
        return found

    def list(self, api: str, kind: str, namespace: str, labels: Mapping[str, str]) -> Sequence[Manifest]:
        self.alive()
        found = self.kube.list(api, kind, namespace, labels)
        if kind == "Pod":
            self._seen.nodes |= {pod["metadata"]["name"]: _version(pod) for pod in found if _is_node(pod)}
        if kind == "SearchPool":
            mine = [pool for pool in found if self._is_mine(pool)]
            self._seen.statuses |= {Key.of(pool): pool.get("status") or {} for pool in mine}
            self._seen.has_pools = True
        return found

    def create(self, manifest: Manifest) -> Manifest:
        return self._told("create", Key.of(manifest), lambda: self.kube.create(manifest))

    def patch(self, patch: Patch) -> Manifest:
        return self._told("patch", patch.key, lambda: self.kube.patch(patch))

    def patch_status(self, patch: Patch) -> Manifest:
        self.alive()
        stored = self.kube.patch_status(patch)
        self.stored.add(str(stored["metadata"]["resourceVersion"]))
        self.metrics.add("searchkeeper_writes_total", write="status", kind=patch.key.kind)
        self.hear(patch.key, stored.get("status") or {})
        return stored

    def delete(self, delete: Delete) -> None:
        self._told("delete", delete.key, lambda: self.kube.delete(delete), orphan=delete.orphan)

    def record(self, event: EmitEvent) -> None:
        self._told("event", event.about, lambda: self.kube.record(event), reason=event.reason)

    def hear(self, key: Key, status: Mapping[str, Any]) -> None:
        """Tells of every action whose answer is another one than before."""
        before = self._answers.get(key, {})
        answers = {each["type"]: _answer(each) for each in _of_actions(status)}
        self._answers[key] = answers
        for action, (state, reason, message) in answers.items():
            if before.get(action, ("", "", ""))[:2] != (state, reason) and reason != _UNREMARKABLE:
                self._tell(message or action, action=action, resource=str(key), status=state, reason=reason)
        self._seen.statuses[key] = status

    def measure(self) -> None:
        """The figures of a cycle: what statuses said when it began, or say since it has stored them.

        So they are there as soon as an operator leads, though nothing has to be written. One that came to no
        end has seen a part, and leaves the figures of the rest alone.
        """
        for key, status in self._seen.statuses.items():
            self._measure_waits(key, status)
            if "phase" in status:
                phase = str(status["phase"])
                self.metrics.set_only("searchkeeper_phase", 1, "phase", phase, cluster=self.cluster)
                share = self._share_at(_target(status.get("ledger") or {}))
                self.metrics.set("searchkeeper_upgrade_progress", share, cluster=self.cluster)
        if self._seen.has_pools:
            resources = {str(key) for key in self._seen.statuses}
            self.metrics.keep_only("resource", resources, cluster=self.cluster)

    def _measure_waits(self, key: Key, status: Mapping[str, Any]) -> None:
        conditions = decode_records(status).conditions
        waits = [each for each in conditions if each.status is Status.FALSE or each.reason == ACTION_ERROR]
        stalls = [each for each in waits if each.is_stalled]
        labels = {"cluster": self.cluster, "resource": str(key)}
        self.metrics.set("searchkeeper_waits", len(waits), **labels)
        self.metrics.set("searchkeeper_stalls", len(stalls), **labels)

    def _share_at(self, target: str | None) -> float:
        """Of the nodes that were seen; all of them when no upgrade is under way."""
        nodes = self._seen.nodes
        there = sum(version == target for version in nodes.values())
        return 1.0 if target is None or not nodes else there / len(nodes)

    def _is_mine(self, pool: Manifest) -> bool:
        """A namespace may have several clusters."""
        namespace, owners = pool["metadata"]["namespace"], pool["metadata"].get("ownerReferences") or ()
        return any(f"{namespace}/{each['name']}" == self.cluster for each in owners)

    def _told(self, write: str, key: Key, carry_out: Callable[[], T], **fields: object) -> T:
        self.alive()
        done = carry_out()
        self.metrics.add("searchkeeper_writes_total", write=write, kind=key.kind)
        self._tell(f"{write} {key}", write=write, resource=str(key), **fields)
        return done

    def _tell(self, message: str, **fields: object) -> None:
        self.log.info(message, cluster=self.cluster, cycle=self.cycle, **fields)


@dataclass
class InstrumentedEngine:
    """The port `Driver`; `told` is the other port, which knows the cluster and the cycle."""

    driver: EngineClient
    api: InstrumentedApi

    def get_state(self) -> EngineView | Unreachable:
        self.api.alive()
        return self.driver.get_state()

    def execute(self, call: Call) -> None:
        self.api.alive()
        self.driver.execute(call)
        self.api.metrics.add("searchkeeper_writes_total", write="tell", kind=type(call).__name__)
        fields = {
            "cluster": self.api.cluster,
            "cycle": self.api.cycle,
            "write": "tell",
            "resource": "engine",
        }
        self.api.log.info(str(call), **fields)


def _of_actions(status: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The conditions of actions. The summary conditions repeat them."""
    return (each for each in status.get("conditions") or () if each["type"] not in _SUMMARY_TYPES)


def _answer(condition: Mapping[str, Any]) -> tuple[str, str, str]:
    return condition["status"], condition["reason"], condition["message"]


def _is_node(pod: Manifest) -> bool:
    return any(owner["kind"] == "StatefulSet" for owner in pod["metadata"].get("ownerReferences") or ())


def _version(pod: Manifest) -> str:
    return image_version(pod["spec"]["containers"][0]["image"])


def _target(ledger: Mapping[str, str]) -> str | None:
    """Where an upgrade leads to, while one is under way."""
    under_way = json.loads(ledger.get(UPGRADE, "null"))
    return None if under_way is None else str(under_way[1])
