"""Writes in words: what is about to be done, and what was."""

from __future__ import annotations

__all__ = ["sentence", "spoken"]

from collections.abc import Iterator

from searchkeeper.engine.calls import (
    Call,
    ClearVotingExclusions,
    Exclude,
    ExcludeFromVoting,
    Flush,
    SetAllocation,
)
from searchkeeper.kernel import Write
from searchkeeper.writes import Create, Delete, Event, Patch, Tell


def sentence(write: Write) -> str:
    """What a plan says of it."""
    match write:
        case Create():
            return f"create {write.key}"
        case Patch():
            return f"patch {write.key}: {', '.join(sorted(_paths(write)))}"
        case Delete():
            return f"delete {write.key}" + (", leaving what it owns" if write.orphan else "")
        case Tell(call):
            return f"tell the engine: {spoken(call)}"
        case Event():
            return f"tell people: {write.reason}: {write.message}"
        case _:
            return str(write)


def spoken(call: Call) -> str:
    """A call in the engine's own words, as far as it has any."""
    match call:
        case SetAllocation(value):
            return f"cluster.routing.allocation.enable = {'its default' if value is None else value}"
        case Exclude(nodes):
            return f"cluster.routing.allocation.exclude._name = {','.join(sorted(nodes)) or 'nobody'}"
        case Flush():
            return "flush"
        case ExcludeFromVoting(node):
            return f"{node} gives its vote away"
        case ClearVotingExclusions():
            return "every manager may vote"


def _paths(patch: Patch) -> Iterator[str]:
    for name, part in patch.changes.items():
        yield from (f"{name}.{key}" for key in part) if isinstance(part, dict) else [name]
