"""What is left to do for a cluster that is being deleted: leave no trace but its volumes."""

from __future__ import annotations

__all__ = ["DELETION"]

from collections.abc import Iterator
from typing import Final

from searchkeeper.configuration import names
from searchkeeper.configuration.migrations import orphaned_revisions
from searchkeeper.configuration.objects import gone
from searchkeeper.configuration.scene import Scene
from searchkeeper.kernel import Answer, Note, Procedure, action, done, waiting, working
from searchkeeper.upgrade.journal import DELETING
from searchkeeper.upgrade.settings import SETTINGS, undone
from searchkeeper.writes import Delete, Event, Manifest, Patch

_PATIENCE: Final = 300


@action()
def engine_is_tidied(scene: Scene) -> Answer:
    """Whatever was set in the engine is undone. One that never answers does not hold the cluster for ever."""
    undoing = undone(scene.seen, scene.journal)
    if undoing is None:
        return done()
    since, now = scene.journal.deleting_since, scene.seen.now
    if since is None or since > now:
        return working("Tidying", "what was set in the engine is undone", notes=(Note(DELETING, now),))
    if now - max(since, scene.seen.looking_since) < scene.spec.upgrade.health_deadline:
        return undoing
    lines = [line for line in SETTINGS if line in scene.journal.ledger]
    message = f"the engine is left as it is: {', '.join(lines)} could not be undone ({undoing.message})"
    event = Event(scene.seen.cluster.key, "EngineNotTidied", message)
    return working("EngineNotTidied", message, event, notes=tuple(Note(line, None) for line in lines))


@action()
def orphans_are_gone(scene: Scene) -> Answer:
    """Pods between two StatefulSets belong to nobody, nor do histories, and nobody else takes them along."""
    for each in _stateful_sets(scene):
        if "deletionTimestamp" in each["metadata"]:
            return waiting("Orphaning", f"{each['metadata']['name']} lets its pods go", patience=_PATIENCE)
    for pod in scene.seen.pods:
        key = scene.key("v1", "Pod", pod.name)
        if not pod.is_terminating and not scene.seen.objects[key]["metadata"].get("ownerReferences"):
            delete = Delete(key, pod.uid, pod.resource_version)
            return working("Removing", f"{pod.name} belongs to nobody", delete)
    return gone(scene, orphaned_revisions(scene))


def _stateful_sets(scene: Scene) -> Iterator[Manifest]:
    return (each for key, each in scene.seen.objects.items() if key.kind == "StatefulSet")


@action(requires=[engine_is_tidied, orphans_are_gone])
def finalizer_is_removed(scene: Scene) -> Answer:
    """From here on the garbage collector takes what the cluster owns; volumes are nobody's."""
    cluster = scene.seen.cluster
    if names.FINALIZER not in cluster.finalizers:
        return done()
    others = [each for each in cluster.finalizers if each != names.FINALIZER]
    patch = Patch(cluster.key, {"metadata": {"finalizers": others}}, cluster.resource_version)
    return working("RemovingFinalizer", "nothing of it is left in the engine", patch)


# For every configuration version: what is undone is in the journal, not in what was deployed.
DELETION: Final = Procedure(0, 0, (engine_is_tidied, orphans_are_gone, finalizer_is_removed))
