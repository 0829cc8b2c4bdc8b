"""The order in which pools, and the pods of a pool, are replaced."""

from __future__ import annotations

__all__ = ["candidates", "pools_in_order"]

from collections.abc import Collection, Iterable
from typing import Final

from searchkeeper.opensearch.view import EngineView, Unreachable
from searchkeeper.snapshot import Pod, PoolView
from searchkeeper.upgrade.voting import loses_role
from searchkeeper.versions import is_newer, parse

_MANAGER: Final = "cluster_manager"


def pools_in_order(
    pools: Iterable[PoolView],
    engine: EngineView | Unreachable,
    *,
    leaves_major: bool,
    rollback_to: str | None = None,
) -> tuple[PoolView, ...]:
    """Return data pools, then pools that also vote, then the others, voters last.

    To the next major version, all pools without managers come before those with managers: a node of the old
    major cannot join a cluster whose managers all run the new one. Otherwise a pool that loses the role data
    or cluster_manager comes after the pools that may take its shards or votes. Of pools of one kind, the one
    with the elected manager comes last.

    A rollback reverses the order, with two exceptions. Pools without the newer version come last. The pool
    of an elected manager that has to roll back is the last of the others: so there is one election.
    """
    ordered = sorted(pools, key=lambda pool: _tier(pool, engine, leaves_major))
    if rollback_to is None:
        return tuple(ordered)
    elected = engine.elected if isinstance(engine, EngineView) else None
    leader = elected.name if elected is not None and is_newer(elected.version, rollback_to) else None
    backwards = ordered[::-1]
    return tuple(
        sorted(
            backwards,
            key=lambda pool: (
                not _has_newer_version(pool, rollback_to),
                leader in {pod.name for pod in pool.pods},
            ),
        )
    )


def _has_newer_version(pool: PoolView, before: str) -> bool:
    """Whether a pod, or the template of the next pod, has a version newer than `before`."""
    template = [] if pool.stateful_set is None else [pool.stateful_set.engine_version]
    return any(_is_above(version, before) for version in (*template, *(p.engine_version for p in pool.pods)))


def _tier(pool: PoolView, engine: EngineView | Unreachable, leaves_major: bool) -> tuple[bool, ...]:
    loses_roles = not leaves_major and any(
        loses_role(role, engine, pod.name, pool) for pod in pool.retained_pods for role in ("data", _MANAGER)
    )
    leads = _elected(engine) in {pod.name for pod in pool.pods}
    has_managers = leaves_major and _runs_managers(pool)
    return (has_managers, loses_roles, not pool.spec.holds_data, pool.spec.votes, leads)


def _runs_managers(pool: PoolView) -> bool:
    """Whether its nodes are managers now. Nodes that only become managers must not come last."""
    managers = [_MANAGER in pod.roles for pod in pool.retained_pods if pod.roles is not None]
    if not managers:
        return pool.spec.votes
    return all(managers) if pool.spec.votes else any(managers)


def _elected(engine: EngineView | Unreachable) -> str | None:
    elected = engine.elected if isinstance(engine, EngineView) else None
    return None if elected is None else elected.name


def candidates(
    pool: PoolView,
    engine: EngineView | Unreachable,
    *,
    backwards: bool = False,
    unstable: Collection[str] = (),
) -> tuple[Pod, ...]:
    """Return the outdated pods of a pool: pods that are not ready first, the elected manager last.

    To replace a pod that is not ready costs nothing and may repair it. The `unstable` pods are ready and come
    before all others, which wait for them. The elected manager comes last even if it is not ready: a
    successor that is still outdated would have to hand over again.

    A rollback starts with the highest ordinal and ends with the ready pods that already run the older
    version: while one of those restarts, a newer node takes its primaries, and older nodes cannot hold copies
    of these.
    """
    last = _elected(engine)
    pods = reversed(pool.outdated_pods) if backwards else pool.outdated_pods
    return tuple(
        sorted(
            pods,
            key=lambda pod: (
                backwards and pod.is_ready and not _rolls_back(pod, pool),
                pod.name == last,
                pod.is_ready and pod.name not in unstable,
            ),
        )
    )


def _rolls_back(pod: Pod, pool: PoolView) -> bool:
    """Whether the pod runs a newer version than its replacement."""
    return pool.stateful_set is not None and _is_above(pod.engine_version, pool.stateful_set.engine_version)


def _is_above(version: str, other: str) -> bool:
    """Compare versions that users may have written. Text that is no version is above nothing."""
    left, right = parse(version), parse(other)
    return left is not None and right is not None and left > right
