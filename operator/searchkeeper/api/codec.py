"""Decodes and encodes resources. Decoding is tolerant, because an older CRD may have accepted the value."""

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
    "parse_timestamp",
]

import json
from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final

from searchkeeper.api.schema import JsonObject
from searchkeeper.api.spec import (
    MAX_BATCH,
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
from searchkeeper.planner import STALLED_ACTIONS, Condition, Ledger, Records, Status
from searchkeeper.planner.ledger import Entry

# How releases until 0.4.0 marked the message of a stalled action. Read until 0.6.0.
_OLD_STALLED_PREFIX: Final = "stalled: "
_SUMMARY_TYPES: Final = frozenset(SummaryType)


@memoize_by_identity(512)
def decode_cluster_spec(raw: Mapping[str, Any]) -> ClusterSpec:
    """Decode the spec of a SearchCluster. Missing fields get the defaults of the schema."""
    dashboards = _without_nulls(raw.get("dashboards"))
    return ClusterSpec(
        version=str(raw.get("version") or ""),
        pools=tuple(decode_pool_spec(pool["name"], pool) for pool in raw.get("pools") or ()),
        dashboards=Dashboards(
            bool(dashboards.get("enabled", False)),
            int(dashboards.get("replicas", 1)),
            _decode_object(dashboards.get("podTemplate")),
        ),
        upgrade=decode_upgrade_policy(raw),
        security=decode_security(raw),
        config=_decode_object(raw.get("config")),
        plugins=tuple(map(str, raw.get("plugins") or ())),
        keystore_secret=raw.get("keystoreSecret"),
        topology_key=raw.get("topologyKey"),
    )


def _without_nulls(raw: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Drop null fields: the API server treats them as missing."""
    return {name: value for name, value in (raw or {}).items() if value is not None}


def decode_pool_spec(name: str, raw: Mapping[str, Any]) -> PoolSpec:
    """Decode a pool of a SearchCluster, or the spec of a SearchPool."""
    storage, defaults = _without_nulls(raw.get("storage")), Storage()
    return PoolSpec(
        name,
        frozenset(raw.get("roles") or ()),
        int(raw.get("replicas") or 0),
        Storage(
            str(storage.get("size", defaults.size)),
            storage.get("storageClass"),
            bool(storage.get("ephemeral", False)),
        ),
        _decode_object(raw.get("podTemplate")),
        _decode_object(raw.get("config")),
    )


def _decode_object(raw: Mapping[str, Any] | None) -> JsonObject | None:
    """Decode an object to its canonical JSON, without nulls at any depth; None if it is empty."""
    if not raw:
        return None
    return JsonObject(json.dumps(_without_deep_nulls(raw), sort_keys=True, separators=(",", ":")))


def _without_deep_nulls(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _without_deep_nulls(inner) for name, inner in value.items() if inner is not None}
    if isinstance(value, list | tuple):
        return [_without_deep_nulls(item) for item in value if item is not None]
    return value


def encode_pools(pools: Iterable[PoolSpec]) -> list[dict[str, Any]]:
    """Encode pools for a SearchCluster. `decode_pool_spec` is the inverse."""
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
            **({} if pool.pod_template is None else {"podTemplate": json.loads(pool.pod_template)}),
            **({} if pool.config is None else {"config": json.loads(pool.config)}),
        }
        for pool in pools
    ]


def decode_upgrade_policy(spec: Mapping[str, Any]) -> UpgradePolicy:
    """Decode only `spec.upgrade`: it steers an upgrade in progress even if the rest is invalid."""
    raw, defaults = _without_nulls(spec.get("upgrade")), UpgradePolicy()
    return UpgradePolicy(
        max_batch=min(max(int(raw.get("maxBatch", defaults.max_batch)), MIN_BATCH), MAX_BATCH),
        health_deadline=max(int(raw.get("healthDeadlineSeconds", defaults.health_deadline)), MIN_DEADLINE),
        paused=bool(raw.get("paused", defaults.paused)),
        rollback=Rollback(raw.get("rollback", defaults.rollback)),
        accept_single_copy_loss=bool(raw.get("acceptSingleCopyLoss", defaults.accept_single_copy_loss)),
        snapshot_repository=raw.get("snapshotRepository"),
    )


def decode_security(raw: Any) -> Security:
    """Decode only `spec.security`: the client needs it even if the rest is invalid."""
    security = raw.get("security") if isinstance(raw, Mapping) else None
    names = security if isinstance(security, Mapping) else {}
    secrets = (names.get(name) for name in ("tlsSecret", "credentialsSecret"))
    return Security(*(secret if isinstance(secret, str) else None for secret in secrets))


@memoize_by_identity(4096)
def decode_records(status: Mapping[str, Any]) -> Records:
    """Decode the ledger and the conditions of actions. Invalid entries and conditions are dropped."""
    entries: dict[str, Entry] = {}
    for key, text in (status.get("ledger") or {}).items():
        with suppress(TypeError, ValueError, RecursionError):
            entries[str(key)] = _decode_entry(json.loads(text))
    names = entries.get(STALLED_ACTIONS)
    conditions = _decode_conditions(status, names if isinstance(names, tuple) else ())
    actions = (condition for condition in conditions if condition.type not in _SUMMARY_TYPES)
    return Records(Ledger.of(entries), tuple(actions))


def decode_summary(status: Mapping[str, Any]) -> dict[str, Condition]:
    """Decode the summary conditions of a status, by type."""
    conditions = _decode_conditions(status, ())
    return {condition.type: condition for condition in conditions if condition.type in _SUMMARY_TYPES}


def _decode_conditions(status: Mapping[str, Any], stalled: Container[object]) -> list[Condition]:
    decoded = (_decode_condition(condition, stalled) for condition in status.get("conditions") or ())
    return [condition for condition in decoded if condition is not None]


def _decode_entry(value: Any) -> Entry:
    if isinstance(value, list):
        return tuple(map(_decode_entry, value))
    return value if isinstance(value, str | int | bool) else str(value)


def _decode_condition(raw: Mapping[str, Any], stalled: Container[object]) -> Condition | None:
    try:
        message = raw["message"].removeprefix(_OLD_STALLED_PREFIX)
        return Condition(
            raw["type"],
            Status(raw["status"]),
            raw["reason"],
            message,
            int(datetime.fromisoformat(raw["lastTransitionTime"]).timestamp()),
            int(raw.get("observedGeneration", 0)),
            is_stalled=message != raw["message"] or raw["type"] in stalled,
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        return None


@lru_cache(maxsize=4096)
def format_timestamp(seconds: int) -> str:
    """Seconds since the epoch in the format of metav1.Time."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_timestamp(text: Any) -> int | None:
    """Seconds since the epoch; None for what is no metav1.Time."""
    try:
        return int(datetime.fromisoformat(text).timestamp())
    except (TypeError, ValueError):
        return None


def encode_ledger(ledger: Ledger) -> dict[str, str]:
    """Encode every entry as JSON text: a merge patch can then change single entries."""
    return {key: json.dumps(entry, separators=(",", ":")) for key, entry in ledger.entries}


def encode_conditions(conditions: Sequence[Condition]) -> list[dict[str, Any]]:
    return [
        {
            "type": str(condition.type),
            "status": str(condition.status),
            "reason": str(condition.reason),
            "message": condition.message,
            "lastTransitionTime": format_timestamp(condition.last_transition),
            "observedGeneration": condition.observed_generation,
        }
        for condition in conditions
    ]
