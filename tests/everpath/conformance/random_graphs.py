"""Random channels, half of them plausible and half arbitrary; and shrinking to the smallest failing one."""

from __future__ import annotations

__all__ = ["OUTSIDERS", "random_graph", "shrunk"]

from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random
from typing import Final

from tests.everpath.conformance.small_graphs import SmallEntry, SmallGraph

#: Names that are no entries: the first may be replaced or skipped, no entry refers to the second.
OUTSIDERS: Final = ("ghost", "stranger")

_LETTERS: Final = "abcdefghijkl"

# {a}, {b} and {c} become versions, {x} and {y} numbers. The last rows crash, fail or mean something else.
_RANGES: Final = (
    ">={a} <{b}", ">={a} <{b}", "<{a}", ">{a} <={b}", "{a}", "!={a}", ">={a}", "<={a}", ">={a} !={b} <{c}",
    "<{a} || >={b}", ">={a} <{b} || >={c}", "{x}.x", "{x}.{y}.x", ">={x}.{y}.x", "<{x}.x", ">= {a} < {b}",
    ">{x}.x <{y}.x", "={a}", "=={a}", "!{a}",
    "<{a} || || >{b}", "{a} - {b}", "! {a}", "!={x}.{y}.x", "{x}.x.x", ">={a} <", "~{a}", "^{a}",
    ">=v{a}", "{x}", "*", "||", "<{a} ||", ">={x}.{y}", ">={a},<{b}", "=>{a}", "<{a}||>{b}",
)  # fmt: skip


def random_graph(random: Random) -> SmallGraph:
    """Return up to twelve entries; names, versions and order are independent."""
    names = random.sample(_LETTERS, random.randint(1, len(_LETTERS)))
    entries = [SmallEntry(name, _version(random), deprecated=random.random() < 0.03) for name in names]
    make = _nearly_sane if random.random() < 0.5 else _wild
    entries = make(random, entries)
    random.shuffle(entries)
    return SmallGraph(tuple(entries))


def _version(random: Random) -> str:
    """Return one of few versions, so that two entries often share one or differ only in build metadata."""
    core = ".".join(str(random.randint(0, 2)) for _ in range(3))
    pre = random.choice(("-0", "-alpha", "-rc.1", "-rc.2", "-next.1")) if random.random() < 0.2 else ""
    build = random.choice(("+1", "+2", "+a.b")) if random.random() < 0.1 else ""
    return core + pre + build


def _range(random: Random) -> str:
    versions = {key: _version(random) for key in "abc"}
    return random.choice(_RANGES).format(**versions, x=random.randint(0, 2), y=random.randint(0, 2))


def _wild(random: Random, entries: list[SmallEntry]) -> list[SmallEntry]:
    names = [*(e.name for e in entries), "ghost", "unknown"]
    return [_rewired(random, entry, names) for entry in entries]


def _rewired(random: Random, entry: SmallEntry, names: list[str]) -> SmallEntry:
    return replace(
        entry,
        replaces=random.choice(names) if random.random() < 0.6 else "",
        skips=tuple(random.choices(names, k=random.choice((0, 0, 1, 2)))),
        skip_range=_range(random) if random.random() < 0.3 else "",
    )


def _nearly_sane(random: Random, entries: list[SmallEntry]) -> list[SmallEntry]:
    """Return a chain with usual skips and ranges, and up to two entries with random edges."""
    chain: list[SmallEntry] = []
    for entry in entries:
        below = [e.name for e in chain]
        chain.append(_linked(random, entry, below))
    names = [*(e.name for e in chain), "ghost"]
    for _ in range(random.choice((0, 0, 1, 2))):
        place = random.randrange(len(chain))
        chain[place] = _rewired(random, chain[place], names)
    return chain


def _linked(random: Random, entry: SmallEntry, below: list[str]) -> SmallEntry:
    skips = random.sample(below, min(len(below), random.choice((0, 0, 0, 1, 2))))
    left = [name for name in below if name not in skips]
    return replace(
        entry,
        replaces=left[-1] if left else random.choice(("", "ghost")),
        skips=tuple(skips),
        skip_range=_range(random) if random.random() < 0.3 else "",
    )


def shrunk(graph: SmallGraph, misbehaves: Callable[[SmallGraph], bool]) -> SmallGraph:
    """Return the smallest graph that still fails."""
    for smaller in _smaller(graph):
        if misbehaves(smaller):
            return shrunk(smaller, misbehaves)
    return graph


def _smaller(graph: SmallGraph) -> Iterator[SmallGraph]:
    for i, entry in enumerate(graph.entries):
        rest = graph.entries[:i], graph.entries[i + 1 :]
        if len(graph.entries) > 1:
            yield SmallGraph((*rest[0], *rest[1]))
            yield SmallGraph(tuple(_bridged(other, entry) for other in (*rest[0], *rest[1])))
        for simpler in _simpler(entry, f"{sorted(graph.names).index(entry.name) + 1}.0.0"):
            yield SmallGraph((*rest[0], simpler, *rest[1]))


def _bridged(entry: SmallEntry, gap: SmallEntry) -> SmallEntry:
    """Return the entry with its replaces set to the next entry, if the replaced one is left out."""
    return replace(entry, replaces=gap.replaces) if entry.replaces == gap.name else entry


def _simpler(entry: SmallEntry, plain: str) -> Iterator[SmallEntry]:
    if entry.replaces:
        yield replace(entry, replaces="")
    if entry.skip_range:
        yield replace(entry, skip_range="")
    if entry.deprecated:
        yield replace(entry, deprecated=False)
    for i in range(len(entry.skips)):
        yield replace(entry, skips=(*entry.skips[:i], *entry.skips[i + 1 :]))
    if entry.version != plain:
        yield replace(entry, version=plain)
