"""Which pool is next, and which of its pods."""

from __future__ import annotations

__all__ = ["candidates", "pools_in_order"]

from collections.abc import Iterable
from typing import Final

from searchkeeper.engine.view import EngineView, Unreachable
from searchkeeper.observed import Pod, PoolView
from searchkeeper.upgrade.losing import is_going_to_lose
from searchkeeper.versions import is_newer

_MANAGER: Final = "cluster_manager"


def pools_in_order(
    pools: Iterable[PoolView],
    engine: EngineView | Unreachable,
    *,
    leaves_major: bool,
    returns_to: str | None = None,
) -> tuple[PoolView, ...]:
    """Pools that hold data, then those that also vote, then the rest, its voters last.

    Where a major version is left behind, every pool without a vote goes before those with one: a node of
    the old major cannot join a cluster whose managers are all of the new one. Otherwise those that give
    shards or votes away go after whoever may be about to get them. Of pools of one kind that with the elected
    manager goes last.

    On the way back it is the other way round, but for an elected manager that has to go back itself: its pool
    goes last of all, so that whoever is elected in its place stays.
    """
    ordered = sorted(pools, key=lambda pool: _tier(pool, engine, leaves_major))
    if returns_to is None:
        return tuple(ordered)
    elected = engine.elected if isinstance(engine, EngineView) else None
    goes = None if elected is None or not is_newer(elected.version, returns_to) else elected.name
    back = ordered[::-1]
    return tuple(sorted(back, key=lambda pool: goes in {pod.name for pod in pool.pods}))


def _tier(pool: PoolView, engine: EngineView | Unreachable, leaves_major: bool) -> tuple[bool, ...]:
    data, votes = pool.spec.holds_data, pool.spec.votes
    gives = not leaves_major and any(
        is_going_to_lose(role, engine, pod.name, pool) for pod in pool.staying for role in ("data", _MANAGER)
    )
    leads = _elected(engine) in {pod.name for pod in pool.pods}
    return (leaves_major and _manages(pool), gives, not data, votes, leads)


def _manages(pool: PoolView) -> bool:
    """Whether its nodes are managers as they run: those that are only to become some cannot come last."""
    given = [_MANAGER in pod.roles for pod in pool.staying if pod.roles is not None]
    if not given:
        return pool.spec.votes
    return all(given) if pool.spec.votes else any(given)


def _elected(engine: EngineView | Unreachable) -> str | None:
    elected = engine.elected if isinstance(engine, EngineView) else None
    return None if elected is None else elected.name


def candidates(
    pool: PoolView, engine: EngineView | Unreachable, *, backwards: bool = False
) -> tuple[Pod, ...]:
    """The stale pods of a pool in the order they go: broken ones first, the elected manager last.

    Broken ones first, because replacing them costs nobody anything, and may be the cure. On the way back
    those that came last go first.
    """
    last = _elected(engine)
    stale = reversed(pool.stale_pods) if backwards else pool.stale_pods
    return tuple(sorted(stale, key=lambda pod: (pod.name == last, pod.is_ready)))
