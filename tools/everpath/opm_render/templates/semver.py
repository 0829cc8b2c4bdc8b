"""The semver template: channels that follow from the versions of bundles.

Only the highest patch of a minor version has edges: it replaces the highest patch of the previous minor
version and skips all other lower versions of its major version. No edge crosses a major version. All channels
of an archetype are linked as one list, major channels first, so an entry of a minor channel can replace and
skip entries outside of its channel.
"""

from __future__ import annotations

__all__ = ["render_semver"]

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

from everpath.go_types import GoType, field, type_mismatches
from everpath.model import OpmError, Place
from everpath.opm_render.blobs import CatalogDocument, decode_blob
from everpath.opm_render.bundles import Blob, RenderedBundle, embedded_csv
from everpath.opm_render.go_json import scalar_to_string
from everpath.opm_render.templates.common import ImageRenderer, package_property, render_image_at
from everpath.versions import Version, VersionError, parse

#: Archetypes from the least to the most stable.
_ARCHETYPES: Final = ("candidate", "fast", "stable")
_CHANNEL_TYPES: Final = ("major", "minor")
_FLAGS: Final = ("generateMajorChannels", "generateMinorChannels")
_PREFERENCE: Final = "defaultChannelTypePreference"
_TEMPLATE: Final[Mapping[str, GoType]] = {
    "schema": "string",
    **dict.fromkeys(_FLAGS, "bool"),
    _PREFERENCE: "string",
    **{archetype: {"bundles": [{"image": "string"}]} for archetype in _ARCHETYPES},
}


class _Release(NamedTuple):
    """A bundle of an archetype."""

    name: str
    version: Version


class _Member(NamedTuple):
    """A release in a channel. `archetype` and `channel_type` are indices. Members are linked in order."""

    archetype: int
    channel_type: int
    release: _Release
    channel: str

    @property
    def edge_scope(self) -> tuple[int, int, int]:
        """Members are only linked with members of the same scope."""
        return self.archetype, self.channel_type, self.release.version.major


class _ChannelOptions(NamedTuple):
    """The types of channels to generate, and the preferred type of the default channel."""

    types: tuple[str, ...]
    preferred: str


def render_semver(document: CatalogDocument, render_image: ImageRenderer) -> list[Blob]:
    """Render package, channels and bundles. Raises `OpmError`."""
    options = _channel_options(document)
    images: dict[str, Place] = {}
    for _, image, place in _bundles(document):
        images.setdefault(image, place)
    if not images:
        message = "the template lists no bundle"
        raise OpmError(message, document.place, "list images under candidate, fast or stable")
    bundles = {image: render_image_at(place, image, render_image) for image, place in images.items()}
    package, releases = _releases(document, bundles)
    members = list(_members(releases, options))
    channels = _channels(package, members)
    package_blob = _package(package, _default_channel(members, options), channels, list(bundles.values()))
    return [package_blob, *channels, *(bundle.blob for bundle in bundles.values())]


def _channel_options(document: CatalogDocument) -> _ChannelOptions:
    """Validate the template and return its options. Raises `OpmError`."""
    for path in document.repeated:
        raise OpmError(f"duplicate key {path[-1]}", document.place.at(*path), "keep one of them")
    body = _with_strings(document.body)
    for mismatch in type_mismatches(body, _TEMPLATE, allow_unknown_fields=False):
        fix = f"the keys of the template are {', '.join(_TEMPLATE)}" if mismatch.is_unknown_field else None
        raise OpmError(mismatch.message, document.place.at(*mismatch.path), fix)
    types = [type_ for type_, flag in zip(_CHANNEL_TYPES, _FLAGS, strict=True) if field(body, flag)] or [
        "minor"
    ]
    preferred = str(field(body, _PREFERENCE) or ("minor" if "minor" in types else "major"))
    place = document.place.at(_PREFERENCE)
    if preferred not in _CHANNEL_TYPES:
        raise OpmError(f"{preferred!r} is not a type of channels", place, "write minor or major")
    if preferred not in types:
        message = f"{preferred} channels are preferred but not generated"
        raise OpmError(message, place, f"add generate{preferred.capitalize()}Channels: true")
    return _ChannelOptions(tuple(types), preferred)


def _with_strings(body: Any) -> Any:
    """A template with numbers and booleans converted to strings, except for its two flags."""

    def convert(value: Any) -> Any:
        match value:
            case dict():
                return {key: convert(item) for key, item in value.items()}
            case list():
                return [convert(item) for item in value]
            case _:
                return scalar_to_string(value)

    if not isinstance(body, dict):
        return body
    flags = {flag.casefold() for flag in _FLAGS}
    return {key: item if key.casefold() in flags else convert(item) for key, item in body.items()}


def _bundles(document: CatalogDocument) -> Iterator[tuple[int, str, Place]]:
    """The archetype, image and place of every bundle in the template. Raises `OpmError`."""
    body = _with_strings(document.body)
    for archetype, name in enumerate(_ARCHETYPES):
        bundles: Any = field(field(body, name), "bundles")
        for index, item in enumerate(bundles or ()):
            place = document.place.at(name, "bundles", index)
            image = field(item, "image")
            if not image:
                raise OpmError("the bundle has no image", place, "add its image")
            yield archetype, str(image), place


def _releases(
    document: CatalogDocument, bundles: Mapping[str, RenderedBundle]
) -> tuple[str, list[list[_Release]]]:
    """The package, and the releases of each archetype by version, lowest first. Raises `OpmError`."""
    package = ""
    versions: list[dict[str, Version]] = [{} for _ in _ARCHETYPES]
    for archetype, image, place in _bundles(document):
        blob = bundles[image].blob
        name, value = blob.get("name", ""), package_property(blob, place)
        package = package or value["packageName"]
        if value["packageName"] != package:
            message = f"{name!r} belongs to package {value['packageName']!r}, other bundles to {package!r}"
            raise OpmError(message, place, "write a template for each package")
        if name in versions[archetype]:
            message = f"{name!r} is listed twice under {_ARCHETYPES[archetype]}"
            raise OpmError(message, place, "list it once")
        try:
            version = parse(value["version"])
        except VersionError as error:
            message = f"invalid version of {name!r}: {error}"
            raise OpmError(message, place, "correct it in the bundle") from error
        for other_name, other in versions[archetype].items():
            if version == other:
                message = f"{version} has the same precedence as {other} of {other_name!r}"
                raise OpmError(message, place, "list one of them: build metadata has no precedence")
        versions[archetype][name] = version
    ordered = (sorted(found.items(), key=lambda item: item[1].key) for found in versions)
    return package, [[_Release(*item) for item in items] for items in ordered]


def _members(releases: Sequence[Sequence[_Release]], options: _ChannelOptions) -> Iterator[_Member]:
    for archetype, archetype_releases in enumerate(releases):
        for type_index, type_ in enumerate(_CHANNEL_TYPES):
            for release in archetype_releases if type_ in options.types else ():
                version = release.version
                stream = f"{version.major}" if type_ == "major" else f"{version.major}.{version.minor}"
                yield _Member(archetype, type_index, release, f"{_ARCHETYPES[archetype]}-v{stream}")


def _channels(package: str, members: Sequence[_Member]) -> list[Blob]:
    edges = _edges(members)
    entries: dict[str, list[Blob]] = {}
    for member in members:
        entry = {"name": member.release.name, **edges.get(member, {})}
        entries.setdefault(member.channel, []).append(entry)
    return [
        {"schema": "olm.channel", "name": name, "package": package, "entries": entries[name]}
        for name in sorted(entries)
    ]


def _edges(members: Sequence[_Member]) -> dict[_Member, Blob]:
    """What the highest patch of each minor version replaces and skips."""
    edges: dict[_Member, Blob] = {}
    replaces, lower = "", set[str]()
    pairs = [*pairwise(members), (members[-1], None)] if members else []
    for member, following in pairs:
        is_last = following is None or following.edge_scope != member.edge_scope
        is_highest_patch = is_last or (
            following is not None and following.release.version.minor != member.release.version.minor
        )
        if is_highest_patch and lower:
            edge = {"replaces": replaces, "skips": sorted(lower - {replaces})}
            edges[member] = {key: value for key, value in edge.items() if value}
        if is_last:
            replaces, lower = "", set()
        else:
            replaces = member.release.name if is_highest_patch else replaces
            lower.add(member.release.name)
    return edges


def _default_channel(members: Sequence[_Member], options: _ChannelOptions) -> str:
    """The channel of the most stable archetype whose lowest release is the highest.

    The preferred type decides between channels with the same lowest version. opm starts with version 0.0.0
    and an empty name, so a package that has only pre-releases of 0.0.0 has no default channel.
    """
    best = (0, parse("0.0.0").key, -1)
    default = ""
    seen = set()
    for member in members:
        if member.channel in seen:
            continue
        seen.add(member.channel)
        is_preferred = _CHANNEL_TYPES[member.channel_type] == options.preferred
        rank = 2 if is_preferred else member.channel_type
        candidate = (member.archetype, member.release.version.key, rank)
        if candidate > best:
            best, default = candidate, member.channel
    return default


def _package(
    package: str, default_channel: str, channels: Sequence[Blob], bundles: Sequence[RenderedBundle]
) -> Blob:
    """The `olm.package` blob, with icon and description of the newest bundle of the default channel."""
    blob: Blob = {"schema": "olm.package", "name": package, "defaultChannel": default_channel}
    heads = [channel["entries"][-1]["name"] for channel in channels if channel["name"] == default_channel]
    head = next((bundle for bundle in bundles if bundle.blob.get("name", "") in heads), None)
    if head is None:
        return blob
    csv = head.csv if head.csv is not None else embedded_csv(head.blob)
    spec = field(csv, "spec")
    icons = field(spec, "icon")
    icon_type = {"mediatype": "string", "base64data": "bytes"}
    if isinstance(icons, list) and icons and not any(any(type_mismatches(i, icon_type)) for i in icons):
        mediatype = field(icons[0], "mediatype") or ""
        blob["icon"] = {"base64data": field(icons[0], "base64data"), "mediatype": mediatype}
    description = field(spec, "description")
    if isinstance(description, str) and description:
        blob["description"] = description
    return decode_blob(CatalogDocument(Place(""), blob))
