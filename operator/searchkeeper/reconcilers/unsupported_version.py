"""The reconciler of a cluster whose configuration version this operator does not support: no changes."""

from __future__ import annotations

__all__ = ["UNSUPPORTED_VERSION_RECONCILER"]

from typing import Final

from searchkeeper.api.reasons import Reason
from searchkeeper.planner import NO_DEADLINE, Reconciler, Result, UnsupportedVersion, action, wait
from searchkeeper.reconcilers.versions import CLUSTER_RECONCILERS
from searchkeeper.releases import releases_with


@action()
def configuration_supported(unsupported: UnsupportedVersion) -> Result:
    """False until another release of the operator runs. The message names the releases that support it."""
    versions = frozenset(
        version
        for version, reconciler in CLUSTER_RECONCILERS.items()
        if reconciler.supports(unsupported.deployed)
    )
    releases = [release.version for release in releases_with(versions)]
    advice = (
        f"these releases of the operator support it: {', '.join(releases)}"
        if releases
        else "no release of the operator that this one knows supports it"
    )
    return wait(Reason.UNSUPPORTED_CONFIGURATION, f"{unsupported}; {advice}", deadline=NO_DEADLINE)


UNSUPPORTED_VERSION_RECONCILER: Final = Reconciler(0, 0, (configuration_supported,))
