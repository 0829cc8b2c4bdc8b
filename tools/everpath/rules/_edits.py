"""Edits of a channel, tried before they are advised: a fix must not cost a catalog opm's acceptance."""

from __future__ import annotations

__all__ = ["Edit", "replacing", "safest", "skipping"]

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from everpath.graph import ChannelGraph
from everpath.model import Entry
from everpath.policies import opm
from everpath.rules._words import listed


class Edit(NamedTuple):
    """One entry as it would read, and the words for it."""

    text: str
    entry: Entry


def skipping(graph: ChannelGraph, on: str, names: Iterable[str]) -> Edit:
    """An entry that skips more."""
    entry, more = graph.entries[on], tuple(names)
    return Edit(f"add {listed(more)} to the skips of {on}", entry._replace(skips=(*entry.skips, *more)))


def replacing(graph: ChannelGraph, on: str, target: str) -> Edit:
    """An entry that replaces another one than now."""
    return Edit(f"set replaces: {target} on {on}", graph.entries[on]._replace(replaces=target))


def safest(graph: ChannelGraph, edits: Iterable[Edit]) -> str | None:
    """The first edit after which opm still accepts the channel; any, if it does not accept it now.

    Cost: opm's walk over the whole channel for each edit that is tried.
    """
    is_accepted = opm.verdict(graph).accepted
    return next((e.text for e in edits if not is_accepted or opm.verdict(_edited(graph, e)).accepted), None)


def _edited(graph: ChannelGraph, edit: Edit) -> ChannelGraph:
    entries = tuple(edit.entry if e.name == edit.entry.name else e for e in graph.channel.entries)
    return ChannelGraph(replace(graph.channel, entries=entries), graph.package)
