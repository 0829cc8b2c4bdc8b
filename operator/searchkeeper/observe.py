"""Reads the snapshot of a reconcile through the Kubernetes port and the engine port."""

from __future__ import annotations

__all__ = ["observe", "security_in_force", "with_name_conflicts"]

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from searchkeeper.api.codec import (
    decode_cluster_spec,
    decode_pool_spec,
    decode_records,
    decode_security,
    decode_upgrade_policy,
    parse_timestamp,
)
from searchkeeper.api.spec import ClusterSpec, PoolSpec, Security, Storage
from searchkeeper.api.validation import parse_cluster_spec, spec_errors
from searchkeeper.desired import names
from searchkeeper.desired.apply import last_applied
from searchkeeper.desired.cluster import digest
from searchkeeper.images import image_version
from searchkeeper.kubernetes.api import KubernetesApi
from searchkeeper.kubernetes.operations import Key, Manifest
from searchkeeper.memoize import memoize_by_identity
from searchkeeper.opensearch.client import EngineClient
from searchkeeper.opensearch.details import DetailsRequest
from searchkeeper.opensearch.view import EngineView
from searchkeeper.planner import Ledger
from searchkeeper.reconcilers.lost_status import recovered_engine_version, recovered_ledger
from searchkeeper.snapshot import (
    ClusterSnapshot,
    ClusterView,
    ContainerRestarts,
    Pod,
    PoolView,
    StatefulSetView,
    ZoneSettings,
)
from searchkeeper.upgrade.ledger import UpgradeLedger
from searchkeeper.versions import Release

_API: Final = f"{names.GROUP}/v1alpha1"
_MANAGED: Final = {"app.kubernetes.io/managed-by": "searchkeeper"}
_OWNED_KINDS: Final = (
    (_API, "SearchPool"),
    ("apps/v1", "StatefulSet"),
    ("apps/v1", "Deployment"),
    ("v1", "Service"),
    ("v1", "ConfigMap"),
    ("policy/v1", "PodDisruptionBudget"),
)
# The SearchCluster does not own pods and claims. They have the labels of the configuration that created them.
_LABELLED_KINDS: Final = (("v1", "Pod"), ("v1", "PersistentVolumeClaim"))
# The configuration versions that introduced a set of labels.
_LABEL_SCHEMES: Final = (1, 4)
_LABEL_PATH: Final = re.compile(r"metadata\.labels\['(?P<key>.+)'\]")


def observe(
    kube: KubernetesApi, engine: EngineClient, key: Key, release: Release, now: int
) -> ClusterSnapshot | None:
    """Return the snapshot of one SearchCluster, or None when it does not exist. Raises ApiError.

    Costs one list for each kind, two for pods and claims, whatever the number of pools, and a get for each
    Secret.
    """
    raw = kube.get(key)
    if raw is None:
        return None
    cluster = _cluster_view(key, raw)
    objects = {key: raw} | {Key.of(manifest): manifest for manifest in _list_objects(kube, cluster)}
    pools = tuple(_pool_views(cluster, objects))
    observed = ClusterSnapshot(cluster, pools, objects, engine.get_state(), release, now)
    snapshot = _with_recovered_status(observed, raw)
    snapshot = replace(snapshot, secret_digests=_secret_digests(kube, snapshot.cluster))
    request = _details_request(snapshot.cluster, snapshot.pools)
    if not request or not isinstance(snapshot.engine, EngineView):
        return snapshot
    return replace(snapshot, details=engine.get_details(request))


def _details_request(cluster: ClusterView, pools: tuple[PoolView, ...]) -> DetailsRequest:
    """Return which details are needed: disks if shards may have to move, the snapshot before an upgrade."""
    ledger = UpgradeLedger.of(cluster.records.ledger)
    disks = any(pool.outdated_pods or pool.surplus_pods for pool in pools)
    is_requested = ledger.upgrade is None and cluster.engine_version not in (None, cluster.spec.version)
    repository = cluster.spec.upgrade.snapshot_repository if is_requested else None
    taken = ledger.snapshot
    name = taken.name if taken is not None and taken.repository == repository else None
    return DetailsRequest(disks, repository, name)


def _with_recovered_status(snapshot: ClusterSnapshot, raw: Manifest) -> ClusterSnapshot:
    """Add what a lost status contained, as far as it can be derived. It is stored with the next status."""
    is_version_lost = snapshot.cluster.engine_version is None
    if is_version_lost:
        version = recovered_engine_version(snapshot)
        snapshot = replace(snapshot, cluster=replace(snapshot.cluster, engine_version=version))
    ledger = recovered_ledger(snapshot, is_version_lost=is_version_lost)
    if ledger == UpgradeLedger.of(snapshot.cluster.records.ledger):
        return snapshot
    written, error = parse_cluster_spec(raw)
    cluster = replace(
        snapshot.cluster,
        spec=_spec_in_force(raw, written, error, ledger),
        records=replace(snapshot.cluster.records, ledger=Ledger.of(ledger)),
    )
    return replace(snapshot, cluster=cluster, pools=tuple(_pool_views(cluster, snapshot.objects)))


def with_name_conflicts(
    kube: KubernetesApi, snapshot: ClusterSnapshot, keys: Iterable[Key]
) -> ClusterSnapshot:
    """Add the objects that exist under these keys to the snapshot. Raises ApiError.

    An object of this cluster may lack the label by which it is listed. Any other object is foreign. Returns
    the same snapshot when none of the keys exists.
    """
    responses = {key: kube.get(key) for key in keys}
    existing = {key: manifest for key, manifest in responses.items() if manifest is not None}
    if not existing:
        return snapshot
    own = {key: manifest for key, manifest in existing.items() if _is_owned(snapshot.cluster, manifest)}
    objects = {**snapshot.objects, **own}
    foreign = {key: manifest for key, manifest in existing.items() if key not in objects}
    return replace(
        snapshot,
        pools=tuple(_pool_views(snapshot.cluster, objects)),
        objects=objects,
        foreign_objects={**snapshot.foreign_objects, **foreign},
    )


def security_in_force(raw: Manifest) -> Security:
    """Return the security settings of the lock, else of the spec, even if the rest of the spec is invalid."""
    lock = UpgradeLedger.of(decode_records(raw.get("status") or {}).ledger).lock
    locked = None if lock is None else _decode_lock(lock)
    return decode_security(raw.get("spec")) if locked is None else locked.security


@memoize_by_identity(4096)
def _cluster_view(key: Key, raw: Manifest) -> ClusterView:
    metadata, status = raw["metadata"], raw.get("status") or {}
    records = decode_records(status)
    ledger = UpgradeLedger.of(records.ledger)
    written, error = parse_cluster_spec(raw)
    return ClusterView(
        key=key,
        uid=metadata["uid"],
        resource_version=metadata["resourceVersion"],
        generation=int(metadata.get("generation", 1)),
        spec=_spec_in_force(raw, written, error, ledger),
        raw_spec=json.dumps(raw.get("spec"), sort_keys=True, separators=(",", ":")),
        is_deleting="deletionTimestamp" in metadata,
        finalizers=tuple(metadata.get("finalizers") or ()),
        annotations=tuple(sorted((metadata.get("annotations") or {}).items())),
        current_version=status.get("currentVersion"),
        engine_version=status.get("engineVersion"),
        records=records,
        spec_error=error,
    )


def _spec_in_force(
    raw: Manifest, written: ClusterSpec, error: str | None, ledger: UpgradeLedger
) -> ClusterSpec:
    """Return the spec that counts: during an upgrade the locked one, but for version and upgrade policy."""
    if error is not None:
        return _locked_spec(raw, ledger)
    locked = None if ledger.lock is None else _decode_lock(ledger.lock)
    return written if locked is None else replace(locked, version=written.version, upgrade=written.upgrade)


def _locked_spec(raw: Manifest, ledger: UpgradeLedger) -> ClusterSpec:
    """Return the spec that counts while the written one is invalid; without an upgrade, an empty one.

    An upgrade continues to its target: stopped halfway, it would hold the lock until the spec is valid. Its
    policy is the written one; if that is invalid too, the upgrade counts as paused.
    """
    locked = None if ledger.lock is None else _decode_lock(ledger.lock)
    if locked is None or ledger.upgrade is None:
        return ClusterSpec("", ())
    is_policy_valid = isinstance(raw.get("spec"), Mapping) and not any(
        error.path.startswith("spec.upgrade") for error in spec_errors(raw)
    )
    policy = decode_upgrade_policy(raw["spec"]) if is_policy_valid else replace(locked.upgrade, paused=True)
    return replace(locked, version=ledger.rollback_to or ledger.upgrade[1], upgrade=policy)


@lru_cache(maxsize=64)
def _decode_lock(text: str) -> ClusterSpec | None:
    """Return the locked spec, or None when it is malformed. Without a pool every pod would be surplus."""
    try:
        spec = decode_cluster_spec(json.loads(text))
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
    return spec if spec.pools else None


def _list_objects(kube: KubernetesApi, cluster: ClusterView) -> Iterator[Manifest]:
    """Yield the objects of the cluster, and the Secret with credentials that its spec names."""
    name, namespace = cluster.key.name, cluster.key.namespace
    for api, kind in _OWNED_KINDS:
        listed = kube.list(api, kind, namespace, _MANAGED)
        yield from (manifest for manifest in listed if _is_owned(cluster, manifest))
    # By name: the permission to list Secrets would be the permission to read all of a namespace.
    own_secrets = names.old_config_secret(name), names.credentials_secret(name)
    for secret_name in own_secrets:
        secret = kube.get(Key("v1", "Secret", namespace, secret_name))
        if secret is not None and _is_owned(cluster, secret):
            yield secret
    for api, kind in _LABELLED_KINDS:
        for scheme in _LABEL_SCHEMES:
            yield from kube.list(api, kind, namespace, names.labels(name, None, scheme))
    oldest, newest = _LABEL_SCHEMES
    if (cluster.current_version or 0) < newest:
        yield from kube.list("apps/v1", "ControllerRevision", namespace, names.labels(name, None, oldest))
    credentials = cluster.spec.security.credentials_secret
    # A user's Secret with a name of the operator's own is neither read nor changed.
    if credentials is not None and credentials not in own_secrets:
        secret = kube.get(Key("v1", "Secret", namespace, credentials))
        if secret is not None:
            yield secret


def _secret_digests(kube: KubernetesApi, cluster: ClusterView) -> dict[str, dict[str, str]]:
    """Return digests of the entries of Secrets that pods mount: a changed entry makes the pods outdated."""
    found = {}
    for name in filter(None, (cluster.spec.security.tls_secret, cluster.spec.keystore_secret)):
        secret = kube.get(Key("v1", "Secret", cluster.key.namespace, name))
        if secret is not None:
            found[name] = {entry: digest(text) for entry, text in (secret.get("data") or {}).items()}
    return found


def _is_owned(cluster: ClusterView, manifest: Manifest) -> bool:
    owners = manifest["metadata"].get("ownerReferences") or ()
    return any(owner["uid"] == cluster.uid for owner in owners)


def _pool_views(cluster: ClusterView, objects: Mapping[Key, Manifest]) -> Iterator[PoolView]:
    """Yield the pools in the order of the spec, then those that exist but are no longer in the spec."""
    wanted = {pool.name: pool for pool in cluster.spec.pools}
    removed = [pool for pool in _existing_pools(cluster, objects) if pool.name not in wanted]
    for pool in (*wanted.values(), *removed):
        yield _pool_view(cluster, pool, objects, is_wanted=pool.name in wanted)


def _existing_pools(cluster: ClusterView, objects: Mapping[Key, Manifest]) -> list[PoolSpec]:
    """Return the pools of which any object exists: deleting a SearchPool deletes no nodes and no shards.

    The spec comes from the SearchPool, else from the template of the StatefulSet, else from a pod.
    """
    prefix = names.pool_name(cluster.key.name, "")
    pools: dict[str, PoolSpec] = {}
    for key in sorted(objects):
        name, manifest = key.name.removeprefix(prefix), objects[key]
        if key.kind == "SearchPool":
            pools[name] = decode_pool_spec(name, manifest["spec"])
        elif key.kind == "StatefulSet":
            pools.setdefault(name, _pool_spec_from_pod(name, manifest["spec"]["template"]))
        elif key.kind == "Pod" and (pool := _pool_of_pod(key.name, prefix, manifest)) is not None:
            pools.setdefault(pool, _pool_spec_from_pod(pool, manifest))
    return [pools[name] for name in sorted(pools)]


def _pool_of_pod(pod: str, prefix: str, manifest: Manifest) -> str | None:
    """Return the pool in the pod's label, if the pod's name fits. A user's copy of a pod has another name."""
    labels = manifest["metadata"].get("labels") or {}
    pools = (labels.get(names.pool_label(scheme)) for scheme in _LABEL_SCHEMES)
    return next((pool for pool in pools if pool and _ordinal(pod, prefix + pool) is not None), None)


def _pool_spec_from_pod(name: str, pod: Manifest) -> PoolSpec:
    """Return the spec of a pool as its pods are made. They do not have the size of the volumes."""
    roles = _roles(pod) or frozenset({"coordinating"})
    claims = (volume.get("persistentVolumeClaim") for volume in pod["spec"].get("volumes") or ())
    return PoolSpec(name, roles, 0, Storage(ephemeral=not any(claims)))


def _pool_view(
    cluster: ClusterView, pool: PoolSpec, objects: Mapping[Key, Manifest], *, is_wanted: bool
) -> PoolView:
    name, namespace = names.pool_name(cluster.key.name, pool.name), cluster.key.namespace
    search_pool: Manifest = objects.get(Key(_API, "SearchPool", namespace, name)) or {}
    metadata, status = search_pool.get("metadata") or {}, search_pool.get("status") or {}
    stateful_set = objects.get(Key("apps/v1", "StatefulSet", namespace, name))
    # By name: between two StatefulSets pods have no owner.
    by_ordinal = {_ordinal(key.name, name): pod for key, pod in objects.items() if key.kind == "Pod"}
    pods = tuple(_pod_view(by_ordinal[ordinal]) for ordinal in sorted(n for n in by_ordinal if n is not None))
    return PoolView(
        spec=replace(pool, storage=_deployed_storage(pool, stateful_set, search_pool if pods else {})),
        is_wanted=is_wanted,
        uid=metadata.get("uid"),
        resource_version=str(metadata.get("resourceVersion", "")),
        generation=int(metadata.get("generation", 0)),
        permitted_version=(search_pool.get("spec") or {}).get("engineVersion"),
        current_version=status.get("currentVersion"),
        observed_generation=status.get("observedGeneration"),
        records=decode_records(status),
        stateful_set=None if stateful_set is None else _stateful_set_view(stateful_set),
        pods=pods,
        allotted_replicas=(search_pool.get("spec") or {}).get("replicas"),
        allotted_size=((search_pool.get("spec") or {}).get("storage") or {}).get("size"),
    )


def _ordinal(pod: str, pool: str) -> int | None:
    head, _, tail = pod.rpartition("-")
    return int(tail) if head == pool and tail.isdecimal() else None


def _deployed_storage(pool: PoolSpec, stateful_set: Manifest | None, search_pool: Manifest) -> Storage:
    """Return the storage that new pods get: the claim templates of a StatefulSet cannot be changed.

    Between two StatefulSets the SearchPool has it. A pool without pods gets the storage of the spec.
    """
    if stateful_set is None:
        return decode_pool_spec(pool.name, search_pool["spec"]).storage if search_pool else pool.storage
    live = _claimed_storage(stateful_set)
    if live is None:
        return replace(pool.storage, ephemeral=True)
    # As last applied: the API server normalises quantities.
    return _claimed_storage(last_applied(stateful_set)) or live


def _claimed_storage(stateful_set: Mapping[str, Any]) -> Storage | None:
    """Return the storage of the first claim template; None without one."""
    match stateful_set.get("spec"):
        case {
            "volumeClaimTemplates": [{"spec": {"resources": {"requests": {"storage": size}}, **claim}}, *_]
        }:
            storage_class = claim.get("storageClassName")
            return Storage(str(size), None if storage_class is None else str(storage_class))
        case _:
            return None


@memoize_by_identity(4096)
def _stateful_set_view(manifest: Manifest) -> StatefulSetView:
    metadata, spec = manifest["metadata"], manifest["spec"]
    annotations = metadata.get("annotations") or {}
    strategy = spec.get("updateStrategy") or {}
    container = spec["template"]["spec"]["containers"][0]
    return StatefulSetView(
        uid=metadata["uid"],
        resource_version=metadata["resourceVersion"],
        engine_version=image_version(container["image"]),
        template=annotations.get(names.TEMPLATE, ""),
        configuration=names.configuration_version(annotations) or 0,
        replicas=int(spec.get("replicas", 1)),
        partition=(strategy.get("rollingUpdate") or {}).get("partition"),
        bootstrapper=next(
            (
                each.get("value")
                for each in container.get("env") or ()
                if each["name"] == names.INITIAL_MANAGERS
            ),
            None,
        ),
        zones=_zone_settings(_applied_template(manifest)),
    )


@memoize_by_identity(4096)
def _pod_view(pod: Manifest) -> Pod:
    metadata, status = pod["metadata"], pod.get("status") or {}
    return Pod(
        name=metadata["name"],
        uid=metadata["uid"],
        resource_version=metadata["resourceVersion"],
        engine_version=image_version(pod["spec"]["containers"][0]["image"]),
        template=(metadata.get("annotations") or {}).get(names.TEMPLATE, ""),
        is_ready=any(
            each["type"] == "Ready" and each["status"] == "True" for each in status.get("conditions") or ()
        ),
        is_terminating="deletionTimestamp" in metadata,
        problem=_problem(status),
        has_started=any(map(_has_started, status.get("containerStatuses") or ())),
        roles=_roles(pod),
        restarts=tuple(_restarts(status)),
        zones=_zone_settings(pod),
    )


def _applied_template(stateful_set: Manifest) -> Mapping[str, Any]:
    """Return the pod template as last applied; the live one where the annotation is lost."""
    match last_applied(stateful_set):
        case {"spec": {"template": {"spec": {"containers": [{"env": [*_]}, *_]}} as template}}:
            applied: Mapping[str, Any] = template
            return applied
        case _:
            live: Mapping[str, Any] = stateful_set["spec"]["template"]
            return live


def _zone_settings(pod: Mapping[str, Any]) -> ZoneSettings:
    variables = {each["name"]: each for each in pod["spec"]["containers"][0].get("env") or ()}
    source = (variables.get(names.ZONE) or {}).get("valueFrom") or {}
    label = _LABEL_PATH.fullmatch((source.get("fieldRef") or {}).get("fieldPath") or "")
    return ZoneSettings(
        has_zone=names.ZONE in variables,
        topology_key=None if label is None else label["key"],
        is_aware=names.ZONE_AWARENESS in variables,
    )


def _roles(pod: Manifest) -> frozenset[str] | None:
    """Return the roles in the pod's environment, none for a coordinating node; None without the variable."""
    variables = pod["spec"]["containers"][0].get("env") or ()
    values = (str(each.get("value", "")) for each in variables if each["name"] == names.ROLES)
    return next((frozenset(filter(None, each.split(","))) for each in values), None)


def _has_started(container: Mapping[str, Any]) -> bool:
    """Whether the process runs or ran before. A container in CrashLoopBackOff ran in between."""
    state = container.get("state") or {}
    crashes = (state.get("waiting") or {}).get("reason") == "CrashLoopBackOff"
    return crashes or bool(container.get("restartCount")) or "running" in state or "terminated" in state


def _restarts(status: Mapping[str, Any]) -> Iterator[ContainerRestarts]:
    for container in status.get("containerStatuses") or ():
        state, last_state = container.get("state") or {}, container.get("lastState") or {}
        ended = last_state.get("terminated") or state.get("terminated") or {}
        if container.get("restartCount"):
            yield ContainerRestarts(
                container=str(container.get("name", "")),
                count=int(container["restartCount"]),
                last_exit=f"{ended.get('reason', 'ended')} (exit code {ended.get('exitCode', 'unknown')})",
                ended_at=parse_timestamp(ended.get("finishedAt")),
                is_looping=(state.get("waiting") or {}).get("reason") == "CrashLoopBackOff",
            )


def _problem(status: Mapping[str, Any]) -> str | None:
    """Return the reason of the kubelet or of the scheduler why the pod does not run."""
    containers = (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ()))
    waits = [(each.get("state") or {}).get("waiting") for each in containers]
    reasons = [str(wait.get("reason", "Waiting")) for wait in waits if wait]
    if reasons:
        # Containers that come after the one that fails wait with the reason PodInitializing.
        return next((reason for reason in reasons if reason != "PodInitializing"), reasons[0])
    for condition in status.get("conditions") or ():
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            return str(condition.get("reason", "Unschedulable"))
    return "Failed" if status.get("phase") == "Failed" else None
