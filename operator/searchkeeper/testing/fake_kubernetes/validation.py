"""The part of the API server's validation that matters to the operator."""

from __future__ import annotations

__all__ = ["expansion_error", "validation_errors"]

import re
from collections.abc import Mapping
from typing import Final

from searchkeeper.desired.quantities import is_less
from searchkeeper.kubernetes.operations import Key, Manifest
from searchkeeper.testing.fake_kubernetes.manifests import get_value

_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")
_MAX_NAME_LENGTH: Final = 253
# Every other field of a StatefulSet's spec is immutable.
_MUTABLE: Final = frozenset(
    {
        "replicas",
        "ordinals",
        "template",
        "updateStrategy",
        "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy",
        "minReadySeconds",
    }
)


def validation_errors(old: Manifest | None, new: Manifest) -> list[str]:
    """Return every reason to reject a new object (`old` is None) or an update; empty if it is valid."""
    errors = []
    name = new["metadata"]["name"]
    if not _NAME.fullmatch(name) or len(name) > _MAX_NAME_LENGTH:
        errors.append(f"metadata.name: {name!r} is not a name")
    if new["kind"] in ("StatefulSet", "Deployment"):
        selector = get_value(new, "spec", "selector", "matchLabels", default={})
        labels = get_value(new, "spec", "template", "metadata", "labels", default={})
        if not selector:
            errors.append("spec.selector: required")
        elif any(labels.get(label) != text for label, text in selector.items()):
            errors.append("spec.template.metadata.labels: selector does not match template labels")
    if old is not None and new["kind"] == "StatefulSet":
        fields = {*old["spec"], *new["spec"]} - _MUTABLE
        changed = sorted(name for name in fields if old["spec"].get(name) != new["spec"].get(name))
        if changed:
            errors.append(f"spec: updates to statefulset spec for {', '.join(changed)} are forbidden")
    return errors


def expansion_error(old: Manifest, new: Manifest, objects: Mapping[Key, Manifest]) -> str | None:
    """Return why a volume claim must not get another size; None if it may, or if the size is the same.

    A StorageClass that does not exist allows volume expansion: most tests have none.
    """
    before, after = (get_value(each, "spec", "resources", "requests", "storage") for each in (old, new))
    if before == after:
        return None
    if get_value(old, "status", "phase") != "Bound":
        return "spec is immutable after creation except resources.requests for bound claims"
    if is_less(after, get_value(old, "status", "capacity", "storage")):
        return "spec.resources.requests.storage: field can not be less than status.capacity"
    name = get_value(new, "spec", "storageClassName", default="")
    storage_class = objects.get(Key("storage.k8s.io/v1", "StorageClass", "", name))
    if storage_class is None or storage_class.get("allowVolumeExpansion"):
        return None
    return (
        "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must "
        "support resize"
    )
