"""Follows a resolver from stop to stop, for questions that no look at a whole channel answers."""

from __future__ import annotations

__all__ = ["Trail", "follow"]

from collections.abc import Callable
from typing import NamedTuple

from everpath.resolvers.resolution import Decision, Failure, Installed


class Trail(NamedTuple):
    """The stops after the start, the catalogs they come from, and what ended the walk if not contentment.

    `last` is what then runs; None: nothing does.
    """

    path: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    failure: Failure | None = None
    is_loop: bool = False
    last: Installed | None = None


def follow(
    start: Installed | None,
    decide: Callable[[Installed | None], Decision],
    arrived: Callable[[Decision], Installed],
    known: dict[Installed | None, Trail],
) -> Trail:
    """Asks until the resolver stays, fails, or comes to where it has been. `arrived` is what then runs.

    `known` are walks from other starts; whoever comes to one goes on as it does. One that goes round is not
    kept, as from each start it ends somewhere else.
    """
    here, seen = start, {start}
    path, sources = list[str](), list[str]()
    while here not in known:
        decision = decide(here)
        if decision.failure is not None or decision.next is None:
            known[here] = Trail(failure=decision.failure, last=here)
            break
        here = arrived(decision)
        path.append(here.name)
        sources.append(decision.catalog or "")
        if here in seen:
            return Trail(tuple(path), tuple(sources), is_loop=True, last=here)
        seen.add(here)
    rest = known[here]
    known[start] = rest._replace(path=(*path, *rest.path), sources=(*sources, *rest.sources))
    return known[start]
