"""The semver template: channels made of versions alone.

Of every minor version the highest patch has edges: it replaces the highest patch of the minor version
before it and skips everything else below it of its major version. Nothing leads from one major version to
the next. All channels of an archetype are linked as one list, major ones first, so what a minor channel's
entries replace and skip may stand outside of it.
"""

from __future__ import annotations

__all__ = ["render_semver"]

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

from everpath.go_types import misfits as struct_misfits
from everpath.model import Place
from everpath.opm_render.blobs import Document, blob_of
from everpath.opm_render.bundles import Blob, Rendered, embedded_csv
from everpath.opm_render.go_json import scalar_text
from everpath.opm_render.refusals import Refusal
from everpath.opm_render.templates.common import Renderer, bundle_in, package_property
from everpath.rules._shapes import Shape, field, misfits
from everpath.versions import Version, VersionError, parse

_ARCHETYPES: Final = ("candidate", "fast", "stable")
_KINDS: Final = ("major", "minor")

_BUNDLES: Final[Shape] = {"bundles": [{"image": str}]}
_TEMPLATE: Final[Mapping[str, Shape]] = {
    "schema": str,
    "generateMajorChannels": bool,
    "generateMinorChannels": bool,
    "defaultChannelTypePreference": str,
    **dict.fromkeys(_ARCHETYPES, _BUNDLES),
}


class _Release(NamedTuple):
    """A bundle of an archetype."""

    name: str
    version: Version


class _Membership(NamedTuple):
    """A release in one channel, in the order in which they are linked."""

    archetype: int
    kind: int
    release: _Release
    channel: str

    @property
    def line(self) -> tuple[int, int, int]:
        """What no edge leaves."""
        return self.archetype, self.kind, self.release.version.major


class _Wish(NamedTuple):
    """What channels are to be made."""

    kinds: tuple[str, ...]
    preferred: str


def render_semver(document: Document, render: Renderer) -> list[Blob]:
    """Package, channels and bundles. Raises `Refusal`."""
    wish = _wish(document)
    images: dict[str, Place] = {}
    for _, image, place in _listed(document):
        images.setdefault(image, place)
    if not images:
        message = "the template lists no bundle"
        raise Refusal(message, document.place, "list images under candidate, fast or stable")
    rendered = {image: bundle_in(image, render, place) for image, place in images.items()}
    package, releases = _releases(document, rendered)
    channels, default = _channels(package, releases, wish)
    declared = _package(package, default, channels, list(rendered.values()))
    return [declared, *channels, *(bundle.blob for bundle in rendered.values())]


def _wish(document: Document) -> _Wish:
    body = document.body
    for pointer in document.repeated:
        raise Refusal(f"{pointer[-1]} stands here twice", document.place.at(*pointer), "keep one of them")
    for misfit in misfits(_as_texts(body), _TEMPLATE, strict=True):
        fix = f"its keys are {', '.join(_TEMPLATE)}" if misfit.unknown else None
        raise Refusal(misfit.message, document.place.at(*misfit.path), fix)
    kinds = [kind for kind in _KINDS if field(body, f"generate{kind.capitalize()}Channels")] or ["minor"]
    preferred = field(_as_texts(body), "defaultChannelTypePreference") or (
        "minor" if "minor" in kinds else "major"
    )
    place = document.place.at("defaultChannelTypePreference")
    if preferred not in _KINDS:
        raise Refusal(f"{preferred!r} is no kind of channel", place, "write minor or major")
    if preferred not in kinds:
        message = f"{preferred} channels are preferred and not generated"
        raise Refusal(message, place, f"add generate{str(preferred).capitalize()}Channels: true")
    return _Wish(tuple(kinds), str(preferred))


def _as_texts(value: Any) -> Any:
    """Kubernetes' YAML makes a string of a number or truth value where one is wanted."""
    if not isinstance(value, dict):
        return value
    flags = ("generatemajorchannels", "generateminorchannels")
    return {k: v if k.casefold() in flags else _texts_below(v) for k, v in value.items()}


def _texts_below(value: Any) -> Any:
    match value:
        case dict():
            return {key: _texts_below(item) for key, item in value.items()}
        case list():
            return [_texts_below(item) for item in value]
        case _:
            return scalar_text(value)


def _listed(document: Document) -> Iterator[tuple[int, str, Place]]:
    """Every bundle the template lists: its archetype, its image, its place."""
    for archetype, name in enumerate(_ARCHETYPES):
        bundles: Any = field(field(_as_texts(document.body), name), "bundles")
        for index, item in enumerate(bundles or ()):
            place = document.place.at(name, "bundles", index)
            image = field(item, "image")
            if not image:
                raise Refusal("a bundle without an image", place, "write image: and its reference")
            yield archetype, str(image), place


def _releases(document: Document, rendered: Mapping[str, Rendered]) -> tuple[str, list[list[_Release]]]:
    """The package, and the releases of every archetype, lowest first. Raises `Refusal`."""
    package = ""
    found: list[dict[str, Version]] = [{} for _ in _ARCHETYPES]
    for archetype, image, place in _listed(document):
        blob = rendered[image].blob
        name, stated = blob.get("name", ""), package_property(blob, place)
        package = package or stated["packageName"]
        if stated["packageName"] != package:
            message = (
                f"{name!r} is of package {stated['packageName']!r}, the bundles before it of {package!r}"
            )
            raise Refusal(message, place, "make a template for each package")
        if name in found[archetype]:
            message = f"{name!r} is listed twice under {_ARCHETYPES[archetype]}"
            raise Refusal(message, place, "list it once")
        version = _version(name, stated["version"], place)
        _check_distinct(version, found[archetype], place)
        found[archetype][name] = version
    ordered = [sorted(versions.items(), key=lambda item: item[1].key) for versions in found]
    return package, [[_Release(*item) for item in versions] for versions in ordered]


def _version(name: str, text: str, place: Place) -> Version:
    try:
        return parse(text)
    except VersionError as error:
        raise Refusal(
            f"the version of {name!r} cannot be read: {error}", place, "mend it in the bundle"
        ) from error


def _check_distinct(version: Version, known: Mapping[str, Version], place: Place) -> None:
    for name, other in known.items():
        if version == other:
            message = f"{version} and {other}, which {name!r} has, differ by nothing that orders versions"
            raise Refusal(message, place, "list one of them: build metadata orders nothing")


def _channels(package: str, releases: Sequence[Sequence[_Release]], wish: _Wish) -> tuple[list[Blob], str]:
    """The channels by name, and the name of the default one."""
    members = list(_memberships(releases, wish))
    edges = _edges(members)
    channels: dict[str, list[Blob]] = {}
    for member in members:
        entry = {"name": member.release.name, **edges.get(member, {})}
        channels.setdefault(member.channel, []).append(entry)
    blobs: list[Blob] = [
        {"schema": "olm.channel", "name": name, "package": package, "entries": channels[name]}
        for name in sorted(channels)
    ]
    return blobs, _default(members, wish)


def _memberships(releases: Sequence[Sequence[_Release]], wish: _Wish) -> Iterator[_Membership]:
    for archetype, listed in enumerate(releases):
        for kind, name in enumerate(_KINDS):
            for release in listed if name in wish.kinds else ():
                version = release.version
                stream = f"{version.major}" if name == "major" else f"{version.major}.{version.minor}"
                yield _Membership(archetype, kind, release, f"{_ARCHETYPES[archetype]}-v{stream}")


def _edges(members: Sequence[_Membership]) -> dict[_Membership, Blob]:
    """What the last release of each minor version replaces and skips."""
    edges: dict[_Membership, Blob] = {}
    replaces, below = "", set[str]()
    ends = [*pairwise(members), (members[-1], None)] if members else []
    for member, following in ends:
        is_end = following is None or following.line != member.line
        is_last_patch = is_end or (
            following is not None and following.release.version.minor != member.release.version.minor
        )
        if is_last_patch and (replaces or below - {replaces}):
            edges[member] = _edge(replaces, below)
        if is_end:
            replaces, below = "", set()
        else:
            replaces = member.release.name if is_last_patch else replaces
            below.add(member.release.name)
    return edges


def _edge(replaces: str, below: set[str]) -> Blob:
    edge = {"replaces": replaces, "skips": sorted(below - {replaces})}
    return {key: value for key, value in edge.items() if value}


def _default(members: Sequence[_Membership], wish: _Wish) -> str:
    """The channel whose first, that is lowest, release is the highest of the most stable archetype.

    Between channels of one version the preferred kind decides. opm begins with version 0.0.0 of a channel
    without a name, so pre-releases of that alone leave the package without a default.
    """
    best = (0, parse("0.0.0").key, -1)
    name = ""
    seen = set()
    for member in members:
        if member.channel in seen:
            continue
        seen.add(member.channel)
        rank = 2 if _KINDS[member.kind] == wish.preferred else member.kind
        order = (member.archetype, member.release.version.key, rank)
        if order > best:
            best, name = order, member.channel
    return name


def _package(package: str, default: str, channels: Sequence[Blob], bundles: Sequence[Rendered]) -> Blob:
    """The declaration, with icon and description of the default channel's newest bundle."""
    blob: Blob = {"schema": "olm.package", "name": package, "defaultChannel": default}
    head = next((c["entries"][-1]["name"] for c in channels if c["name"] == default), None)
    shown = next((b for b in bundles if b.blob.get("name", "") == head), None) if head is not None else None
    if shown is None:
        return blob
    csv = shown.csv if shown.csv is not None else embedded_csv(shown.blob)
    spec = field(csv, "spec")
    if (icon := _icon(field(spec, "icon"))) is not None:
        blob["icon"] = icon
    description = field(spec, "description")
    if isinstance(description, str) and description:
        blob["description"] = description
    return blob_of(Document(Place(""), blob))


def _icon(icons: Any) -> Blob | None:
    """The first icon of a list, none of which may be other than icons are."""
    if not isinstance(icons, list) or not icons:
        return None
    shape: Shape = [{"mediatype": str}]
    if next(misfits(icons, shape), None) or any(
        next(struct_misfits(field(icon, "base64data"), "bytes"), None) for icon in icons
    ):
        return None
    return {"base64data": field(icons[0], "base64data"), "mediatype": field(icons[0], "mediatype") or ""}
