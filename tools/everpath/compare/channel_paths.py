"""Where whoever has a version installed goes in a channel, which need not be the channel it came from."""

from __future__ import annotations

__all__ = ["Installations", "Road", "Roads", "installations"]

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property
from typing import ClassVar, NamedTuple

from everpath.compare.differences import whole
from everpath.graph import ChannelGraph, PackageGraph
from everpath.resolvers import ResolverName, olm_v0, olm_v1
from everpath.resolvers.go_quote import go_quote
from everpath.resolvers.resolution import FailureKind, InstalledBundle, Resolution, ResolutionFailure
from everpath.resolvers.subscription import no_channel_failure
from everpath.upgrade_paths.goals import path_goals
from everpath.upgrade_paths.hops import LastEntry, PathEnd, hops_from, last_entries
from everpath.upgrade_paths.next_hops import first_hop_v1, next_hops_v1
from everpath.versions import Version

#: What runs somewhere: names, each with the version that its bundle had when it was installed.
Installations = Mapping[str, Version | None]


class Road(NamedTuple):
    """The way of one installed version: the next hop, where all hops end, how many they are, and why."""

    next: str | None
    end: PathEnd
    stop: str
    hops: int
    failure: ResolutionFailure | None = None

    @property
    def arrives(self) -> bool:
        """Whether it ends where the channel leads to."""
        return self.end is PathEnd.HEAD


def installations(graph: ChannelGraph) -> dict[str, Version | None]:
    """Everything somebody may have from a channel: each of its entries, skipped ones too."""
    return {name: graph.versions.get(name) for name in graph.entries}


class Roads:
    """The roads of all installed versions in one channel under one policy; `graph` None: it is not there.

    An installed version that is no entry here, or is one of another version, takes its first hop by what was
    installed and goes on as an entry does. Cost: O((edges + ranges) · log n), then log n a version.
    """

    #: Whether the channel is all those of a package as one.
    spans: ClassVar[bool] = False

    def __init__(
        self,
        graph: ChannelGraph | None,
        policy: ResolverName,
        installed: Installations,
        where: tuple[str, str],
        *,
        is_trial: bool = False,
    ) -> None:
        self.graph = graph if graph is not None and graph.entries else None
        self.policy: ResolverName = policy
        self.installed = installed
        self._where = where
        self._is_trial = is_trial
        self._known: dict[str, Road] = {}
        self._failures: Mapping[str, ResolutionFailure] = {}
        self._failure: ResolutionFailure | None = None
        self._hops: Mapping[str, str | None] = {}
        if self.graph is None:
            self._failure = None if policy == "v1" else no_channel_failure(*where)
        elif policy == "v1":
            answers = next_hops_v1(self._package, self.graph, self._channels)
            self._hops, self._failures = answers.next, answers.failures
        else:
            hops = olm_v0.next_hops(self.graph)
            self._failure, self._failures = hops.failure, hops.failures
            self._hops = {n: None if n in hops.failures else to for n, to in hops.next.items()}

    @property
    def _channels(self) -> tuple[str, ...] | None:
        """What a ClusterExtension says; None: the channel itself."""
        return None

    def over(self, graph: ChannelGraph) -> Roads:
        """The roads of the same in a channel that is only tried. Their hops are not counted."""
        return Roads(graph, self.policy, self.installed, self._where, is_trial=True)

    def road(self, name: str) -> Road:
        """The road of one installed version. O(1) when it is asked for again."""
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = self._found(name)
        return known

    def _found(self, name: str) -> Road:
        if self._failure is not None:
            return Road(None, PathEnd.ERROR, name, 0, self._failure)
        if self.knows(name):
            return self._from_entry(name)
        following, failure = self._first_hop(name, self.installed.get(name))
        if failure is not None:
            return Road(None, PathEnd.ERROR, name, 0, failure)
        if following is None:
            return Road(None, PathEnd.HEAD if name in self.homes else PathEnd.STRANDED, name, 0)
        onward = self._from_entry(following)
        return onward._replace(next=following, hops=onward.hops + 1)

    def entry_road(self, name: str) -> Road:
        """The road of whoever has an entry of this very channel."""
        if self._failure is not None:
            return Road(None, PathEnd.ERROR, name, 0, self._failure)
        return self._from_entry(name)

    def path(self, name: str) -> tuple[str, ...]:
        """The entries after an installed version; in a circle up to the first one that is met twice."""
        first = self.road(name).next
        if first is None:
            return ()
        return hops_from(self._hops, name) if self.knows(name) else (first, *hops_from(self._hops, first))

    def following(self, name: str) -> str | None:
        """The next hop of an entry."""
        return self._hops.get(name)

    @cached_property
    def homes(self) -> frozenset[str]:
        """Where a road should lead: to the head; under v1, which knows no heads, to the newest as well."""
        return frozenset(path_goals(self.graph, self.policy) if self.graph is not None else ())

    @property
    def summits(self) -> Collection[str]:
        """Entries above which there is nothing to reach, however low they are."""
        return () if self.graph is None or self.graph.head is None else (self.graph.head,)

    def is_head(self, name: str) -> bool:
        return self.graph is not None and name == self.graph.head

    def version(self, name: str) -> Version | None:
        """The version of an entry here, or of what is installed and has no entry."""
        known = self.graph.versions.get(name) if self.graph else None
        return known or self.installed.get(name)

    def tied(self, name: str) -> tuple[str, ...]:
        """The first entries of one version on a road between which OLM v1 chooses by chance; none, if so.

        Cost: the hops, and where versions are equal the edges over them.
        """
        if self.policy != "v1" or self.graph is None or not self._twins:
            return ()
        stops = (name, *self.path(name))
        for here, there in zip(stops, (*stops[1:], stops[-1]), strict=True):
            if there in self._twins and (rivals := self._rivals(here, there)):
                return (there, *rivals)
        return ()

    def _rivals(self, here: str, there: str) -> list[str]:
        """What v1 may take as well: what has the version that is installed needs no edge."""
        assert self.graph is not None
        version = self.version(here)
        if here == there or version == self.version(there):
            return self._twins[there]
        accepting = {edge.successor for edge in self.graph.successors(here, version)}
        return [name for name in self._twins[there] if name in accepting]

    @cached_property
    def _twins(self) -> Mapping[str, list[str]]:
        """For each entry that has any: the others of its version, that are deprecated if it is."""
        assert self.graph is not None
        alike: dict[object, list[str]] = {}
        for name, standing in olm_v1.sort_keys(self.graph).items():
            alike.setdefault(standing, []).append(name)
        groups = (names for names in alike.values() if len(names) > 1)
        return {name: [n for n in names if n != name] for names in groups for name in names}

    def knows(self, name: str) -> bool:
        """Whether this channel has what is installed, and as what it is."""
        if self.graph is None or name not in self.graph.entries:
            return False
        here = self.graph.versions.get(name)
        there = self.installed.get(name, here)
        return here is there or (here is not None and there is not None and here.text == there.text)

    def _from_entry(self, name: str) -> Road:
        # Of a channel that is declared twice OLM v1 takes the last, which may lead to what this one has not.
        stop, end = self._ends.get(name) or LastEntry(name, PathEnd.STRANDED)
        following, hops = self._hops.get(name), self._lengths.get(name, 0)
        if failure := self._failures.get(stop):
            return Road(following, PathEnd.ERROR, stop, hops, failure)
        if end is PathEnd.STRANDED and stop in self.homes:
            end = PathEnd.HEAD
        return Road(following, end, stop, hops)

    @cached_property
    def _ends(self) -> Mapping[str, LastEntry]:
        assert self.graph is not None  # or there is no entry to ask for
        return last_entries(self._hops, self.graph.head, self.graph.entries)

    @cached_property
    def _lengths(self) -> Mapping[str, int]:
        """How many hops each entry has before it; of a circle none is counted. O(entries)."""
        if self._is_trial:
            return dict.fromkeys(self._hops, 0)
        known: dict[str, int] = {}
        for start in self._hops:
            trail, here = list[str](), start
            while here not in known:
                below = self._hops.get(here)
                known[here] = 0
                trail.append(here)
                if below is None or self._ends[here].end is PathEnd.LOOP:
                    break
                here = below
            for name in reversed(trail):
                below = self._hops.get(name)
                is_last = below is None or self._ends[name].end is PathEnd.LOOP
                known[name] = 0 if is_last or below is None else known[below] + 1
        return known

    def _first_hop(self, name: str, version: Version | None) -> tuple[str | None, ResolutionFailure | None]:
        if self.graph is None:
            return None, self._no_bundles(version)
        if self.policy == "v1":
            decision = self._arrival(InstalledBundle(name, version))
            return decision.next, decision.failure
        if version is not None and (failure := self._panic(version)) is not None:
            return None, failure
        best = self._best(self._accepting(name, version))
        return None if best == name else best, None

    def _accepting(self, name: str, version: Version | None) -> list[str | None]:
        assert self.graph is not None
        named = [edge.successor for edge in self.graph.named_edges(name)]
        return [*named, self._chosen(version) if version is not None else None]

    def _best(self, names: Iterable[str | None]) -> str | None:
        ranked = [name for name in names if name is not None and name in self._rank]
        return min(ranked, key=self._rank.__getitem__, default=None)

    @cached_property
    def _package(self) -> PackageGraph:
        """The package as OLM v1 meets it: in a channel that is only tried, with that channel in its place."""
        assert self.graph is not None
        return whole(self.graph)

    @cached_property
    def _arrival(self) -> Callable[[InstalledBundle], Resolution]:
        """What OLM v1 does with what is installed and has no entry here."""
        assert self.graph is not None
        return first_hop_v1(self._package, self.graph, self._channels)

    @cached_property
    def _rank(self) -> Mapping[str, int]:
        """The entries that may be taken, the best at 0."""
        assert self.graph is not None
        refused = olm_v0.uninstallable(self.graph)
        return {n: i for i, n in enumerate(olm_v0.sort_channel(self.graph).chain) if n not in refused}

    @cached_property
    def _chosen(self) -> Callable[[Version], str | None]:
        assert self.graph is not None
        return self.graph.coverage.chooser(self._rank)

    def _panic(self, version: Version) -> ResolutionFailure | None:
        """OLM v0 asks every range of the chain before it chooses."""
        assert self.graph is not None
        if not self.graph.panicking_entries:
            return None
        guilty = {n for n in self.graph.panicking_entries if self.graph.ranges[n].panics_on(version)}
        return next(
            (olm_v0.panic_failure(n) for n in olm_v0.sort_channel(self.graph).chain if n in guilty), None
        )

    def _no_bundles(self, version: Version | None) -> ResolutionFailure:
        """operator-controller's complaint, in its words."""
        package, channel = self._where
        installed = f"error upgrading from currently installed version {go_quote(str(version))}: "
        words = f"{installed}no bundles found for package {go_quote(package)}"
        words += f" in channels [{channel}]" if self._channels is None else ""
        kind = FailureKind.NO_CHANNEL if self.graph is None else FailureKind.NO_BUNDLES
        return ResolutionFailure(kind, (), words if version is not None else "")
