"""Logs and metrics of reconciles, taken where requests pass to the API server and to the engine."""

from __future__ import annotations

__all__ = ["InstrumentedApi", "InstrumentedEngine"]

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Unpack

from searchkeeper.api.codec import decode_records
from searchkeeper.api.reasons import Reason
from searchkeeper.images import image_version
from searchkeeper.kubernetes.api import KubernetesApi
from searchkeeper.kubernetes.operations import Delete, EmitEvent, Key, Manifest, Patch
from searchkeeper.manager.logging import Log, LogFields
from searchkeeper.manager.metrics import ActionCounts, Metrics
from searchkeeper.opensearch.calls import Call
from searchkeeper.opensearch.client import EngineClient
from searchkeeper.opensearch.details import DetailsRequest, EngineDetails
from searchkeeper.opensearch.view import EngineView, Unreachable
from searchkeeper.planner import ACTION_ERROR, Status
from searchkeeper.upgrade.ledger import ROLLBACK_TO, UPGRADE

# Every action behind an unfinished one has this reason; logging them all would hide the one that matters.
_UNLOGGED_REASON: Final = "PrerequisiteNotMet"
# The action that replaces pods. Its message names the gate's objection, so a new message is logged too.
_ROLLOUT: Final = "PodsCurrent"


@dataclass
class _Observations:
    """What one reconcile read: statuses by resource, versions of nodes by pod, whether pools were listed."""

    statuses: dict[Key, Mapping[str, Any]] = field(default_factory=dict)
    node_versions: dict[str, str] = field(default_factory=dict)
    has_pools: bool = False


@dataclass
class InstrumentedApi:
    """A KubernetesApi that logs every operation and every changed condition of one cluster."""

    kube: KubernetesApi
    log: Log
    metrics: Metrics
    cluster: Key
    # Called before every request: a reconcile that sends requests does not hang, however slow they are.
    heartbeat: Callable[[], None] = lambda: None
    # The number of the current reconcile.
    reconcile: int = 0
    # The last request, such as "patch of SearchCluster search/logs".
    last_request: str = ""
    # Resource versions of the statuses that this reconcile has stored.
    stored_versions: set[str] = field(default_factory=set)
    _conditions: dict[Key, dict[str, tuple[str, str, str]]] = field(default_factory=dict)
    _observations: _Observations = field(default_factory=_Observations)

    def start_reconcile(self) -> None:
        """Count a reconcile and drop the observations of the one before."""
        self.heartbeat()
        self.reconcile += 1
        self.stored_versions = set()
        self._observations = _Observations()

    def get(self, key: Key) -> Manifest | None:
        self._start_request("get", key)
        manifest = self.kube.get(key)
        if manifest is not None and key.kind == "SearchCluster":
            self._observations.statuses[key] = manifest.get("status") or {}
        return manifest

    def list(self, api: str, kind: str, namespace: str, labels: Mapping[str, str]) -> Sequence[Manifest]:
        self._start_request("list", Key(api, kind, namespace, "*"))
        manifests = self.kube.list(api, kind, namespace, labels)
        if kind == "Pod":
            self._observations.node_versions |= {
                pod["metadata"]["name"]: image_version(pod["spec"]["containers"][0]["image"])
                for pod in manifests
                if any(owner["kind"] == "StatefulSet" for owner in _owners(pod))
            }
        if kind == "SearchPool":
            # A namespace may have several clusters.
            pools = [
                pool
                for pool in manifests
                if any(owner["name"] == self.cluster.name for owner in _owners(pool))
            ]
            self._observations.statuses |= {Key.of(pool): pool.get("status") or {} for pool in pools}
            self._observations.has_pools = True
        return manifests

    def create(self, manifest: Manifest) -> Manifest:
        key = Key.of(manifest)
        self._start_request("create", key)
        created = self.kube.create(manifest)
        self.count_operation("create", key.kind)
        self._log(f"created {key}", key, operation="create")
        return created

    def patch(self, patch: Patch) -> Manifest:
        self._start_request("patch", patch.key)
        patched = self.kube.patch(patch)
        self.count_operation("patch", patch.key.kind)
        self._log(f"patched {patch.key}", patch.key, operation="patch")
        return patched

    def patch_status(self, patch: Patch) -> Manifest:
        self._start_request("patch", patch.key)
        patched = self.kube.patch_status(patch)
        self.stored_versions.add(str(patched["metadata"]["resourceVersion"]))
        self.count_operation("patch_status", patch.key.kind)
        self.log_conditions(patch.key, patched.get("status") or {})
        return patched

    def delete(self, delete: Delete) -> None:
        self._start_request("delete", delete.key)
        self.kube.delete(delete)
        self.count_operation("delete", delete.key.kind)
        if delete.key.kind == "Pod":
            self._log("deleting pod", delete.key, **self._pod_replacement(delete.key.name))
        else:
            self._log(f"deleting {delete.key}", delete.key, operation="delete")

    def record(self, event: EmitEvent) -> None:
        self._start_request("event", event.about)
        self.kube.record(event)
        self.count_operation("event", event.about.kind)
        self._log(f"emitted event: {event.message}", event.about, operation="event", reason=event.reason)

    def log_conditions(self, key: Key, status: Mapping[str, Any]) -> None:
        """Log every condition whose status or reason is new, and every new objection to the rollout.

        A condition that waits for a prerequisite is compared with what was logged before that.
        """
        logged = self._conditions.setdefault(key, {})
        for condition in status.get("conditions") or ():
            action, reason, message = condition["type"], condition["reason"], condition["message"]
            if reason == _UNLOGGED_REASON:
                continue
            new = (condition["status"], reason, message if action == _ROLLOUT else "")
            if logged.get(action) != new:
                self._log(message or action, key, action=action, reason=reason)
            logged[action] = new
        self._observations.statuses[key] = status

    def log_engine_call(self, call: Call) -> None:
        self.count_operation("engine_call", type(call).__name__)
        self._log(f"called engine: {call}", operation="engine_call")

    def count_operation(self, operation: str, kind: str) -> None:
        self.metrics.operations.labels(self.cluster.namespace, self.cluster.name, operation, kind).inc()

    def measure(self) -> None:
        """Set the gauges from the statuses that this reconcile read or stored.

        So a new leader has all gauges after one reconcile, even if that writes nothing. A reconcile that
        failed has read a part; the gauges of the rest stay.
        """
        counts: dict[str, ActionCounts] = {}
        for key, status in self._observations.statuses.items():
            actions = decode_records(status).conditions
            waiting = [
                action for action in actions if action.status is Status.FALSE or action.reason == ACTION_ERROR
            ]
            stalled = [action for action in waiting if action.is_stalled]
            pool = key.name if key.kind == "SearchPool" else ""
            counts[pool] = ActionCounts(len(waiting), len(stalled))
            if "phase" in status:
                conditions = status.get("conditions") or ()
                states = {condition["type"]: condition["status"] for condition in conditions}
                self.metrics.set_state(self.cluster, str(status["phase"]), states, self._progress(status))
        self.metrics.set_actions(self.cluster, counts, replace=self._observations.has_pools)

    def _progress(self, status: Mapping[str, Any]) -> float:
        """The share of nodes that run the upgrade's target version; 1 without an upgrade."""
        versions = list(self._observations.node_versions.values())
        upgrade = json.loads((status.get("ledger") or {}).get(UPGRADE, "null"))
        return 1.0 if upgrade is None or not versions else versions.count(upgrade[1]) / len(versions)

    def _pod_replacement(self, pod: str) -> LogFields:
        """Why a pod is deleted and which versions the old and the new one run, as far as known."""
        status = self._observations.statuses.get(self.cluster, {})
        fields: LogFields = {"operation": "delete"}
        reasons = {condition["type"]: condition["reason"] for condition in status.get("conditions") or ()}
        if reasons.get(_ROLLOUT) == Reason.REPLACING_POD:
            fields["reason"] = Reason.REPLACING_POD
        if pod in self._observations.node_versions:
            fields["from_"] = self._observations.node_versions[pod]
        ledger = status.get("ledger") or {}
        upgrade, rollback_to = (json.loads(ledger.get(line, "null")) for line in (UPGRADE, ROLLBACK_TO))
        if upgrade is not None:
            fields["to"] = rollback_to or upgrade[1]
        return fields

    def _start_request(self, verb: str, key: Key) -> None:
        self.heartbeat()
        self.last_request = f"{verb} of {key.kind} {key.namespace}/{key.name}"

    def _log(self, message: str, key: Key | None = None, **fields: Unpack[LogFields]) -> None:
        cluster = f"{self.cluster.namespace}/{self.cluster.name}"
        log = self.log.bind(cluster=cluster, reconcile=self.reconcile)
        if key is not None and key.kind == "SearchPool":
            log = log.bind(pool=key.name)
        if key is not None and key.kind == "Pod":
            log = log.bind(pod=key.name)
        log.info(message, **fields)


@dataclass
class InstrumentedEngine:
    """An EngineClient that logs every call. `api` knows the cluster and the number of the reconcile."""

    engine: EngineClient
    api: InstrumentedApi

    def get_state(self) -> EngineView | Unreachable:
        self.api.heartbeat()
        return self.engine.get_state()

    def get_details(self, request: DetailsRequest) -> EngineDetails:
        self.api.heartbeat()
        return self.engine.get_details(request)

    def execute(self, call: Call) -> None:
        self.api.heartbeat()
        self.engine.execute(call)
        self.api.log_engine_call(call)


def _owners(manifest: Manifest) -> Sequence[Mapping[str, Any]]:
    return manifest["metadata"].get("ownerReferences") or ()
