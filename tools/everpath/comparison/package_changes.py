"""Changes of a package that both catalogs have, or that is new: removed names, channels, opm's errors."""

from __future__ import annotations

__all__ = ["opm_error_changes", "package_changes"]

from collections.abc import Iterator

from everpath.comparison.changes import Change, ChangeKind
from everpath.comparison.channel_changes import opm_fix
from everpath.graph import PackageGraph
from everpath.rules.opm_errors import opm_errors
from everpath.wording import count, join_names

#: Rules whose errors are reported otherwise: a channel declared twice, and a bundle in no channel.
_REPORTED_ELSEWHERE = (None, "EP108", "EP402")


def package_changes(old: PackageGraph, new: PackageGraph) -> Iterator[Change]:
    """Yield the changes of a package that both catalogs have."""
    yield from _removed_names(old, new)
    yield from _unlisted_bundles(old, new)
    yield from opm_error_changes(new, old)
    for graph in new.channels:
        if graph.name not in old.by_name:
            message = f"The channel is new, with {count(len(graph.entries), 'entry')}"
            yield Change(ChangeKind.CHANNEL_ADDED, new.name, graph.name, message, place=graph.channel.place)
    before, after = old.package.default_channel, new.package.default_channel
    if before != after:
        message = f"The default channel is now {after or 'not declared'}; it was {before or 'not declared'}"
        yield Change(ChangeKind.DEFAULT_CHANNEL, new.name, None, message, place=new.package.place)


def _removed_names(old: PackageGraph, new: PackageGraph) -> Iterator[Change]:
    """Yield names that the package no longer has, and the edges that still refer to them."""
    names = dict.fromkeys((*old.package.by_name, *old.channels_by_entry))
    removed = [n for n in names if n not in new.package.by_name and n not in new.channels_by_entry]
    if not removed:
        return
    edges = [f"{edge}" for name in removed for graph in new.channels for edge in graph.named_edges(name)]
    still = join_names(dict.fromkeys(edges), 4) if edges else "nothing in the new catalog names them"
    message = f"Removed from the package: {join_names(removed)}; {still}"
    yield Change(
        ChangeKind.VANISHED, new.name, None, message, installed=tuple(removed), place=new.package.place
    )


def _unlisted_bundles(old: PackageGraph, new: PackageGraph) -> Iterator[Change]:
    """Yield bundles whose entries were removed, but not the bundles: opm rejects these."""
    names = [name for name in new.bundles_without_channel if name not in old.bundles_without_channel]
    if names:
        are, them = ("is", "it") if len(names) == 1 else ("are", "them")
        listed = join_names(names)
        yield Change(
            ChangeKind.REJECTED_BY_OPM,
            new.name,
            None,
            f"opm rejects the new catalog: {listed} {are} in no channel",
            installed=tuple(names),
            fix=f"remove the olm.bundle of {listed}, too, or add {them} to a channel",
            place=new.package.by_name[names[0]].place,
        )


def opm_error_changes(new: PackageGraph, old: PackageGraph | None = None) -> Iterator[Change]:
    """Yield what opm rejects in a package and did not reject before, except what is reported otherwise."""
    known = old.by_name if old is not None else {}
    found = [
        error
        for error in opm_errors(new.package)
        if error.rule not in _REPORTED_ELSEWHERE or (error.channel and error.channel not in known)
    ]
    before = {(e.rule, e.channel) for e in opm_errors(old.package)} if found and old is not None else set()
    for error in found:
        if (error.rule, error.channel) not in before:
            yield Change(
                ChangeKind.REJECTED_BY_OPM,
                new.name,
                error.channel,
                f"opm rejects the new catalog: {error.message}",
                fix=opm_fix(new.by_name[error.channel]) if error.channel and not error.rule else error.fix,
                place=error.place,
            )
