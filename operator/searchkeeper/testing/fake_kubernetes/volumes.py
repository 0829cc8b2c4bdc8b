"""The controllers of volumes: new claims are bound, and larger requests fulfilled, at the next tick."""

from __future__ import annotations

__all__ = ["provision_volumes"]

from searchkeeper.testing.fake_kubernetes.manifests import get_value, with_value
from searchkeeper.testing.fake_kubernetes.object_store import ObjectStore, replace_object


def provision_volumes(cluster: ObjectStore) -> ObjectStore:
    """Give every claim a volume of the size that it requests."""
    for key in sorted(key for key in cluster.objects if key.kind == "PersistentVolumeClaim"):
        claim = cluster.objects[key]
        size = get_value(claim, "spec", "resources", "requests", "storage")
        if get_value(claim, "status", "capacity", "storage") != size:
            status = {"phase": "Bound", "capacity": {"storage": size}}
            cluster, _ = replace_object(cluster, with_value(claim, "status", to=status))
    return cluster
