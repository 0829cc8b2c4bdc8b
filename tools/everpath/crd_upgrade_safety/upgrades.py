"""The upgrades that OLM performs, with the unsafe CRD changes of each."""

from __future__ import annotations

__all__ = ["BundleCrds", "HopChannels", "Upgrade", "check_upgrades"]

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from everpath.crd_upgrade_safety.crd import CustomResourceDefinition
from everpath.crd_upgrade_safety.unsafe_changes import UnsafeChange, find_unsafe_changes

#: The CRDs of each bundle, by its name.
BundleCrds = Mapping[str, tuple[CustomResourceDefinition, ...]]
#: The generation of OLM, `v0` or `v1`, and the channel in which it takes a hop.
OlmChannel = tuple[str, str]
#: For each installed bundle its successors, and where each is chosen.
HopChannels = Mapping[str, Mapping[str, tuple[OlmChannel, ...]]]


class Upgrade(NamedTuple):
    """A hop from one bundle to another."""

    before: str
    after: str
    changes: tuple[UnsafeChange, ...]
    taken_by: tuple[OlmChannel, ...] = ()


def check_upgrades(hops: HopChannels, crds: BundleCrds) -> Iterator[Upgrade]:
    """Compare the CRDs of every hop between two bundles whose CRDs are known, in order of name."""
    stored = _stored_versions(hops, crds)
    for before in sorted(hops):
        for after in sorted(hops[before]):
            if before in crds and after in crds:
                changes = find_unsafe_changes(crds[before], crds[after], stored[before])
                yield Upgrade(before, after, tuple(changes), hops[before][after])


def _stored_versions(hops: HopChannels, crds: BundleCrds) -> dict[str, dict[str, frozenset[str]]]:
    """For each bundle and CRD the versions in which objects may be stored on a cluster that runs the bundle.

    They are the storage versions of the bundle and of every bundle from which OLM can upgrade to it.
    """
    bundles = {*hops, *(after for successors in hops.values() for after in successors)}
    stored = {
        bundle: {
            crd.name: frozenset({crd.storage_version})
            for crd in crds.get(bundle, ())
            if crd.storage_version is not None
        }
        for bundle in bundles
    }
    pending = sorted(stored)
    while pending:
        before = pending.pop()
        for after in sorted(hops.get(before, {})):
            merged = {
                name: stored[after].get(name, frozenset()) | stored[before].get(name, frozenset())
                for name in {*stored[after], *stored[before]}
            }
            if merged != stored[after]:
                stored[after] = merged
                pending.append(after)
    return stored
