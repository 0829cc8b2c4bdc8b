"""Plans a new, promoted or withdrawn release as edits of releases.yaml."""

from __future__ import annotations

__all__ = [
    "AddRelease",
    "ReleasePlan",
    "ReleaseRequest",
    "ReleasesEdit",
    "SetChannels",
    "SetField",
    "SetPins",
    "apply_edits",
    "plan_release",
]

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Literal, NamedTuple, TypeAlias

from everpath.errors import UsageError
from everpath.graph import ChannelGraph
from everpath.releases.channel_edges import catalog_package
from everpath.releases.model import DeclaredEdges, Membership, Release, ReleasesFile
from everpath.releases.validation import find_problems
from everpath.versions import Version, VersionError, parse, parse_or_none


class AddRelease(NamedTuple):
    """Append a release."""

    release: Release


class SetField(NamedTuple):
    """Set a key of the release at a position."""

    position: int
    key: Literal["withdrawn", "bundle"]
    value: str | bool


class SetPins(NamedTuple):
    """Set the file of image digests."""

    value: str


class SetChannels(NamedTuple):
    """Set the channels of the release at a position."""

    position: int
    channels: tuple[Membership, ...]


ReleasesEdit: TypeAlias = AddRelease | SetField | SetPins | SetChannels


class ReleaseRequest(NamedTuple):
    """A requested release. By default it goes to the channels of the next lower release.

    Without `zstream` and without edges it replaces the head of each of its channels.
    """

    version: str
    channels: tuple[str, ...] = ()
    zstream: bool = False
    replaces: str | None = None
    skips: tuple[str, ...] = ()
    skip_range: str | None = None
    withdraw: tuple[str, ...] = ()
    reason: str | None = None
    min_kube_version: str | None = None
    pins: str | None = None

    @property
    def has_edges(self) -> bool:
        return bool(self.replaces or self.skips or self.skip_range)


class ReleasePlan(NamedTuple):
    """The edits for a release, and the file after them."""

    source: ReleasesFile
    edits: tuple[ReleasesEdit, ...]


def apply_edits(source: ReleasesFile, edits: Sequence[ReleasesEdit]) -> ReleasesFile:
    """Return the file after the edits."""
    releases = list(source.releases)
    for edit in edits:
        if isinstance(edit, AddRelease):
            releases.append(edit.release)
        elif isinstance(edit, SetPins):
            source = replace(source, pins=edit.value)
        elif isinstance(edit, SetChannels):
            releases[edit.position] = replace(releases[edit.position], channels=edit.channels)
        else:
            value = "" if edit.value is True else str(edit.value)
            release = releases[edit.position]
            is_withdrawal = edit.key == "withdrawn"
            changed = replace(release, withdrawn=value) if is_withdrawal else replace(release, bundle=value)
            releases[edit.position] = changed
    return replace(source, releases=tuple(releases))


def plan_release(
    source: ReleasesFile, request: ReleaseRequest, digests: Mapping[str, str] | None = None
) -> ReleasePlan:
    """Plan a new release, or more channels for an existing one. Raises UsageError if it is impossible.

    `digests` are the digests of existing bundles by CSV name. They are recorded in the file, because a
    released bundle must not change.
    """
    try:
        version = parse(request.version)
    except VersionError as error:
        hint = "a version has three numbers, such as 1.2.3 or 1.3.0-rc.1"
        raise UsageError(str(error), hint=hint) from error
    existing = _existing_release(source, request, version)
    edits = [*_digest_edits(source, digests or {}), *_withdrawal_edits(source, request)]
    if request.pins and request.pins != source.pins:
        edits.append(SetPins(request.pins))
    withdrawn = apply_edits(source, edits)
    edges: dict[str, DeclaredEdges] = {}
    for channel in _target_channels(source, request, version, existing):
        # Heads before the withdrawal: without edges to the withdrawn release, everything below it is a head.
        heads = [withdrawn.by_name[name] for name in _heads(source, channel)]
        _require_above(source, heads, version, channel)
        if request.has_edges:
            edges[channel] = _requested_edges(withdrawn, request)
        elif request.zstream:
            edges[channel] = DeclaredEdges(zstream=True)
        else:
            edges[channel] = _edges_above_head(withdrawn, heads, request.version, channel)
    _require_successors(source, request, edges)
    _require_same_stream(source, request, version, edges)
    if existing:
        more = (Membership(name, None if own == existing.edges else own) for name, own in edges.items())
        edits.append(SetChannels(source.releases.index(existing), (*existing.channels, *more)))
    else:
        edits.append(AddRelease(_new_release(request, edges)))
    after = apply_edits(source, edits)
    if problems := find_problems(after):
        raise UsageError("\n".join(problem.message for problem in problems), hint=problems[0].fix or None)
    return ReleasePlan(after, tuple(edits))


def _require_successors(
    source: ReleasesFile, request: ReleaseRequest, edges: Mapping[str, DeclaredEdges]
) -> None:
    """Refuse to withdraw the head of a channel that gets no new head."""
    withdrawn = {source.resolve_csv_name(text): text for text in request.withdraw}
    missing = {
        channel: withdrawn[head]
        for channel in source.channel_names
        for head in _heads(source, channel)
        if head in withdrawn and channel not in edges
    }
    for channel, text in missing.items():
        raise UsageError(
            f"new installations from the channel {channel!r} would still get {text}, its head",
            hint=f"release into that channel as well: --channel {','.join((*edges, *missing))}",
        )


def _require_same_stream(
    source: ReleasesFile, request: ReleaseRequest, version: Version, channels: Iterable[str]
) -> None:
    """Refuse to withdraw the head of another X.Y by a z-stream release, which does not take it over."""
    heads = {head for channel in channels for head in _heads(source, channel)}
    for text in request.withdraw if request.zstream else ():
        release = _find_release(source, text, "--withdraw")
        if source.csv_name(release) in heads and release.semver.minor_stream != version.minor_stream:
            ours, theirs = (f"{v.major}.{v.minor}" for v in (version, release.semver))
            raise UsageError(
                f"clusters on {text} would get no update: a z-stream of {ours} does not replace {theirs}",
                hint=f"leave out --zstream, so that {version} replaces it; or first release a version of "
                f"{theirs} with --zstream --withdraw {text}",
            )


def _existing_release(source: ReleasesFile, request: ReleaseRequest, version: Version) -> Release | None:
    """Return the release to add to more channels; None for a new release."""
    existing = next((r for r in source.releases if parse_or_none(r.version) == version), None)
    if existing is None:
        return None
    is_same = existing.version == request.version
    if not is_same or all(existing.edges_in(name) is not None for name in request.channels):
        same = "" if is_same else f", and OLM ignores build metadata: {request.version} is the same version"
        raise UsageError(
            f"{source.package} {existing.version} is already released{same}",
            hint="release a higher version; --channel NAME adds this one to another channel; "
            "`everpath generate` writes its files again",
        )
    if existing.withdrawn is not None or request.min_kube_version or request.version in request.withdraw:
        raise UsageError(
            f"{request.version} is already released and can only be added to channels",
            hint="leave out the other options" if existing.withdrawn is None else "release a higher version",
        )
    return existing


def _digest_edits(source: ReleasesFile, digests: Mapping[str, str]) -> list[ReleasesEdit]:
    return [
        SetField(position, "bundle", digests[source.csv_name(release)])
        for position, release in enumerate(source.releases)
        if release.bundle is None and source.csv_name(release) in digests
    ]


def _withdrawal_edits(source: ReleasesFile, request: ReleaseRequest) -> list[ReleasesEdit]:
    found: list[ReleasesEdit] = []
    for text in request.withdraw:
        release = _find_release(source, text, "--withdraw")
        if release.withdrawn is not None:
            raise UsageError(f"{text} is already withdrawn", hint="leave out --withdraw")
        found.append(SetField(source.releases.index(release), "withdrawn", request.reason or True))
    return found


def _find_release(source: ReleasesFile, text: str, option: str) -> Release:
    """Find the release of an option. Raises UsageError for an unknown one."""
    release = source.find_release(text)
    if release is not None:
        return release
    names = [*source.by_version, *source.by_name]
    near = get_close_matches(text, names, n=1)
    meant = f"did you mean {near[0]}?" if near else f"releases: {', '.join(source.by_version) or 'none'}"
    elsewhere = " (a release that is not in the file can only be named in the file)"
    raise UsageError(f"{option} {text}: no such release", hint=meant + elsewhere)


def _target_channels(
    source: ReleasesFile, request: ReleaseRequest, version: Version, existing: Release | None
) -> tuple[str, ...]:
    for name in request.channels:
        if name not in source.known_channels:
            near = get_close_matches(name, source.known_channels, n=1)
            meant = f"did you mean {near[0]!r}? " if near else ""
            raise UsageError(f"no channel {name!r}", hint=meant + _new_channel_hint(source, name))
    if request.channels:
        present = {membership.channel for membership in existing.channels} if existing else ()
        return tuple(name for name in dict.fromkeys(request.channels) if name not in present)
    previous = _previous_release(source, version)
    return tuple(m.channel for m in previous.channels) if previous else (source.default_channel,)


def _new_channel_hint(source: ReleasesFile, name: str) -> str:
    if source.channels:
        return f"To create a channel, add `- name: {name}` to `channels:` in the file."
    return f"To create a channel, add this line to the file: `channels: [{{name: {name}}}]`"


def _previous_release(source: ReleasesFile, version: Version) -> Release | None:
    """The highest release below a version that is in a channel."""
    lower = [r for r in source.releases if r.semver < version and r.channels]
    return max(lower, key=lambda r: r.semver.key, default=None)


def _heads(source: ReleasesFile, channel: str) -> tuple[str, ...]:
    package = catalog_package(source)
    found = next((c for c in package.channels if c.name == channel), None)
    return ChannelGraph(found, package).heads if found else ()


def _require_above(source: ReleasesFile, heads: Sequence[Release], version: Version, channel: str) -> None:
    for head in heads:
        if head.semver > version:
            raise UsageError(
                f"{version} is lower than {head.version}, the head of the channel {channel!r}: "
                "either no cluster would get it, or all would be downgraded",
                hint=f"release a version above {head.version}, or use another channel (--channel NAME). "
                + _new_channel_hint(source, "NAME"),
            )


def _requested_edges(source: ReleasesFile, request: ReleaseRequest) -> DeclaredEdges:
    """The edges of the request, with skips of the releases to withdraw."""
    texts = [*((request.replaces,) if request.replaces else ()), *request.skips]
    names = [source.csv_name(_find_release(source, text, "--replaces/--skips")) for text in texts]
    if request.replaces and names[0] in names[1:]:
        raise UsageError(
            f"{request.replaces} cannot be replaced and skipped: OLM v0 never installs a skipped release",
            hint=f"remove it from --skips and keep --replaces {request.replaces}",
        )
    more = [text for text in request.withdraw if source.resolve_csv_name(text) not in names]
    return DeclaredEdges(
        request.replaces, tuple(dict.fromkeys((*request.skips, *more))), request.skip_range, request.zstream
    )


def _edges_above_head(
    source: ReleasesFile, heads: Sequence[Release], version: str, channel: str
) -> DeclaredEdges:
    """Replace the head of a channel; in a new channel, the next lower release of the package."""
    if len(heads) > 1:
        names = ", ".join(head.version for head in heads)
        raise UsageError(
            f"the channel {channel!r} has {len(heads)} heads: {names}",
            hint=f"choose the edges: --replaces {heads[-1].version} --skips {heads[0].version}",
        )
    if not heads:
        previous = _previous_release(source, parse(version))
        return DeclaredEdges(_short_name(source, source.csv_name(previous))) if previous else DeclaredEdges()
    if heads[0].withdrawn is None:
        return DeclaredEdges(_short_name(source, source.csv_name(heads[0])))
    return _edges_above_withdrawn(source, heads[0], version, channel)


def _edges_above_withdrawn(source: ReleasesFile, head: Release, version: str, channel: str) -> DeclaredEdges:
    """The computed edges of a release that replaces a withdrawn head, to be written to the file."""
    top = Release(version, (Membership(channel),), DeclaredEdges(source.csv_name(head)))
    package = catalog_package(replace(source, releases=(*source.releases, top)))
    found = next(c for c in package.channels if c.name == channel)
    entry = found.by_name[source.csv_name(top)]
    skips = tuple(_short_name(source, name) for name in entry.skips)
    return DeclaredEdges(
        _short_name(source, entry.replaces) if entry.replaces else None, skips, entry.skip_range
    )


def _short_name(source: ReleasesFile, name: str) -> str:
    """The version of a release if it is unique, else its CSV name."""
    release = source.by_name.get(name)
    if release is None or source.find_release(release.version) is not release:
        return name
    return release.version


def _new_release(request: ReleaseRequest, edges: Mapping[str, DeclaredEdges]) -> Release:
    """Build the release, with one `from` if its edges are the same in all channels."""
    distinct = set(edges.values())
    shared = distinct.pop() if len(distinct) == 1 else None
    members = tuple(Membership(name, None if shared else own) for name, own in edges.items())
    return Release(
        request.version, members, shared or DeclaredEdges(), min_kube_version=request.min_kube_version or None
    )
