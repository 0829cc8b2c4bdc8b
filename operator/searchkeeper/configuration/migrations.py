"""Actions that take over from an earlier version what cannot simply be applied."""

from __future__ import annotations

__all__ = [
    "both_labels_are_set",
    "is_relabelled_next",
    "old_configuration_is_gone",
    "old_revisions_are_gone",
    "orphaned_revisions",
    "stateful_set_is_relabelled",
]

from searchkeeper.configuration import names
from searchkeeper.configuration.objects import gone
from searchkeeper.configuration.pools import PoolScene, pools_are_settled, standing
from searchkeeper.configuration.scene import Scene
from searchkeeper.kernel import Answer, action, done, waiting, working
from searchkeeper.observed import PoolView
from searchkeeper.writes import Delete, Key, Manifest, Patch


@action(requires=[pools_are_settled])
def old_configuration_is_gone(scene: Scene) -> Answer:
    """What version 1 deployed and nobody reads any more: pods that do are replaced first."""
    name = scene.deployed.name
    return gone(
        scene,
        [
            scene.key("v1", "Service", names.discovery_service(name, 1)),
            scene.key("v1", "Secret", names.old_config_secret(name)),
        ],
    )


@action()
def both_labels_are_set(scene: Scene) -> Answer:
    """Every pod has the labels of version 4 beside its old ones, before anything selects by them alone."""
    for pool in scene.pools:
        wanted = scene.deployed.labels(pool.spec.name)
        for pod in pool.pods:
            live = scene.seen.objects[scene.key("v1", "Pod", pod.name)]
            present = live["metadata"].get("labels") or {}
            if not wanted.items() <= present.items() and not pod.is_terminating:
                patch = Patch(Key.of(live), {"metadata": {"labels": wanted}}, pod.resource_version)
                return working("Labelling", f"{pod.name} gets its new labels", patch)
    return done()


@action()
def stateful_set_is_relabelled(this: PoolScene) -> Answer:
    """The selector cannot be changed: the StatefulSet goes, its pods stay, and the next one adopts them.

    Until its turn comes it gets the nodes that it lacks: those before it wait for everybody to be there.
    """
    scene, pool = this.scene, this.pool
    live = _set_of_old_labels(scene, pool)
    if live is None:
        return done()
    if scene.turn != pool.spec.name:
        kept = standing(this, live)
        waits = waiting("NotItsTurn", f"{scene.turn} comes first", patience=24 * 3600)
        return waits if kept.is_true else kept
    if "deletionTimestamp" in live["metadata"]:
        return waiting("Orphaning", f"{Key.of(live)} lets its pods go", patience=300)
    if pool.spec.votes and not _voters_are_counted(scene):
        return waiting("Uncounted", "the budget over voters does not count those without a set", patience=300)
    metadata = live["metadata"]
    delete = Delete(Key.of(live), metadata["uid"], metadata["resourceVersion"], orphan=True)
    return working("Orphaning", f"{Key.of(live)} makes room for one with the new labels", delete)


def is_relabelled_next(scene: Scene, pool: PoolView) -> bool:
    """Its turn has come, and its StatefulSet still has the old labels."""
    return scene.turn == pool.spec.name and _set_of_old_labels(scene, pool) is not None


def _set_of_old_labels(scene: Scene, pool: PoolView) -> Manifest | None:
    name = names.pool_name(scene.deployed.name, pool.spec.name)
    live = scene.seen.objects.get(scene.key("apps/v1", "StatefulSet", name))
    if live is None or live["spec"]["selector"]["matchLabels"] == scene.deployed.labels(pool.spec.name):
        return None
    return live


def _voters_are_counted(scene: Scene) -> bool:
    name = names.voters_budget(scene.deployed.name)
    found = scene.seen.objects.get(scene.key("policy/v1", "PodDisruptionBudget", name))
    return found is not None and "minAvailable" in found["spec"]


@action()
def old_revisions_are_gone(scene: Scene) -> Answer:
    """The histories that StatefulSets of the old labels left: no set selects them, so none prunes them."""
    return gone(scene, orphaned_revisions(scene))


def orphaned_revisions(scene: Scene) -> list[Key]:
    """Known by name, as pods are: the labels of old are anybody's."""
    sets = {names.pool_name(scene.seen.cluster.key.name, pool.spec.name) for pool in scene.seen.pools}
    return [
        key
        for key, each in sorted(scene.seen.objects.items(), key=lambda found: found[0])
        if key.kind == "ControllerRevision"
        and key.name.rpartition("-")[0] in sets
        and not each["metadata"].get("ownerReferences")
    ]
