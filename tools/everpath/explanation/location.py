"""Where the installed version is in the catalogs, near misses and alternatives."""

from __future__ import annotations

__all__ = ["alternatives", "location", "near_misses", "opm_error_text"]

import json
import shlex
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final

from everpath.explanation.trace import ExplainQuery, ResolverTrace
from everpath.graph import ChannelGraph, PackageGraph
from everpath.model import OpmError
from everpath.resolvers import cluster_extension, subscription
from everpath.resolvers.cluster_extension import ClusterCatalog, ClusterExtension
from everpath.resolvers.resolution import InstalledBundle
from everpath.simulate import InstalledVersion
from everpath.versions import parse
from everpath.wording import NameSuggestions, join_names

#: Names and ranges that are shown as examples.
_MOST: Final = 6


def location(sources: Sequence[ClusterCatalog], query: ExplainQuery) -> Iterator[str]:
    """Yield the channels of the installed version, or similar names and what the channel accepts."""
    installed = query.installed
    if installed is None:
        return
    packages = [source.package for source in sources if source.package is not None]
    channels = sorted({c for package in packages for c in package.channels_by_entry.get(installed.name, ())})
    if query.channel in channels:
        others = [name for name in channels if name != query.channel]
        if others:
            yield f"{installed.name} is also in {_channels(others)}."
        return
    if installed.is_known:
        there = f"it is in {_channels(channels)}" if channels else "it is in no channel"
        yield (
            f"{installed.name} is not in channel {query.channel} ({there}); it is matched by name and "
            "version."
        )
    else:
        yield from _not_in_package(packages, query, installed)
    for package in packages:
        if (graph := package.by_name.get(query.channel)) is not None:
            yield from _accepted_versions(graph)


def _channels(names: Sequence[str]) -> str:
    return f"channel{'s' if len(names) > 1 else ''} {join_names(names)}"


def _not_in_package(
    packages: Sequence[PackageGraph], query: ExplainQuery, installed: InstalledVersion
) -> Iterator[str]:
    where = f"{installed.name} is not in package {query.package}"
    if installed.version:
        yield f"{where}, version {installed.version}; it is matched by name and version."
    else:
        yield f"{where}, and its name does not end in a version; it is matched by name."
    names = dict.fromkeys(name for package in packages for name in package.channels_by_entry)
    if (meant := NameSuggestions(names).suggest(installed.name)) is not None:
        yield f"Did you mean {meant}?"
    yield from _neighbouring_versions(packages, installed)


def _neighbouring_versions(packages: Sequence[PackageGraph], installed: InstalledVersion) -> Iterator[str]:
    """Yield the next lower and the next higher published version."""
    version = installed.as_bundle("v0").version
    if version is None:
        return
    known = {(v, n) for package in packages for graph in package.channels for n, v in graph.versions.items()}
    ranked = sorted(known, key=lambda pair: (pair[0].key, pair[1]))
    place = bisect_left(ranked, version.key, key=lambda pair: pair[0].key)
    near = [f"{name} ({v})" for v, name in ranked[max(0, place - 1) : place + 1]]
    if near:
        yield f"The nearest published version{'s are' if len(near) > 1 else ' is'} {join_names(near)}."


def _accepted_versions(graph: ChannelGraph) -> Iterator[str]:
    """Yield the names that entries accept and that are not entries, and the ranges."""
    absent = sorted({*graph.replacers, *graph.skippers} - graph.entries.keys())
    if absent:
        yield f"Names that {graph.name} accepts from other channels: {join_names(absent, _MOST)}."
    ranges = [f"{span} ({name})" for name in reversed(graph.by_version) if (span := graph.ranges.get(name))]
    if ranges:
        yield f"Ranges that {graph.name} accepts: {join_names(ranges, _MOST)}."
    if not absent and not ranges:
        yield f"No entry of {graph.name} names another version or has a skipRange."


def opm_error_text(error: OpmError, catalog: str | None = None) -> str:
    """Describe an error of opm, which serves no such catalog; `catalog` is set if there are several."""
    if error.channel is not None:
        where = f" of catalog {catalog}" if catalog else ""
        return f"opm rejects channel {error.channel}{where} and does not serve the catalog: {error.message}"
    which = f"catalog {catalog}" if catalog else "the catalog"
    return f"opm rejects {which} and does not serve it: {error.message}"


def near_misses(trace: ResolverTrace) -> Iterator[str]:
    """Yield near misses: a version that was not given, a range that excludes a pre-release."""
    graph, installed = trace.graph, trace.installed
    version = installed.version if installed is not None else None
    if trace.resolver == "v1" and installed is not None and version is None:
        yield (
            "The version of the installed bundle is unknown, but OLM v1 matches by version: "
            "pass a version to --installed."
        )
    if graph is None or version is None or not version.is_prerelease or trace.decision.next is not None:
        return
    core = parse(f"{version.major}.{version.minor}.{version.patch}")
    for name in reversed(graph.by_version):
        span = graph.ranges.get(name)
        if span is not None and core in span.intervals and version not in span.intervals:
            yield (
                f"{version} is a pre-release and lower than {core}: the skipRange '{span}' of {name} "
                f"contains {core}, but not {version}."
            )


def alternatives(trace: ResolverTrace, sources: Sequence[ClusterCatalog]) -> Iterator[str]:
    """Yield other channels, catalogs or options with which OLM would upgrade the installed version."""
    installed = trace.installed
    if installed is None or trace.decision.next is not None:
        return
    if trace.resolver == "v0":
        yield from _other_subscriptions(trace, installed, sources)
        return
    package = next((s.package.name for s in sources if s.package is not None), "")
    found = cluster_extension.resolve(sources, ClusterExtension(package, installed=installed)).next
    if found is not None:
        yield f"A ClusterExtension without channels and version would be upgraded to {found}."


def _other_subscriptions(
    trace: ResolverTrace, installed: InstalledBundle, sources: Sequence[ClusterCatalog]
) -> Iterator[str]:
    for source in sources:
        is_own = trace.source is not None and source.name == trace.source.name
        for channel, graph in sorted(source.package.by_name.items()) if source.package is not None else ():
            if is_own and channel in trace.channels:
                continue
            found = subscription.resolve(graph, installed).next
            if found is None:
                continue
            if is_own:
                patch = shlex.quote(json.dumps({"spec": {"channel": channel}}))
                command = f"kubectl patch subscription NAME -n NAMESPACE --type merge -p {patch}"
                yield f"A Subscription to channel {channel} would upgrade it to {found}: {command}"
            else:
                yield (
                    f"Catalog {source.name} has the update {found} in channel {channel}, but a Subscription "
                    "uses only its own catalog: change spec.source and spec.sourceNamespace."
                )
