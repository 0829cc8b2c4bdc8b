"""Follows a resolver from stop to stop, for questions that no look at a whole channel answers."""

from __future__ import annotations

__all__ = ["Trail", "follow"]

from collections.abc import Callable
from typing import NamedTuple

from everpath.policies.decisions import Decision, Failure, Installed


class Trail(NamedTuple):
    """The stops after the start, the catalogs they come from, and what ended the walk if not contentment."""

    path: tuple[str, ...]
    sources: tuple[str, ...]
    failure: Failure | None = None
    is_loop: bool = False


def follow(
    start: Installed | None,
    decide: Callable[[Installed | None], Decision],
    arrived: Callable[[Decision], Installed],
) -> Trail:
    """Asks until the resolver stays, fails, or comes to where it has been. `arrived` is what then runs."""
    here, seen = start, {start}
    path, sources = list[str](), list[str]()
    while True:
        decision = decide(here)
        if decision.failure is not None or decision.next is None:
            return Trail(tuple(path), tuple(sources), decision.failure)
        here = arrived(decision)
        path.append(here.name)
        sources.append(decision.catalog or "")
        if here in seen:
            return Trail(tuple(path), tuple(sources), is_loop=True)
        seen.add(here)
