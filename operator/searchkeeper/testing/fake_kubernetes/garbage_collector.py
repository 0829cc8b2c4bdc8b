"""The garbage collector: what is orphaned on purpose is let go, what has lost its owner follows it."""

from __future__ import annotations

__all__ = ["CLAIM_IN_USE", "collect"]

from typing import Final

from searchkeeper.kubernetes.operations import Delete, Key, Manifest
from searchkeeper.testing.fake_kubernetes.manifests import get_value, is_terminating, owner_uids, with_value
from searchkeeper.testing.fake_kubernetes.object_store import ObjectStore, delete, replace_object

# The finalizer that every volume claim is born with.
CLAIM_IN_USE: Final = "kubernetes.io/pvc-protection"


def collect(cluster: ObjectStore, *, now: int) -> ObjectStore:
    """One pass over all objects."""
    for manifest in [each for each in cluster.objects.values() if _is_unused_claim(each, cluster)]:
        cluster, _ = replace_object(cluster, with_value(manifest, "metadata", "finalizers", to=None))
    for manifest in [each for each in cluster.objects.values() if _is_letting_go(each)]:
        cluster = _let_go(cluster, manifest)
    alive = {each["metadata"]["uid"] for each in cluster.objects.values()}
    for key, manifest in list(cluster.objects.items()):
        owners = owner_uids(manifest)
        if owners and not alive.intersection(owners) and not is_terminating(manifest):
            cluster = delete(cluster, Delete(key, manifest["metadata"]["uid"], ""), now=now)
    return cluster


def _is_letting_go(manifest: Manifest) -> bool:
    return is_terminating(manifest) and "orphan" in (get_value(manifest, "metadata", "finalizers") or ())


def _is_unused_claim(manifest: Manifest, cluster: ObjectStore) -> bool:
    """A claim that was deleted is kept until no pod uses it."""
    if manifest["kind"] != "PersistentVolumeClaim" or not is_terminating(manifest):
        return False
    used = (
        get_value(volume, "persistentVolumeClaim", "claimName")
        for key, pod in cluster.objects.items()
        if key.kind == "Pod"
        for volume in pod["spec"].get("volumes", ())
    )
    return manifest["metadata"]["name"] not in used


def _let_go(cluster: ObjectStore, owner: Manifest) -> ObjectStore:
    """Its dependents forget it, then nothing holds it any longer."""
    uid = owner["metadata"]["uid"]
    for manifest in [each for each in cluster.objects.values() if uid in owner_uids(each)]:
        others = [ref for ref in manifest["metadata"]["ownerReferences"] if ref["uid"] != uid]
        cluster, _ = replace_object(
            cluster, with_value(manifest, "metadata", "ownerReferences", to=others or None)
        )
    fresh = cluster.objects[Key.of(owner)]
    left = [name for name in fresh["metadata"]["finalizers"] if name != "orphan"]
    return replace_object(cluster, with_value(fresh, "metadata", "finalizers", to=left or None))[0]
