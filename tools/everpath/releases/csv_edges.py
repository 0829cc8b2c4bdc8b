"""The edges in the CSV of a release. A CSV has one set of edges, a catalog one for each channel.

The edges of CSVs matter for an operators repository in replaces-mode. If the edges are the same in all
channels, the CSV has them. If not, the CSV replaces what the replaces chains of the channels have in common,
and skips the entries of the chains before it, so that every installed version has an upgrade path. A later
release that skips this one accepts, by its range, the versions that this one accepts.
"""

from __future__ import annotations

__all__ = ["csv_edges"]

from collections.abc import Container, Iterator, Sequence
from functools import reduce
from itertools import takewhile

from everpath.model import Channel, Package
from everpath.releases.channel_edges import Edges, union_range
from everpath.versions import parse_or_none


def csv_edges(package: Package, name: str, default_channel: str) -> Edges:
    """Return the edges for the CSV of a release; none if it is in no channel.

    Cost: O(entries of its channels), for the release and for each one that it skips.
    """
    edges = _merged_edges(package, name, default_channel)
    stranded = _stranded_entries(package, edges, default_channel, {name})
    versions = (
        package.by_name[each].version for each in stranded if each in package.by_name and each != name
    )
    ranges = (f"={version}" for version in versions if parse_or_none(version) is not None)
    return edges._replace(skip_range=reduce(union_range, ranges, edges.skip_range))


def _stranded_entries(
    package: Package, edges: Edges, default_channel: str, seen: set[str]
) -> dict[str, None]:
    """Return the entries whose only upgrade path leads to a skipped entry or through what it skips.

    OLM v0 never installs a skipped entry. They are added to the range, which skips no entry.
    """
    found: dict[str, None] = {}
    for skipped in (each for each in edges.skips if each not in seen):
        seen.add(skipped)
        below = _merged_edges(package, skipped, default_channel)
        deeper = _stranded_entries(package, below, default_channel, seen)
        if any(_edges(c, skipped) != below for c in package.channels if skipped in c.by_name) or deeper:
            found |= dict.fromkeys((*filter(None, (below.replaces,)), *below.skips)) | deeper
    accepted = {edges.replaces, *edges.skips}
    return {name: None for name in found if name not in accepted}


def _merged_edges(package: Package, name: str, default_channel: str) -> Edges:
    """Merge the edges of a release in all its channels."""
    channels = [channel for channel in package.channels if name in channel.by_name]
    channels.sort(key=lambda channel: channel.name != default_channel)
    edges = [_edges(channel, name) for channel in channels]
    if len(set(edges)) <= 1:
        return edges[0] if edges else Edges()
    chains = [list(_replaces_chain(channel, name)) for channel in channels]
    below = _common_chain(chains, {skipped for each in edges for skipped in each.skips})
    base = below[0] if below else None
    skips: list[str] = []
    for channel, own, chain in zip(channels, edges, chains, strict=True):
        skips += own.skips
        for passed in takewhile(lambda each: each != base, chain):
            skips += (passed, *(channel.by_name[passed].skips if passed in channel.by_name else ()))
    remaining = tuple(each for each in dict.fromkeys(skips) if each not in (name, *below))
    return Edges(base, remaining, reduce(union_range, (each.skip_range for each in edges)))


def _common_chain(chains: Sequence[Sequence[str]], skipped: Container[str]) -> Sequence[str]:
    """Return the part that all replaces chains have in common, without empty chains.

    It starts below the last entry that is skipped: OLM v0 never installs that, and versions below it would be
    stranded.
    """
    first, *others = [chain for chain in chains if chain] or [()]
    meeting = (at for at, each in enumerate(first) if all(each in chain for chain in others))
    start = next(meeting, len(first))
    ends = (at + 1 for at, each in enumerate(first) if at >= start and each in skipped)
    return first[max(ends, default=start) :]


def _edges(channel: Channel, name: str) -> Edges:
    entry = channel.by_name[name]
    return Edges(entry.replaces or None, entry.skips, entry.skip_range or None)


def _replaces_chain(channel: Channel, name: str) -> Iterator[str]:
    """Yield what an entry replaces, what that replaces, and so on, to the end or to a cycle."""
    seen = {name}
    below = channel.by_name[name].replaces
    while below and below not in seen:
        seen.add(below)
        yield below
        below = channel.by_name[below].replaces if below in channel.by_name else None
