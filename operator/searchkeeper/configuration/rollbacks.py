"""The action that watches the way back while an upgrade is under way."""

from __future__ import annotations

__all__ = ["rollback_is_possible"]

from collections.abc import Iterator

from searchkeeper.configuration.scene import Scene
from searchkeeper.engine.view import EngineView
from searchkeeper.kernel import Answer, Note, action, done, waiting
from searchkeeper.observed import Pod
from searchkeeper.upgrade.failing import how_to_turn_back
from searchkeeper.upgrade.gates import FOR_EVER
from searchkeeper.upgrade.journal import CROSSED
from searchkeeper.upgrade.returning import closing_pod, crossed, obstacles

# More would not fit into a condition, nor into a head.
_SHOWN = 5


@action()
def rollback_is_possible(scene: Scene) -> Answer:
    """True as long as the way back is open; the message names the pod with which it closes beforehand."""
    if scene.journal.under_way is None:
        return done("no upgrade is under way", reason="NoUpgrade")
    before, _ = scene.journal.under_way
    notes = tuple(_newly_crossed(scene, before))
    objections = obstacles(scene.seen, scene.journal, before)
    if not objections:
        return done("; ".join(_open(scene, before)), reason="Open", notes=notes)
    shown = "; ".join(objections[:_SHOWN])
    more = f"; and {len(objections) - _SHOWN} more" if len(objections) > _SHOWN else ""
    return waiting("Closed", f"no way back to {before}: {shown}{more}", patience=FOR_EVER, notes=notes)


def _newly_crossed(scene: Scene, before: str) -> Iterator[Note]:
    """Whoever has run the newer version is remembered: its volume cannot be used by the older one.

    Also whoever first does so on the way back: one that had no machine before, and was not waited for.
    """
    found = crossed(scene.seen, scene.journal, before)
    if found != scene.journal.crossed:
        yield Note(CROSSED, tuple(sorted(found.items())))


def _open(scene: Scene, before: str) -> Iterator[str]:
    engine = scene.seen.engine
    left = [pod.name for pool in scene.pools for pod in _in_order(scene, pool.pods)]
    closing = closing_pod(engine, left, before) if isinstance(engine, EngineView) else None
    if closing is None or scene.journal.returns_to is not None:
        yield f"back to {before}"
    else:
        yield f"back to {before} until {closing[0]} is replaced: then {closing[1]}"
    hint = how_to_turn_back(scene.seen, scene.journal, before)
    if hint is not None:
        yield hint


def _in_order(scene: Scene, pods: tuple[Pod, ...]) -> list[Pod]:
    """Those that still have to be replaced, the elected manager last."""
    elected = scene.seen.engine.elected if isinstance(scene.seen.engine, EngineView) else None
    name = None if elected is None else elected.name
    return sorted((pod for pod in pods if pod.engine_version != scene.target), key=lambda p: p.name == name)
