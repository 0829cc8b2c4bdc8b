"""Packages and channels that the new catalog no longer has, or that have no entries left."""

from __future__ import annotations

__all__ = ["emptied_channel", "removed_channel", "removed_package", "renamed_channel"]

from collections import Counter
from collections.abc import Iterator, Sequence

from everpath.comparison.changes import Change, ChangeKind
from everpath.comparison.differences import Difference, EditKind
from everpath.comparison.installed_paths import InstalledPaths, installations
from everpath.graph import ChannelGraph, PackageGraph
from everpath.resolvers import ResolverName
from everpath.wording import NameSuggestions, count, join_names


def removed_package(old: PackageGraph, added: NameSuggestions, resolvers: Sequence[ResolverName]) -> Change:
    """Return the change for a removed package: every Subscription to it makes its namespace fail."""
    names = tuple(dict.fromkeys(name for graph in old.channels for name in graph.entries))
    place = old.package.place
    if not names:
        message = "The package was removed; it had no versions"
        return Change(ChangeKind.PACKAGE_GONE, old.name, None, message, place=place, in_old=True)
    versions, channels = count(len(names), "version"), count(len(old.channels), "channel")
    similar = added.most_similar(old.name)
    renamed = f"; was it renamed to {similar}? OLM does not follow a renamed package" if similar else ""
    return Change(
        ChangeKind.PACKAGE_GONE,
        old.name,
        None,
        f"The package was removed: clusters on {versions} in {channels} get no updates, "
        f"and resolution fails{renamed}",
        installed=names,
        resolvers=tuple(resolvers),
        edits=(
            Difference(
                EditKind.PACKAGE_GONE,
                old.name,
                "the package was removed",
                place,
                f"restore the package {old.name}",
            ),
        ),
        fix="keep the package; announce its end with olm.deprecations",
        place=place,
        in_old=True,
    )


def removed_channel(
    old: ChannelGraph, new: PackageGraph, added: NameSuggestions, resolvers: Sequence[ResolverName]
) -> Change:
    """Return the change for a removed channel, with the channel that it may have been renamed to."""
    names, place = tuple(old.entries), new.package.place
    if not names:
        message = "The channel was removed; it had no entries"
        return Change(ChangeKind.CHANNEL_GONE, old.package.name, old.name, message, place=place)
    successor = renamed_channel(old, new, added)
    renamed = beside = ""
    if successor is not None:
        shared = sum(name in successor.entries for name in names)
        entries = count(len(names), "entry")
        renamed = f"; was it renamed to {successor.name}, which has {shared} of its {entries}?"
        beside = f" beside {successor.name}, with the same entries"
    return Change(
        ChangeKind.CHANNEL_GONE,
        old.package.name,
        old.name,
        f"The channel was removed: clusters that use it on {_any_of(len(names))} get no updates, "
        f"and resolution fails{renamed}",
        installed=names,
        resolvers=tuple(resolvers),
        reasons=tuple(_paths_in_successor(old, successor, resolvers)),
        edits=(
            Difference(
                EditKind.CHANNEL_GONE,
                old.name,
                "the channel was removed",
                place,
                f"restore the channel {old.name}",
            ),
        ),
        fix=f"keep the channel {old.name}{beside}; announce its successor with olm.deprecations",
        place=place,
    )


def emptied_channel(old: ChannelGraph, new: ChannelGraph, resolvers: Sequence[ResolverName]) -> Change:
    """Return the change for a channel that is still declared and has no entries left."""
    names, place = tuple(old.entries), new.channel.place
    undo = f"restore {join_names(names)} in {old.name}"
    return Change(
        ChangeKind.CHANNEL_GONE,
        old.package.name,
        old.name,
        f"The channel is empty: clusters that use it on {_any_of(len(names))} get no updates, "
        "and resolution fails",
        installed=names,
        resolvers=tuple(resolvers),
        edits=(Difference(EditKind.CHANNEL_GONE, old.name, "all of its entries were removed", place, undo),),
        fix=undo,
        place=place,
    )


def _any_of(number: int) -> str:
    return f"any of {number} versions" if number > 1 else "its only version"


def renamed_channel(old: ChannelGraph, new: PackageGraph, added: NameSuggestions) -> ChannelGraph | None:
    """Return the new channel with most entries of the old one, else one with a similar name."""
    shared = Counter(c for name in old.entries for c in new.channels_by_entry.get(name, ()) if c in added)
    best = max(shared, key=shared.__getitem__, default=None) or added.most_similar(old.name)
    return new.by_name[best] if best is not None else None


def _paths_in_successor(
    old: ChannelGraph, successor: ChannelGraph | None, resolvers: Sequence[ResolverName]
) -> Iterator[str]:
    """Yield how many versions would get updates if users switched channels, which OLM never does itself."""
    if successor is None:
        return
    installed, where = installations(old), (old.package.name, successor.name)
    for resolver in resolvers:
        paths = InstalledPaths(successor, resolver, installed, where)
        updated = sum(paths.path(name).reaches_goal for name in installed)
        yield (
            f"OLM {resolver} does not switch to {successor.name}; after a manual switch "
            f"{updated} of {count(len(installed), 'version')} would get updates"
        )
