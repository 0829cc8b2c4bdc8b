"""Both ports, with an ear at them: what is written, and what the operator makes of a cluster, is told."""

from __future__ import annotations

__all__ = ["Telling", "TellingDriver"]

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from searchkeeper.engine.calls import Call
from searchkeeper.engine.driver import Driver
from searchkeeper.engine.view import EngineView, Unreachable
from searchkeeper.images import version_in
from searchkeeper.kernel import FAULT, STALLED, Status
from searchkeeper.kube import Kube
from searchkeeper.shell.logs import Log
from searchkeeper.shell.metrics import Metrics
from searchkeeper.upgrade.journal import UNDER_WAY
from searchkeeper.wording import spoken
from searchkeeper.writes import Delete, Event, Key, Manifest, Patch

T = TypeVar("T")

# Met on the way to any goal, for every action behind it: to tell of each would drown the one that matters.
_UNREMARKABLE: Final = "PrerequisiteNotMet"


@dataclass
class Telling:
    """The port `Kube`. An action is told of when its answer changes, a write when it was carried out."""

    kube: Kube
    log: Log
    metrics: Metrics
    cluster: str
    cycle: int = 0
    _answers: dict[Key, dict[str, tuple[str, str, str]]] = field(default_factory=dict)
    _nodes: dict[str, str] = field(default_factory=dict)

    def get(self, key: Key) -> Manifest | None:
        return self.kube.get(key)

    def list(self, api: str, kind: str, namespace: str, labels: Mapping[str, str]) -> Sequence[Manifest]:
        found = self.kube.list(api, kind, namespace, labels)
        if kind == "Pod":
            self._nodes |= {pod["metadata"]["name"]: _version(pod) for pod in found if _is_node(pod)}
        return found

    def create(self, manifest: Manifest) -> Manifest:
        return self._told("create", Key.of(manifest), lambda: self.kube.create(manifest))

    def patch(self, patch: Patch) -> Manifest:
        return self._told("patch", patch.key, lambda: self.kube.patch(patch))

    def patch_status(self, patch: Patch) -> Manifest:
        stored = self.kube.patch_status(patch)
        self.metrics.add("searchkeeper_writes_total", write="status", kind=patch.key.kind)
        self.hear(patch.key, stored.get("status") or {})
        return stored

    def delete(self, delete: Delete) -> None:
        self._told("delete", delete.key, lambda: self.kube.delete(delete), orphan=delete.orphan)

    def record(self, event: Event) -> None:
        self._told("event", event.about, lambda: self.kube.record(event), reason=event.reason)

    def hear(self, key: Key, status: Mapping[str, Any]) -> None:
        """Tells of every action whose answer is another one than before, and keeps the figures."""
        before = self._answers.get(key, {})
        answers = {each["type"]: _answer(each) for each in status.get("conditions") or ()}
        self._answers[key] = answers
        for action, (state, reason, message) in answers.items():
            if before.get(action, ("", "", ""))[:2] != (state, reason) and reason != _UNREMARKABLE:
                self._tell(message or action, action=action, resource=str(key), status=state, reason=reason)
        waits = [each for each in answers.values() if each[0] == Status.FALSE or each[1] == FAULT]
        stalls = [each for each in waits if each[2].startswith(STALLED)]
        labels = {"cluster": self.cluster, "resource": str(key)}
        self.metrics.set("searchkeeper_waits", len(waits), **labels)
        self.metrics.set("searchkeeper_stalls", len(stalls), **labels)
        if "phase" in status:
            phase = str(status["phase"])
            self.metrics.set_only("searchkeeper_phase", 1, "phase", phase, cluster=self.cluster)
            share = self._share_at(_target(status.get("ledger") or {}))
            self.metrics.set("searchkeeper_upgrade_progress", share, cluster=self.cluster)

    def _share_at(self, target: str | None) -> float:
        """Of the nodes that were last seen; all of them when no upgrade is under way."""
        there = sum(version == target for version in self._nodes.values())
        return 1.0 if target is None or not self._nodes else there / len(self._nodes)

    def _told(self, write: str, key: Key, carry_out: Callable[[], T], **fields: object) -> T:
        done = carry_out()
        self.metrics.add("searchkeeper_writes_total", write=write, kind=key.kind)
        self._tell(f"{write} {key}", write=write, resource=str(key), **fields)
        return done

    def _tell(self, message: str, **fields: object) -> None:
        self.log.info(message, cluster=self.cluster, cycle=self.cycle, **fields)


@dataclass
class TellingDriver:
    """The port `Driver`; `told` is the other port, which knows the cluster and the cycle."""

    driver: Driver
    told: Telling

    def look(self) -> EngineView | Unreachable:
        return self.driver.look()

    def tell(self, call: Call) -> None:
        self.driver.tell(call)
        self.told.metrics.add("searchkeeper_writes_total", write="tell", kind=type(call).__name__)
        fields = {
            "cluster": self.told.cluster,
            "cycle": self.told.cycle,
            "write": "tell",
            "resource": "engine",
        }
        self.told.log.info(spoken(call), **fields)


def _answer(condition: Mapping[str, Any]) -> tuple[str, str, str]:
    return condition["status"], condition["reason"], condition["message"]


def _is_node(pod: Manifest) -> bool:
    return any(owner["kind"] == "StatefulSet" for owner in pod["metadata"].get("ownerReferences") or ())


def _version(pod: Manifest) -> str:
    return version_in(pod["spec"]["containers"][0]["image"])


def _target(ledger: Mapping[str, str]) -> str | None:
    """Where an upgrade leads to, while one is under way."""
    under_way = json.loads(ledger.get(UNDER_WAY, "null"))
    return None if under_way is None else str(under_way[1])
