"""Where what is installed stands in the catalogs, or what it comes nearest to if it is nowhere."""

from __future__ import annotations

__all__ = ["elsewhere", "near_misses", "refusal", "refused", "whereabouts"]

import json
import shlex
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final

from everpath.explain.trace import Account, Question
from everpath.graph import ChannelGraph, PackageGraph
from everpath.model import OpmError
from everpath.resolvers import cluster_extension, subscription
from everpath.resolvers.cluster_extension import ClusterCatalog, ClusterExtension
from everpath.resolvers.resolution import InstalledBundle
from everpath.rules.opm_errors import opm_errors
from everpath.simulate import InstalledVersion
from everpath.versions import parse
from everpath.wording import NameSuggestions, join_names

#: Names and ranges that are told as examples of what would have matched.
_MOST: Final = 6


def whereabouts(sources: Sequence[ClusterCatalog], question: Question) -> Iterator[str]:
    """Sentences about where it is: its channels, or who is called almost so, and what would have matched."""
    asked = question.asked
    if asked is None:
        return
    packages = [source.package for source in sources if source.package is not None]
    channels = sorted({c for package in packages for c in package.channels_by_entry.get(asked.name, ())})
    if question.channel in channels:
        others = [name for name in channels if name != question.channel]
        if others:
            yield f"{asked.name} is also in {_channels(others)}."
        return
    if asked.is_known:
        there = f"it is in {_channels(channels)}" if channels else "it is in no channel at all"
        yield (
            f"{asked.name} is not in channel {question.channel} ({there}): there it is matched by name and "
            "version alone."
        )
    else:
        yield from _nowhere(packages, question, asked)
    for graph in _graphs(packages, question.channel):
        yield from _matches(graph)


def _channels(names: Sequence[str]) -> str:
    return f"channel{'s' if len(names) > 1 else ''} {join_names(names)}"


def _graphs(packages: Sequence[PackageGraph], channel: str) -> list[ChannelGraph]:
    return [graph for package in packages if (graph := package.by_name.get(channel)) is not None]


def _nowhere(packages: Sequence[PackageGraph], question: Question, asked: InstalledVersion) -> Iterator[str]:
    where = f"{asked.name} is nowhere in package {question.package}"
    if asked.version:
        yield f"{where}, version {asked.version}: it can be matched by name and version alone."
    else:
        yield f"{where}, and its name does not end in a version: it can be matched by name alone."
    names = dict.fromkeys(name for package in packages for name in package.channels_by_entry)
    if (meant := NameSuggestions(names).suggest(asked.name)) is not None:
        yield f"Did you mean {meant}?"
    yield from _nearest(packages, asked)


def _nearest(packages: Sequence[PackageGraph], asked: InstalledVersion) -> Iterator[str]:
    """The published versions on both sides of it."""
    version = asked.as_bundle("v0").version
    if version is None:
        return
    known = {(v, n) for package in packages for graph in package.channels for n, v in graph.versions.items()}
    ranked = sorted(known, key=lambda pair: (pair[0].key, pair[1]))
    place = bisect_left(ranked, version.key, key=lambda pair: pair[0].key)
    near = [f"{name} ({v})" for v, name in ranked[max(0, place - 1) : place + 1]]
    if near:
        yield f"The nearest published version{'s are' if len(near) > 1 else ' is'} {join_names(near)}."


def _matches(graph: ChannelGraph) -> Iterator[str]:
    """Names that entries accept without being entries themselves, and the ranges that are asked."""
    absent = sorted({*graph.replacers, *graph.skippers} - graph.entries.keys())
    if absent:
        yield f"Names that {graph.name} accepts from elsewhere: {join_names(absent, _MOST)}."
    ranges = [f"{span} ({name})" for name in reversed(graph.by_version) if (span := graph.ranges.get(name))]
    if ranges:
        yield f"Ranges that {graph.name} accepts from anywhere: {join_names(ranges, _MOST)}."
    if not absent and not ranges:
        yield f"No entry of {graph.name} names anything from elsewhere or has a skipRange."


def refused(sources: Sequence[ClusterCatalog]) -> Iterator[tuple[str, OpmError]]:
    """What opm has against the package in each catalog: what it refuses is not served, whatever OLM does."""
    for source in sources:
        if source.package is not None:
            yield from ((source.name, refusal) for refusal in opm_errors(source.package.package))


def refusal(catalog: str | None, found: OpmError) -> str:
    """A sentence about something that opm refuses; `catalog` where there are several."""
    if found.channel is not None:
        where = f" of catalog {catalog}" if catalog else ""
        return (
            f"opm refuses channel {found.channel}{where}, and serves no catalog that has it: {found.message}"
        )
    which = f"catalog {catalog}" if catalog else "the catalog"
    return f"opm refuses {which}, and does not serve it: {found.message}"


def near_misses(account: Account) -> Iterator[str]:
    """What is missing by a little: a version that was not given, a range that a pre-release is not in."""
    graph, installed = account.graph, account.installed
    version = installed.version if installed is not None else None
    if account.policy == "v1" and installed is not None and version is None:
        yield (
            "OLM v1 knows the version of what it has installed, and here it is not known: "
            "--installed takes a version in place of a name."
        )
    if graph is None or version is None or not version.is_prerelease or account.decision.next is not None:
        return
    core = parse(f"{version.major}.{version.minor}.{version.patch}")
    for name in reversed(graph.by_version):
        span = graph.ranges.get(name)
        if span is not None and core in span.intervals and version not in span.intervals:
            yield (
                f"{version} is a pre-release and comes before {core}: the skipRange '{span}' of {name} holds "
                f"{core}, and does not hold it."
            )


def elsewhere(account: Account, sources: Sequence[ClusterCatalog]) -> Iterator[str]:
    """What would move what stays or fails here: other channels, other catalogs, fewer conditions."""
    if account.installed is None or account.decision.next is not None:
        return
    yield from _subscriptions(account, sources) if account.policy == "v0" else _extensions(account, sources)


def _subscriptions(account: Account, sources: Sequence[ClusterCatalog]) -> Iterator[str]:
    assert account.installed is not None  # asked before
    (here,) = account.channels
    for source in sources:
        own = account.source is not None and source.name == account.source.name
        for name in sorted(source.package.by_name) if source.package is not None else ():
            if own and name == here:
                continue
            found = _moved(source, name, account.installed)
            if found is not None:
                yield _switch(name, found) if own else _crossing(source.name, name, found)


def _switch(channel: str, found: str) -> str:
    patch = shlex.quote(json.dumps({"spec": {"channel": channel}}))
    command = f"kubectl patch subscription NAME -n NAMESPACE --type merge -p {patch}"
    return f"A Subscription to channel {channel} would move it to {found}: {command}"


def _crossing(catalog: str, channel: str, found: str) -> str:
    return (
        f"Catalog {catalog} has {found} for it in channel {channel}, but a Subscription never leaves its "
        "catalog: change spec.source and spec.sourceNamespace."
    )


def _extensions(account: Account, sources: Sequence[ClusterCatalog]) -> Iterator[str]:
    package = next((s.package.name for s in sources if s.package is not None), "")
    found = cluster_extension.resolve(sources, ClusterExtension(package, installed=account.installed)).next
    if found is not None:
        yield f"A ClusterExtension that lists no channels and asks for no version would take {found}."


def _moved(source: ClusterCatalog, channel: str, installed: InstalledBundle) -> str | None:
    assert source.package is not None  # its channels were listed
    return subscription.resolve(source.package.by_name[channel], installed).next
