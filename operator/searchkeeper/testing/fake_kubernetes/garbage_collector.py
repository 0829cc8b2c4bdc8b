"""The garbage collector, orphan deletion, and the protection of volume claims in use."""

from __future__ import annotations

__all__ = ["CLAIM_IN_USE", "collect"]

from typing import Final

from searchkeeper.kubernetes.operations import Delete, Key, Manifest
from searchkeeper.testing.fake_kubernetes.manifests import get_value, is_terminating, owner_uids, with_value
from searchkeeper.testing.fake_kubernetes.object_store import ObjectStore, delete, replace_object

# The finalizer that Kubernetes adds to every volume claim.
CLAIM_IN_USE: Final = "kubernetes.io/pvc-protection"
_ORPHAN: Final = "orphan"


def collect(cluster: ObjectStore, *, now: int) -> ObjectStore:
    """Run one pass: release unused claims, orphan dependents, delete objects whose owners are gone."""
    for manifest in [each for each in cluster.objects.values() if _is_unused_claim(each, cluster)]:
        cluster, _ = replace_object(cluster, with_value(manifest, "metadata", "finalizers", to=None))
    for manifest in list(cluster.objects.values()):
        finalizers = get_value(manifest, "metadata", "finalizers") or ()
        if is_terminating(manifest) and _ORPHAN in finalizers:
            cluster = _orphan_dependents(cluster, manifest)
    alive = {manifest["metadata"]["uid"] for manifest in cluster.objects.values()}
    for key, manifest in list(cluster.objects.items()):
        owners = owner_uids(manifest)
        if owners and not alive.intersection(owners) and not is_terminating(manifest):
            cluster = delete(cluster, Delete(key, manifest["metadata"]["uid"], ""), now=now)
    return cluster


def _is_unused_claim(manifest: Manifest, cluster: ObjectStore) -> bool:
    """Whether this is a deleted volume claim that no pod uses."""
    if manifest["kind"] != "PersistentVolumeClaim" or not is_terminating(manifest):
        return False
    used = (
        get_value(volume, "persistentVolumeClaim", "claimName")
        for key, pod in cluster.objects.items()
        if key.kind == "Pod"
        for volume in pod["spec"].get("volumes", ())
    )
    return manifest["metadata"]["name"] not in used


def _orphan_dependents(cluster: ObjectStore, owner: Manifest) -> ObjectStore:
    """Remove the owner's reference from its dependents, then its orphan finalizer."""
    uid = owner["metadata"]["uid"]
    for manifest in [each for each in cluster.objects.values() if uid in owner_uids(each)]:
        others = [ref for ref in manifest["metadata"]["ownerReferences"] if ref["uid"] != uid]
        cluster, _ = replace_object(
            cluster, with_value(manifest, "metadata", "ownerReferences", to=others or None)
        )
    latest = cluster.objects[Key.of(owner)]
    finalizers = [name for name in latest["metadata"]["finalizers"] if name != _ORPHAN]
    return replace_object(cluster, with_value(latest, "metadata", "finalizers", to=finalizers or None))[0]
