"""What changed CustomResourceDefinitions do to existing objects, and whether OLM accepts them.

On an upgrade OLM replaces the CRDs of the installed bundle with those of its successor. `find_unsafe_changes`
compares two sets of CRDs; `check_upgrades` does so for every hop that OLM takes.
"""

from __future__ import annotations

__all__ = ["BundleCrds", "HopChannels", "UnsafeChange", "Upgrade", "check_upgrades", "find_unsafe_changes"]

from everpath.crd_upgrade_safety.unsafe_changes import UnsafeChange, find_unsafe_changes
from everpath.crd_upgrade_safety.upgrades import BundleCrds, HopChannels, Upgrade, check_upgrades
