"""What this operator has no procedure for: left alone, with a word about who has one."""

from __future__ import annotations

__all__ = ["UNSUPPORTED_VERSION_RECONCILER"]

from typing import Final

from searchkeeper.planner import Reconciler, Result, UnsupportedVersion, action, wait
from searchkeeper.reconcilers.versions import CLUSTER_RECONCILERS
from searchkeeper.releases import releases_with
from searchkeeper.upgrade.gates import NO_DEADLINE


@action()
def configuration_supported(unfit: UnsupportedVersion) -> Result:
    """False, whatever anybody does to the cluster: another operator is needed."""
    return wait("NoProcedureFits", f"{unfit}; {_who(unfit)}", deadline=NO_DEADLINE)


def _who(unfit: UnsupportedVersion) -> str:
    ways = frozenset(
        version for version, each in CLUSTER_RECONCILERS.items() if each.supports(unfit.deployed)
    )
    found = [each.version for each in releases_with(ways)]
    if not found:
        return "no release of the operator that this one knows of can take it"
    return f"these releases of the operator can take it: {', '.join(found)}"


UNSUPPORTED_VERSION_RECONCILER: Final = Reconciler(0, 0, (configuration_supported,))
