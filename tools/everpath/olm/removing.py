"""Taking an operator away: what people made with it first, while it still runs and can clean up after it."""

from __future__ import annotations

__all__ = ["Uninstalled", "uninstall"]

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from everpath.errors import Unreachable
from everpath.olm.changes import Change, Did
from everpath.olm.follow import PAUSE, Clock
from everpath.olm.objects import Cluster, Kind, Object, Ref, Refused, items, ref_of, text
from everpath.olm.uninstall import Removal


@dataclass(slots=True)
class Uninstalled:
    """What was done, and what is still there: each with what keeps it."""

    changes: list[Change] = field(default_factory=list)
    left: list[tuple[Ref, str]] = field(default_factory=list)


def uninstall(cluster: Cluster, removal: Removal, clock: Clock, say: Callable[[str], None]) -> Uninstalled:
    """Stage by stage, each waited for: an operator must not go before what it has to clean up.

    Stops at the deadline with what is still there; run again, it goes on from there.
    """
    done = Uninstalled()
    deadline = clock.deadline()
    for stage in removal.stages:
        for kind, thing in stage:
            cluster.delete(kind, thing)
            ref = ref_of(thing, kind)
            done.changes.append(Change(Did.DELETED, ref))
            say(f"Deleted {removal.told(ref)}")
        left = _await_gone(cluster, stage, clock, deadline, say, removal)
        if left:
            done.left = left
            return done
    return done


def _await_gone(
    cluster: Cluster,
    stage: Iterable[tuple[Kind, Object]],
    clock: Clock,
    deadline: float,
    say: Callable[[str], None],
    removal: Removal,
) -> list[tuple[Ref, str]]:
    """What is still there at the deadline, and why. A cluster that is silent for a while is asked again."""
    remaining = list(stage)
    told = is_silent = False
    while True:
        try:
            found = [(kind, _same(cluster, kind, thing)) for kind, thing in remaining]
        except Refused:
            raise
        except Unreachable as error:
            if clock.now() >= deadline:
                raise
            if not is_silent:
                say(f"{error.message}; asking again")
            is_silent = True
            clock.sleep(PAUSE)
            continue
        is_silent = False
        left = [(kind, now) for kind, now in found if now is not None]
        if not left:
            return []
        if clock.now() >= deadline:
            return [(ref_of(now, kind), _kept_by(now)) for kind, now in left]
        if not told:
            names = ", ".join(removal.told(ref_of(now, kind)) for kind, now in left)
            say(f"Waiting for {names} to be gone")
            told = True
        remaining = left
        clock.sleep(PAUSE)


def _same(cluster: Cluster, kind: Kind, thing: Object) -> Object | None:
    """The object if it is still that one, and not another that took its name."""
    now = cluster.get(ref_of(thing, kind))
    is_same = text(now, "metadata", "uid") == text(thing, "metadata", "uid")
    return now if now is not None and is_same else None


def _kept_by(thing: Object) -> str:
    finalizers = items(thing, "metadata", "finalizers")
    if finalizers:
        return f"kept by its finalizers {', '.join(map(str, finalizers))}"
    return "not gone yet"
