"""What a resolver does with one installed version, and what it says while it makes up its mind.

The decision is the resolver's own, heard with a reporter; the walk behind it is simulate's. Nothing here
decides, so that `why` cannot disagree with `simulate`.
"""

from __future__ import annotations

__all__ = ["Account", "Question", "accounts"]

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
from everpath.upgrade_paths import PathEnd, UpgradePath


class Question(NamedTuple):
    """What is asked of one channel of one package; `asked` None: nothing is installed yet."""

    package: str
    channel: str
    asked: InstalledVersion | None
    policies: tuple[ResolverName, ...] = ("v0", "v1")
    starting: str | None = None
    terms: ClusterExtensionOptions = ClusterExtensionOptions()

    @property
    def channels(self) -> tuple[str, ...]:
        """Those that a ClusterExtension lists; empty for all."""
        return (self.channel,) if self.terms.channels is None else self.terms.channels

    def scenario(self, policy: ResolverName) -> Scenario:
        """The same question as `simulate` is asked it."""
        return Scenario(
            resolvers=(policy,),
            channels=frozenset((self.channel,)),
            new_install=self.asked is None and self.starting is None,
            starting_csv=self.starting,
            options=self.terms if policy == "v1" else ClusterExtensionOptions(),
        )


class Account(NamedTuple):
    """One resolver's decision, all that was heard of it, and the walk that begins with it.

    `graph` is the channel that is followed; None if there is none, or several. Catalogs are named where there
    are several.
    """

    policy: ResolverName
    channels: tuple[str, ...]
    source: ClusterCatalog | None
    graph: ChannelGraph | None
    installed: InstalledBundle | None
    decision: Resolution
    remarks: tuple[TraceStep, ...]
    path: tuple[str, ...]
    end: PathEnd
    reason: str
    catalog: str | None = None

    @property
    def stop(self) -> str | None:
        """Where the walk ends."""
        return self.path[-1] if self.path else self.installed.name if self.installed is not None else None

    @property
    def is_content(self) -> bool:
        """Whether there is nothing to mend: users arrive at the head."""
        return self.end is PathEnd.HEAD


def accounts(sources: Sequence[ClusterCatalog], question: Question) -> Iterator[Account]:
    """A Subscription's account in every catalog that has the channel, and one of a ClusterExtension.

    Where no catalog has it, the one in which OLM would look for it. Cost: one question each, and the walks.
    """
    if "v0" in question.policies:
        having = [source for source in sources if _channel(source, question.channel) is not None]
        for source in having or _knowing(sources)[:1]:
            yield _subscription(source, question, named=len(sources) > 1)
    if "v1" in question.policies and question.starting is None:
        yield _extension(sources, question)


def _knowing(sources: Sequence[ClusterCatalog]) -> list[ClusterCatalog]:
    return [source for source in sources if source.package is not None]


def _channel(source: ClusterCatalog, name: str) -> ChannelGraph | None:
    return source.package.by_name.get(name) if source.package is not None else None


def _subscription(source: ClusterCatalog, question: Question, *, named: bool) -> Account:
    graph = _channel(source, question.channel)
    installed = question.asked.as_bundle("v0") if question.asked is not None else None
    heard: list[TraceStep] = []
    decision = subscription.resolve(graph, installed, starting_csv=question.starting, trace=heard.append)
    if graph is None:
        decision = Resolution(None, subscription.no_channel_failure(question.package, question.channel))
    path, end, reason = _walk([source], question, "v0", decision)
    catalog = source.name if named else None
    return Account(
        "v0",
        (question.channel,),
        source,
        graph,
        installed,
        decision,
        tuple(heard),
        path,
        end,
        reason,
        catalog,
    )


def _extension(sources: Sequence[ClusterCatalog], question: Question) -> Account:
    installed = question.asked.as_bundle("v1") if question.asked is not None else None
    terms, heard = question.terms, list[TraceStep]()
    wanted = ClusterExtension(
        question.package, question.channels, terms.version_range, terms.self_certified, installed
    )
    decision = cluster_extension.resolve(sources, wanted, heard.append)
    path, end, reason = _walk(sources, question, "v1", decision)
    served = [s._replace(package=served_package(s.package)) if s.package is not None else s for s in sources]
    graphs = [(s, g) for s in served for c in question.channels if (g := _channel(s, c)) is not None]
    source, graph = graphs[0] if len(graphs) == 1 else (None, None)
    is_only = len(sources) == 1
    catalog = None if is_only else decision.catalog
    remarks = tuple(remark._replace(catalog=None) if is_only else remark for remark in heard)
    return Account(
        "v1",
        question.channels,
        source,
        graph,
        installed,
        decision,
        remarks,
        path,
        end,
        reason,
        catalog,
    )


def _walk(
    sources: Sequence[ClusterCatalog], question: Question, policy: ResolverName, decision: Resolution
) -> tuple[tuple[str, ...], PathEnd, str]:
    """simulate's row; where it has none, because there is no such channel, the failure itself."""
    row = _row(sources, question, policy)
    if row is not None:
        return tuple(row.hops), row.end, row.reason
    failure = decision.failure or ResolutionFailure(FailureKind.NO_CHANNEL, ())
    return (), PathEnd.ERROR, failure.message or failure.kind.value


def _row(sources: Sequence[ClusterCatalog], question: Question, policy: ResolverName) -> UpgradePath | None:
    asked = [question.asked] if question.asked is not None else None
    for sheet in simulate_package(sources, question.scenario(policy), asked):
        for line in sheet.installed:
            return next(line.paths, None)
    return None
