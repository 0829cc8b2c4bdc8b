"""Each two releases that OLM moves between, with the definitions that change hands there."""

from __future__ import annotations

__all__ = ["Upgrade", "upgrades"]

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from everpath.crd_upgrade_safety.breaches import Breach, breaches
from everpath.crd_upgrade_safety.definitions import Definition

Definitions = Mapping[str, tuple[Definition, ...]]
#: Who moves there and where: the policy, and the channel.
Way = tuple[str, str]
#: For each installed release those that OLM may put in its place, each with the ways in which it does.
Moves = Mapping[str, Mapping[str, tuple[Way, ...]]]


class Upgrade(NamedTuple):
    """One edge that some cluster may take, what its objects suffer there, and by which ways it is taken."""

    before: str
    after: str
    breaches: tuple[Breach, ...]
    ways: tuple[Way, ...] = ()


def upgrades(moves: Moves, definitions: Definitions) -> Iterator[Upgrade]:
    """Every move between two releases whose definitions are known, in order of name.

    Cost: each move is compared once; what may be stored is gathered by one sweep over the moves.
    """
    stored = _stored(moves, definitions)
    for before in sorted(moves):
        for after in sorted(moves[before]):
            if before in definitions and after in definitions:
                found = breaches(definitions[before], definitions[after], stored[before])
                yield Upgrade(before, after, tuple(found), moves[before][after])


def _stored(moves: Moves, definitions: Definitions) -> dict[str, dict[str, frozenset[str]]]:
    """For each release and definition the versions that objects may lie in on a cluster that runs it.

    A release adds its own storage version to those of everyone who may have moved to it.
    """
    found: dict[str, dict[str, frozenset[str]]] = {
        name: _own(definitions.get(name, ())) for name in _all(moves)
    }
    waiting = sorted(found)
    while waiting:
        name = waiting.pop()
        for after in sorted(moves.get(name, {})):
            merged = _merged(found[after], found[name])
            if merged != found[after]:
                found[after] = merged
                waiting.append(after)
    return found


def _all(moves: Moves) -> set[str]:
    return {*moves, *(after for afters in moves.values() for after in afters)}


def _own(definitions: tuple[Definition, ...]) -> dict[str, frozenset[str]]:
    return {d.name: frozenset({d.storage}) for d in definitions if d.storage is not None}


def _merged(one: dict[str, frozenset[str]], other: dict[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    return {name: one.get(name, frozenset()) | other.get(name, frozenset()) for name in {*one, *other}}
