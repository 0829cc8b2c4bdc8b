"""Invariants of volumes: I16."""

from __future__ import annotations

__all__ = ["claim_templates_follow_volumes", "claims_never_shrink"]

from typing import Any, Final

from searchkeeper.desired import names
from searchkeeper.desired.quantities import is_less
from searchkeeper.kubernetes.operations import Delete, Manifest
from searchkeeper.testing.fake_kubernetes.manifests import get_value, is_terminating
from searchkeeper.testing.invariants.transitions import Transition

# An earlier version replaces StatefulSets for other labels.
_RESIZED_SINCE: Final = 5


def claims_never_shrink(step: Transition) -> str | None:
    """I16: no write reduces the size that a volume claim requests."""
    if step.key is None or step.key.kind != "PersistentVolumeClaim" or step.written is None:
        return None
    before = step.before.state.cluster.objects.get(step.key)
    old, new = _request(before or {}), _request(step.written)
    return f"{step.key} shrinks from {old} to {new}" if is_less(new, old) else None


def claim_templates_follow_volumes(step: Transition) -> str | None:
    """I16: a StatefulSet is replaced by one with larger volumes only after the volumes of its pods."""
    if not isinstance(step.write, Delete) or not step.write.orphan:
        return None
    name = step.write.key.name
    stateful_set = step.before.all_of("StatefulSet").get(name)
    search_pool = step.before.all_of("SearchPool").get(name)
    if stateful_set is None or search_pool is None:
        return None
    version = names.configuration_version(stateful_set["metadata"].get("annotations") or {})
    if (version or 0) < _RESIZED_SINCE:
        return None
    size = get_value(search_pool, "spec", "storage", "size")
    templates = get_value(stateful_set, "spec", "volumeClaimTemplates", default=())
    if not any(is_less(_request(template), size) for template in templates):
        return f"{name} is replaced, and the next one has no larger volumes"
    claims = step.before.all_of("PersistentVolumeClaim")
    own = (f"data-{name}-{ordinal}" for ordinal in range(stateful_set["spec"]["replicas"]))
    small = [claim for claim in own if claim in claims and _is_small(claims[claim], size)]
    return f"{name} is replaced before {', '.join(small)} are resized" if small else None


def _is_small(claim: Manifest, size: str) -> bool:
    capacity = get_value(claim, "status", "capacity", "storage")
    return not is_terminating(claim) and (is_less(_request(claim), size) or is_less(capacity, size))


def _request(claim: Manifest) -> Any:
    return get_value(claim, "spec", "resources", "requests", "storage")
