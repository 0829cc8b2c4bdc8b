"""A link of the chain from a catalog to a running operator: its state, and what it waits for."""

from __future__ import annotations

__all__ = ["Link", "State", "Wait", "link_of"]

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from everpath.olm.objects import Kind, Object, name_of, text


class State(StrEnum):
    """How an object of the chain does. The words are part of the JSON contract."""

    FINE = "fine"
    WORKING = "working"  # it goes on by itself
    WAITING = "waiting"  # it goes on when somebody does something
    FAILED = "failed"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Wait:
    """What something waits for, as a sentence, and what to do.

    `is_final`: it stays so until somebody changes something, however long one waits. `is_stale`: it is no
    longer so, but OLM looks again only when something changes.
    """

    sentence: str
    remedy: str = ""
    is_final: bool = False
    is_stale: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """One object, or the lack of one."""

    kind: str
    namespace: str
    name: str
    state: State
    summary: str
    waits: tuple[Wait, ...] = ()


def link_of(kind: Kind, thing: Object, state: State, summary: str, waits: Iterable[Wait] = ()) -> Link:
    """The link that an object is."""
    where = text(thing, "metadata", "namespace")
    return Link(kind.name, where, name_of(thing), state, summary, tuple(waits))
