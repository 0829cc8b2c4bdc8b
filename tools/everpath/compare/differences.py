"""The edits that lie between two channels of one name, each of which can be taken back by itself."""

from __future__ import annotations

__all__ = ["Difference", "Kind", "added", "differences", "whole", "without"]

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final, NamedTuple, TypeVar

from everpath.graph import ChannelGraph, PackageGraph
from everpath.model import Bundle, Channel, DeprecationEntry, Deprecations, Entry, Package, Place
from everpath.resolvers import olm_v0
from everpath.wording import join_names

T = TypeVar("T")


class Kind(StrEnum):
    """What was edited."""

    REMOVED = "entry removed"
    ADDED = "entry added"
    REPLACES = "replaces changed"
    SKIPS = "skips changed"
    RANGE = "skipRange changed"
    BUNDLE_GONE = "bundle removed"
    BUNDLE_ADDED = "bundle added"
    VERSION = "version changed"
    BUNDLE = "bundle changed"
    DEPRECATED = "bundle deprecated"
    UNDEPRECATED = "deprecation removed"
    ORDER = "order changed"
    TWICE = "channel declared twice"
    CHANNEL_GONE = "channel removed"
    PACKAGE_GONE = "package removed"


_FIELDS: Final = {Kind.REPLACES: "replaces", Kind.SKIPS: "skips", Kind.RANGE: "skip_range"}
_BUNDLES: Final = (Kind.BUNDLE_GONE, Kind.BUNDLE_ADDED, Kind.VERSION, Kind.BUNDLE)
_DEPENDENCIES: Final = ("olm.package.required", "olm.gvk.required", "olm.constraint")
_DEPRECATIONS: Final = (Kind.DEPRECATED, Kind.UNDEPRECATED)


class Difference(NamedTuple):
    """One edit, in words, where the new catalog shows it, and what takes it back."""

    kind: Kind
    entry: str
    words: str
    place: Place
    undo: str


def differences(old: ChannelGraph, new: ChannelGraph) -> list[Difference]:
    """All edits that could matter to a resolver, in the order of the new channel. O(entries + edges)."""
    found: list[Difference] = []
    for name, entry in new.entries.items():
        if (before := old.entries.get(name)) is None:
            found.append(
                Difference(Kind.ADDED, name, added(entry), entry.place.at("name"), f"take {name} out again")
            )
        else:
            found += _edits(before, entry)
            found += _bundle_edits(old, new, entry)
    found += (_removed(new, name) for name in old.entries if name not in new.entries)
    return [*found, *_deprecations(old, new), *_reordered(old, new), *_twice(old, new)]


def _twice(old: ChannelGraph, new: ChannelGraph) -> Iterator[Difference]:
    """A channel that is declared more often than once, now. opm refuses that; OLM v1 takes the last."""
    if len(_same_name(old)) < 2 <= len(_same_name(new)):
        words = f"the channel {new.name} is declared {len(_same_name(new))} times, and OLM v1 takes the last"
        undo = f"declare the channel {new.name} once"
        yield Difference(Kind.TWICE, new.name, words, _same_name(new)[-1].place, undo)


def _same_name(graph: ChannelGraph) -> Sequence[Channel]:
    return graph.package.channels_by_name.get(graph.name, ())


def whole(graph: ChannelGraph) -> PackageGraph:
    """The package of a channel that need not be in it: a channel that is tried stands for the one it was."""
    channels = graph.package.channels
    if any(channel is graph.channel for channel in _same_name(graph)):
        return PackageGraph(graph.package)
    place = next((i for i, channel in enumerate(channels) if channel.name == graph.name), len(channels))
    tried = (*channels[:place], graph.channel, *channels[place + 1 :])
    return PackageGraph(graph.package._replace(channels=tried))


def _edits(old: Entry, new: Entry) -> Iterator[Difference]:
    name = new.name
    if (old.replaces or None) != (new.replaces or None):
        words = _turned(name, old.replaces, new.replaces)
        undo = f"set replaces: {old.replaces} on {name}" if old.replaces else f"remove replaces from {name}"
        yield Difference(Kind.REPLACES, name, words, _at(new, "replaces", new.replaces), undo)
    if (before := frozenset(old.skips)) != (after := frozenset(new.skips)):
        fewer, more = sorted(before - after), sorted(after - before)
        undo = " and ".join(
            filter(None, (_reskipped("add", fewer, "to"), _reskipped("remove", more, "from")))
        )
        words = f"{name} {_skipping(fewer, more)}"
        yield Difference(Kind.SKIPS, name, words, _at(new, "skips", new.skips), f"{undo} the skips of {name}")
    if (old.skip_range or None) != (new.skip_range or None):
        words = _reranged(name, old.skip_range, new.skip_range)
        undo = (
            f"give {name} the skipRange '{old.skip_range}'"
            if old.skip_range
            else (f"remove the skipRange of {name}")
        )
        yield Difference(Kind.RANGE, name, words, _at(new, "skipRange", new.skip_range), undo)


def _at(entry: Entry, field: str, value: object) -> Place:
    """Where a field stands; the entry's name, if it is no longer there."""
    return entry.place.at(field if value else "name")


def added(entry: Entry, skips: str = "skips") -> str:
    """What an entry brings with it; `skips` is the verb for what it has there."""
    edges = [f"replaces {entry.replaces}"] if entry.replaces else []
    edges += [f"{skips} {join_names(entry.skips)}"] if entry.skips else []
    edges += [f"has the skipRange '{entry.skip_range}'"] if entry.skip_range else []
    return f"{entry.name} was added, which {join_names(edges) or 'replaces and skips nothing'}"


def _turned(name: str, before: str | None, after: str | None) -> str:
    if not after:
        return f"{name} no longer replaces {before}"
    return f"{name} now replaces {after}, no longer {before}" if before else f"{name} now replaces {after}"


def _skipping(fewer: Collection[str], more: Collection[str]) -> str:
    words = [f"no longer skips {join_names(fewer)}"] if fewer else []
    words += [f"now skips {join_names(more)}"] if more else []
    return " and ".join(words)


def _reskipped(verb: str, names: Collection[str], preposition: str) -> str:
    return f"{verb} {join_names(names)} {preposition}" if names else ""


def _reranged(name: str, before: str | None, after: str | None) -> str:
    if not after:
        return f"{name} no longer has the skipRange '{before}'"
    return (
        f"the skipRange of {name} is now '{after}', no longer '{before}'"
        if before
        else (f"{name} now has the skipRange '{after}'")
    )


def _removed(new: ChannelGraph, name: str) -> Difference:
    where = "the channel" if name in new.package.by_name else "the catalog"
    words = f"{name} was taken out of {where}"
    return Difference(Kind.REMOVED, name, words, new.channel.place, f"put {name} back")


def _bundle_edits(old: ChannelGraph, new: ChannelGraph, entry: Entry) -> Iterator[Difference]:
    name, place = entry.name, entry.place.at("name")
    before, after = old.bundle(name), new.bundle(name)
    if before is None or after is None:
        if before is not None:
            words = f"the bundle {name} was removed, its entry was not"
            yield Difference(Kind.BUNDLE_GONE, name, words, place, f"put the bundle {name} back")
        elif after is not None:
            words = f"the bundle {name} was added to its entry"
            yield Difference(Kind.BUNDLE_ADDED, name, words, place, f"take the bundle {name} out again")
        return
    if before.version != after.version:
        words = f"the version of {name} is now {after.version}, no longer {before.version}"
        undo = f"give {name} the version {before.version}"
        if after.version is None:
            words = f"{name} no longer has a version, which was {before.version}"
        elif before.version is None:
            words = f"the version of {name} is now {after.version}; it had none"
            undo = f"take the version of {name} out again"
        yield Difference(Kind.VERSION, name, words, after.place, undo)
    if changed := [*_prohibited(old, new, name), *_dependencies(before, after)]:
        undo = f"make the bundle {name} what it was"
        yield Difference(Kind.BUNDLE, name, f"{name} {' and '.join(changed)}", after.place, undo)


def _prohibited(old: ChannelGraph, new: ChannelGraph, name: str) -> Iterator[str]:
    then, now = olm_v0.uninstallable(old).get(name), olm_v0.uninstallable(new).get(name)
    if then != now:
        yield f"now {now}" if now else f"was mended: it no longer {then}"


def _dependencies(before: Bundle, after: Bundle) -> Iterator[str]:
    """Dependencies by which OLM v1 refuses a bundle, whatever they ask for."""
    then, now = ({p.type for p in bundle.properties if p.type in _DEPENDENCIES} for bundle in (before, after))
    if more := sorted(now - then):
        yield f"now declares {join_names(more)}"
    if fewer := sorted(then - now):
        yield f"no longer declares {join_names(fewer)}"


def _deprecations(old: ChannelGraph, new: ChannelGraph) -> Iterator[Difference]:
    before, after = (graph.package.deprecations_by_name("olm.bundle") for graph in (old, new))
    for name, entry in after.items():
        if name not in before and name in new.entries:
            undo = f"remove the deprecation of {name}"
            yield Difference(Kind.DEPRECATED, name, f"{name} was deprecated", entry.place, undo)
    for name in before:
        if name not in after and name in new.entries:
            words = f"{name} is no longer deprecated"
            place = new.entries[name].place.at("name")
            yield Difference(Kind.UNDEPRECATED, name, words, place, f"deprecate {name} again")


def _reordered(old: ChannelGraph, new: ChannelGraph) -> Iterator[Difference]:
    """Entries or bundles in another order. It matters to v1 alone, and only where versions are equal."""
    if not (_has_equals(old) or _has_equals(new)):
        return
    if _is_reordered(old.entries, new.entries) or _is_reordered(old.package.by_name, new.package.by_name):
        words = "the order is another one, and between equal versions it decides for OLM v1, or chance does"
        undo = "put entries and bundles into the order they had"
        yield Difference(Kind.ORDER, new.name, words, new.channel.place, undo)


def _is_reordered(old: Mapping[str, object], new: Mapping[str, object]) -> bool:
    return [name for name in old if name in new] != [name for name in new if name in old]


def _has_equals(graph: ChannelGraph) -> bool:
    return len({version.key for version in graph.versions.values()}) < len(graph.versions)


def without(old: ChannelGraph, new: ChannelGraph, undone: Collection[Difference]) -> ChannelGraph:
    """The new channel as it would be had some edits not been made. O(entries)."""
    by_name: dict[str, list[Kind]] = {}
    for difference in undone:
        by_name.setdefault(difference.entry, []).append(difference.kind)
    kept = (e for e in new.entries.values() if Kind.ADDED not in by_name.get(e.name, ()))
    entries = {e.name: _restored(old, e, by_name.get(e.name, ())) for e in kept}
    back = {d.entry: old.entries[d.entry] for d in undone if d.kind is Kind.REMOVED}
    is_ordered = any(d.kind is Kind.ORDER for d in undone)
    ordered = _as_of_old(old.entries, entries | back) if is_ordered else _put_in(old.entries, entries, back)
    channel = new.channel._replace(entries=tuple(ordered))
    package = _package(old, new, by_name)
    if is_ordered:
        package = package._replace(bundles=tuple(_as_of_old(old.package.by_name, package.by_name)))
    if any(d.kind is Kind.TWICE for d in undone):
        package = package._replace(channels=tuple(c for c in package.channels if c.name != new.name))
    return ChannelGraph(channel, package)


def _as_of_old(old: Mapping[str, object], there: Mapping[str, T]) -> Iterator[T]:
    """What is there in the order that it had in the old catalog, behind it what that had not."""
    yield from (there[name] for name in old if name in there)
    yield from (each for name, each in there.items() if name not in old)


def _put_in(old: Iterable[str], there: Mapping[str, T], back: Mapping[str, T]) -> Iterator[T]:
    """What is there in its order, each after what stood before it in the old catalog and is put back."""
    before: dict[str, list[T]] = {}
    waiting: list[T] = []
    for name in old if back else ():
        if name in back:
            waiting.append(back[name])
        elif name in there:
            before[name], waiting = waiting, []
    for name, each in there.items():
        yield from before.get(name, ())
        yield each
    yield from waiting


def _restored(old: ChannelGraph, entry: Entry, kinds: Collection[Kind]) -> Entry:
    fields = {_FIELDS[k]: getattr(old.entries[entry.name], _FIELDS[k]) for k in kinds if k in _FIELDS}
    return entry._replace(**fields) if fields else entry


def _package(old: ChannelGraph, new: ChannelGraph, undone: Mapping[str, Collection[Kind]]) -> Package:
    """The package with the bundles and deprecations that go with the edits; itself, if none do."""
    package = new.package
    moved = {n: kinds for n, kinds in undone.items() if any(k in (*_BUNDLES, Kind.REMOVED) for k in kinds)}
    if moved:
        bundles = dict(package.by_name)
        for name, kinds in moved.items():
            _put_back(bundles, old.bundle(name), name, kinds)
        back = {name: bundle for name, bundle in bundles.items() if name not in package.by_name}
        kept = {name: bundle for name, bundle in bundles.items() if name not in back}
        package = package._replace(bundles=tuple(_put_in(old.package.by_name, kept, back)))
    toggled = {name for name, kinds in undone.items() if any(k in _DEPRECATIONS for k in kinds)}
    return package._replace(deprecations=_toggled(old.package, package, toggled)) if toggled else package


def _put_back(bundles: dict[str, Bundle], before: Bundle | None, name: str, kinds: Collection[Kind]) -> None:
    if before is None:
        bundles.pop(name, None)
    elif Kind.REMOVED in kinds:
        # What somebody has installed is the old bundle, whatever else now has the name.
        bundles[name] = before
    else:
        after = bundles.get(name, before)
        if Kind.VERSION in kinds and Kind.BUNDLE not in kinds:
            bundles[name] = after._replace(version=before.version)
        elif Kind.BUNDLE in kinds and Kind.VERSION not in kinds:
            bundles[name] = before._replace(version=after.version)
        else:
            bundles[name] = before


def _toggled(old: Package, new: Package, names: Collection[str]) -> tuple[Deprecations, ...]:
    before, after = old.deprecations_by_name("olm.bundle"), new.deprecations_by_name("olm.bundle")
    entries: list[DeprecationEntry] = [entry for name, entry in after.items() if name not in names]
    entries += [before[name] for name in names if name in before]
    return (Deprecations(new.name, new.place, tuple(entries)),)
