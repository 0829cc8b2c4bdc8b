"""Actions that accept an engine version, begin its upgrade, turn back, and finish."""

from __future__ import annotations

__all__ = ["engine_is_healthy", "upgrade_is_begun", "upgrade_is_finished", "version_is_accepted"]

from searchkeeper.configuration.pools import pools_are_settled
from searchkeeper.configuration.scene import Scene
from searchkeeper.engine.view import Color, Unreachable
from searchkeeper.kernel import Answer, Note, action, done, waiting, working
from searchkeeper.upgrade.gates import FOR_EVER
from searchkeeper.upgrade.journal import LOCK, REFUSED, RETURN, UNDER_WAY
from searchkeeper.upgrade.returning import closed_by
from searchkeeper.versions import Refusal, refusal
from searchkeeper.writes import Event


@action()
def version_is_accepted(scene: Scene) -> Answer:
    """The wanted engine version can be reached from what runs. A refusal is told once a generation."""
    cluster, under_way = scene.seen.cluster, scene.journal.under_way
    running = cluster.engine_version if under_way is None else under_way[0]
    found = refusal(running, cluster.spec.version, scene.seen.release) or _without_memory(scene, running)
    if found is None:
        return done(notes=() if scene.journal.refused_generation is None else (Note(REFUSED, None),))
    if scene.journal.refused_generation == cluster.generation:
        return waiting(found.reason, found.sentence, patience=FOR_EVER)
    event = Event(cluster.key, found.reason, found.sentence)
    return working(found.reason, found.sentence, event, notes=(Note(REFUSED, cluster.generation),))


def _without_memory(scene: Scene, running: str | None) -> Refusal | None:
    """Managers on ephemeral storage forget the cluster when they restart: no upgrade begins like that."""
    if running is None or running == scene.seen.cluster.spec.version:
        return None
    forgetful = [pool.name for pool in scene.spec.pools if pool.votes and pool.storage.ephemeral]
    if not forgetful:
        return None
    names = ", ".join(forgetful)
    return Refusal(
        "MetadataNotPersistent", f"the managers of {names} keep the cluster's state on ephemeral storage"
    )


@action()
def engine_is_healthy(scene: Scene) -> Answer:
    """The engine answers, and is green, or as green as it can be."""
    engine, patience = scene.seen.engine, scene.spec.upgrade.health_deadline
    if isinstance(engine, Unreachable):
        return waiting("EngineUnreachable", engine.cause, patience=patience)
    if engine.color is Color.RED:
        return waiting("Red", "a primary is missing", patience=patience)
    return done()


@action(requires=[version_is_accepted])
def upgrade_is_begun(scene: Scene) -> Answer:
    """An upgrade that is wanted is under way; one that is not wanted any more is on its way back."""
    cluster, under_way = scene.seen.cluster, scene.journal.under_way
    if under_way is not None:
        return _still_wanted(scene, under_way)
    if cluster.engine_version is None or cluster.engine_version == cluster.spec.version:
        return done()
    unready = [pod.name for pod in scene.seen.pods if not pod.is_ready]
    engine = scene.seen.engine
    if isinstance(engine, Unreachable) or engine.color is Color.RED or unready:
        return waiting("NotHealthy", "an upgrade begins in a healthy cluster", patience=FOR_EVER)
    notes = (
        Note(UNDER_WAY, (cluster.engine_version, cluster.spec.version)),
        Note(LOCK, cluster.written),
    )
    return working("Beginning", f"{cluster.engine_version} to {cluster.spec.version}", notes=notes)


def _still_wanted(scene: Scene, under_way: tuple[str, str]) -> Answer:
    before, target = under_way
    wanted = scene.seen.cluster.spec.version
    if wanted == target or scene.journal.returns_to is not None:
        return done()
    if wanted != before:
        return waiting("Later", f"{wanted} has to wait until {target} is reached", patience=FOR_EVER)
    engine = scene.seen.engine
    objections = (
        ("the engine does not answer",) if isinstance(engine, Unreachable) else closed_by(engine, before)
    )
    if objections:
        return waiting("NoWayBack", f"cannot go back to {before}: {objections[0]}", patience=FOR_EVER)
    return working("TurningBack", f"back to {before}", notes=(Note(RETURN, before),))


@action(requires=[upgrade_is_begun, pools_are_settled, engine_is_healthy])
def upgrade_is_finished(scene: Scene) -> Answer:
    """Every node has arrived, and the lock is gone: what was edited meanwhile is applied from now on."""
    if scene.journal.under_way is None:
        return done()
    if scene.seen.cluster.engine_version != scene.target:
        patience = scene.spec.upgrade.health_deadline
        return waiting("Arriving", f"not every node has joined as {scene.target}", patience=patience)
    notes = (Note(UNDER_WAY, None), Note(LOCK, None), Note(RETURN, None))
    return working("Finishing", f"every node runs {scene.target}", notes=notes)
