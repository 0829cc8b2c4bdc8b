"""The edits between two versions of a channel, each of which can be undone alone."""

from __future__ import annotations

__all__ = ["Difference", "EditKind", "describe_addition", "differences", "package_with", "without_edits"]

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final, NamedTuple, TypeVar

from everpath.graph import ChannelGraph, PackageGraph
from everpath.model import DEPENDENCY_PROPERTIES, Bundle, Channel, Deprecations, Entry, Package, Place
from everpath.resolvers import olm_v0
from everpath.wording import join_names

T = TypeVar("T")


class EditKind(StrEnum):
    """The kinds of edit."""

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


_FIELDS: Final = {EditKind.REPLACES: "replaces", EditKind.SKIPS: "skips", EditKind.RANGE: "skip_range"}
_BUNDLES: Final = (EditKind.BUNDLE_GONE, EditKind.BUNDLE_ADDED, EditKind.VERSION, EditKind.BUNDLE)
_DEPRECATIONS: Final = (EditKind.DEPRECATED, EditKind.UNDEPRECATED)


class Difference(NamedTuple):
    """One edit: its description, its place in the new catalog, and how to undo it."""

    kind: EditKind
    entry: str
    description: str
    place: Place
    undo: str


def differences(old: ChannelGraph, new: ChannelGraph) -> list[Difference]:
    """Return all edits that may affect a resolver, in the order of the new channel. O(entries + edges)."""
    found: list[Difference] = []
    for name, entry in new.entries.items():
        if (before := old.entries.get(name)) is None:
            description, place = describe_addition(entry), entry.place.at("name")
            found.append(Difference(EditKind.ADDED, name, description, place, f"remove {name}"))
        else:
            found += _entry_edits(before, entry)
            found += _bundle_edits(old, new, entry)
    for name in (name for name in old.entries if name not in new.entries):
        where = "the channel" if name in new.package.by_name else "the catalog"
        description, place = f"{name} was removed from {where}", new.channel.place
        found.append(Difference(EditKind.REMOVED, name, description, place, f"restore {name}"))
    found += _deprecation_edits(old, new)
    found += _order_edits(old, new)
    declarations = _same_name(new)
    if len(_same_name(old)) < 2 <= len(declarations):
        # opm rejects a channel that is declared several times.
        description = f"channel {new.name} is declared {len(declarations)} times, and OLM v1 uses the last"
        place, undo = declarations[-1].place, f"declare channel {new.name} once"
        found.append(Difference(EditKind.TWICE, new.name, description, place, undo))
    return found


def _same_name(graph: ChannelGraph) -> Sequence[Channel]:
    return graph.package.channels_by_name.get(graph.name, ())


def package_with(graph: ChannelGraph) -> PackageGraph:
    """Return the package of a channel; a modified copy of a channel replaces the original."""
    channels = graph.package.channels
    if any(channel is graph.channel for channel in _same_name(graph)):
        return PackageGraph(graph.package)
    place = next((i for i, channel in enumerate(channels) if channel.name == graph.name), len(channels))
    replaced = (*channels[:place], graph.channel, *channels[place + 1 :])
    return PackageGraph(graph.package._replace(channels=replaced))


def _entry_edits(old: Entry, new: Entry) -> Iterator[Difference]:
    name = new.name
    before, after = old.replaces or None, new.replaces or None
    if before != after:
        description = f"{name} now replaces {after}" if after else f"{name} no longer replaces {before}"
        description += f", no longer {before}" if before and after else ""
        undo = f"set replaces: {before} on {name}" if before else f"remove replaces from {name}"
        yield Difference(EditKind.REPLACES, name, description, _field_place(new, "replaces", after), undo)
    if (old_skips := frozenset(old.skips)) != (new_skips := frozenset(new.skips)):
        fewer, more = join_names(sorted(old_skips - new_skips)), join_names(sorted(new_skips - old_skips))
        changes = [f"no longer skips {fewer}"] if fewer else []
        changes += [f"now skips {more}"] if more else []
        undo = " and ".join([f"add {fewer} to"] * bool(fewer) + [f"remove {more} from"] * bool(more))
        place = _field_place(new, "skips", new.skips)
        description = f"{name} {' and '.join(changes)}"
        yield Difference(EditKind.SKIPS, name, description, place, f"{undo} the skips of {name}")
    before, after = old.skip_range or None, new.skip_range or None
    if before != after:
        description = f"{name} now has the skipRange '{after}'"
        undo = f"remove the skipRange of {name}"
        if before:
            undo = f"give {name} the skipRange '{before}'"
            description = f"the skipRange of {name} is now '{after}', no longer '{before}'"
            if not after:
                description = f"{name} no longer has the skipRange '{before}'"
        yield Difference(EditKind.RANGE, name, description, _field_place(new, "skipRange", after), undo)


def _field_place(entry: Entry, field: str, value: object) -> Place:
    """Return the place of a field; of the entry's name if the field was removed."""
    return entry.place.at(field if value else "name")


def describe_addition(entry: Entry, skips_verb: str = "skips") -> str:
    """Describe a new entry and its edges; `skips_verb` is the verb for its `skips`."""
    edges = [f"replaces {entry.replaces}"] if entry.replaces else []
    edges += [f"{skips_verb} {join_names(entry.skips)}"] if entry.skips else []
    edges += [f"has the skipRange '{entry.skip_range}'"] if entry.skip_range else []
    return f"{entry.name} was added; it {join_names(edges) or 'replaces and skips nothing'}"


def _bundle_edits(old: ChannelGraph, new: ChannelGraph, entry: Entry) -> Iterator[Difference]:
    name, place = entry.name, entry.place.at("name")
    before, after = old.bundle(name), new.bundle(name)
    if before is None or after is None:
        if before is not None:
            description = f"bundle {name} was removed, but its entry was not"
            yield Difference(EditKind.BUNDLE_GONE, name, description, place, f"restore bundle {name}")
        elif after is not None:
            description = f"bundle {name} was added for its entry"
            yield Difference(EditKind.BUNDLE_ADDED, name, description, place, f"remove bundle {name}")
        return
    if before.version != after.version:
        description = f"the version of {name} is now {after.version}, no longer {before.version}"
        undo = f"give {name} the version {before.version}"
        if after.version is None:
            description = f"{name} no longer has a version; it was {before.version}"
        elif before.version is None:
            description = f"the version of {name} is now {after.version}; it had none"
            undo = f"remove the version of {name}"
        yield Difference(EditKind.VERSION, name, description, after.place, undo)
    changes = []
    then, now = olm_v0.uninstallable(old).get(name), olm_v0.uninstallable(new).get(name)
    if then != now:
        changes.append(f"now {now}" if now else f"was fixed: it no longer {then}")
    changes += _dependency_changes(before, after)
    if changes:
        undo = f"restore bundle {name}"
        yield Difference(EditKind.BUNDLE, name, f"{name} {' and '.join(changes)}", after.place, undo)


def _dependency_changes(before: Bundle, after: Bundle) -> Iterator[str]:
    """Yield changed dependencies. OLM v1 rejects every bundle that declares one of them."""
    then, now = (
        {p.type for p in bundle.properties if p.type in DEPENDENCY_PROPERTIES} for bundle in (before, after)
    )
    if more := sorted(now - then):
        yield f"now declares {join_names(more)}"
    if fewer := sorted(then - now):
        yield f"no longer declares {join_names(fewer)}"


def _deprecation_edits(old: ChannelGraph, new: ChannelGraph) -> Iterator[Difference]:
    before, after = (graph.package.deprecations_by_name("olm.bundle") for graph in (old, new))
    for name, entry in after.items():
        if name not in before and name in new.entries:
            undo = f"remove the deprecation of {name}"
            yield Difference(EditKind.DEPRECATED, name, f"{name} was deprecated", entry.place, undo)
    for name in before:
        if name not in after and name in new.entries:
            description = f"{name} is no longer deprecated"
            place = new.entries[name].place.at("name")
            yield Difference(EditKind.UNDEPRECATED, name, description, place, f"deprecate {name} again")


def _order_edits(old: ChannelGraph, new: ChannelGraph) -> Iterator[Difference]:
    """Yield an edit if the order changed. It affects only v1, and only between equal versions."""
    if not (_has_equal_versions(old) or _has_equal_versions(new)):
        return
    if _is_order_change(old.entries, new.entries) or _is_order_change(
        old.package.by_name, new.package.by_name
    ):
        description = (
            "the order of entries or bundles changed, which may decide between equal versions under OLM v1"
        )
        undo = "restore the order of entries and bundles"
        yield Difference(EditKind.ORDER, new.name, description, new.channel.place, undo)


def _is_order_change(old: Mapping[str, object], new: Mapping[str, object]) -> bool:
    return [name for name in old if name in new] != [name for name in new if name in old]


def _has_equal_versions(graph: ChannelGraph) -> bool:
    return len({version.key for version in graph.versions.values()}) < len(graph.versions)


def without_edits(old: ChannelGraph, new: ChannelGraph, undone: Collection[Difference]) -> ChannelGraph:
    """Return the new channel with some edits undone. O(entries)."""
    by_name: dict[str, list[EditKind]] = {}
    for difference in undone:
        by_name.setdefault(difference.entry, []).append(difference.kind)
    remaining = (e for e in new.entries.values() if EditKind.ADDED not in by_name.get(e.name, ()))
    entries: dict[str, Entry] = {}
    for entry in remaining:
        fields = [_FIELDS[kind] for kind in by_name.get(entry.name, ()) if kind in _FIELDS]
        entries[entry.name] = entry._replace(**{f: getattr(old.entries[entry.name], f) for f in fields})
    back = {d.entry: old.entries[d.entry] for d in undone if d.kind is EditKind.REMOVED}
    is_ordered = any(d.kind is EditKind.ORDER for d in undone)
    ordered = (
        _in_old_order(old.entries, entries | back)
        if is_ordered
        else _with_restored_items(old.entries, entries, back)
    )
    channel = new.channel._replace(entries=tuple(ordered))
    package = _package_without_edits(old, new, by_name)
    if is_ordered:
        package = package._replace(bundles=tuple(_in_old_order(old.package.by_name, package.by_name)))
    if any(d.kind is EditKind.TWICE for d in undone):
        package = package._replace(channels=tuple(c for c in package.channels if c.name != new.name))
    return ChannelGraph(channel, package)


def _in_old_order(old: Mapping[str, object], there: Mapping[str, T]) -> Iterator[T]:
    """Yield what both have in the order of the old catalog, then what is new."""
    yield from (there[name] for name in old if name in there)
    yield from (each for name, each in there.items() if name not in old)


def _with_restored_items(old: Iterable[str], there: Mapping[str, T], back: Mapping[str, T]) -> Iterator[T]:
    """Yield `there` in its order, with restored items before the item that followed them."""
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


def _package_without_edits(
    old: ChannelGraph, new: ChannelGraph, undone: Mapping[str, Collection[EditKind]]
) -> Package:
    """Return the package with the bundles and deprecations of the undone edits restored."""
    package = new.package
    moved = {
        n: kinds for n, kinds in undone.items() if any(k in (*_BUNDLES, EditKind.REMOVED) for k in kinds)
    }
    if moved:
        bundles = dict(package.by_name)
        for name, kinds in moved.items():
            _restore_bundle(bundles, old.bundle(name), name, kinds)
        back = {name: bundle for name, bundle in bundles.items() if name not in package.by_name}
        kept = {name: bundle for name, bundle in bundles.items() if name not in back}
        package = package._replace(bundles=tuple(_with_restored_items(old.package.by_name, kept, back)))
    names = {name for name, kinds in undone.items() if any(k in _DEPRECATIONS for k in kinds)}
    if not names:
        return package
    before, after = (p.deprecations_by_name("olm.bundle") for p in (old.package, package))
    entries = [entry for name, entry in after.items() if name not in names]
    entries += [before[name] for name in names if name in before]
    return package._replace(deprecations=(Deprecations(package.name, package.place, tuple(entries)),))


def _restore_bundle(
    bundles: dict[str, Bundle], before: Bundle | None, name: str, kinds: Collection[EditKind]
) -> None:
    if before is None:
        bundles.pop(name, None)
    elif EditKind.REMOVED in kinds:
        # The old bundle is what clusters run, even if another bundle now has its name.
        bundles[name] = before
    else:
        after = bundles.get(name, before)
        if EditKind.VERSION in kinds and EditKind.BUNDLE not in kinds:
            bundles[name] = after._replace(version=before.version)
        elif EditKind.BUNDLE in kinds and EditKind.VERSION not in kinds:
            bundles[name] = before._replace(version=after.version)
        else:
            bundles[name] = before
