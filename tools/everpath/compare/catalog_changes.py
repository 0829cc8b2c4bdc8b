"""What else has changed: channels, heads, names and releases, each with what it means for users."""

from __future__ import annotations

__all__ = [
    "channel_changes",
    "channel_emptied",
    "channel_gone",
    "package_gone",
    "package_remarks",
    "refused",
    "renamed",
]

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from shlex import quote

from everpath.compare.changes import Change, ChangeKind
from everpath.compare.channel_paths import Roads, installations
from everpath.compare.channels import ChannelComparison, why_stopped
from everpath.compare.differences import Difference, Kind
from everpath.compare.fixes import spares
from everpath.compare.similar_names import Spellings
from everpath.graph import ChannelGraph, PackageGraph
from everpath.model import OpmError, Package, Place
from everpath.resolvers import ResolverName, olm_v0, opm
from everpath.rules.edits import Edit, add_skips, apply_edit, widen_range
from everpath.rules.findings import Severity
from everpath.rules.opm_errors import opm_errors
from everpath.wording import join_names, plural


def package_gone(old: PackageGraph, added: Spellings, policies: Sequence[ResolverName]) -> Change:
    """A package of which the new catalog knows nothing: every Subscription to it fails its namespace."""
    names = tuple(dict.fromkeys(name for graph in old.channels for name in graph.entries))
    if not names:
        words = "the package is gone; it had no versions"
        place = old.package.place
        return Change(ChangeKind.PACKAGE_GONE, old.name, None, words, place=place, in_old=True)
    near = added.nearest(old.name)
    meant = f"; did you mean {near}, which is new? OLM does not follow a renamed package" if near else ""
    return Change(
        ChangeKind.PACKAGE_GONE,
        old.name,
        None,
        f"the package is gone: {plural(len(names), 'version')} in {plural(len(old.channels), 'channel')} "
        f"can no longer be resolved{meant}",
        installed=names,
        policies=tuple(policies),
        edits=(_gone(Kind.PACKAGE_GONE, old.name, "package", old.package.place),),
        fix="keep the package; olm.deprecations tells its users that it has no future",
        place=old.package.place,
        in_old=True,
    )


def _gone(kind: Kind, name: str, what: str, place: Place) -> Difference:
    return Difference(kind, name, f"the {what} was removed", place, f"put the {what} {name} back")


def channel_gone(
    old: ChannelGraph, new: PackageGraph, added: Spellings, policies: Sequence[ResolverName]
) -> Change:
    """A channel that the package no longer has, and the one that it may have become."""
    names = tuple(old.entries)
    if not names:
        words = "the channel is gone; it had no entries"
        return Change(ChangeKind.CHANNEL_GONE, old.package.name, old.name, words, place=new.package.place)
    heir = renamed(old, new, added)
    meant = ""
    if heir is not None:
        shared = sum(name in heir.entries for name in names)
        meant = f"; was it renamed to {heir.name}, which has {shared} of its {plural(len(names), 'entry')}?"
    return Change(
        ChangeKind.CHANNEL_GONE,
        old.package.name,
        old.name,
        f"the channel is gone: whoever follows it on {_any_of(len(names))} can no longer be resolved{meant}",
        installed=names,
        policies=tuple(policies),
        because=tuple(_elsewhere(old, heir, policies)),
        edits=(_gone(Kind.CHANNEL_GONE, old.name, "channel", new.package.place),),
        fix=f"keep the channel {old.name}"
        + (f" beside {heir.name}, with the same entries" if heir else "")
        + "; olm.deprecations tells its users where to go",
        place=new.package.place,
    )


def channel_emptied(old: ChannelGraph, new: ChannelGraph, policies: Sequence[ResolverName]) -> Change:
    """A channel that is still declared, without any entry."""
    names, place = tuple(old.entries), new.channel.place
    undo = f"put {join_names(names)} back into {old.name}"
    return Change(
        ChangeKind.CHANNEL_GONE,
        old.package.name,
        old.name,
        f"the channel is empty: whoever follows it on {_any_of(len(names))} can no longer be resolved",
        installed=names,
        policies=tuple(policies),
        edits=(Difference(Kind.CHANNEL_GONE, old.name, "all of its entries were taken out", place, undo),),
        fix=undo,
        place=place,
    )


def _any_of(number: int) -> str:
    return f"any of {number} versions" if number > 1 else "its only version"


def renamed(old: ChannelGraph, new: PackageGraph, added: Spellings) -> ChannelGraph | None:
    """Of the new channels the one with the most of the old one's entries; else one that sounds like it."""
    shared = Counter(c for name in old.entries for c in new.channels_by_entry.get(name, ()) if c in added)
    best = max(shared, key=shared.__getitem__, default=None) or added.nearest(old.name)
    return new.by_name[best] if best is not None else None


def _elsewhere(
    old: ChannelGraph, heir: ChannelGraph | None, policies: Sequence[ResolverName]
) -> Iterator[str]:
    """What an administrator gains who changes the channel by hand, which OLM never does."""
    if heir is None:
        return
    installed, where = installations(old), (old.package.name, heir.name)
    for policy in policies:
        roads = Roads(heir, policy, installed, where)
        well = sum(roads.road(name).arrives for name in installed)
        yield (
            f"nobody is moved to {heir.name} by OLM {policy}; changed by hand, "
            f"{well} of {plural(len(installed), 'version')} could go on there"
        )


def channel_changes(old: ChannelGraph, new: ChannelGraph, compared: ChannelComparison) -> Iterator[Change]:
    """What is to be said of a channel that both catalogs have, but for what is for the record."""
    told = list(compared.changes())
    yield from told
    # A release that strands by being added is told already, with the edit that mends it.
    added = {e.entry for c in told if c.severity is Severity.ERROR for e in c.edits if e.kind is Kind.ADDED}
    for change in _remarks(old, new, compared):
        is_release = change.kind in (ChangeKind.UNREACHABLE, ChangeKind.DEAD_END)
        if not is_release or not added.intersection(change.installed):
            yield change


def _remarks(old: ChannelGraph, new: ChannelGraph, compared: ChannelComparison) -> Iterator[Change]:
    yield from _head_moved_back(old, new)
    yield from _dead_ends(old, new, compared)
    yield from _unreachable(old, new, compared)
    yield from _refused(old, new)
    yield from _republished(old, new)


def _said(kind: ChangeKind, graph: ChannelGraph, message: str, entry: str | None = None) -> Change:
    stated = graph.entries.get(entry) if entry is not None else None
    place = stated.place.at("name") if stated is not None else graph.channel.place
    return Change(kind, graph.package.name, graph.name, message, place=place)


def _head_moved_back(old: ChannelGraph, new: ChannelGraph) -> Iterator[Change]:
    before, after = (g.versions.get(g.head) if g.head else None for g in (old, new))
    if before is not None and after is not None and after < before:
        words = f"the head moved back from {old.head} ({before}) to {new.head} ({after})"
        fix = f"publish what {new.head} is meant to be under a version above {before}, replacing {old.head}"
        yield _said(ChangeKind.HEAD_MOVED_BACK, new, words, new.head)._replace(fix=fix)


def _dead_ends(old: ChannelGraph, new: ChannelGraph, compared: ChannelComparison) -> Iterator[Change]:
    """New releases that nothing replaces and that are not where the channel leads to. O(entries)."""
    ended: dict[tuple[ResolverName, ...], list[str]] = {}
    fresh = [name for name in new.entries if name not in old.entries]
    for name in fresh:
        policies = tuple(m.new.policy for m in compared.meetings if _is_dead_end(m.new, name))
        if policies:
            ended.setdefault(policies, []).append(name)
    for policies, names in ended.items():
        has, whoever = ("has", "it") if len(names) == 1 else ("have", "one of them")
        words = (
            f"{join_names(names)} {has} no replacement under OLM {' and '.join(policies)}: "
            f"whoever installs {whoever} stays there"
        )
        said = _said(ChangeKind.DEAD_END, new, words, names[0])
        edit = _way_out(new, names, compared)
        fix, mended = (edit.text, edit.entries) if edit is not None else (_validated(new.package), ())
        meeting = next(m for m in compared.meetings if m.new.policy in policies)
        because = tuple(why_stopped(meeting, names))
        yield said._replace(
            policies=policies, installed=tuple(names), because=because, fix=fix, mended=mended
        )


def _way_out(new: ChannelGraph, names: Sequence[str], compared: ChannelComparison) -> Edit | None:
    """An edit of the head by which all of them go on, tried under all policies and on opm.

    Of several heads it is the newest, which OLM v1 goes to.
    """
    heads = [name for name in new.heads if name in new.versions and name not in names]
    head = new.head or max(heads, key=lambda name: new.versions[name].key, default=None)
    if head is None:
        return None
    for edit in (add_skips(new, head, names), widen_range(new, head, names)):
        trial = apply_edit(new, edit) if edit is not None else new
        roads = [meeting.new.over(trial) for meeting in compared.meetings]
        if (
            edit is not None
            and _is_accepted(trial) >= _is_accepted(new)
            and not any(_is_dead_end(each, name) for each in roads for name in names)
            and all(spares(m.new, after) for m, after in zip(compared.meetings, roads, strict=True))
        ):
            return edit
    return None


def _is_dead_end(roads: Roads, name: str) -> bool:
    road = roads.entry_road(name)
    return road.next is None and road.failure is None and name not in roads.homes


def _unreachable(old: ChannelGraph, new: ChannelGraph, compared: ChannelComparison) -> Iterator[Change]:
    """New releases that nobody's road meets and that no newer one stands in for. O(entries)."""
    fresh = [n for n in new.entries if n not in old.entries and n not in new.skippers and n in new.versions]
    if not fresh or not old.entries:
        return
    deprecated, forbidden = new.package.deprecations_by_name("olm.bundle"), olm_v0.uninstallable(new)
    unmet: dict[str, list[ResolverName]] = {}
    for meeting in compared.meetings:
        met = _met(meeting.new, meeting.old.installed)
        highest = max((new.versions[n].key for n in met if n in new.versions), default=())
        for name in fresh:
            if name not in met and new.versions[name].key > highest and name not in deprecated:
                unmet.setdefault(name, []).append(meeting.new.policy)
    for name, policies in unmet.items():
        if name not in forbidden:
            olm = f"OLM {' and '.join(policies)}"
            words = f"{name} is new, and no road of {olm} leads there from any version of the old catalog"
            said = _said(ChangeKind.UNREACHABLE, new, words, name)
            yield said._replace(policies=tuple(policies), installed=(name,))


def _met(roads: Roads, installed: Iterable[str]) -> set[str]:
    met: set[str] = set()
    for name in installed:
        here = roads.road(name).next
        while here is not None and here not in met:
            met.add(here)
            here = roads.following(here)
    return met


def _refused(old: ChannelGraph, new: ChannelGraph) -> Iterator[Change]:
    if _is_accepted(old) and not _is_accepted(new):
        words = "opm accepts the channel of the old catalog and refuses that of the new one"
        own = opm.validate_channel(new).error
        because = () if own is None else (f"opm validate: {own}",)
        yield _said(ChangeKind.REFUSED, new, words)._replace(because=because, fix=_validated(new.package))


def _validated(package: Package) -> str:
    return f"`everpath validate-graph -p {quote(package.name)}` says why, and what mends it"


def refused(new: PackageGraph, old: PackageGraph | None = None) -> Iterator[Change]:
    """What opm refuses of a package and did not refuse before, but for what else is told of its channels."""
    known = old.by_name if old is not None else {}
    found = [r for r in opm_errors(new.package) if _is_untold(r) or (r.channel and r.channel not in known)]
    before = {(r.rule, r.channel) for r in opm_errors(old.package)} if found and old is not None else set()
    for refusal in found:
        if (refusal.rule, refusal.channel) not in before:
            yield Change(
                ChangeKind.REFUSED,
                new.name,
                refusal.channel,
                f"opm refuses the new catalog: {refusal.message}",
                fix=refusal.fix or _validated(new.package),
                place=refusal.place,
            )


def _is_untold(refusal: OpmError) -> bool:
    """Whether it is neither the graph of a channel, nor a channel said twice, nor a bundle in none."""
    return refusal.rule not in (None, "EP108", "EP402")


def _is_accepted(graph: ChannelGraph) -> bool:
    """Whether opm takes the channel, and there is but one of its name."""
    is_one = len(graph.package.channels_by_name.get(graph.name, ())) < 2
    return is_one and opm.validate_channel(graph).is_valid


def _republished(old: ChannelGraph, new: ChannelGraph) -> Iterator[Change]:
    for name, version in new.versions.items():
        before = old.versions.get(name)
        if before is not None and str(before) != str(version):
            words = f"{name} was {before} and is now {version}: whoever has {name} keeps what it was"
            fix = f"publish {version} under a name of its own, replacing {name}"
            yield _said(ChangeKind.REPUBLISHED, new, words, name)._replace(fix=fix)


def package_remarks(old: PackageGraph, new: PackageGraph) -> Iterator[Change]:
    """What is to be said of a package that both catalogs have."""
    yield from _vanished(old, new)
    yield from _strays(old, new)
    yield from refused(new, old)
    for graph in new.channels:
        if graph.name not in old.by_name:
            words = f"the channel is new, with {plural(len(graph.entries), 'entry')}"
            yield _said(ChangeKind.CHANNEL_ADDED, graph, words)
    before, after = old.package.default_channel, new.package.default_channel
    if before != after:
        words = f"the default channel is now {after or 'not declared'}, no longer {before or 'undeclared'}"
        yield Change(ChangeKind.DEFAULT_CHANNEL, new.name, None, words, place=new.package.place)


def _vanished(old: PackageGraph, new: PackageGraph) -> Iterator[Change]:
    """Names that are gone from the whole package, and whether anybody there still speaks of them."""
    gone = [n for n in dict.fromkeys((*old.package.by_name, *old.channels_by_entry)) if not _knows(new, n)]
    if not gone:
        return
    named = [f"{edge}" for name in gone for graph in new.channels for edge in graph.named_edges(name)]
    still = f"; {join_names(dict.fromkeys(named), 4)}" if named else "; nothing in the new catalog names them"
    words = f"gone from the package: {join_names(gone)}{still}"
    yield Change(ChangeKind.VANISHED, new.name, None, words, installed=tuple(gone), place=new.package.place)


def _strays(old: PackageGraph, new: PackageGraph) -> Iterator[Change]:
    """Bundles that are in no channel any more: their entries were taken out, and they were not."""
    left = [name for name in new.bundles_without_channel if name not in old.bundles_without_channel]
    if left:
        are, them = ("is", "it") if len(left) == 1 else ("are", "them")
        words = f"opm refuses the new catalog: {join_names(left)} {are} in no channel"
        fix = f"take the olm.bundle of {join_names(left)} out, too, or put {them} back into a channel"
        place = new.package.by_name[left[0]].place
        yield Change(ChangeKind.REFUSED, new.name, None, words, tuple(left), fix=fix, place=place)


def _knows(package: PackageGraph, name: str) -> bool:
    return name in package.package.by_name or name in package.channels_by_entry
