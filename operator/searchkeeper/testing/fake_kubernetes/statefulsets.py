"""The StatefulSet controller, with the behaviour that the operator has to handle:

- Under OnDelete a missing pod is created from the newest template. Under RollingUpdate a pod below the
  partition is created from the current one.
- Under OrderedReady a pod that is not ready blocks every pod above it and its own replacement.
- A pod whose volume claim is terminating is created after the claim is gone.
- After a complete OnDelete rollout `status.currentRevision` still names the old revision.
"""

from __future__ import annotations

__all__ = ["reconcile", "revision_of"]

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from searchkeeper.kubernetes.operations import Delete, Key, Manifest
from searchkeeper.memoize import memoize_by_identity
from searchkeeper.testing.fake_kubernetes.garbage_collector import CLAIM_IN_USE
from searchkeeper.testing.fake_kubernetes.manifests import (
    controller_of,
    get_value,
    is_ready,
    is_terminating,
    merge_patched,
    owner_reference,
    selects,
    with_value,
)
from searchkeeper.testing.fake_kubernetes.object_store import (
    ObjectStore,
    create,
    delete,
    get,
    list_objects,
    replace_object,
)


@dataclass(frozen=True, slots=True)
class _StatefulSet:
    """A StatefulSet manifest with typed access."""

    manifest: Manifest

    @property
    def name(self) -> str:
        return str(self.manifest["metadata"]["name"])

    @property
    def namespace(self) -> str:
        return str(self.manifest["metadata"]["namespace"])

    @property
    def template(self) -> Manifest:
        return dict(self.manifest["spec"]["template"])

    @property
    def replicas(self) -> int:
        return int(get_value(self.manifest, "spec", "replicas", default=1))

    @property
    def claim_templates(self) -> tuple[Manifest, ...]:
        return tuple(get_value(self.manifest, "spec", "volumeClaimTemplates", default=()))

    @property
    def is_ordered(self) -> bool:
        return bool(get_value(self.manifest, "spec", "podManagementPolicy") != "Parallel")

    @property
    def partition(self) -> int | None:
        """The partition of RollingUpdate; None under OnDelete."""
        strategy = get_value(self.manifest, "spec", "updateStrategy", default={})
        if strategy.get("type") == "OnDelete":
            return None
        return int(get_value(strategy, "rollingUpdate", "partition", default=0))

    def ordinal(self, pod: Manifest) -> int | None:
        """The ordinal in a pod's name; None if the name is not one of this StatefulSet."""
        head, _, tail = pod["metadata"]["name"].rpartition("-")
        return int(tail) if head == self.name and tail.isdecimal() else None

    def pods(self, cluster: ObjectStore) -> dict[int, Manifest]:
        """The pods that it controls, by ordinal."""
        return {
            ordinal: pod
            for pod in list_objects(cluster, "v1", "Pod", self.namespace)
            if controller_of(pod) == self.manifest["metadata"]["uid"]
            if (ordinal := self.ordinal(pod)) is not None
        }


def revision_of(stateful_set: Manifest) -> str:
    """Return the revision name of the StatefulSet's present template."""
    return f"{stateful_set['metadata']['name']}-{_digest(stateful_set['spec']['template'])}"


@memoize_by_identity(1024)
def _digest(template: Manifest) -> str:
    return hashlib.sha256(json.dumps(template, sort_keys=True).encode()).hexdigest()[:10]


def reconcile(cluster: ObjectStore, key: Key, *, now: int) -> ObjectStore:
    """Run one pass: adopt, store the revision, write the status, create or delete at most one pod."""
    manifest = get(cluster, key)
    if manifest is None or is_terminating(manifest):
        return cluster
    owner = _StatefulSet(manifest)
    for pod in list_objects(cluster, "v1", "Pod", owner.namespace):
        if owner.ordinal(pod) is not None:
            cluster = _adopt(cluster, owner, pod)
    cluster = _store_revision(cluster, owner, now)
    cluster = _write_status(cluster, owner)
    return _reconcile_pods(cluster, owner, now)


def _adopt(cluster: ObjectStore, owner: _StatefulSet, manifest: Manifest) -> ObjectStore:
    """Take over an object that has no controller and matches the selector."""
    is_free = controller_of(manifest) is None and not is_terminating(manifest)
    if not is_free or not selects(owner.manifest["spec"]["selector"], manifest):
        return cluster
    references = [owner_reference(owner.manifest)]
    return replace_object(cluster, with_value(manifest, "metadata", "ownerReferences", to=references))[0]


def _store_revision(cluster: ObjectStore, owner: _StatefulSet, now: int) -> ObjectStore:
    """Keep the template as a ControllerRevision, for pods below the partition.

    A revision has the labels of its template. Only a StatefulSet that selects those labels adopts it.
    """
    for revision in list_objects(cluster, "apps/v1", "ControllerRevision", owner.namespace):
        cluster = _adopt(cluster, owner, revision)
    key = Key("apps/v1", "ControllerRevision", owner.namespace, revision_of(owner.manifest))
    if get(cluster, key) is not None:
        return cluster
    metadata = {
        "name": key.name,
        "namespace": key.namespace,
        "labels": get_value(owner.template, "metadata", "labels", default={}),
        "ownerReferences": [owner_reference(owner.manifest)],
    }
    data = {"spec": {"template": owner.template}}
    return create(
        cluster, {"apiVersion": key.api, "kind": key.kind, "metadata": metadata, "data": data}, now=now
    )[0]


def _write_status(cluster: ObjectStore, owner: _StatefulSet) -> ObjectStore:
    """Write the counts and the current revision, which never advances under OnDelete."""
    pods = [pod for pod in owner.pods(cluster).values() if not is_terminating(pod)]
    update = revision_of(owner.manifest)
    updated = [pod for pod in pods if _pod_revision(pod) == update]
    current = get_value(owner.manifest, "status", "currentRevision", default=update)
    is_complete = owner.partition == 0 and len(updated) == owner.replicas and all(map(is_ready, pods))
    status = {
        "observedGeneration": owner.manifest["metadata"]["generation"],
        "replicas": len(pods),
        "readyReplicas": sum(map(is_ready, pods)),
        "updatedReplicas": len(updated),
        "currentRevision": update if is_complete else current,
        "updateRevision": update,
    }
    latest = cluster.objects[Key.of(owner.manifest)]
    return replace_object(cluster, with_value(latest, "status", to=status))[0]


def _reconcile_pods(cluster: ObjectStore, owner: _StatefulSet, now: int) -> ObjectStore:
    pods = owner.pods(cluster)
    for ordinal in range(owner.replicas):
        if ordinal not in pods:
            return _create_pod(cluster, owner, ordinal, now)
        if owner.is_ordered and not _is_available(pods[ordinal]):
            return cluster
    surplus = [ordinal for ordinal in pods if ordinal >= owner.replicas]
    if surplus:
        return _delete_pod(cluster, pods[max(surplus)], now)
    return _roll_out(cluster, owner, pods, now)


def _roll_out(
    cluster: ObjectStore, owner: _StatefulSet, pods: Mapping[int, Manifest], now: int
) -> ObjectStore:
    """Replace outdated pods from the highest ordinal down to the partition, one at a time."""
    if owner.partition is None:
        return cluster
    update = revision_of(owner.manifest)
    for ordinal in range(owner.replicas - 1, owner.partition - 1, -1):
        if _pod_revision(pods[ordinal]) != update and not is_terminating(pods[ordinal]):
            return _delete_pod(cluster, pods[ordinal], now)
        if not _is_available(pods[ordinal]):
            return cluster
    return cluster


def _create_pod(cluster: ObjectStore, owner: _StatefulSet, ordinal: int, now: int) -> ObjectStore:
    """Create a pod after its volume claims. Existing claims are used again."""
    name = f"{owner.name}-{ordinal}"
    volumes = []
    for template in owner.claim_templates:
        volume = template["metadata"]["name"]
        key = Key("v1", "PersistentVolumeClaim", owner.namespace, f"{volume}-{name}")
        claim = get(cluster, key)
        if claim is not None and is_terminating(claim):
            return cluster
        if claim is None:
            cluster = _create_claim(cluster, owner, key, template, now)
        volumes.append({"name": volume, "persistentVolumeClaim": {"claimName": key.name}})
    revision, template = _template_for(cluster, owner, ordinal)
    labels = {"controller-revision-hash": revision, "statefulset.kubernetes.io/pod-name": name}
    metadata = merge_patched(template.get("metadata", {}), {"labels": labels})
    metadata |= {
        "name": name,
        "namespace": owner.namespace,
        "ownerReferences": [owner_reference(owner.manifest)],
    }
    volumes = [*template["spec"].get("volumes", ()), *volumes]
    spec = with_value(template["spec"], "volumes", to=volumes or None)
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    if get(cluster, Key.of(pod)) is not None:
        return cluster
    return create(cluster, pod, now=now)[0]


def _create_claim(
    cluster: ObjectStore, owner: _StatefulSet, key: Key, template: Manifest, now: int
) -> ObjectStore:
    labels = get_value(owner.manifest, "spec", "selector", "matchLabels", default={})
    metadata = merge_patched(
        template["metadata"], {"name": key.name, "namespace": key.namespace, "labels": labels}
    )
    metadata["finalizers"] = [CLAIM_IN_USE]
    claim = {"apiVersion": key.api, "kind": key.kind, "metadata": metadata, "spec": template["spec"]}
    return create(cluster, claim, now=now)[0]


def _template_for(cluster: ObjectStore, owner: _StatefulSet, ordinal: int) -> tuple[str, Manifest]:
    """Return revision and template for a new pod: the current ones below the partition, else the newest."""
    update = revision_of(owner.manifest)
    latest = cluster.objects[Key.of(owner.manifest)]
    current = get_value(latest, "status", "currentRevision", default=update)
    revision = get(cluster, Key("apps/v1", "ControllerRevision", owner.namespace, current))
    if owner.partition is not None and ordinal < owner.partition and revision is not None:
        return current, revision["data"]["spec"]["template"]
    return update, owner.template


def _delete_pod(cluster: ObjectStore, pod: Manifest, now: int) -> ObjectStore:
    return delete(cluster, Delete(Key.of(pod), pod["metadata"]["uid"], ""), now=now)


def _pod_revision(pod: Manifest) -> Any:
    return get_value(pod, "metadata", "labels", "controller-revision-hash")


def _is_available(pod: Manifest) -> bool:
    return is_ready(pod) and not is_terminating(pod)
