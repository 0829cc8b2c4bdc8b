"""Validates releases.yaml: all problems at once, each with its place and its fix."""

from __future__ import annotations

__all__ = ["ReleasesProblem", "find_problems", "is_folder_name"]

import re
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from typing import Final, NamedTuple, TypeVar

from everpath.graph import ChannelGraph
from everpath.model import Place
from everpath.ranges import Range, RangeError
from everpath.releases.channel_edges import catalog_package
from everpath.releases.model import PUBLISHED, DeclaredEdges, Release, ReleasesFile, has_tag_or_digest
from everpath.versions import VersionError, parse, parse_or_none

_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_FOLDER_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")

_Item = TypeVar("_Item")


class ReleasesProblem(NamedTuple):
    """A problem of releases.yaml."""

    place: Place
    message: str
    fix: str = ""

    def __str__(self) -> str:
        return f"{self.message}; {self.fix}" if self.fix else self.message


def find_problems(source: ReleasesFile) -> list[ReleasesProblem]:
    """Return all problems in the order of the file. The graph is checked if there are no others.

    Missing keys are not reported: the parser does that, and the values are empty.
    """
    problems = [*_check_file(source), *_check_catalogs(source)]
    for release in source.releases:
        problems += _check_release(source, release)
    return problems or [*_check_heads(source)]


def is_folder_name(text: str) -> bool:
    """Whether a folder, and therefore a package, a catalog or a CSV, may have this name."""
    return _FOLDER_NAME.fullmatch(text) is not None


def _check_file(source: ReleasesFile) -> Iterator[ReleasesProblem]:
    if source.package and not is_folder_name(source.package):
        yield ReleasesProblem(
            source.place.at("package"),
            f"{source.package!r} is not a valid package name",
            "use letters, digits, dots and dashes",
        )
    if source.image and has_tag_or_digest(source.image):
        yield ReleasesProblem(
            source.place.at("image"),
            f"every release would have the same bundle image {source.image}",
            "remove its tag or digest: each release gets :vVERSION; `image` of a release overrides it",
        )
    if source.releases and source.default_channel and source.default_channel not in source.channel_names:
        yield ReleasesProblem(
            source.place.at("defaultChannel"),
            f"no release is in the default channel {source.default_channel!r}",
            _suggestion(source.default_channel, source.channel_names),
        )
    for channel in _duplicates(source.channels, lambda channel: channel.name):
        yield ReleasesProblem(
            channel.place, f"the channel {channel.name!r} is declared twice", "keep one of them"
        )
    for release in _duplicates(source.releases, source.csv_name):
        yield ReleasesProblem(
            release.place.at("version"),
            f"{source.csv_name(release)} is released twice",
            "give one of them a higher version, or remove it",
        )


def _check_catalogs(source: ReleasesFile) -> Iterator[ReleasesProblem]:
    for variant in _duplicates(source.catalogs, lambda variant: variant.name):
        message = f"two catalogs have the name {variant.name!r}"
        yield ReleasesProblem(variant.place, message, "rename one: each has its own folder")
    for variant in source.catalogs:
        if not is_folder_name(variant.name):
            yield ReleasesProblem(
                variant.place.at("name"),
                f"{variant.name!r} is not a valid folder name",
                "use letters, digits, dots, dashes and underscores",
            )
        yield from _check_range(variant.releases, variant.place.at("releases"))
        for index, name in enumerate(variant.channels):
            if name not in source.channel_names:
                yield ReleasesProblem(
                    variant.place.at("channels", index),
                    f"no release is in the channel {name!r}",
                    _suggestion(name, source.channel_names),
                )


def _check_release(source: ReleasesFile, release: Release) -> Iterator[ReleasesProblem]:
    yield from _check_version(release.version, release.place.at("version"))
    if release.min_kube_version is not None:
        yield from _check_version(release.min_kube_version, release.place.at("minKubeVersion"))
    if release.name is not None and not is_folder_name(release.name):
        yield ReleasesProblem(
            release.place.at("name"),
            f"{release.name!r} is not a valid CSV name",
            "use letters, digits, dots, dashes and underscores",
        )
    if release.bundle not in (None, PUBLISHED) and not _DIGEST.fullmatch(release.bundle or ""):
        yield ReleasesProblem(
            release.place.at("bundle"),
            f"{release.bundle!r} is neither a digest (sha256: and 64 hexadecimal digits) nor `published`",
            "remove the key for a bundle that is not released yet; everpath release writes it",
        )
    for membership in _duplicates(release.channels, lambda membership: membership.channel):
        message = f"the channel {membership.channel!r} is listed twice"
        yield ReleasesProblem(membership.place, message, "keep one of them")
    yield from _check_edges(source, release, release.edges)
    for membership in release.channels:
        if membership.edges is not None:
            yield from _check_edges(source, release, membership.edges)


def _check_edges(source: ReleasesFile, release: Release, edges: DeclaredEdges) -> Iterator[ReleasesProblem]:
    yield from _check_range(edges.skip_range, edges.place.at("range"))
    if edges.replaces:
        yield from _check_reference(source, release, edges.replaces, edges.place.at("replaces"))
    for index, text in enumerate(edges.skips):
        yield from _check_reference(source, release, text, edges.place.at("skips", index))


def _check_reference(
    source: ReleasesFile, release: Release, text: str, place: Place
) -> Iterator[ReleasesProblem]:
    """Check a version or CSV name. A CSV name that is not in the file may be published elsewhere."""
    found = source.find_release(text)
    if found is not None:
        if found is release:
            yield ReleasesProblem(place, f"{text} is the release itself", "choose another release")
    elif len(source.by_version.get(text, ())) > 1:
        names = " or ".join(map(source.csv_name, source.by_version[text]))
        yield ReleasesProblem(place, f"several releases have the version {text}", f"write a name: {names}")
    elif parse_or_none(text) is not None:
        near = get_close_matches(text, source.by_version.keys() - {release.version}, n=1)
        meant = f"did you mean {near[0]}? " if near else ""
        elsewhere = f"if it is published elsewhere, write its name: {source.package}.v{text}"
        yield ReleasesProblem(place, f"no release has the version {text}", meant + elsewhere)


def _check_version(text: str, place: Place) -> Iterator[ReleasesProblem]:
    try:
        parse(text or "0.0.0")
    except VersionError as error:
        yield ReleasesProblem(place, str(error), "a version has three numbers, such as 1.2.3 or 1.3.0-rc.1")


def _check_range(text: str | None, place: Place) -> Iterator[ReleasesProblem]:
    if text is None:
        return
    try:
        parsed = Range.parse(text)
    except RangeError as error:
        yield ReleasesProblem(place, str(error), error.hint or "write a range such as '>=1.2.0 <1.3.0'")
        return
    if parsed.can_panic:
        yield ReleasesProblem(place, f"{text!r} crashes OLM: a || has no range beside it", "remove that ||")


def _check_heads(source: ReleasesFile) -> Iterator[ReleasesProblem]:
    """Report withdrawn releases that are the head of a channel."""
    withdrawn = {source.csv_name(r): r for r in source.releases if r.withdrawn is not None}
    for variant in source.variants if withdrawn else ():
        package = catalog_package(source, variant)
        for channel in package.channels:
            for head in ChannelGraph(channel, package).heads:
                if head not in withdrawn:
                    continue
                release = withdrawn[head]
                where = f"{channel.name!r} of {variant.name}" if variant.name else f"{channel.name!r}"
                yield ReleasesProblem(
                    release.place.at("withdrawn"),
                    f"new installations get {release.version}, which is withdrawn: "
                    f"no release replaces it in the channel {where}",
                    "remove `withdrawn`, then run "
                    f"everpath release VERSION --channel {channel.name} --withdraw {release.version}",
                )


def _duplicates(items: Iterable[_Item], name: Callable[[_Item], str]) -> Iterator[_Item]:
    """Yield each item whose name an earlier item has."""
    seen: set[str] = set()
    for item in items:
        if name(item) in seen:
            yield item
        seen.add(name(item))


def _suggestion(word: str, known: Iterable[str]) -> str:
    known = list(known)
    if near := get_close_matches(word, known, n=1):
        return f"did you mean {near[0]}?"
    return f"known: {', '.join(known)}" if known else "none exists yet"
