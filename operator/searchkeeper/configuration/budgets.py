"""The action that keeps the disruption budgets: what whoever drains a machine may take along."""

from __future__ import annotations

__all__ = ["budgets_stand"]

from collections.abc import Iterator
from dataclasses import replace

from searchkeeper.configuration import names
from searchkeeper.configuration.manifests import budgets
from searchkeeper.configuration.migrations import is_relabelled_next
from searchkeeper.configuration.objects import applied, gone
from searchkeeper.configuration.scene import Scene
from searchkeeper.kernel import Answer, action
from searchkeeper.observed import PoolView
from searchkeeper.resources.specs import PoolSpec
from searchkeeper.writes import Key, Manifest


@action()
def budgets_stand(scene: Scene) -> Answer:
    """Every pod has one budget. The one that takes a pod over is there before the one that had it goes.

    For the cycle between both have it, and nobody evicts it: better than that anybody could.
    """
    here = [_as_it_votes(scene, pool) for pool in scene.pools if pool.is_wanted or pool.pods]
    wanted = budgets(scene.deployed, tuple(sorted(here, key=lambda pool: pool.name)), _uncounted(scene))
    standing = applied(scene, wanted, "ApplyingBudgets")
    kept = {Key.of(each) for each in wanted}
    found = sorted(key for key in scene.seen.objects if key.kind == "PodDisruptionBudget")
    return gone(scene, [key for key in found if key not in kept]) if standing.is_true else standing


def _as_it_votes(scene: Scene, pool: PoolView) -> PoolSpec:
    """A pool that is not to vote any more does so until its last pod was made anew."""
    made = (scene.seen.objects[scene.key("v1", "Pod", pod.name)] for pod in pool.pods)
    roles = frozenset(role for pod in made for role in _roles(pod) if role == "cluster_manager")
    return replace(pool.spec, roles=pool.spec.roles | roles)


def _roles(pod: Manifest) -> Iterator[str]:
    for container in pod["spec"]["containers"]:
        for variable in container.get("env") or ():
            if variable["name"] == names.ROLES:
                yield from variable.get("value", "").split(",")


def _uncounted(scene: Scene) -> int | None:
    """How many voters there are, while a pool of them is between two StatefulSets, or about to be.

    A budget counts pods without a set among those that are there, not among those that are wanted: it would
    let as many others go.
    """
    voting = [pool for pool in scene.pools if _as_it_votes(scene, pool).votes]
    if not any(_is_between_sets(scene, pool) for pool in voting):
        return None
    return sum(max(len(pool.pods), pool.allotted or 0) for pool in voting)


def _is_between_sets(scene: Scene, pool: PoolView) -> bool:
    live = (scene.seen.objects[scene.key("v1", "Pod", pod.name)] for pod in pool.pods)
    orphaned = any(not each["metadata"].get("ownerReferences") for each in live)
    return orphaned or is_relabelled_next(scene, pool)
