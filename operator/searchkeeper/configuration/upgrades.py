"""Actions that accept an engine version, begin its upgrade, turn back, and finish."""

from __future__ import annotations

__all__ = ["engine_is_healthy", "upgrade_is_begun", "upgrade_is_finished", "version_is_accepted"]

from searchkeeper.configuration.pools import pools_are_settled
from searchkeeper.configuration.rollbacks import rollback_is_possible
from searchkeeper.configuration.scene import Scene
from searchkeeper.engine.view import Color, Unreachable
from searchkeeper.kernel import Answer, Note, action, done, waiting, working
from searchkeeper.observed import PoolView
from searchkeeper.upgrade.failing import course, order_in, was_given_up, without_order
from searchkeeper.upgrade.gates import FATAL, FOR_EVER
from searchkeeper.upgrade.journal import CROSSED, GIVEN_UP, LOCK, REFUSED, RETURN, UNDER_WAY
from searchkeeper.writes import Event


@action()
def version_is_accepted(scene: Scene) -> Answer:
    """The wanted engine version can be reached from what runs. A refusal is told once a generation."""
    cluster, found = scene.seen.cluster, scene.refusal
    if found is None:
        return done(notes=() if scene.journal.refused_generation is None else (Note(REFUSED, None),))
    if scene.journal.refused_generation == cluster.generation:
        return waiting(found.reason, found.sentence, patience=FOR_EVER)
    event = Event(cluster.key, found.reason, found.sentence)
    return working(found.reason, found.sentence, event, notes=(Note(REFUSED, cluster.generation),))


@action()
def engine_is_healthy(scene: Scene) -> Answer:
    """The engine answers, and is green, or as green as it can be. Before there are nodes nobody is late."""
    engine, patience = scene.seen.engine, scene.spec.upgrade.health_deadline
    if isinstance(engine, Unreachable):
        if scene.refusal is not None and not scene.seen.pods:
            return waiting("Refused", "a version that is refused has no nodes", patience=FOR_EVER)
        return waiting("EngineUnreachable", engine.cause, patience=patience)
    if engine.color is Color.RED:
        return waiting("Red", "a primary is missing", patience=patience)
    return done()


@action()
def upgrade_is_begun(scene: Scene) -> Answer:
    """An upgrade that is wanted is under way; one that is not wanted any more is on its way back.

    A version that is refused meanwhile is no reason to stop half-way: it goes to its end, forward or back.
    """
    if scene.journal.under_way is not None:
        return _lightened(scene) or course(scene.seen, scene.journal)
    if scene.refusal is not None:
        return waiting("Refused", f"{scene.spec.version} is refused", patience=FOR_EVER)
    return _begun(scene)


def _begun(scene: Scene) -> Answer:
    cluster = scene.seen.cluster
    given_up = was_given_up(scene.seen, scene.journal)
    forgotten = () if given_up or scene.journal.given_up is None else (Note(GIVEN_UP, None),)
    if cluster.engine_version is None or cluster.engine_version == cluster.spec.version:
        return done(notes=forgotten)
    if given_up:
        message = f"{cluster.spec.version} was given up; change the spec to try again"
        return waiting("GivenUp", message, patience=FOR_EVER)
    if _is_paused(scene):
        return waiting("NotPaused", "spec.upgrade.paused is set", patience=FOR_EVER)
    if order_in(scene.seen) is not None:
        return working("ForgettingOrder", "it was meant for an earlier upgrade", without_order(scene.seen))
    illness = _illness(scene)
    if illness is not None:
        message = f"an upgrade begins in a healthy cluster: {illness}"
        return waiting("NotHealthy", message, patience=scene.spec.upgrade.health_deadline)
    notes = (
        Note(UNDER_WAY, (cluster.engine_version, cluster.spec.version)),
        Note(LOCK, scene.spec_to_lock),
        *forgotten,
    )
    return working("Beginning", f"{cluster.engine_version} to {cluster.spec.version}", notes=notes)


def _is_paused(scene: Scene) -> bool:
    return scene.spec.upgrade.paused


def _lightened(scene: Scene) -> Answer | None:
    """Who is down for good may be given up by an edit while an upgrade is under way."""
    lock = scene.lighter_lock
    if lock is None:
        return None
    return working(
        "GivingUp", "who is down and not wanted any more is not waited for", notes=(Note(LOCK, lock),)
    )


def _illness(scene: Scene) -> str | None:
    """Pods that have failed for good are none in the pool that goes first: the other version may mend them.

    Whoever is down in a later pool would keep that one waiting, and whoever is given up goes before.
    """
    engine = scene.seen.engine
    if isinstance(engine, Unreachable):
        return engine.cause
    if engine.color is Color.RED:
        return "a primary is missing"
    for pool in scene.pools:
        found = pool.stateful_set
        if found is not None and len(pool.pods) < found.replicas:
            return f"pool {pool.spec.name} has {len(pool.pods)} of {found.replicas} pods"
        if _is_half_gone(pool):
            return f"somebody has taken a part of pool {pool.spec.name} away"
        for pod in pool.pods:
            is_mended = pool is scene.pools[0] and pod in pool.staying and pod.problem in FATAL
            if pod.is_terminating or not (pod.is_ready or is_mended):
                return f"{pod.name} is not ready"
    return None


def _is_half_gone(pool: PoolView) -> bool:
    """The lock is made of what stands: whoever is not part of it would be left behind by the upgrade."""
    found = pool.stateful_set
    if pool.allotted is None:
        return found is not None or bool(pool.pods)
    return found is not None and found.replicas < pool.allotted


@action(requires=[pools_are_settled, engine_is_healthy])
def upgrade_is_finished(scene: Scene) -> Answer:
    """Every node has arrived, and the lock is gone: what was edited meanwhile is applied from now on.

    Whatever else is wanted by then: a wish that can only be looked at afterwards must not hold the lock. Nor
    does a node that is down for another reason, when an upgrade was taken back.
    """
    if scene.journal.under_way is None:
        return done()
    patience = scene.spec.upgrade.health_deadline
    if scene.seen.cluster.engine_version != scene.target:
        return waiting("Arriving", f"not every node has joined as {scene.target}", patience=patience)
    if order_in(scene.seen) is not None:
        return working("ForgettingOrder", "it has been carried out", without_order(scene.seen))
    if upgrade_is_begun.run(scene).notes or rollback_is_possible.run(scene).notes:
        # They note the same lines: whoever is given up, say, is first let out of the lock.
        return waiting("LastNotes", "what is still noted of the upgrade comes first", patience=patience)
    return _finishing(scene)


def _finishing(scene: Scene) -> Answer:
    notes = tuple(Note(each, None) for each in (UNDER_WAY, LOCK, RETURN, CROSSED))
    down = [pod.name for pool in scene.pools for pod in pool.staying if not pod.is_ready]
    but = f", but for {', '.join(down)}: down for another reason" if down else ""
    return working("Finishing", f"every node runs {scene.target}{but}", notes=notes)
