"""Which pool is next, and which of its pods."""

from __future__ import annotations

__all__ = ["candidates", "pools_in_order"]

from collections.abc import Iterable
from typing import Final

from searchkeeper.opensearch.view import EngineView, Unreachable
from searchkeeper.snapshot import Pod, PoolView
from searchkeeper.upgrade.role_removal import loses_role
from searchkeeper.versions import is_newer, parse

_MANAGER: Final = "cluster_manager"


def pools_in_order(
    pools: Iterable[PoolView],
    engine: EngineView | Unreachable,
    *,
    leaves_major: bool,
    rollback_to: str | None = None,
) -> tuple[PoolView, ...]:
    """Pools that hold data, then those that also vote, then the rest, its voters last.

    Where a major version is left behind, every pool without a vote goes before those with one: a node of
    the old major cannot join a cluster whose managers are all of the new one. Otherwise those that give
    shards or votes away go after whoever may be about to get them. Of pools of one kind that with the elected
    manager goes last.

    On the way back it is the other way round, but for an elected manager that has to go back itself: its pool
    goes last of those, so that whoever is elected in its place stays. Pools without anything of the newer
    version, which are replaced for another reason, come after all of them.
    """
    ordered = sorted(pools, key=lambda pool: _tier(pool, engine, leaves_major))
    if rollback_to is None:
        return tuple(ordered)
    elected = engine.elected if isinstance(engine, EngineView) else None
    goes = None if elected is None or not is_newer(elected.version, rollback_to) else elected.name
    back = ordered[::-1]
    return tuple(
        sorted(
            back, key=lambda it: (not _has_crossed(it, rollback_to), goes in {pod.name for pod in it.pods})
        )
    )


def _has_crossed(pool: PoolView, before: str) -> bool:
    """Whether anything of it is of the newer version, if only what its next pod would be made from."""
    made = [] if pool.stateful_set is None else [pool.stateful_set.engine_version]
    return any(_is_above(each, before) for each in (*made, *(pod.engine_version for pod in pool.pods)))


def _tier(pool: PoolView, engine: EngineView | Unreachable, leaves_major: bool) -> tuple[bool, ...]:
    data, votes = pool.spec.holds_data, pool.spec.votes
    gives = not leaves_major and any(
        loses_role(role, engine, pod.name, pool) for pod in pool.retained_pods for role in ("data", _MANAGER)
    )
    leads = _elected(engine) in {pod.name for pod in pool.pods}
    return (leaves_major and _manages(pool), gives, not data, votes, leads)


def _manages(pool: PoolView) -> bool:
    """Whether its nodes are managers as they run: those that are only to become some cannot come last."""
    given = [_MANAGER in pod.roles for pod in pool.retained_pods if pod.roles is not None]
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
    those that came last go first, and whoever is of the older version after all of them: a newer node would
    have its primaries meanwhile, of which none of the older version can have a copy any more.
    """
    last = _elected(engine)
    stale = reversed(pool.outdated_pods) if backwards else pool.outdated_pods

    def place(pod: Pod) -> tuple[bool, ...]:
        is_left_to = backwards and pod.is_ready and not _is_of_newer(pod, pool)
        return (is_left_to, pod.name == last, pod.is_ready)

    return tuple(sorted(stale, key=place))


def _is_of_newer(pod: Pod, pool: PoolView) -> bool:
    """Whether its version is newer than what it is replaced by."""
    return pool.stateful_set is not None and _is_above(pod.engine_version, pool.stateful_set.engine_version)


def _is_above(version: str, other: str) -> bool:
    """Of two versions, whoever has written them: what is none is above nothing."""
    found, than = parse(version), parse(other)
    return found is not None and than is not None and found > than
