"""Where users end who do nothing but follow: the walk from each installed version, hop by hop."""

from __future__ import annotations

__all__ = ["Destination", "End", "destinations", "walk"]

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple


class End(StrEnum):
    """Why a walk stops."""

    HEAD = "head"
    STRANDED = "stranded"
    LOOP = "loop"
    ERROR = "error"


class Destination(NamedTuple):
    """The last entry of a walk (in a loop: the one where it closes) and why the walk ends there."""

    name: str
    end: End


Hops = Mapping[str, str | None]


def walk(hops: Hops, installed: str) -> tuple[str, ...]:
    """The entries visited after `installed`, up to and including the first one met twice."""
    seen, path = {installed}, list[str]()
    here = hops.get(installed)
    while here is not None:
        path.append(here)
        if here in seen:
            break
        seen.add(here)
        here = hops.get(here)
    return tuple(path)


def destinations(hops: Hops, head: str | None, entries: Iterable[str]) -> Mapping[str, Destination]:
    """The destination of every entry. Each is visited once: O(entries), however long the walks."""
    known: dict[str, Destination] = {}
    for start in entries:
        trail: list[str] = []
        on_trail: set[str] = set()
        here = start
        while here not in known and here not in on_trail:
            trail.append(here)
            on_trail.add(here)
            below = hops.get(here)
            if below is None:
                known[here] = Destination(here, End.HEAD if here == head else End.STRANDED)
                break
            here = below
        end = known.get(here) or Destination(here, End.LOOP)
        for name in trail:
            known.setdefault(name, end)
    return known
