"""All small channels, and their conversion to questions for the oracle."""

from __future__ import annotations

__all__ = ["PACKAGE", "SmallEntry", "SmallGraph", "as_catalog", "as_channel", "three_entry_graphs"]

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, combinations, product
from typing import Any, Final

from tests.everpath.conformance.oracle import Question

PACKAGE: Final = "p"
CHANNEL: Final = "stable"
API: Final = {"group": "example.com", "version": "v1", "kind": "Thing"}


@dataclass(frozen=True, slots=True)
class SmallEntry:
    """One entry with the version of its bundle; `deprecated` is the property olm.deprecated.

    `doubled`: its bundle has one olm.gvk property twice, which the notation cannot express.
    """

    name: str
    version: str
    replaces: str = ""
    skips: tuple[str, ...] = ()
    skip_range: str = ""
    deprecated: bool = False
    doubled: bool = False

    @property
    def properties(self) -> list[dict[str, Any]]:
        """The properties other than olm.package."""
        deprecated: dict[str, Any] = {"type": "olm.deprecated", "value": {}}
        provided: dict[str, Any] = {"type": "olm.gvk", "value": API}
        return [deprecated] * self.deprecated + [provided, provided] * self.doubled

    def __str__(self) -> str:
        edges = [self.replaces or "-", ", ".join(self.skips) or "-", self.skip_range or "-"]
        return (
            f"{self.name}@{self.version}: {' / '.join(edges)}"
            + f"\n%prohibited {self.name}" * self.deprecated
        )


@dataclass(frozen=True, slots=True)
class SmallGraph:
    """One channel. As text it is a drawing in everpath's own notation."""

    entries: tuple[SmallEntry, ...]

    def __str__(self) -> str:
        return "\n".join(map(str, self.entries))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(e.name for e in self.entries)


def three_entry_graphs() -> Iterator[SmallGraph]:
    """All 4,096 graphs of b1 < b2 < b3 without self edges.

    Each entry replaces nothing, one of the others or a dangling name, and skips any of the others.
    """
    names = ("b1", "b2", "b3")
    for choice in product(*(list(_edges(name, names)) for name in names)):
        yield SmallGraph(
            tuple(
                SmallEntry(name, f"{i}.0.0", replaces, skips)
                for i, (name, (replaces, skips)) in enumerate(zip(names, choice, strict=True), start=1)
            )
        )


def _edges(name: str, names: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    others = [n for n in names if n != name]
    subsets = list(chain.from_iterable(combinations(others, size) for size in range(len(others) + 1)))
    yield from product(("", *others, "dangling"), subsets)


def as_channel(graph: SmallGraph) -> Question:
    """Return the channel as a question for OLM v0."""
    return {"name": CHANNEL, "package": PACKAGE, "entries": [_entry(e) for e in graph.entries]}


def _entry(entry: SmallEntry) -> Question:
    return {
        **_edges_of(entry),
        "version": entry.version,
        "properties": entry.properties,
    }


def _edges_of(entry: SmallEntry) -> dict[str, object]:
    fields = {"replaces": entry.replaces, "skips": entry.skips, "skipRange": entry.skip_range}
    return {"name": entry.name, **{key: value for key, value in fields.items() if value}}


def as_catalog(graph: SmallGraph) -> str:
    """Return a catalog with only this channel, as JSON, which opm reads faster than YAML."""
    documents: list[dict[str, object]] = [
        {"schema": "olm.package", "name": PACKAGE, "defaultChannel": CHANNEL},
        {
            "schema": "olm.channel",
            "package": PACKAGE,
            "name": CHANNEL,
            "entries": [_edges_of(e) for e in graph.entries],
        },
        *(_bundle(e) for e in graph.entries),
    ]
    return "\n".join(map(json.dumps, documents))


def _bundle(entry: SmallEntry) -> dict[str, object]:
    package = {"type": "olm.package", "value": {"packageName": PACKAGE, "version": entry.version}}
    return {
        "schema": "olm.bundle",
        "package": PACKAGE,
        "name": entry.name,
        "image": "example.com/bundle:v1",
        "properties": [package, *entry.properties],
    }
