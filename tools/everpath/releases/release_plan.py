"""A release more, or one withdrawn: as edits of the source, to be applied to the text of the file."""

from __future__ import annotations

__all__ = [
    "AddRelease",
    "Edit",
    "ReleasePlan",
    "ReleaseRequest",
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
    """A release behind all others."""

    release: Release


class SetField(NamedTuple):
    """A key of the release at a position, given a value: its withdrawal, or the digest of its bundle."""

    position: int
    key: Literal["withdrawn", "bundle"]
    value: str | bool


class SetPins(NamedTuple):
    """The file of digests that the source names."""

    value: str


class SetChannels(NamedTuple):
    """The channels of the release at a position."""

    position: int
    channels: tuple[Membership, ...]


Edit: TypeAlias = AddRelease | SetField | SetPins | SetChannels


class ReleaseRequest(NamedTuple):
    """The release that somebody wants. Without channels it goes where the release before it went.

    Of `zstream` and the three ways to say from where it is reached at most one kind is given; with neither it
    replaces the head of each of its channels.
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
    def states_edges(self) -> bool:
        return bool(self.replaces or self.skips or self.skip_range)


class ReleasePlan(NamedTuple):
    """The source as it will be, and the edits that make it so."""

    source: ReleasesFile
    edits: tuple[Edit, ...]


def apply_edits(source: ReleasesFile, edits: Sequence[Edit]) -> ReleasesFile:
    """The source after the edits."""
    releases = list(source.releases)
    for edit in edits:
        if isinstance(edit, AddRelease):
            releases.append(edit.release)
        elif isinstance(edit, SetPins):
            source = replace(source, pins=edit.value)
        elif isinstance(edit, SetChannels):
            releases[edit.position] = replace(releases[edit.position], channels=edit.channels)
        else:
            releases[edit.position] = _set(releases[edit.position], edit)
    return replace(source, releases=tuple(releases))


def _set(release: Release, edit: SetField) -> Release:
    value = "" if edit.value is True else str(edit.value)
    return replace(release, withdrawn=value) if edit.key == "withdrawn" else replace(release, bundle=value)


def plan_release(
    source: ReleasesFile, wish: ReleaseRequest, digests: Mapping[str, str] | None = None
) -> ReleasePlan:
    """The source with the release that is wished for. Raises UsageError, with the remedy, if it cannot be.

    One that is released already can still be given more channels.
    `digests` are those of bundles that are released by now and therefore never change, by CSV name.
    """
    version = _version(wish.version)
    known = _promoted(source, wish, version)
    edits: list[Edit] = [*_frozen(source, digests or {}), *_withdrawals(source, wish), *_pinned(source, wish)]
    withdrawn = apply_edits(source, edits)
    origins: dict[str, DeclaredEdges] = {}
    for channel in _channels(source, wish, version, known):
        # Asked of the source as it was: what nothing leads to any more would make heads of all below it.
        heads = [withdrawn.by_name[name] for name in _heads(source, channel)]
        _require_above(source, heads, version, channel)
        origins[channel] = _origin(withdrawn, wish, heads, channel)
    _require_successors(source, wish, origins)
    _require_own_stream(source, wish, version, origins)
    edits.append(_added(source, known, origins) if known else AddRelease(_release(wish, origins)))
    after = apply_edits(source, edits)
    if found := find_problems(after):
        raise UsageError("\n".join(c.message for c in found), hint=found[0].fix or None)
    return ReleasePlan(after, tuple(edits))


def _require_successors(
    source: ReleasesFile, wish: ReleaseRequest, origins: Mapping[str, DeclaredEdges]
) -> None:
    """A head that is withdrawn must be succeeded in each of its channels."""
    withdrawn = {source.resolve_csv_name(text): text for text in wish.withdraw}
    missing = {
        channel: withdrawn[head]
        for channel in source.channel_names
        for head in _heads(source, channel)
        if head in withdrawn and channel not in origins
    }
    for channel, text in missing.items():
        raise UsageError(
            f"{text} is also the head of the channel {channel!r}: "
            "withdrawn, it would still be what every new installation there gets",
            hint=f"release into that channel, too: --channel {','.join((*origins, *missing))}",
        )


def _require_own_stream(
    source: ReleasesFile, wish: ReleaseRequest, version: Version, channels: Iterable[str]
) -> None:
    """A z-stream release stands in for those of its own X.Y and for no other head."""
    heads = {head for channel in channels for head in _heads(source, channel)}
    for text in wish.withdraw if wish.zstream else ():
        release = _known(source, text, "--withdraw")
        if source.csv_name(release) in heads and release.semver.minor_stream != version.minor_stream:
            ours, theirs = (f"{v.major}.{v.minor}" for v in (version, release.semver))
            raise UsageError(
                f"the z-stream of {ours} does not stand in for {theirs}: nothing would take {text}'s place",
                hint=f"leave out --zstream, and {version} takes it; or cut a release of {theirs} first, with "
                f"--zstream --withdraw {text}",
            )


def _version(text: str) -> Version:
    try:
        return parse(text)
    except VersionError as error:
        hint = "a version has three numbers, such as 1.2.3 or 1.3.0-rc.1"
        raise UsageError(str(error), hint=hint) from error


def _promoted(source: ReleasesFile, wish: ReleaseRequest, version: Version) -> Release | None:
    """The release that is to be in more channels; None for a new one."""
    twin = next((r for r in source.releases if parse_or_none(r.version) == version), None)
    if twin is None:
        return None
    if twin.version != wish.version or all(twin.edges_in(name) is not None for name in wish.channels):
        same = (
            ""
            if twin.version == wish.version
            else f", which OLM takes for the same version as {wish.version}"
        )
        raise UsageError(
            f"{source.package} {twin.version} is released already{same}",
            hint="a release is never changed: cut a higher version; `everpath generate` writes what is cut; "
            "--channel NAME adds it to another channel",
        )
    if twin.withdrawn is not None or wish.min_kube_version or wish.version in wish.withdraw:
        raise UsageError(
            f"{wish.version} is released already, and can only be added to channels",
            hint="cut a higher version" if twin.withdrawn is not None else "leave out the other options",
        )
    return twin


def _added(source: ReleasesFile, release: Release, origins: Mapping[str, DeclaredEdges]) -> SetChannels:
    """The release in more channels, with a `from` of their own where theirs is another."""
    more = (Membership(name, None if origin == release.edges else origin) for name, origin in origins.items())
    return SetChannels(source.releases.index(release), (*release.channels, *more))


def _frozen(source: ReleasesFile, digests: Mapping[str, str]) -> list[Edit]:
    return [
        SetField(position, "bundle", digests[source.csv_name(release)])
        for position, release in enumerate(source.releases)
        if release.bundle is None and source.csv_name(release) in digests
    ]


def _pinned(source: ReleasesFile, wish: ReleaseRequest) -> list[Edit]:
    return [SetPins(wish.pins)] if wish.pins and wish.pins != source.pins else []


def _withdrawals(source: ReleasesFile, wish: ReleaseRequest) -> list[Edit]:
    found: list[Edit] = []
    for text in wish.withdraw:
        release = _known(source, text, "--withdraw")
        if release.withdrawn is not None:
            raise UsageError(f"{text} is withdrawn already", hint="leave out --withdraw")
        found.append(SetField(source.releases.index(release), "withdrawn", wish.reason or True))
    return found


def _known(source: ReleasesFile, text: str, option: str) -> Release:
    """The release of that version or name."""
    release = source.find_release(text)
    if release is not None:
        return release
    names = [*source.by_version, *source.by_name]
    near = get_close_matches(text, names, n=1)
    meant = f"did you mean {near[0]}?" if near else f"there are {', '.join(source.by_version) or 'none yet'}"
    elsewhere = " (one that is published elsewhere can be named in the file itself)"
    raise UsageError(f"{option} {text}: there is no such release", hint=meant + elsewhere)


def _channels(
    source: ReleasesFile, wish: ReleaseRequest, version: Version, known: Release | None
) -> tuple[str, ...]:
    for name in wish.channels:
        if name not in source.known_channels:
            near = get_close_matches(name, source.known_channels, n=1)
            meant = f"did you mean {near[0]!r}? " if near else ""
            raise UsageError(f"there is no channel {name!r}", hint=meant + _opened(source, name))
    if wish.channels:
        has = {membership.channel for membership in known.channels} if known else ()
        return tuple(name for name in dict.fromkeys(wish.channels) if name not in has)
    before = _newest_below(source, version)
    return tuple(m.channel for m in before.channels) if before else (source.default_channel,)


def _opened(source: ReleasesFile, name: str) -> str:
    """How a channel is opened."""
    if source.channels:
        return f"To open a channel, add `- name: {name}` under `channels:` of the file."
    return f"To open a channel, add a line to the file: `channels: [{{name: {name}}}]`"


def _newest_below(source: ReleasesFile, version: Version) -> Release | None:
    """The highest release below a version that somebody can install."""
    lower = [r for r in source.releases if r.semver < version and r.channels]
    return max(lower, key=lambda r: r.semver.key, default=None)


def _heads(source: ReleasesFile, channel: str) -> tuple[str, ...]:
    made = catalog_package(source)
    found = next((c for c in made.channels if c.name == channel), None)
    return ChannelGraph(found, made).heads if found else ()


def _require_above(source: ReleasesFile, heads: Sequence[Release], version: Version, channel: str) -> None:
    for head in heads:
        if head.semver > version:
            raise UsageError(
                f"{version} is lower than {head.version}, the head of the channel {channel!r}: "
                "nobody would be offered it, or everybody would be sent back",
                hint=f"cut a version above {head.version}, or give it a channel of its own (--channel NAME). "
                + _opened(source, "NAME"),
            )


def _origin(
    source: ReleasesFile, wish: ReleaseRequest, heads: Sequence[Release], channel: str
) -> DeclaredEdges:
    """From where the release is reached in one channel."""
    if wish.states_edges:
        return _stated(source, wish)
    if wish.zstream:
        return DeclaredEdges(zstream=True)
    return _on_top(source, heads, wish.version, channel)


def _stated(source: ReleasesFile, wish: ReleaseRequest) -> DeclaredEdges:
    """What the command line says, and what is withdrawn with it."""
    texts = [*((wish.replaces,) if wish.replaces else ()), *wish.skips]
    known = [source.csv_name(_known(source, text, "--replaces/--skips")) for text in texts]
    if wish.replaces and known[0] in known[1:]:
        raise UsageError(
            f"{wish.replaces} cannot be both replaced and skipped: it would fall out of the line",
            hint=f"take it out of --skips, and everything below it stays: --replaces {wish.replaces}",
        )
    more = [text for text in wish.withdraw if source.resolve_csv_name(text) not in known]
    return DeclaredEdges(
        wish.replaces, tuple(dict.fromkeys((*wish.skips, *more))), wish.skip_range, wish.zstream
    )


def _on_top(source: ReleasesFile, heads: Sequence[Release], version: str, channel: str) -> DeclaredEdges:
    """On top of the head. In a channel without one: on top of what the package has had so far."""
    if len(heads) > 1:
        names = ", ".join(head.version for head in heads)
        raise UsageError(
            f"the channel {channel!r} has {len(heads)} heads: {names}",
            hint=f"say what it replaces and skips: --replaces {heads[-1].version} --skips {heads[0].version}",
        )
    if not heads:
        before = _newest_below(source, parse(version))
        return DeclaredEdges(_short(source, source.csv_name(before))) if before else DeclaredEdges()
    if heads[0].withdrawn is None:
        return DeclaredEdges(_short(source, source.csv_name(heads[0])))
    return _in_stead(source, heads[0], version, channel)


def _in_stead(source: ReleasesFile, head: Release, version: str, channel: str) -> DeclaredEdges:
    """What a release on top of a withdrawn head works out to, written down."""
    top = Release(version, (Membership(channel),), DeclaredEdges(source.csv_name(head)))
    made = catalog_package(replace(source, releases=(*source.releases, top)))
    found = next(c for c in made.channels if c.name == channel)
    entry = found.by_name[source.csv_name(top)]
    skips = tuple(_short(source, name) for name in entry.skips)
    return DeclaredEdges(_short(source, entry.replaces) if entry.replaces else None, skips, entry.skip_range)


def _short(source: ReleasesFile, name: str) -> str:
    """A release by its version, where that is enough to tell it from others."""
    release = source.by_name.get(name)
    if release is None or source.find_release(release.version) is not release:
        return name
    return release.version


def _release(wish: ReleaseRequest, origins: Mapping[str, DeclaredEdges]) -> Release:
    """A `from` for all channels if they agree, else one for each."""
    distinct = set(origins.values())
    shared = distinct.pop() if len(distinct) == 1 else None
    members = tuple(Membership(name, None if shared else origin) for name, origin in origins.items())
    return Release(
        wish.version, members, shared or DeclaredEdges(), min_kube_version=wish.min_kube_version or None
    )
