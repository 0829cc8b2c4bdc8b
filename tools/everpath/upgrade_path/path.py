"""The upgrade path of one installed version under one resolver."""

from __future__ import annotations

__all__ = ["UpgradePath"]

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from everpath.resolvers import ResolverName
from everpath.resolvers.resolution import ResolutionFailure
from everpath.upgrade_path.hops import Hops, PathEnd


@dataclass(frozen=True, slots=True)
class UpgradePath:
    """The versions that OLM installs on a cluster that has `installed`, and why it stops there.

    `installed` is None for a new installation; its first hop is then the version that is installed first.
    A loop ends with the first version that is installed twice. `failure` is set if `end` is `PathEnd.ERROR`.
    With several catalogs, `catalog` is that of the Subscription, and `sources` has the catalog of each hop.
    `origins` are the channels that a cluster leaves that switches to `channel`. `describe` returns `reason`.
    """

    package: str
    channel: str
    resolver: ResolverName
    installed: str | None
    hops: Hops | tuple[str, ...]
    end: PathEnd
    describe: Callable[[UpgradePath], str] = field(compare=False, repr=False)
    failure: ResolutionFailure | None = None
    catalog: str | None = None
    sources: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()

    @classmethod
    def in_missing_channel(
        cls,
        package: str,
        channel: str,
        resolver: ResolverName,
        installed: str | None,
        failure: ResolutionFailure,
    ) -> UpgradePath:
        """Return the path of a cluster whose channel is not in the catalog. `failure` is that of OLM."""
        reason = failure.message or failure.kind.value
        return cls(package, channel, resolver, installed, (), PathEnd.ERROR, lambda _: reason, failure)

    def at_goal(self) -> UpgradePath:
        """Return the path of a cluster that stays where it is because that is a goal."""
        return replace(self, end=PathEnd.HEAD, describe=lambda _: "is at a goal")

    @property
    def next(self) -> str | None:
        """The first hop."""
        return self.hops[0] if self.hops else None

    @property
    def last(self) -> str | None:
        """The version that runs at the end; None if nothing is installed at all."""
        return self.hops[-1] if self.hops else self.installed

    @property
    def reaches_goal(self) -> bool:
        """Whether the path ends at a goal of the channel."""
        return self.end is PathEnd.HEAD

    @property
    def reason(self) -> str:
        """Why the path ends where it ends, in one sentence. Computed on access."""
        return self.describe(self)
