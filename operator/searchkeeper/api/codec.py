"""Resources between JSON and values. Tolerant on the way in: what the API server let through is read."""

from __future__ import annotations

__all__ = [
    "decode_cluster_spec",
    "decode_pool_spec",
    "decode_records",
    "decode_security",
    "decode_summary",
    "decode_upgrade_policy",
    "encode_conditions",
    "encode_ledger",
    "encode_pools",
    "format_timestamp",
]

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final

from searchkeeper.api.spec import (
    MIN_BATCH,
    MIN_DEADLINE,
    ClusterSpec,
    Dashboards,
    PoolSpec,
    Rollback,
    Security,
    Storage,
    UpgradePolicy,
)
from searchkeeper.api.status import SummaryType
from searchkeeper.memoize import memoize_by_identity
from searchkeeper.planner import Condition, Ledger, Records, Status
from searchkeeper.planner.ledger import Entry

_SUMMARY_TYPES: Final = frozenset(SummaryType)


@memoize_by_identity(512)
def decode_cluster_spec(raw: Mapping[str, Any]) -> ClusterSpec:
    """The spec of a SearchCluster, with the defaults that its schema has."""
    return ClusterSpec(
        version=str(raw.get("version") or ""),
        pools=tuple(decode_pool_spec(each["name"], each) for each in raw.get("pools") or ()),
        dashboards=_dashboards(_given(raw.get("dashboards"))),
        upgrade=decode_upgrade_policy(raw),
        security=decode_security(raw),
    )


def _given(raw: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """What is null counts as absent, as it does for an API server."""
    return {name: each for name, each in (raw or {}).items() if each is not None}


def decode_pool_spec(name: str, raw: Mapping[str, Any]) -> PoolSpec:
    """A pool as a SearchCluster or a SearchPool has it."""
    storage, plain = _given(raw.get("storage")), Storage()
    return PoolSpec(
        name,
        frozenset(raw.get("roles") or ()),
        int(raw.get("replicas") or 0),
        Storage(
            str(storage.get("size", plain.size)),
            storage.get("storageClass"),
            bool(storage.get("ephemeral", False)),
        ),
    )


def encode_pools(pools: Iterable[PoolSpec]) -> list[dict[str, Any]]:
    """Pools as a SearchCluster has them: the way back of `pool_spec`."""
    return [
        {
            "name": pool.name,
            "roles": sorted(pool.roles),
            "replicas": pool.replicas,
            "storage": {
                "size": pool.storage.size,
                "ephemeral": pool.storage.ephemeral,
                "storageClass": pool.storage.storage_class,
            },
        }
        for pool in pools
    ]


def _dashboards(raw: Mapping[str, Any]) -> Dashboards:
    return Dashboards(bool(raw.get("enabled", False)), int(raw.get("replicas", 1)))


def decode_upgrade_policy(spec: Mapping[str, Any]) -> UpgradePolicy:
    """Of a spec only this: how an upgrade under way goes on, whatever else is wrong."""
    raw, plain = _given(spec.get("upgrade")), UpgradePolicy()
    return UpgradePolicy(
        max_batch=max(int(raw.get("maxBatch", plain.max_batch)), MIN_BATCH),
        health_deadline=max(int(raw.get("healthDeadlineSeconds", plain.health_deadline)), MIN_DEADLINE),
        paused=bool(raw.get("paused", plain.paused)),
        rollback=Rollback(raw.get("rollback", plain.rollback)),
        accept_single_copy_loss=bool(raw.get("acceptSingleCopyLoss", plain.accept_single_copy_loss)),
    )


def decode_security(raw: Any) -> Security:
    """Of a spec only this: an engine is entered the same way whatever else cannot be read."""
    found = raw.get("security") if isinstance(raw, Mapping) else None
    named = found if isinstance(found, Mapping) else {}
    texts = (named.get(name) for name in ("tlsSecret", "credentialsSecret"))
    return Security(*(each if isinstance(each, str) else None for each in texts))


@memoize_by_identity(4096)
def decode_records(status: Mapping[str, Any]) -> Records:
    """The ledger and the conditions of actions. A line or a condition of another writer is ignored."""
    read = {str(key): _line(text) for key, text in (status.get("ledger") or {}).items()}
    return Records(
        Ledger.of({key: entry for key, entry in read.items() if entry is not None}),
        tuple(each for each in _conditions(status) if each.type not in _SUMMARY_TYPES),
    )


def decode_summary(status: Mapping[str, Any]) -> dict[str, Condition]:
    """The summary conditions of a status, by type."""
    return {each.type: each for each in _conditions(status) if each.type in _SUMMARY_TYPES}


def _conditions(status: Mapping[str, Any]) -> list[Condition]:
    decoded = map(_condition, status.get("conditions") or ())
    return [each for each in decoded if each is not None]


def _line(text: str) -> Entry | None:
    try:
        return _entry(json.loads(text))
    except (TypeError, ValueError, RecursionError):
        return None


def _entry(found: Any) -> Entry:
    if isinstance(found, list):
        return tuple(map(_entry, found))
    return found if isinstance(found, str | int | bool) else str(found)


def _condition(raw: Mapping[str, Any]) -> Condition | None:
    try:
        return Condition(
            raw["type"],
            Status(raw["status"]),
            raw["reason"],
            raw["message"],
            int(datetime.fromisoformat(raw["lastTransitionTime"]).timestamp()),
            int(raw.get("observedGeneration", 0)),
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        return None


@lru_cache(maxsize=4096)
def format_timestamp(seconds: int) -> str:
    """As Kubernetes writes it."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def encode_ledger(ledger: Ledger) -> dict[str, str]:
    """Every entry as JSON text: one flat mapping, which a merge patch changes line by line."""
    return {key: json.dumps(entry, separators=(",", ":")) for key, entry in ledger.entries}


def encode_conditions(conditions: Sequence[Condition]) -> list[dict[str, Any]]:
    return [
        {
            "type": str(each.type),
            "status": str(each.status),
            "reason": str(each.reason),
            "message": each.message,
            "lastTransitionTime": format_timestamp(each.last_transition),
            "observedGeneration": each.observed_generation,
        }
        for each in conditions
    ]
