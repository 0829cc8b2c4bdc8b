"""Changes of a channel that both catalogs have: regressions, heads, new releases, opm's validation."""

from __future__ import annotations

__all__ = ["channel_changes", "is_valid_channel", "opm_fix"]

from collections.abc import Iterable, Iterator, Sequence

from everpath.comparison.changes import Change, ChangeKind
from everpath.comparison.channels import ChannelComparison
from everpath.comparison.descriptions import stop_reasons
from everpath.comparison.differences import EditKind
from everpath.comparison.fixes import keeps_all_goals
from everpath.comparison.installed_paths import InstalledPaths
from everpath.graph import ChannelGraph
from everpath.resolvers import ResolverName, olm_v0, opm
from everpath.rules.findings import Severity
from everpath.rules.fixes.edits import ChannelEdit, add_skips, apply_edit, widen_range
from everpath.wording import join_names


def channel_changes(old: ChannelGraph, new: ChannelGraph, comparison: ChannelComparison) -> Iterator[Change]:
    """Yield the changes of a channel, except notes."""
    regressions = list(comparison.regressions())
    yield from regressions
    # A release that causes a regression by being added is reported there, with the fix.
    added = {
        edit.entry
        for change in regressions
        if change.severity is Severity.ERROR
        for edit in change.edits
        if edit.kind is EditKind.ADDED
    }
    yield from _head_moved_back(old, new)
    for change in (*_dead_ends(old, new, comparison), *_unreachable_releases(old, new, comparison)):
        if not added.intersection(change.installed):
            yield change
    if is_valid_channel(old) and not is_valid_channel(new):
        error = opm.validate_channel(new).error
        yield _change(
            ChangeKind.REJECTED_BY_OPM, new, "opm rejects the new channel; it accepted the old one"
        )._replace(reasons=() if error is None else (f"opm validate: {error}",), fix=opm_fix(new))
    for name, version in new.versions.items():
        before = old.versions.get(name)
        if before is not None and str(before) != str(version):
            message = f"{name} was {before} and is now {version}: clusters on {name} keep {before}"
            fix = f"publish {version} under its own name, replacing {name}"
            yield _change(ChangeKind.REPUBLISHED, new, message, name)._replace(fix=fix)


def _change(kind: ChangeKind, graph: ChannelGraph, message: str, name: str | None = None) -> Change:
    entry = graph.entries.get(name) if name is not None else None
    place = entry.place.at("name") if entry is not None else graph.channel.place
    return Change(kind, graph.package.name, graph.name, message, place=place)


def _head_moved_back(old: ChannelGraph, new: ChannelGraph) -> Iterator[Change]:
    before, after = (g.versions.get(g.head) if g.head else None for g in (old, new))
    if before is not None and after is not None and after < before:
        message = f"The head moved back from {old.head} ({before}) to {new.head} ({after})"
        fix = f"publish {new.head} again under a version above {before}, replacing {old.head}"
        yield _change(ChangeKind.HEAD_MOVED_BACK, new, message, new.head)._replace(fix=fix)


def _dead_ends(old: ChannelGraph, new: ChannelGraph, comparison: ChannelComparison) -> Iterator[Change]:
    """Yield new releases that nothing replaces and that are not goals. O(entries)."""
    by_resolvers: dict[tuple[ResolverName, ...], list[str]] = {}
    for name in (name for name in new.entries if name not in old.entries):
        resolvers = tuple(pair.resolver for pair in comparison.pairs if _is_dead_end(pair.new, name))
        if resolvers:
            by_resolvers.setdefault(resolvers, []).append(name)
    for resolvers, names in by_resolvers.items():
        message = (
            f"Clusters on {join_names(names)} get no further updates under OLM {' and '.join(resolvers)}: "
            f"nothing replaces {'it' if len(names) == 1 else 'them'}"
        )
        edit = _fix_for_dead_ends(new, names, comparison)
        advice = f"let a higher version with an upgrade path to the head replace or skip {join_names(names)}"
        pair = next(pair for pair in comparison.pairs if pair.resolver in resolvers)
        yield _change(ChangeKind.DEAD_END, new, message, names[0])._replace(
            resolvers=resolvers,
            installed=tuple(names),
            reasons=tuple(stop_reasons(pair, names)),
            fix=edit.text if edit is not None else advice,
            fix_entries=edit.entries if edit is not None else (),
        )


def _fix_for_dead_ends(
    new: ChannelGraph, names: Sequence[str], comparison: ChannelComparison
) -> ChannelEdit | None:
    """Return an edit of the head, or of the newest of several heads, that gives all of them an update.

    It was tried under all resolvers and with opm.
    """
    heads = [name for name in new.heads if name in new.versions and name not in names]
    head = new.head or max(heads, key=lambda name: new.versions[name].key, default=None)
    if head is None:
        return None
    for edit in (add_skips(new, head, names), widen_range(new, head, names)):
        if edit is None:
            continue
        trial = apply_edit(new, edit)
        trial_paths = [pair.new.in_trial(trial) for pair in comparison.pairs]
        if (
            is_valid_channel(trial) >= is_valid_channel(new)
            and not any(_is_dead_end(paths, name) for paths in trial_paths for name in names)
            and all(
                keeps_all_goals(pair.new, after)
                for pair, after in zip(comparison.pairs, trial_paths, strict=True)
            )
        ):
            return edit
    return None


def _is_dead_end(paths: InstalledPaths, name: str) -> bool:
    path = paths.entry_path(name)
    return path.next is None and path.failure is None and name not in paths.goals


def _unreachable_releases(
    old: ChannelGraph, new: ChannelGraph, comparison: ChannelComparison
) -> Iterator[Change]:
    """Yield new releases above all versions that paths from the old catalog reach. O(entries)."""
    added = [n for n in new.entries if n not in old.entries and n not in new.skippers and n in new.versions]
    if not added or not old.entries:
        return
    deprecated, uninstallable = new.package.deprecations_by_name("olm.bundle"), olm_v0.uninstallable(new)
    unreached: dict[str, list[ResolverName]] = {}
    for pair in comparison.pairs:
        reached = _entries_on_paths(pair.new, pair.old.installed)
        highest = max((new.versions[n].key for n in reached if n in new.versions), default=())
        for name in added:
            if name not in reached and new.versions[name].key > highest and name not in deprecated:
                unreached.setdefault(name, []).append(pair.resolver)
    for name, resolvers in unreached.items():
        if name not in uninstallable:
            olm = f"OLM {' and '.join(resolvers)}"
            message = f"No cluster is upgraded to the new release {name} under {olm}"
            yield _change(ChangeKind.UNREACHABLE, new, message, name)._replace(
                resolvers=tuple(resolvers), installed=(name,)
            )


def _entries_on_paths(paths: InstalledPaths, installed: Iterable[str]) -> set[str]:
    reached: set[str] = set()
    for name in installed:
        here = paths.path(name).next
        while here is not None and here not in reached:
            reached.add(here)
            here = paths.next_hop(here)
    return reached


def is_valid_channel(graph: ChannelGraph) -> bool:
    """Return whether opm accepts the channel, and no other one has its name."""
    is_unique = len(graph.package.channels_by_name.get(graph.name, ())) < 2
    return is_unique and opm.validate_channel(graph).is_valid


def opm_fix(graph: ChannelGraph) -> str:
    """Return what makes opm accept a channel: no command to run, as a refused release is not on disk."""
    validation = opm.validate_channel(graph)
    if validation.is_empty:
        return "add an entry; to retire a channel, keep its entries and deprecate it in olm.deprecations"
    if validation.is_valid:
        return "merge the documents of the channel"
    return (
        "change the edges: one head, no cycle, and every other entry on the head's replaces chain or skipped"
    )
