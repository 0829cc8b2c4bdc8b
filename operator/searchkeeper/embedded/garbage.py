"""The garbage collector: what is orphaned on purpose is let go, what has lost its owner follows it."""

from __future__ import annotations

__all__ = ["CLAIM_IN_USE", "collect"]

from typing import Final

from searchkeeper.embedded.cluster import Cluster, delete, replaced
from searchkeeper.embedded.manifests import is_terminating, owner_uids, placed, value
from searchkeeper.writes import Delete, Key, Manifest

# The finalizer that every volume claim is born with.
CLAIM_IN_USE: Final = "kubernetes.io/pvc-protection"


def collect(cluster: Cluster, *, now: int) -> Cluster:
    """One pass over all objects."""
    for manifest in [each for each in cluster.objects.values() if _is_unused_claim(each, cluster)]:
        cluster, _ = replaced(cluster, placed(manifest, "metadata", "finalizers", to=None))
    for manifest in [each for each in cluster.objects.values() if _is_letting_go(each)]:
        cluster = _let_go(cluster, manifest)
    alive = {each["metadata"]["uid"] for each in cluster.objects.values()}
    for key, manifest in list(cluster.objects.items()):
        owners = owner_uids(manifest)
        if owners and not alive.intersection(owners) and not is_terminating(manifest):
            cluster = delete(cluster, Delete(key, manifest["metadata"]["uid"], ""), now=now)
    return cluster


def _is_letting_go(manifest: Manifest) -> bool:
    return is_terminating(manifest) and "orphan" in (value(manifest, "metadata", "finalizers") or ())


def _is_unused_claim(manifest: Manifest, cluster: Cluster) -> bool:
    """A claim that was deleted is kept until no pod uses it."""
    if manifest["kind"] != "PersistentVolumeClaim" or not is_terminating(manifest):
        return False
    used = (
        value(volume, "persistentVolumeClaim", "claimName")
        for key, pod in cluster.objects.items()
        if key.kind == "Pod"
        for volume in pod["spec"].get("volumes", ())
    )
    return manifest["metadata"]["name"] not in used


def _let_go(cluster: Cluster, owner: Manifest) -> Cluster:
    """Its dependents forget it, then nothing holds it any longer."""
    uid = owner["metadata"]["uid"]
    for manifest in [each for each in cluster.objects.values() if uid in owner_uids(each)]:
        others = [ref for ref in manifest["metadata"]["ownerReferences"] if ref["uid"] != uid]
        cluster, _ = replaced(cluster, placed(manifest, "metadata", "ownerReferences", to=others or None))
    fresh = cluster.objects[Key.of(owner)]
    left = [name for name in fresh["metadata"]["finalizers"] if name != "orphan"]
    return replaced(cluster, placed(fresh, "metadata", "finalizers", to=left or None))[0]
