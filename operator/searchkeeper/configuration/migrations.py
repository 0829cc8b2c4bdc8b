"""Actions that take over from an earlier version what cannot simply be applied."""

from __future__ import annotations

__all__ = ["both_labels_are_set", "old_configuration_is_gone", "stateful_set_is_relabelled"]

from searchkeeper.configuration import names
from searchkeeper.configuration.objects import gone
from searchkeeper.configuration.pools import PoolScene, pools_are_settled
from searchkeeper.configuration.scene import Scene
from searchkeeper.kernel import Answer, action, done, waiting, working
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
    """The selector cannot be changed: the StatefulSet goes, its pods stay, and the next one adopts them."""
    scene, pool = this.scene, this.pool
    live = scene.seen.objects.get(
        scene.key("apps/v1", "StatefulSet", names.pool_name(scene.deployed.name, pool.spec.name))
    )
    if live is None or _selector(live) == scene.deployed.labels(pool.spec.name):
        return done()
    if scene.turn != pool.spec.name:
        return waiting("NotItsTurn", f"{scene.turn} comes first", patience=24 * 3600)
    if "deletionTimestamp" in live["metadata"]:
        return waiting("Orphaning", f"{Key.of(live)} lets its pods go", patience=300)
    metadata = live["metadata"]
    delete = Delete(Key.of(live), metadata["uid"], metadata["resourceVersion"], orphan=True)
    return working("Orphaning", f"{Key.of(live)} makes room for one with the new labels", delete)


def _selector(live: Manifest) -> dict[str, str]:
    return dict(live["spec"]["selector"]["matchLabels"])
