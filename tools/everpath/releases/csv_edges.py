"""The edges that a bundle's CSV states: it has one set of them, a catalog one for each channel.

They matter to whoever reads the bundles themselves, as an operators repository in replaces-mode. Where all
channels agree, theirs are stated. Where they differ, the release replaces what their lines have in common and
skips what only some of them lead through: whoever is there arrives in one step, and nobody stays behind. A
later release that skips this one takes over whom it accepted, by its range.
"""

from __future__ import annotations

__all__ = ["csv_edges"]

from collections.abc import Container, Iterator, Sequence
from functools import reduce
from itertools import takewhile

from everpath.model import Channel, Package
from everpath.releases.channel_edges import Edges, union_range
from everpath.versions import parse_or_none


def csv_edges(whole: Package, name: str, default_channel: str) -> Edges:
    """The edges for the CSV of a release; none for one that is in no channel.

    Cost: O(entries of its channels), for itself and for each release that it skips and whose channels differ.
    """
    stated = _one_set(whole, name, default_channel)
    left = _left_behind(whole, stated, default_channel, {name})
    found = (whole.by_name[each].version for each in left if each in whole.by_name and each != name)
    spans = (f"={version}" for version in found if parse_or_none(version) is not None)
    return stated._replace(skip_range=reduce(union_range, spans, stated.skip_range))


def _left_behind(whole: Package, stated: Edges, default_channel: str, seen: set[str]) -> dict[str, None]:
    """Whom releases that are skipped accept by what they state, and in some channel by nothing else.

    There others lead on, through entries that those skip: OLM v0 moves to no such entry, nor to one that is
    skipped itself. A range skips nobody.
    """
    found: dict[str, None] = {}
    for skipped in (each for each in stated.skips if each not in seen):
        seen.add(skipped)
        below = _one_set(whole, skipped, default_channel)
        deeper = _left_behind(whole, below, default_channel, seen)
        if any(_reach(c, skipped) != below for c in whole.channels if skipped in c.by_name) or deeper:
            found |= dict.fromkeys((*filter(None, (below.replaces,)), *below.skips)) | deeper
    accepted = {stated.replaces, *stated.skips}
    return {name: None for name in found if name not in accepted}


def _one_set(whole: Package, name: str, default_channel: str) -> Edges:
    """What all of its channels state together, each release by itself."""
    channels = [channel for channel in whole.channels if name in channel.by_name]
    channels.sort(key=lambda channel: channel.name != default_channel)
    reaches = [_reach(channel, name) for channel in channels]
    if len(set(reaches)) <= 1:
        return reaches[0] if reaches else Edges()
    lines = [list(_line(channel, name)) for channel in channels]
    below = _shared(lines, {skipped for reach in reaches for skipped in reach.skips})
    base = below[0] if below else None
    skips: list[str] = []
    for channel, reach, line in zip(channels, reaches, lines, strict=True):
        skips += reach.skips
        for passed in takewhile(lambda each: each != base, line):
            skips += (passed, *(channel.by_name[passed].skips if passed in channel.by_name else ()))
    kept = tuple(each for each in dict.fromkeys(skips) if each not in (name, *below))
    return Edges(base, kept, reduce(union_range, (reach.skip_range for reach in reaches)))


def _shared(lines: Sequence[Sequence[str]], skipped: Container[str]) -> Sequence[str]:
    """What goes on below the release: from where the lines meet; nothing if they do not.

    One without an entry has nothing to say. Nothing of it may be skipped: OLM v0 moves to no such entry, and
    whoever is below would stay there.
    """
    first, *others = [line for line in lines if line] or [()]
    meeting = (at for at, each in enumerate(first) if all(each in line for line in others))
    start = next(meeting, len(first))
    ends = (at + 1 for at, each in enumerate(first) if at >= start and each in skipped)
    return first[max(ends, default=start) :]


def _reach(channel: Channel, name: str) -> Edges:
    entry = channel.by_name[name]
    return Edges(entry.replaces or None, entry.skips, entry.skip_range or None)


def _line(channel: Channel, name: str) -> Iterator[str]:
    """What is replaced below an entry, down to the first that is replaced by nothing there, or twice."""
    seen = {name}
    below = channel.by_name[name].replaces
    while below and below not in seen:
        seen.add(below)
        yield below
        below = channel.by_name[below].replaces if below in channel.by_name else None
