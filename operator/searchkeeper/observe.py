"""Reads what a cycle decides on: fresh, through the two ports, and nothing twice."""

from __future__ import annotations

__all__ = ["observe", "security_in_force", "with_name_conflicts"]

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import Any, Final

from searchkeeper.api.codec import (
    decode_cluster_spec,
    decode_pool_spec,
    decode_records,
    decode_security,
    decode_upgrade_policy,
)
from searchkeeper.api.spec import ClusterSpec, PoolSpec, Security, Storage
from searchkeeper.api.validation import parse_cluster_spec, spec_errors
from searchkeeper.desired import names
from searchkeeper.desired.apply import last_applied
from searchkeeper.images import image_version
from searchkeeper.kubernetes.api import KubernetesApi
from searchkeeper.kubernetes.operations import Key, Manifest
from searchkeeper.memoize import memoize_by_identity
from searchkeeper.opensearch.client import EngineClient
from searchkeeper.snapshot import ClusterSnapshot, ClusterView, Pod, PoolView, StatefulSetView
from searchkeeper.upgrade.ledger import UpgradeLedger
from searchkeeper.versions import Release

_API: Final = f"{names.GROUP}/v1alpha1"
_OURS: Final = {"app.kubernetes.io/managed-by": "searchkeeper"}
_OWNED: Final = (
    (_API, "SearchPool"),
    ("apps/v1", "StatefulSet"),
    ("apps/v1", "Deployment"),
    ("v1", "Service"),
    ("v1", "ConfigMap"),
    ("policy/v1", "PodDisruptionBudget"),
)
# Pods and claims have no owner of ours; they have the labels of the version that made them.
_LABELLED: Final = (("v1", "Pod"), ("v1", "PersistentVolumeClaim"))
_LABEL_SCHEMES: Final = (1, 4)


def observe(
    kube: KubernetesApi, driver: EngineClient, key: Key, release: Release, now: int
) -> ClusterSnapshot | None:
    """Everything about one SearchCluster, or None when it is gone. Raises KubeError.

    Cost: one list a kind, whatever the number of pools and pods, and a get for each Secret.
    """
    raw = kube.get(key)
    if raw is None:
        return None
    cluster = _cluster(key, raw)
    objects: dict[Key, Manifest] = {key: raw}
    objects |= {Key.of(each): each for each in (*_owned(kube, cluster), *_labelled(kube, cluster))}
    credentials = _referenced(kube, cluster)
    if credentials is not None:
        objects[Key.of(credentials)] = credentials
    return ClusterSnapshot(
        cluster, tuple(_pools(cluster, objects)), objects, driver.get_state(), release, now
    )


def with_name_conflicts(
    kube: KubernetesApi, snapshot: ClusterSnapshot, keys: Iterable[Key]
) -> ClusterSnapshot:
    """With whoever is there under these names, which nobody of ours was seen to have. Raises KubeError.

    One of ours may have lost the label that it is listed by; anybody else is a stranger.
    """
    asked = ((key, kube.get(key)) for key in keys)
    found = {key: each for key, each in asked if each is not None}
    if not found:
        return snapshot
    objects = {
        **snapshot.objects,
        **{key: each for key, each in found.items() if _is_of(snapshot.cluster, each)},
    }
    foreign_objects = {
        **snapshot.foreign_objects,
        **{key: each for key, each in found.items() if key not in objects},
    }
    pools = tuple(_pools(snapshot.cluster, objects))
    return replace(snapshot, pools=pools, objects=objects, foreign_objects=foreign_objects)


@memoize_by_identity(4096)
def _cluster(key: Key, raw: Manifest) -> ClusterView:
    metadata, status = raw["metadata"], raw.get("status") or {}
    remembered = decode_records(status)
    ledger, (spec, flaw) = UpgradeLedger.of(remembered.ledger), parse_cluster_spec(raw)
    return ClusterView(
        key,
        metadata["uid"],
        metadata["resourceVersion"],
        int(metadata.get("generation", 1)),
        _in_force(spec, ledger.lock) if flaw is None else _without_a_wish(raw, ledger),
        json.dumps(raw.get("spec"), sort_keys=True, separators=(",", ":")),
        "deletionTimestamp" in metadata,
        tuple(metadata.get("finalizers") or ()),
        tuple(sorted((metadata.get("annotations") or {}).items())),
        status.get("currentVersion"),
        status.get("engineVersion"),
        remembered,
        flaw,
    )


def security_in_force(raw: Manifest) -> Security:
    """What an upgrade has locked, or else what is written: also where the rest of that cannot be read."""
    lock = UpgradeLedger.of(decode_records(raw.get("status") or {}).ledger).lock
    locked = None if lock is None else _locked(lock)
    return decode_security(raw.get("spec")) if locked is None else locked.security


def _in_force(written: ClusterSpec, lock: str | None) -> ClusterSpec:
    """What is written, unless an upgrade holds the lock. One that nobody of ours wrote is as good as none."""
    locked = None if lock is None else _locked(lock)
    return written if locked is None else replace(locked, version=written.version, upgrade=written.upgrade)


def _without_a_wish(raw: Manifest, ledger: UpgradeLedger) -> ClusterSpec:
    """What an upgrade has locked, and where it goes anyway: half of one would hold the lock for ever.

    Its policy counts as written. Where that cannot be read nobody knows whether it is paused, and it is.
    """
    locked, written = None if ledger.lock is None else _locked(ledger.lock), raw.get("spec")
    if locked is None or ledger.upgrade is None:
        return ClusterSpec("", ())
    errors = spec_errors(raw)
    is_told = isinstance(written, Mapping) and not any(e.path.startswith("spec.upgrade") for e in errors)
    policy = decode_upgrade_policy(raw["spec"]) if is_told else replace(locked.upgrade, paused=True)
    return replace(locked, version=ledger.rollback_to or ledger.upgrade[1], upgrade=policy)


@lru_cache(maxsize=64)
def _locked(text: str) -> ClusterSpec | None:
    """None for what is no cluster: without a pool everybody would be one too many."""
    try:
        spec = decode_cluster_spec(json.loads(text))
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
    return spec if spec.pools else None


def _owned(kube: KubernetesApi, cluster: ClusterView) -> Iterator[Manifest]:
    lists = (kube.list(api, kind, cluster.key.namespace, _OURS) for api, kind in _OWNED)
    for each in (*chain.from_iterable(lists), *_secrets(kube, cluster)):
        if _is_of(cluster, each):
            yield each


def _is_of(cluster: ClusterView, found: Manifest) -> bool:
    owners = found["metadata"].get("ownerReferences") or ()
    return any(owner["uid"] == cluster.uid for owner in owners)


def _secrets(kube: KubernetesApi, cluster: ClusterView) -> Iterator[Manifest]:
    """By name: whoever may list Secrets may read all of a namespace, and this operator need not."""
    for name in _own_secrets(cluster):
        found = kube.get(Key("v1", "Secret", cluster.key.namespace, name))
        if found is not None:
            yield found


def _own_secrets(cluster: ClusterView) -> tuple[str, str]:
    return names.old_config_secret(cluster.key.name), names.credentials_secret(cluster.key.name)


def _labelled(kube: KubernetesApi, cluster: ClusterView) -> Iterator[Manifest]:
    name, namespace = cluster.key.name, cluster.key.namespace
    for api, kind in _LABELLED:
        for scheme in _LABEL_SCHEMES:
            yield from kube.list(api, kind, namespace, names.labels(name, None, scheme))
    oldest, newest = _LABEL_SCHEMES
    if (cluster.current_version or 0) < newest:
        yield from kube.list("apps/v1", "ControllerRevision", namespace, names.labels(name, None, oldest))


def _referenced(kube: KubernetesApi, cluster: ClusterView) -> Manifest | None:
    """A Secret of one of our own names is not taken for one of ours, and neither changed nor removed."""
    name = cluster.spec.security.credentials_secret
    if name is None or name in _own_secrets(cluster):
        return None
    return kube.get(Key("v1", "Secret", cluster.key.namespace, name))


def _pools(cluster: ClusterView, objects: Mapping[Key, Manifest]) -> Iterator[PoolView]:
    """The pools of the spec in its order, then those that are not in it any more and still there."""
    wanted = {pool.name: pool for pool in cluster.spec.pools}
    leftover = {pool.name: pool for pool in _existing(cluster, objects) if pool.name not in wanted}
    for pool in (*wanted.values(), *leftover.values()):
        yield _pool(cluster, pool, objects, is_wanted=pool.name in wanted)


def _existing(cluster: ClusterView, objects: Mapping[Key, Manifest]) -> Iterator[PoolSpec]:
    """Those of which anything is left: whoever deletes a SearchPool takes neither its nodes nor their shards.

    What a SearchPool says counts most, then the template of a StatefulSet, then pods.
    """
    prefix, found = names.pool_name(cluster.key.name, ""), dict[str, PoolSpec]()
    for key in sorted(objects):
        name, each = key.name.removeprefix(prefix), objects[key]
        if key.kind == "SearchPool":
            found[name] = decode_pool_spec(name, each["spec"])
        elif key.kind == "StatefulSet":
            found.setdefault(name, _kept(name, each["spec"]["template"]))
        elif key.kind == "Pod" and (pool := _pool_of(key.name, prefix, each)) is not None:
            found.setdefault(pool, _kept(pool, each))
    return (found[name] for name in sorted(found))


def _pool_of(pod: str, prefix: str, found: Manifest) -> str | None:
    """By its label, where its name is made of that: somebody's copy of a pod has another one."""
    labels = found["metadata"].get("labels") or {}
    pools = (labels.get(names.pool_label(scheme)) for scheme in _LABEL_SCHEMES)
    return next((pool for pool in pools if pool and _ordinal(pod, prefix + pool) is not None), None)


def _kept(name: str, pod: Manifest) -> PoolSpec:
    """A pool as its nodes are made, where nothing else tells. What they claim is not in their template."""
    roles = _roles(pod) or frozenset({"coordinating"})
    claims = (each.get("persistentVolumeClaim") for each in pod["spec"].get("volumes") or ())
    return PoolSpec(name, roles, 0, Storage(ephemeral=not any(claims)))


def _pool(
    cluster: ClusterView, pool: PoolSpec, objects: Mapping[Key, Manifest], *, is_wanted: bool
) -> PoolView:
    name, namespace = names.pool_name(cluster.key.name, pool.name), cluster.key.namespace
    child: Manifest = objects.get(Key(_API, "SearchPool", namespace, name)) or {}
    metadata, status = child.get("metadata") or {}, child.get("status") or {}
    found = objects.get(Key("apps/v1", "StatefulSet", namespace, name))
    pods = tuple(_pods(name, objects))
    return PoolView(
        spec=replace(pool, storage=_storage(pool, found, child if pods else {})),
        is_wanted=is_wanted,
        uid=metadata.get("uid"),
        resource_version=str(metadata.get("resourceVersion", "")),
        generation=int(metadata.get("generation", 0)),
        permitted_version=(child.get("spec") or {}).get("engineVersion"),
        current_version=status.get("currentVersion"),
        observed_generation=status.get("observedGeneration"),
        records=decode_records(status),
        stateful_set=None if found is None else _stateful_set(found),
        pods=pods,
        allotted_replicas=(child.get("spec") or {}).get("replicas"),
    )


def _storage(pool: PoolSpec, found: Manifest | None, child: Manifest) -> Storage:
    """What its nodes were made with: the claims of a StatefulSet cannot be changed.

    Between two StatefulSets its SearchPool knows; a pool without nodes is made with what is asked for.
    """
    if found is None:
        return decode_pool_spec(pool.name, child["spec"]).storage if child else pool.storage
    real = _claimed(found)
    # As it was asked for: an API server writes sizes its own way.
    return replace(pool.storage, ephemeral=True) if real is None else _claimed(last_applied(found)) or real


def _claimed(stateful_set: Mapping[str, Any]) -> Storage | None:
    """What the nodes of a StatefulSet claim; None where they claim nothing."""
    match stateful_set.get("spec"):
        case {
            "volumeClaimTemplates": [{"spec": {"resources": {"requests": {"storage": size}}, **claim}}, *_]
        }:
            kind = claim.get("storageClassName")
            return Storage(str(size), None if kind is None else str(kind))
        case _:
            return None


@memoize_by_identity(4096)
def _stateful_set(found: Manifest) -> StatefulSetView:
    metadata, spec = found["metadata"], found["spec"]
    annotations = metadata.get("annotations") or {}
    strategy = spec.get("updateStrategy") or {}
    return StatefulSetView(
        metadata["uid"],
        metadata["resourceVersion"],
        image_version(spec["template"]["spec"]["containers"][0]["image"]),
        annotations.get(names.TEMPLATE, ""),
        names.configuration_version(annotations) or 0,
        int(spec.get("replicas", 1)),
        (strategy.get("rollingUpdate") or {}).get("partition"),
        _bootstrapper(spec["template"]["spec"]["containers"][0]),
    )


def _bootstrapper(container: Mapping[str, Any]) -> str | None:
    environment = container.get("env") or ()
    return next((each.get("value") for each in environment if each["name"] == names.INITIAL_MANAGERS), None)


def _pods(pool: str, objects: Mapping[Key, Manifest]) -> Iterator[Pod]:
    """By ordinal. They are known by name: between two StatefulSets they have no owner."""
    mine = {_ordinal(key.name, pool): pod for key, pod in objects.items() if key.kind == "Pod"}
    return (_pod(mine[ordinal]) for ordinal in sorted(n for n in mine if n is not None))


def _ordinal(pod: str, pool: str) -> int | None:
    head, _, tail = pod.rpartition("-")
    return int(tail) if head == pool and tail.isdecimal() else None


@memoize_by_identity(4096)
def _pod(pod: Manifest) -> Pod:
    metadata = pod["metadata"]
    status = pod.get("status") or {}
    return Pod(
        metadata["name"],
        metadata["uid"],
        metadata["resourceVersion"],
        image_version(pod["spec"]["containers"][0]["image"]),
        (metadata.get("annotations") or {}).get(names.TEMPLATE, ""),
        any(each["type"] == "Ready" and each["status"] == "True" for each in status.get("conditions") or ()),
        "deletionTimestamp" in metadata,
        _problem(status),
        any(map(_has_run, status.get("containerStatuses") or ())),
        _roles(pod),
    )


def _roles(pod: Manifest) -> frozenset[str] | None:
    """As its environment has them. A node that only coordinates has none."""
    variables = pod["spec"]["containers"][0].get("env") or ()
    given = (str(each.get("value", "")) for each in variables if each["name"] == names.ROLES)
    return next((frozenset(filter(None, each.split(","))) for each in given), None)


def _has_run(container: Mapping[str, Any]) -> bool:
    """Now, or before: a container that crashes has been running in between."""
    state = container.get("state") or {}
    crashes = (state.get("waiting") or {}).get("reason") == "CrashLoopBackOff"
    return crashes or bool(container.get("restartCount")) or "running" in state or "terminated" in state


def _problem(status: Mapping[str, Any]) -> str | None:
    """What the kubelet waits for, or what the scheduler says, in its own word."""
    for each in status.get("containerStatuses") or ():
        waiting = (each.get("state") or {}).get("waiting")
        if waiting:
            return str(waiting.get("reason", "Waiting"))
    for each in status.get("conditions") or ():
        if each["type"] == "PodScheduled" and each["status"] == "False":
            return str(each.get("reason", "Unschedulable"))
    return "Failed" if status.get("phase") == "Failed" else None
