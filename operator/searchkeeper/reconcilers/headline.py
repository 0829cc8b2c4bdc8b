"""Which action's message explains best what a cluster waits for."""

from __future__ import annotations

__all__ = ["headline_rank"]

from typing import Final

from searchkeeper.reconcilers.objects import dashboards_current
from searchkeeper.reconcilers.pools import pods_current
from searchkeeper.reconcilers.upgrade import engine_healthy, upgrade_started, version_accepted

# These actions name the cause in their own message: a refused version, a blocking gate, an unhealthy start.
_CAUSES: Final = (version_accepted.name, pods_current.name, upgrade_started.name)
# These actions wait for what another action does: they explain a cluster only when no other action waits.
_EFFECTS: Final = (engine_healthy.name, dashboards_current.name)


def headline_rank(action: str) -> int:
    """The lower the rank, the closer the action is to the cause. Actions between both lists share a rank."""
    if action in _CAUSES:
        return _CAUSES.index(action)
    return len(_CAUSES) + (1 + _EFFECTS.index(action) if action in _EFFECTS else 0)
