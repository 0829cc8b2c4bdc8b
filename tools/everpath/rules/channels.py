"""Channels: names, duplicates and entries that opm and OLM accept."""

from __future__ import annotations

__all__ = ["channel_name", "duplicate_channel", "duplicate_entry", "empty_channel", "unsafe_name"]

from collections.abc import Iterator
from typing import Final

from everpath.graph import ChannelGraph, PackageGraph
from everpath.model import Channel, Entry
from everpath.rules.findings import Flaw, RelatedPlace, Severity
from everpath.rules.kubernetes_names import LABEL_LIMIT, subdomain_error
from everpath.rules.registry import channel_rule, package_rule
from everpath.wording import count, quote_empty

_REJECTED: Final = "opm rejects the catalog"
_ALL_FAIL: Final = "every Subscription of the namespace fails in OLM v0"
_JOINED: Final = "OLM v0 joins catalog, channel and bundle with slashes, and cannot split them again"
_ALLOWED: Final = "use only lower-case letters, digits, '-' and '.'"


@channel_rule("EP107", "channel-name", Severity.ERROR)
def channel_name(graph: ChannelGraph) -> Iterator[Flaw]:
    """Every channel has a name.

    No Subscription can select a channel without a name, and opm rejects the catalog. Cost: none.
    """
    if not graph.name:
        yield Flaw(
            graph.channel.place.at("name"),
            f"a channel of {quote_empty(graph.package.name)} has no name",
            because=(_REJECTED,),
            fix="add a name",
        )


@package_rule("EP108", "duplicate-channel", Severity.ERROR)
def duplicate_channel(graph: PackageGraph) -> Iterator[Flaw]:
    """A package has one document for each channel.

    opm rejects the catalog. OLM v1 uses only the last document. Cost: one look-up a channel.
    """
    for channel in graph.package.channels:
        first = graph.by_name[channel.name].channel
        if channel is not first:
            yield Flaw(
                channel.place,
                f"the channel {channel.name} has two documents",
                because=(_REJECTED,),
                fix="merge the two documents",
                channel=channel.name,
                related=RelatedPlace("the first is in", first.place),
            )


@channel_rule("EP109", "duplicate-entry", Severity.ERROR)
def duplicate_entry(graph: ChannelGraph) -> Iterator[Flaw]:
    """No channel has two entries with the same name.

    opm rejects the catalog. Cost: one pass.
    """
    for entry in graph.channel.entries:
        if graph.entries[entry.name] is not entry:
            yield Flaw(
                entry.place,
                f"{entry.name or 'an entry without a name'} is in the channel twice",
                because=(_REJECTED,),
                fix="remove one of the two, and keep all edges on the other",
                entry=entry.name,
            )


@channel_rule("EP110", "empty-channel", Severity.ERROR)
def empty_channel(graph: ChannelGraph) -> Iterator[Flaw]:
    """A channel has entries.

    opm rejects the catalog. Cost: none.
    """
    if not graph.channel.entries:
        yield Flaw(
            graph.channel.place,
            f"the channel {graph.name} has no entries",
            because=(_REJECTED,),
            fix="add an entry; to retire a channel, keep its entries and deprecate it in olm.deprecations",
        )


@package_rule("EP111", "unsafe-name", Severity.ERROR)
def unsafe_name(graph: PackageGraph) -> Iterator[Flaw]:
    """OLM, opm and Kubernetes can use the names of channels and bundles.

    OLM v0 joins names with '/', and fails every Subscription of the namespace if it cannot split them again.
    opm joins them with '_' in its JSON cache, so that two bundles can have the same file. The API server
    requires a DNS-1123 name for a CSV. EP401 checks entries without a name or bundle. Cost: one test a name.
    """
    for channel in graph.channels:
        yield from _channel_faults(channel.channel)
    entries = {name: entry for channel in reversed(graph.channels) for name, entry in channel.entries.items()}
    for name in graph.channels_by_entry:
        if name or name in graph.package.by_name:
            yield from _entry_faults(entries[name])
    yield from _collisions(graph)


def _channel_faults(channel: Channel) -> Iterator[Flaw]:
    name = channel.name
    fault = subdomain_error(name) if name else None
    if fault and "/" in name:
        message = f"{_ALL_FAIL}: the name of channel {name!r} has a slash"
        yield Flaw(channel.place.at("name"), message, because=(_JOINED,), fix=_ALLOWED, channel=name)
    elif fault:
        yield Flaw(
            channel.place.at("name"),
            f"no ClusterExtension can select the channel {name!r}: {fault}",
            because=("`channels` of a ClusterExtension accepts only DNS-1123 names",),
            fix="keep a channel that has users: Subscriptions fail if it is removed; "
            "use lower-case letters, digits, '-' and '.' for the next one",
            channel=name,
            severity=Severity.WARNING,
        )


def _entry_faults(entry: Entry) -> Iterator[Flaw]:
    name = entry.name
    fault = subdomain_error(name)
    if fault and "/" in name:
        message = f"{_ALL_FAIL}: the name of bundle {name!r} has a slash"
        yield Flaw(entry.place.at("name"), message, because=(_JOINED,), fix=_ALLOWED, entry=name)
    elif fault:
        yield Flaw(
            entry.place.at("name"),
            f"the API server rejects the bundle name {name!r}: {fault}",
            because=("OLM cannot create a CSV with this name",),
            fix=_ALLOWED,
            entry=name,
        )
    elif len(name) > LABEL_LIMIT:
        yield Flaw(
            entry.place.at("name"),
            f"OLM v0 cannot use the bundle name {name} in labels: it has {count(len(name), 'character')}",
            because=(f"the value of a label has at most {LABEL_LIMIT}",),
            fix=f"before the release, shorten it to {LABEL_LIMIT} characters; after it, shorten the next one",
            entry=name,
            severity=Severity.WARNING,
        )


def _collisions(graph: PackageGraph) -> Iterator[Flaw]:
    """Yield pairs of channel and bundle with the same `CHANNEL_BUNDLE`."""
    files: dict[str, tuple[str, str]] = {}
    for channel in graph.channels:
        for name, entry in channel.entries.items():
            first = files.setdefault(f"{channel.name}_{name}", (channel.name, name))
            if first != (channel.name, name):
                # The pair with the shorter channel name has the '_' in the bundle name.
                culprit = min((first, (channel.name, name)), key=lambda pair: len(pair[0]))[1]
                yield Flaw(
                    entry.place.at("name"),
                    f"opm serves one bundle for two entries: {name} in {channel.name} and {first[1]} in "
                    f"{first[0]} have the same file in its JSON cache",
                    because=("the file is named CHANNEL_BUNDLE",),
                    fix=f"rename {culprit}: a bundle with a '_' in its name cannot be installed",
                    entry=name,
                    channel=channel.name,
                )
