"""The decision of a resolver for one installed version, the candidates, and the upgrade path.

The decision is that of the resolver itself, the path is that of `simulate`, so `why` cannot contradict
`simulate`.
"""

from __future__ import annotations

__all__ = ["ExplainQuery", "ResolverTrace", "trace_resolvers"]

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from everpath.graph import ChannelGraph
from everpath.resolvers import ResolverName, cluster_extension, subscription
from everpath.resolvers.catalog_candidates import served_package
from everpath.resolvers.cluster_extension import ClusterCatalog, ClusterExtension
from everpath.resolvers.resolution import (
    FailureKind,
    InstalledBundle,
    Resolution,
    ResolutionFailure,
    TraceStep,
)
from everpath.simulate import (
    ClusterExtensionOptions,
    InstalledVersion,
    Scenario,
    simulate_package,
)
from everpath.upgrade_path.path import UpgradePath


class ExplainQuery(NamedTuple):
    """A query about one channel of a package; `installed` is None for a new installation."""

    package: str
    channel: str
    installed: InstalledVersion | None
    resolvers: tuple[ResolverName, ...] = ("v0", "v1")
    starting_csv: str | None = None
    options: ClusterExtensionOptions = ClusterExtensionOptions()

    @property
    def channels(self) -> tuple[str, ...]:
        """`channels` of the ClusterExtension; empty: all."""
        return (self.channel,) if self.options.channels is None else self.options.channels

    def scenario(self, resolver: ResolverName) -> Scenario:
        """Return the same query for `simulate`."""
        return Scenario(
            resolvers=(resolver,),
            channels=frozenset((self.channel,)),
            new_install=self.installed is None and self.starting_csv is None,
            starting_csv=self.starting_csv,
            options=self.options if resolver == "v1" else ClusterExtensionOptions(),
        )


class ResolverTrace(NamedTuple):
    """The decision of one resolver, its steps, and the upgrade path that starts with it.

    `graph` is the channel of the Subscription or ClusterExtension; None if there is none, or several.
    `catalog` is set if there are several catalogs.
    """

    resolver: ResolverName
    channels: tuple[str, ...]
    source: ClusterCatalog | None
    graph: ChannelGraph | None
    installed: InstalledBundle | None
    decision: Resolution
    steps: tuple[TraceStep, ...]
    path: UpgradePath
    catalog: str | None = None

    @property
    def last(self) -> str | None:
        """The version at which the path ends."""
        if self.path.hops:
            return self.path.last
        return self.installed.name if self.installed is not None else None

    @property
    def reaches_goal(self) -> bool:
        return self.path.reaches_goal


def trace_resolvers(sources: Sequence[ClusterCatalog], query: ExplainQuery) -> Iterator[ResolverTrace]:
    """Yield the trace of a Subscription in each catalog with the channel, then that of a ClusterExtension.

    If no catalog has the channel, the first with the package is used. Cost: one resolution each, and the
    paths.
    """
    if "v0" in query.resolvers:
        with_channel = [source for source in sources if _channel(source, query.channel) is not None]
        with_package = [source for source in sources if source.package is not None]
        for source in with_channel or with_package[:1]:
            yield _trace_subscription(source, query, has_several_catalogs=len(sources) > 1)
    if "v1" in query.resolvers and query.starting_csv is None:
        yield _trace_extension(sources, query)


def _channel(source: ClusterCatalog, name: str) -> ChannelGraph | None:
    return source.package.by_name.get(name) if source.package is not None else None


def _trace_subscription(
    source: ClusterCatalog, query: ExplainQuery, *, has_several_catalogs: bool
) -> ResolverTrace:
    graph = _channel(source, query.channel)
    installed = query.installed.as_bundle("v0") if query.installed is not None else None
    steps: list[TraceStep] = []
    decision = subscription.resolve(graph, installed, starting_csv=query.starting_csv, trace=steps.append)
    if graph is None:
        decision = Resolution(None, subscription.no_channel_failure(query.package, query.channel))
    path = _path([source], query, "v0", installed, decision)
    catalog = source.name if has_several_catalogs else None
    channels = (query.channel,)
    return ResolverTrace("v0", channels, source, graph, installed, decision, tuple(steps), path, catalog)


def _trace_extension(sources: Sequence[ClusterCatalog], query: ExplainQuery) -> ResolverTrace:
    installed = query.installed.as_bundle("v1") if query.installed is not None else None
    options, steps = query.options, list[TraceStep]()
    wanted = ClusterExtension(
        query.package, query.channels, options.version_range, options.self_certified, installed
    )
    decision = cluster_extension.resolve(sources, wanted, steps.append)
    path = _path(sources, query, "v1", installed, decision)
    served = [s._replace(package=served_package(s.package)) if s.package is not None else s for s in sources]
    graphs = [(s, g) for s in served for c in query.channels if (g := _channel(s, c)) is not None]
    source, graph = graphs[0] if len(graphs) == 1 else (None, None)
    catalog = decision.catalog
    if len(sources) == 1:
        catalog, steps = None, [step._replace(catalog=None) for step in steps]
    return ResolverTrace(
        "v1", query.channels, source, graph, installed, decision, tuple(steps), path, catalog
    )


def _path(
    sources: Sequence[ClusterCatalog],
    query: ExplainQuery,
    resolver: ResolverName,
    installed: InstalledBundle | None,
    decision: Resolution,
) -> UpgradePath:
    """Return the path of `simulate`; if there is none, because there is no such channel, the failure."""
    requested = [query.installed] if query.installed is not None else None
    for result in simulate_package(sources, query.scenario(resolver), requested):
        for line in result.installed:
            if (path := next(line.paths, None)) is not None:
                return path
            break
    failure = decision.failure or ResolutionFailure(FailureKind.NO_CHANNEL, ())
    name = installed.name if installed is not None else None
    return UpgradePath.in_missing_channel(query.package, query.channel, resolver, name, failure)
