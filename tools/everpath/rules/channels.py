"""Channels: names, duplicates and entries that opm and OLM accept."""

from __future__ import annotations

__all__ = ["channel_name", "duplicate_channel", "duplicate_entry", "empty_channel", "unsafe_name"]

from collections.abc import Iterator
from typing import Final

from everpath.graph import ChannelGraph, PackageGraph
from everpath.model import Channel, Entry
from everpath.rules.dns_names import LABEL_LIMIT, subdomain_error
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import channel_rule, package_rule
from everpath.wording import display_name, plural

_SLASHED: Final = (
    "OLM v0 cannot take its own identifiers apart again: every Subscription of the namespace fails"
)


_PLAIN: Final = "use lower-case letters, digits, '-' and '.' only"
_UNSELECTABLE: Final = "a ClusterExtension cannot select it: `channels` takes DNS-1123 names only"
_KEPT: Final = (
    "once it has users, keep it: the Subscriptions to a channel that is gone fail, and with them their "
    "namespace; give the next channel a name of lower-case letters, digits, '-' and '.'"
)


@channel_rule("EP107", "channel-name", Severity.ERROR)
def channel_name(graph: ChannelGraph) -> Iterator[Flaw]:
    """Every channel has a name.

    No Subscription can select a channel without a name, and opm refuses the catalog. Cost: none.
    """
    if not graph.name:
        yield Flaw(
            graph.channel.place.at("name"),
            f"a channel of {display_name(graph.package.name)} has no name",
            because=("opm refuses the catalog",),
            fix="give the channel a name",
        )


@package_rule("EP108", "duplicate-channel", Severity.ERROR)
def duplicate_channel(graph: PackageGraph) -> Iterator[Flaw]:
    """A channel is declared once in a package.

    opm refuses the catalog; where OLM v1 reads it all the same, the second document replaces the first.
    Cost: one look-up a channel.
    """
    for channel in graph.package.channels:
        first = graph.by_name[channel.name].channel
        if channel is not first:
            yield Flaw(
                channel.place,
                f"the channel {channel.name} is described twice",
                because=(f"the first description is in {first.place.file}", "opm refuses the catalog"),
                fix="join the two documents into one",
                channel=channel.name,
                related=first.place,
            )


@channel_rule("EP109", "duplicate-entry", Severity.ERROR)
def duplicate_entry(graph: ChannelGraph) -> Iterator[Flaw]:
    """No channel has two entries with the same name.

    They can have different edges, and opm refuses the catalog. Cost: one pass.
    """
    for entry in graph.channel.entries:
        if graph.entries[entry.name] is not entry:
            yield Flaw(
                entry.place,
                f"{entry.name or 'an entry without a name'} stands twice in the channel",
                because=("opm refuses the catalog",),
                fix="remove one of the two, and keep all edges on the other",
                entry=entry.name,
            )


@channel_rule("EP110", "empty-channel", Severity.ERROR)
def empty_channel(graph: ChannelGraph) -> Iterator[Flaw]:
    """A channel has entries.

    There is nothing to install from it, and opm refuses the catalog. Cost: none.
    """
    if not graph.channel.entries:
        yield Flaw(
            graph.channel.place,
            f"the channel {graph.name} has no entries",
            because=("opm refuses the catalog",),
            fix="add an entry; to retire a channel, keep its entries and deprecate it in olm.deprecations",
        )


@package_rule("EP111", "unsafe-name", Severity.ERROR)
def unsafe_name(graph: PackageGraph) -> Iterator[Flaw]:
    """Channels and bundles have names that OLM, opm and Kubernetes can keep apart.

    OLM v0 joins names with '/', takes them apart again and fails every Subscription of the namespace if
    there are too many parts. opm's JSON cache joins them with '_', so that two names can become one file.
    And a bundle's name becomes the name of an object in the cluster. An entry without a name or bundle is
    EP401's business. Cost: one look at each name.
    """
    for channel in graph.channels:
        yield from _channel_faults(channel.channel)
    entries = {name: entry for channel in reversed(graph.channels) for name, entry in channel.entries.items()}
    for name in graph.channels_by_entry:
        if name or name in graph.package.by_name:
            yield from _entry_faults(entries[name])
    yield from _collisions(graph)


def _channel_faults(channel: Channel) -> Iterator[Flaw]:
    fault = subdomain_error(channel.name) if channel.name else None
    if fault:
        has_slash = "/" in channel.name
        yield Flaw(
            channel.place.at("name"),
            f"the name of channel {channel.name!r} is not safe: {'it has a slash' if has_slash else fault}",
            because=(_SLASHED if has_slash else _UNSELECTABLE,),
            fix=_PLAIN if has_slash else _KEPT,
            channel=channel.name,
            severity=None if has_slash else Severity.WARNING,
        )


def _entry_faults(entry: Entry) -> Iterator[Flaw]:
    name = entry.name
    fault = subdomain_error(name)
    if fault:
        has_slash = "/" in name
        refused = "the cluster refuses an object of this name: it can never be installed"
        yield Flaw(
            entry.place.at("name"),
            f"the name of bundle {name!r} is not safe: {'it has a slash' if has_slash else fault}",
            because=(_SLASHED if has_slash else refused,),
            fix=_PLAIN,
            entry=name,
        )
    elif len(name) > LABEL_LIMIT:
        yield Flaw(
            entry.place.at("name"),
            f"the name of bundle {name} has {plural(len(name), 'character')}",
            because=(f"OLM v0 writes the name into labels, whose values end at {LABEL_LIMIT}",),
            fix=f"shorten it to {LABEL_LIMIT} characters before its release; afterwards the next one's",
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
                    f"{name} in {channel.name} and {first[1]} in {first[0]} are one file in opm's JSON cache",
                    because=("opm serves one of the two bundles under both names",),
                    fix=f"rename {culprit}: with a '_' in its name it was never installed",
                    entry=name,
                    channel=channel.name,
                )
