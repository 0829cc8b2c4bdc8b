"""From what is typed to what is asked: the catalogs of a cluster, and what is installed there."""

from __future__ import annotations

__all__ = ["Market", "installed", "with_entry"]

from collections.abc import Mapping, Sequence

import click

from everpath.cli.inputs import unreadable_parts
from everpath.cli.served import Served
from everpath.errors import UsageError
from everpath.graph import PackageGraph
from everpath.model import Catalog
from everpath.outputs.plain import count, printable
from everpath.policies.extensions import Source
from everpath.simulation import Asked, released


class Market:
    """The catalogs of the cluster, package by package."""

    def __init__(self, served: Sequence[Served], catalogs: Sequence[Catalog]) -> None:
        self.unread = sum(map(unreadable_parts, catalogs))
        self.names = tuple(one.name for one in served) if len(served) > 1 else ()
        self._packages: dict[str, list[Source]] = {}
        for one, catalog in zip(served, catalogs, strict=True):
            for package in catalog.packages:
                source = Source(one.name, one.priority, PackageGraph(package))
                self._packages.setdefault(package.name, []).append(source)

    def packages(self, wanted: Sequence[str]) -> dict[str, list[Source]]:
        """Who offers each wanted package; all if none is named. In the order of names."""
        return {name: self._packages[name] for name in sorted(self._packages) if not wanted or name in wanted}


def installed(text: str, chosen: Mapping[str, Sequence[Source]]) -> dict[str, tuple[Asked, ...]]:
    """What a name or a version means, by package. What is nowhere is still asked about, of one package."""
    found = {
        name: released(_graphs(sources), text, guess=len(chosen) == 1) for name, sources in chosen.items()
    }
    found = {name: meant for name, meant in found.items() if meant}
    if not found:
        raise _nowhere(text, chosen)
    for meant in (one for several in found.values() for one in several if not one.is_known):
        _say_unknown(text, meant, chosen)
    return found


def _graphs(sources: Sequence[Source]) -> list[PackageGraph]:
    return [source.package for source in sources if source.package is not None]


def _nowhere(text: str, chosen: Mapping[str, Sequence[Source]]) -> UsageError:
    near = _near(text, chosen)
    hint = f"did you mean {near!r}? " if near else ""
    return UsageError(
        f"nothing in {count(len(chosen), 'package')} is called {text!r} or has that version",
        hint=f"{hint}name a package with -p and everpath says what would become of it there",
    )


def _near(text: str, chosen: Mapping[str, Sequence[Source]]) -> str | None:
    from difflib import get_close_matches  # noqa: PLC0415 - only who mistypes pays for it

    graphs = [graph for sources in chosen.values() for graph in _graphs(sources)]
    names = {name for graph in graphs for name in (*graph.memberships, *graph.package.by_name)}
    versions = {b.version for graph in graphs for b in graph.package.bundles if b.version}
    near = get_close_matches(text, sorted(names | versions), n=1)
    return near[0] if near else None


def _say_unknown(text: str, meant: Asked, chosen: Mapping[str, Sequence[Source]]) -> None:
    """On standard error: what is asked about is in no catalog, and what it is taken for."""
    near = _near(text, chosen)
    version = f"version {meant.version}" if meant.version else "a version that nobody knows"
    taken = f"to be of {version}" if meant.name == text else f"for {printable(meant.name)} of {version}"
    click.echo(f"note: {printable(text)} is in no catalog; taken {taken}", err=True)
    if near:
        click.echo(f"note: did you mean {printable(near)}?", err=True)


def with_entry(name: str, chosen: dict[str, list[Source]]) -> dict[str, list[Source]]:
    """The packages that have an entry of that name; a single package also without."""
    having = {p: s for p, s in chosen.items() if any(name in graph.memberships for graph in _graphs(s))}
    if not having and len(chosen) != 1:
        raise _nowhere(name, chosen)
    return having or chosen
