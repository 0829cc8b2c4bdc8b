"""The edits between two versions of a channel, each of which can be undone alone."""

from __future__ import annotations

__all__ = ["Difference", "EditKind", "describe_addition", "differences", "package_with", "without_edits"]

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final, NamedTuple, TypeVar

from everpath.graph import ChannelGraph, PackageGraph
from everpath.model import Bundle, Channel, DeprecationEntry, Deprecations, Entry, Package, Place
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
_DEPENDENCIES: Final = ("olm.package.required", "olm.gvk.required", "olm.constraint")
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
            found.append(
                Difference(
                    EditKind.ADDED, name, describe_addition(entry), entry.place.at("name"), f"remove {name}"
                )
            )
        else:
            found += _entry_edits(before, entry)
            found += _bundle_edits(old, new, entry)
    found += (_removed_entry(new, name) for name in old.entries if name not in new.entries)
    return [*found, *_deprecations(old, new), *_order_change(old, new), *_declared_twice(old, new)]


def _declared_twice(old: ChannelGraph, new: ChannelGraph) -> Iterator[Difference]:
    """Yield an edit if the channel is now declared several times: opm rejects it, OLM v1 uses the last."""
    if len(_same_name(old)) < 2 <= len(_same_name(new)):
        description = f"channel {new.name} is declared {len(_same_name(new))} times, and OLM v1 uses the last"
        undo = f"declare channel {new.name} once"
        yield Difference(EditKind.TWICE, new.name, description, _same_name(new)[-1].place, undo)


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
    if (old.replaces or None) != (new.replaces or None):
        description = _replaces_change(name, old.replaces, new.replaces)
        undo = f"set replaces: {old.replaces} on {name}" if old.replaces else f"remove replaces from {name}"
        yield Difference(EditKind.REPLACES, name, description, _at(new, "replaces", new.replaces), undo)
    if (before := frozenset(old.skips)) != (after := frozenset(new.skips)):
        fewer, more = sorted(before - after), sorted(after - before)
        undo = " and ".join(
            filter(None, (_skips_undo("add", fewer, "to"), _skips_undo("remove", more, "from")))
        )
        description = f"{name} {_skips_change(fewer, more)}"
        yield Difference(
            EditKind.SKIPS, name, description, _at(new, "skips", new.skips), f"{undo} the skips of {name}"
        )
    if (old.skip_range or None) != (new.skip_range or None):
        description = _range_change(name, old.skip_range, new.skip_range)
        undo = (
            f"give {name} the skipRange '{old.skip_range}'"
            if old.skip_range
            else (f"remove the skipRange of {name}")
        )
        yield Difference(EditKind.RANGE, name, description, _at(new, "skipRange", new.skip_range), undo)


def _at(entry: Entry, field: str, value: object) -> Place:
    """Return the place of a field; of the entry's name if the field was removed."""
    return entry.place.at(field if value else "name")


def describe_addition(entry: Entry, skips_verb: str = "skips") -> str:
    """Describe a new entry and its edges; `skips_verb` is the verb for its `skips`."""
    edges = [f"replaces {entry.replaces}"] if entry.replaces else []
    edges += [f"{skips_verb} {join_names(entry.skips)}"] if entry.skips else []
    edges += [f"has the skipRange '{entry.skip_range}'"] if entry.skip_range else []
    return f"{entry.name} was added; it {join_names(edges) or 'replaces and skips nothing'}"


def _replaces_change(name: str, before: str | None, after: str | None) -> str:
    if not after:
        return f"{name} no longer replaces {before}"
    return f"{name} now replaces {after}, no longer {before}" if before else f"{name} now replaces {after}"


def _skips_change(fewer: Collection[str], more: Collection[str]) -> str:
    description = [f"no longer skips {join_names(fewer)}"] if fewer else []
    description += [f"now skips {join_names(more)}"] if more else []
    return " and ".join(description)


def _skips_undo(verb: str, names: Collection[str], preposition: str) -> str:
    return f"{verb} {join_names(names)} {preposition}" if names else ""


def _range_change(name: str, before: str | None, after: str | None) -> str:
    if not after:
        return f"{name} no longer has the skipRange '{before}'"
    return (
        f"the skipRange of {name} is now '{after}', no longer '{before}'"
        if before
        else (f"{name} now has the skipRange '{after}'")
    )


def _removed_entry(new: ChannelGraph, name: str) -> Difference:
    where = "the channel" if name in new.package.by_name else "the catalog"
    description = f"{name} was removed from {where}"
    return Difference(EditKind.REMOVED, name, description, new.channel.place, f"restore {name}")


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
    if changed := [*_installable_change(old, new, name), *_dependency_changes(before, after)]:
        undo = f"restore bundle {name}"
        yield Difference(EditKind.BUNDLE, name, f"{name} {' and '.join(changed)}", after.place, undo)


def _installable_change(old: ChannelGraph, new: ChannelGraph, name: str) -> Iterator[str]:
    then, now = olm_v0.uninstallable(old).get(name), olm_v0.uninstallable(new).get(name)
    if then != now:
        yield f"now {now}" if now else f"was fixed: it no longer {then}"


def _dependency_changes(before: Bundle, after: Bundle) -> Iterator[str]:
    """Yield changed dependencies. OLM v1 rejects every bundle that declares one of them."""
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
            yield Difference(EditKind.DEPRECATED, name, f"{name} was deprecated", entry.place, undo)
    for name in before:
        if name not in after and name in new.entries:
            description = f"{name} is no longer deprecated"
            place = new.entries[name].place.at("name")
            yield Difference(EditKind.UNDEPRECATED, name, description, place, f"deprecate {name} again")


def _order_change(old: ChannelGraph, new: ChannelGraph) -> Iterator[Difference]:
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
    entries = {e.name: _entry_without_edits(old, e, by_name.get(e.name, ())) for e in remaining}
    back = {d.entry: old.entries[d.entry] for d in undone if d.kind is EditKind.REMOVED}
    is_ordered = any(d.kind is EditKind.ORDER for d in undone)
    ordered = (
        _in_old_order(old.entries, entries | back)
        if is_ordered
        else _with_restored_items(old.entries, entries, back)
    )
    channel = new.channel._replace(entries=tuple(ordered))
    package = _package(old, new, by_name)
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


def _entry_without_edits(old: ChannelGraph, entry: Entry, kinds: Collection[EditKind]) -> Entry:
    fields = {_FIELDS[k]: getattr(old.entries[entry.name], _FIELDS[k]) for k in kinds if k in _FIELDS}
    return entry._replace(**fields) if fields else entry


def _package(old: ChannelGraph, new: ChannelGraph, undone: Mapping[str, Collection[EditKind]]) -> Package:
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
    deprecated = {name for name, kinds in undone.items() if any(k in _DEPRECATIONS for k in kinds)}
    return (
        package._replace(deprecations=_deprecations_without_edits(old.package, package, deprecated))
        if deprecated
        else package
    )


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


def _deprecations_without_edits(
    old: Package, new: Package, names: Collection[str]
) -> tuple[Deprecations, ...]:
    before, after = old.deprecations_by_name("olm.bundle"), new.deprecations_by_name("olm.bundle")
    entries: list[DeprecationEntry] = [entry for name, entry in after.items() if name not in names]
    entries += [before[name] for name in names if name in before]
    return (Deprecations(new.name, new.place, tuple(entries)),)
