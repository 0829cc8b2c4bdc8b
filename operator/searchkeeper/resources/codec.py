"""Resources between JSON and values. Tolerant on the way in: what the API server let through is read."""

from __future__ import annotations

__all__ = ["cluster_spec", "conditions_json", "ledger_json", "pool_spec", "records"]

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from searchkeeper.kernel import Condition, Ledger, Records, Status
from searchkeeper.kernel.ledger import Entry
from searchkeeper.resources.specs import (
    ClusterSpec,
    Dashboards,
    PoolSpec,
    Rollback,
    Security,
    Storage,
    UpgradePolicy,
)


def cluster_spec(raw: Mapping[str, Any]) -> ClusterSpec:
    """The spec of a SearchCluster, with the defaults that its schema has."""
    return ClusterSpec(
        version=str(raw.get("version", "")),
        pools=tuple(pool_spec(each["name"], each) for each in raw.get("pools", ())),
        dashboards=_dashboards(raw.get("dashboards") or {}),
        upgrade=_policy(raw.get("upgrade") or {}),
        security=_security(raw.get("security") or {}),
    )


def pool_spec(name: str, raw: Mapping[str, Any]) -> PoolSpec:
    """A pool as a SearchCluster or a SearchPool has it."""
    storage, plain = raw.get("storage") or {}, Storage()
    return PoolSpec(
        name,
        frozenset(raw.get("roles", ())),
        int(raw.get("replicas", 0)),
        Storage(
            str(storage.get("size", plain.size)),
            storage.get("storageClass"),
            bool(storage.get("ephemeral", False)),
        ),
    )


def _dashboards(raw: Mapping[str, Any]) -> Dashboards:
    return Dashboards(bool(raw.get("enabled", False)), int(raw.get("replicas", 1)))


def _policy(raw: Mapping[str, Any]) -> UpgradePolicy:
    plain = UpgradePolicy()
    return UpgradePolicy(
        max_batch=int(raw.get("maxBatch", plain.max_batch)),
        health_deadline=int(raw.get("healthDeadlineSeconds", plain.health_deadline)),
        paused=bool(raw.get("paused", plain.paused)),
        rollback=Rollback(raw.get("rollback", plain.rollback)),
        accept_single_copy_loss=bool(raw.get("acceptSingleCopyLoss", plain.accept_single_copy_loss)),
    )


def _security(raw: Mapping[str, Any]) -> Security:
    return Security(raw.get("tlsSecret"), raw.get("credentialsSecret"))


def records(status: Mapping[str, Any]) -> Records:
    """What a status remembers. A ledger that nobody of ours wrote is as good as none."""
    ledger = status.get("ledger") or {}
    return Records(
        Ledger.of({str(key): _entry(json.loads(text)) for key, text in ledger.items()}),
        tuple(_condition(each) for each in status.get("conditions") or ()),
    )


def _entry(found: Any) -> Entry:
    if isinstance(found, list):
        return tuple(map(_entry, found))
    return found if isinstance(found, str | int | bool) else str(found)


def _condition(raw: Mapping[str, Any]) -> Condition:
    moment = datetime.fromisoformat(raw["lastTransitionTime"])
    return Condition(
        raw["type"],
        Status(raw["status"]),
        raw["reason"],
        raw["message"],
        int(moment.timestamp()),
        int(raw.get("observedGeneration", 0)),
    )


def ledger_json(ledger: Ledger) -> dict[str, str]:
    """Every entry as JSON text: one flat mapping, which a merge patch changes line by line."""
    return {key: json.dumps(entry, separators=(",", ":")) for key, entry in ledger.entries}


def conditions_json(conditions: Sequence[Condition]) -> list[dict[str, Any]]:
    return [
        {
            "type": each.type,
            "status": str(each.status),
            "reason": each.reason,
            "message": each.message,
            "lastTransitionTime": datetime.fromtimestamp(each.last_transition, UTC).strftime(
                "%Y-%m-%dT%H:%M:%SZ"
            ),
            "observedGeneration": each.observed_generation,
        }
        for each in conditions
    ]
