"""releases.yaml in a few lines, and random sequences of releases, for tests."""

from __future__ import annotations

__all__ = ["EMPTY", "drawn", "history", "release_requests", "source"]

from textwrap import dedent

from hypothesis import strategies as st

from everpath.errors import UsageError
from everpath.loaders.releases.parser import parse_releases
from everpath.model import Package
from everpath.releases.channel_edges import catalog_package
from everpath.releases.model import ChannelDeclaration, ReleasesFile, Variant
from everpath.releases.release_plan import ReleasePlan, ReleaseRequest, plan_release

SOURCE = """\
package: acme
defaultChannel: stable
releases:
"""


def source(text: str, top: str = "package: acme\ndefaultChannel: stable") -> ReleasesFile:
    """Return the file with these releases, given as items of a list."""
    return parse_releases(f"{top}\nreleases:\n{dedent(text)}".encode(), "releases.yaml")


def drawn(made: Package | ReleasesFile, variant: Variant | None = None) -> dict[str, list[str]]:
    """Channels in the notation of the tests, without the package's name: `0.2.0: 0.1.0 / 0.1.1 / range`."""
    whole = catalog_package(made, variant or Variant("")) if isinstance(made, ReleasesFile) else made
    short = f"{whole.name}.v"
    found: dict[str, list[str]] = {}
    for channel in whole.channels:
        lines = found.setdefault(channel.name, [])
        for entry in channel.entries:
            skips = ", ".join(name.removeprefix(short) for name in entry.skips)
            parts = [(entry.replaces or "").removeprefix(short), skips, entry.skip_range or ""]
            edges = " / ".join(part or "-" for part in parts)
            while edges.endswith(" / -") or edges == "-":
                edges = edges.removesuffix("-").removesuffix(" / ")
            lines.append(f"{entry.name.removeprefix(short)}: {edges}".removesuffix(": "))
    return found


EMPTY = ReleasesFile("acme", "stable", channels=(ChannelDeclaration("candidate"), ChannelDeclaration("fast")))
_CHANNELS = ("stable", "candidate", "fast")


@st.composite
def _versions(draw: st.DrawFn, so_far: ReleasesFile) -> str:
    """Mostly one of the next two patch, minor or major versions; sometimes any."""
    bumps = ("patch", "patch", "patch", "minor", "minor", "major", "any")
    bump, more = draw(st.sampled_from(bumps)), draw(st.integers(1, 2))
    major, minor, patch = max((r.semver.key[:3] for r in so_far.releases), default=(0, 1, 0))
    if bump == "any":
        return f"0.{draw(st.integers(0, 3))}.{draw(st.integers(0, 3))}"
    if bump == "patch":
        return f"{major}.{minor}.{int(patch) + more}"  # type: ignore[arg-type]
    early = draw(st.sampled_from(("", "", "-rc.1")))
    return f"{major}.{int(minor) + more}.0{early}" if bump == "minor" else f"{int(major) + more}.0.0{early}"  # type: ignore[arg-type]


@st.composite
def release_requests(draw: st.DrawFn, so_far: ReleasesFile) -> ReleaseRequest:
    """A request for a release: above the head, of a z-stream, or with explicit edges."""
    known = [release.version for release in so_far.releases]
    version = draw(_versions(so_far))
    channels = tuple(draw(st.lists(st.sampled_from(_CHANNELS), max_size=3, unique=True))) if known else ()
    standing = [release.version for release in so_far.releases if release.withdrawn is None]
    withdraw = draw(st.lists(st.sampled_from(standing), max_size=2, unique=True)) if standing else []
    request = ReleaseRequest(
        version,
        channels,
        withdraw=tuple(withdraw),
        reason=draw(st.sampled_from((None, "it is: bad"))),
        pins=draw(st.sampled_from((None, None, "../digests: ours.txt"))),
    )
    kind = draw(st.sampled_from(("top", "top", "zstream", "zstream", "stated")))
    if kind == "zstream" or not known:
        return request._replace(zstream=kind == "zstream")
    if kind == "stated":
        skips = tuple(draw(st.lists(st.sampled_from(known), max_size=2, unique=True)))
        return request._replace(replaces=draw(st.sampled_from(known)), skips=skips)
    return request


@st.composite
def history(draw: st.DrawFn, most: int = 9) -> list[ReleasePlan]:
    """The plans of several releases, starting with an empty file. Refused requests are left out."""
    so_far, plans = EMPTY, list[ReleasePlan]()
    for _ in range(draw(st.integers(1, most))):
        try:
            plan = plan_release(so_far, draw(release_requests(so_far)))
        except UsageError:
            continue
        plans.append(plan)
        so_far = plan.source
    return plans
