"""The StatefulSet controller, quirks included: what it really does is what the operator has to live with.

- A pod that is missing comes back from the newest template under OnDelete, and from the current one under
  RollingUpdate while its ordinal is below the partition.
- Under OrderedReady a pod that is not ready stops everything above it, its own replacement included.
- A pod whose volume claim is on its way out is not created before that is gone.
- After a complete OnDelete roll `status.currentRevision` stays what it was.
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
class _Set:
    """A StatefulSet with what its controller asks of it again and again."""

    manifest: Manifest

    @property
    def name(self) -> str:
        return str(self.manifest["metadata"]["name"])

    @property
    def namespace(self) -> str:
        return str(self.manifest["metadata"]["namespace"])

    @property
    def uid(self) -> str:
        return str(self.manifest["metadata"]["uid"])

    @property
    def replicas(self) -> int:
        return int(get_value(self.manifest, "spec", "replicas", default=1))

    @property
    def template(self) -> Manifest:
        return dict(self.manifest["spec"]["template"])

    @property
    def is_ordered(self) -> bool:
        return bool(get_value(self.manifest, "spec", "podManagementPolicy") != "Parallel")

    @property
    def partition(self) -> int | None:
        """None under OnDelete."""
        strategy = get_value(self.manifest, "spec", "updateStrategy", default={})
        if strategy.get("type") == "OnDelete":
            return None
        return int(get_value(strategy, "rollingUpdate", "partition", default=0))

    def ordinal(self, pod: Manifest) -> int | None:
        head, _, tail = pod["metadata"]["name"].rpartition("-")
        return int(tail) if head == self.name and tail.isdecimal() else None


def revision_of(stateful_set: Manifest) -> str:
    """The name of the revision that its template is."""
    return f"{stateful_set['metadata']['name']}-{_digest(stateful_set['spec']['template'])}"


@memoize_by_identity(1024)
def _digest(template: Manifest) -> str:
    return hashlib.sha256(json.dumps(template, sort_keys=True).encode()).hexdigest()[:10]


def reconcile(cluster: ObjectStore, key: Key, *, now: int) -> ObjectStore:
    """One pass: adopts, notes the revision, tells the status, and creates or deletes at most one pod."""
    manifest = get(cluster, key)
    if manifest is None or is_terminating(manifest):
        return cluster
    owner = _Set(manifest)
    cluster = _revised(_adopted(cluster, owner), owner, now)
    return _one_pod(_told(cluster, owner), owner, now)


def _pods(cluster: ObjectStore, owner: _Set) -> dict[int, Manifest]:
    """Its own pods by ordinal."""
    found = list_objects(cluster, "v1", "Pod", owner.namespace)
    mine = ((owner.ordinal(pod), pod) for pod in found if controller_of(pod) == owner.uid)
    return {ordinal: pod for ordinal, pod in mine if ordinal is not None}


def _adopted(cluster: ObjectStore, owner: _Set) -> ObjectStore:
    """Pods without a controller that its selector matches become its own."""
    for pod in list_objects(cluster, "v1", "Pod", owner.namespace):
        if owner.ordinal(pod) is not None:
            cluster = _taken(cluster, owner, pod)
    return cluster


def _taken(cluster: ObjectStore, owner: _Set, found: Manifest) -> ObjectStore:
    is_free = controller_of(found) is None and not is_terminating(found)
    if not is_free or not selects(owner.manifest["spec"]["selector"], found):
        return cluster
    mine = with_value(found, "metadata", "ownerReferences", to=[owner_reference(owner.manifest)])
    return replace_object(cluster, mine)[0]


def _revised(cluster: ObjectStore, owner: _Set, now: int) -> ObjectStore:
    """Templates are kept as ControllerRevisions, so that an older one can be made pods of again.

    They have the labels of their template: without an owner only a set that selects by those takes them up.
    """
    for found in list_objects(cluster, "apps/v1", "ControllerRevision", owner.namespace):
        cluster = _taken(cluster, owner, found)
    name = revision_of(owner.manifest)
    key = Key("apps/v1", "ControllerRevision", owner.namespace, name)
    if get(cluster, key) is not None:
        return cluster
    revision = {
        "apiVersion": key.api,
        "kind": key.kind,
        "metadata": {
            "name": name,
            "namespace": owner.namespace,
            "labels": get_value(owner.template, "metadata", "labels", default={}),
            "ownerReferences": [owner_reference(owner.manifest)],
        },
        "data": {"spec": {"template": owner.template}},
    }
    return create(cluster, revision, now=now)[0]


def _told(cluster: ObjectStore, owner: _Set) -> ObjectStore:
    """The status: counts, and which revision is current. Under OnDelete that one never advances."""
    pods = [pod for pod in _pods(cluster, owner).values() if not is_terminating(pod)]
    update = revision_of(owner.manifest)
    updated = [pod for pod in pods if _revision(pod) == update]
    current = get_value(owner.manifest, "status", "currentRevision", default=update)
    rolled = owner.partition == 0 and len(updated) == owner.replicas and all(map(is_ready, pods))
    status = {
        "observedGeneration": owner.manifest["metadata"]["generation"],
        "replicas": len(pods),
        "readyReplicas": sum(map(is_ready, pods)),
        "updatedReplicas": len(updated),
        "currentRevision": update if rolled else current,
        "updateRevision": update,
    }
    return replace_object(cluster, with_value(_fresh(cluster, owner), "status", to=status))[0]


def _fresh(cluster: ObjectStore, owner: _Set) -> Manifest:
    return cluster.objects[Key.of(owner.manifest)]


def _one_pod(cluster: ObjectStore, owner: _Set, now: int) -> ObjectStore:
    pods = _pods(cluster, owner)
    for ordinal in range(owner.replicas):
        if ordinal not in pods:
            return _created(cluster, owner, ordinal, now)
        if owner.is_ordered and not _is_settled(pods[ordinal]):
            return cluster
    surplus = [ordinal for ordinal in pods if ordinal >= owner.replicas]
    if surplus:
        return _deleted(cluster, pods[max(surplus)], now)
    return _rolled(cluster, owner, pods, now)


def _rolled(cluster: ObjectStore, owner: _Set, pods: Mapping[int, Manifest], now: int) -> ObjectStore:
    """From the highest ordinal down to the partition, each settled before the next one goes."""
    if owner.partition is None:
        return cluster
    update = revision_of(owner.manifest)
    for ordinal in range(owner.replicas - 1, owner.partition - 1, -1):
        if _revision(pods[ordinal]) != update and not is_terminating(pods[ordinal]):
            return _deleted(cluster, pods[ordinal], now)
        if not _is_settled(pods[ordinal]):
            return cluster
    return cluster


def _created(cluster: ObjectStore, owner: _Set, ordinal: int, now: int) -> ObjectStore:
    """Its volume claims first; they outlive the pod and are taken up again."""
    name = f"{owner.name}-{ordinal}"
    for claim in get_value(owner.manifest, "spec", "volumeClaimTemplates", default=()):
        found = get(cluster, _claim_key(owner, claim, name))
        if found is not None and is_terminating(found):
            return cluster
        cluster = _claimed(cluster, owner, claim, name, now)
    revision, template = _template_for(cluster, owner, ordinal)
    labels = {"controller-revision-hash": revision, "statefulset.kubernetes.io/pod-name": name}
    metadata = merge_patched(template.get("metadata", {}), {"labels": labels})
    metadata |= {
        "name": name,
        "namespace": owner.namespace,
        "ownerReferences": [owner_reference(owner.manifest)],
    }
    spec = with_value(template["spec"], "volumes", to=_volumes(owner, template, name))
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    if get(cluster, Key.of(pod)) is not None:
        return cluster
    return create(cluster, pod, now=now)[0]


def _volumes(owner: _Set, template: Manifest, pod: str) -> list[dict[str, Any]] | None:
    """Those of the template, and the pod's own claims."""
    names = [
        claim["metadata"]["name"]
        for claim in get_value(owner.manifest, "spec", "volumeClaimTemplates", default=())
    ]
    own = [{"name": name, "persistentVolumeClaim": {"claimName": f"{name}-{pod}"}} for name in names]
    return [*template["spec"].get("volumes", ()), *own] or None


def _claimed(cluster: ObjectStore, owner: _Set, claim: Manifest, pod: str, now: int) -> ObjectStore:
    key = _claim_key(owner, claim, pod)
    if get(cluster, key) is not None:
        return cluster
    labels = get_value(owner.manifest, "spec", "selector", "matchLabels", default={})
    metadata = merge_patched(
        claim["metadata"], {"name": key.name, "namespace": owner.namespace, "labels": labels}
    )
    metadata["finalizers"] = [CLAIM_IN_USE]
    made = {"apiVersion": "v1", "kind": key.kind, "metadata": metadata, "spec": claim["spec"]}
    return create(cluster, made, now=now)[0]


def _claim_key(owner: _Set, claim: Manifest, pod: str) -> Key:
    return Key("v1", "PersistentVolumeClaim", owner.namespace, f"{claim['metadata']['name']}-{pod}")


def _template_for(cluster: ObjectStore, owner: _Set, ordinal: int) -> tuple[str, Manifest]:
    """The newest template, or the current one below the partition."""
    update = revision_of(owner.manifest)
    current = get_value(_fresh(cluster, owner), "status", "currentRevision", default=update)
    key = Key("apps/v1", "ControllerRevision", owner.namespace, current)
    kept = get(cluster, key)
    if owner.partition is not None and ordinal < owner.partition and kept is not None:
        return current, kept["data"]["spec"]["template"]
    return update, owner.template


def _deleted(cluster: ObjectStore, pod: Manifest, now: int) -> ObjectStore:
    return delete(cluster, Delete(Key.of(pod), pod["metadata"]["uid"], ""), now=now)


def _revision(pod: Manifest) -> Any:
    return get_value(pod, "metadata", "labels", "controller-revision-hash")


def _is_settled(pod: Manifest) -> bool:
    return is_ready(pod) and not is_terminating(pod)
