"""What an API server refuses, as far as it matters here."""

from __future__ import annotations

__all__ = ["validation_errors"]

import re
from collections.abc import Iterator
from typing import Final

from searchkeeper.kubernetes.operations import Manifest
from searchkeeper.testing.fake_kubernetes.manifests import get_value

_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")
# All else in a StatefulSet's spec is settled when it is created.
_CHANGEABLE: Final = frozenset(
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
    """Every reason to refuse a new object, or a change of one; none when it may be stored."""
    found = list(_naming(new))
    if new["kind"] in ("StatefulSet", "Deployment"):
        found += _selecting(new)
    if old is not None and new["kind"] == "StatefulSet":
        found += _settled(old, new)
    return found


def _naming(new: Manifest) -> Iterator[str]:
    name = new["metadata"]["name"]
    if not _NAME.fullmatch(name) or len(name) > 253:
        yield f"metadata.name: {name!r} is not a name"


def _selecting(new: Manifest) -> Iterator[str]:
    selector = get_value(new, "spec", "selector", "matchLabels", default={})
    present = get_value(new, "spec", "template", "metadata", "labels", default={})
    if not selector:
        yield "spec.selector: required"
    elif any(present.get(name) != text for name, text in selector.items()):
        yield "spec.template.metadata.labels: selector does not match template labels"


def _settled(old: Manifest, new: Manifest) -> Iterator[str]:
    names = {*old["spec"], *new["spec"]} - _CHANGEABLE
    changed = sorted(name for name in names if old["spec"].get(name) != new["spec"].get(name))
    if changed:
        yield f"spec: updates to statefulset spec for {', '.join(changed)} are forbidden"
