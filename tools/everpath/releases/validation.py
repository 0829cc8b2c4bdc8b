"""What is wrong with a source, all of it at once: each complaint with its place and its remedy."""

from __future__ import annotations

__all__ = ["ReleasesProblem", "find_problems", "is_folder_name"]

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from typing import Final, NamedTuple, TypeVar

from everpath.graph import ChannelGraph
from everpath.model import Place
from everpath.ranges import Range, RangeError
from everpath.releases.channel_edges import catalog_package
from everpath.releases.model import (
    PUBLISHED,
    DeclaredEdges,
    Membership,
    Release,
    ReleasesFile,
    Variant,
    has_tag_or_digest,
)
from everpath.versions import VersionError, parse, parse_or_none

_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_FOLDER: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")

_Thing = TypeVar("_Thing")


class ReleasesProblem(NamedTuple):
    """One thing that is wrong, where, and what to do about it."""

    place: Place
    message: str
    fix: str = ""

    def __str__(self) -> str:
        return f"{self.message}; {self.fix}" if self.fix else self.message


def find_problems(source: ReleasesFile) -> list[ReleasesProblem]:
    """All complaints, in the order of the file. The graph is looked at once everything in it can be read.

    Nothing of what is empty: that it is not there has been said.
    """
    found = [*_of_file(source), *_of_variants(source)]
    for release in source.releases:
        found += _of_release(source, release)
    return found or [*_of_graph(source)]


def is_folder_name(text: str) -> bool:
    """Whether a folder, and with it a package, a catalog or a CSV, may be called so."""
    return _FOLDER.fullmatch(text) is not None


def _of_file(source: ReleasesFile) -> Iterator[ReleasesProblem]:
    if source.package and not is_folder_name(source.package):
        yield ReleasesProblem(
            source.place.at("package"),
            f"{source.package!r} cannot be the name of a package",
            "letters, digits, dots and dashes only",
        )
    if source.image and has_tag_or_digest(source.image):
        yield ReleasesProblem(
            source.place.at("image"),
            f"every release would have the bundle image {source.image}",
            "leave out its tag or digest: each release gets :vVERSION; `image` of a release names another",
        )
    if source.releases and source.default_channel and source.default_channel not in source.channel_names:
        yield ReleasesProblem(
            source.place.at("defaultChannel"),
            f"no release is in the default channel {source.default_channel!r}",
            _meant(source.default_channel, source.channel_names),
        )
    for note in _repeated(source.channels, lambda note: note.name):
        yield ReleasesProblem(note.place, f"the channel {note.name!r} is described twice", "keep one of them")
    for release in _repeated(source.releases, source.csv_name):
        yield ReleasesProblem(
            release.place.at("version"),
            f"{source.csv_name(release)} is released twice",
            "a release is not repeated: give it a higher version, or take one of the two out",
        )


def _of_variants(source: ReleasesFile) -> Iterator[ReleasesProblem]:
    for variant in _repeated(source.catalogs, lambda variant: variant.name):
        yield ReleasesProblem(
            variant.place, f"two catalogs are called {variant.name!r}", "each has its own folder"
        )
    for variant in source.catalogs:
        if not is_folder_name(variant.name):
            yield ReleasesProblem(
                variant.place.at("name"),
                f"{variant.name!r} cannot be the name of a folder",
                "letters, digits, dots, dashes and underscores only",
            )
        yield from _of_range(variant.releases, variant.place.at("releases"))
        for number, name in enumerate(variant.channels):
            if name not in source.channel_names:
                yield ReleasesProblem(
                    variant.place.at("channels", number),
                    f"no release is in the channel {name!r}",
                    _meant(name, source.channel_names),
                )


def _of_release(source: ReleasesFile, release: Release) -> Iterator[ReleasesProblem]:
    yield from _of_version(release.version, release.place.at("version"))
    if release.min_kube_version is not None:
        yield from _of_version(release.min_kube_version, release.place.at("minKubeVersion"))
    if release.name is not None and not is_folder_name(release.name):
        yield ReleasesProblem(
            release.place.at("name"),
            f"{release.name!r} cannot be the name of a CSV",
            "letters, digits, dots, dashes and underscores only",
        )
    if release.bundle not in (None, PUBLISHED) and not _DIGEST.fullmatch(release.bundle or ""):
        yield ReleasesProblem(
            release.place.at("bundle"),
            f"{release.bundle!r} is no digest: sha256: and 64 hexadecimal digits; nor is it `published`",
            "everpath release writes it; leave it out for a bundle that is not released yet",
        )
    for membership in _repeated(release.channels, lambda m: m.channel):
        yield ReleasesProblem(membership.place, f"the channel {membership.channel!r} is named twice")
    yield from _of_origin(source, release, release.edges)
    for membership in release.channels:
        yield from _of_membership(source, release, membership)


def _of_membership(
    source: ReleasesFile, release: Release, membership: Membership
) -> Iterator[ReleasesProblem]:
    if membership.edges is not None:
        yield from _of_origin(source, release, membership.edges)


def _of_origin(source: ReleasesFile, release: Release, origin: DeclaredEdges) -> Iterator[ReleasesProblem]:
    yield from _of_range(origin.skip_range, origin.place.at("range"))
    if origin.replaces:
        yield from _of_reference(source, release, origin.replaces, origin.place.at("replaces"))
    for number, text in enumerate(origin.skips):
        yield from _of_reference(source, release, text, origin.place.at("skips", number))


def _of_reference(
    source: ReleasesFile, release: Release, text: str, place: Place
) -> Iterator[ReleasesProblem]:
    found = source.find_release(text)
    if found is not None:
        if found is release:
            yield ReleasesProblem(place, f"{text} is the release itself")
    elif len(source.by_version.get(text, ())) > 1:
        names = " or ".join(map(source.csv_name, source.by_version[text]))
        yield ReleasesProblem(place, f"there is more than one release {text}", f"name one: {names}")
    elif parse_or_none(text) is not None:
        meant = _meant(text, source.by_version.keys() - {release.version}, else_="")
        elsewhere = f"of one that is published elsewhere write the name: {source.package}.v{text}"
        yield ReleasesProblem(
            place, f"there is no release {text}", "; ".join(filter(None, (meant, elsewhere)))
        )


def _of_version(text: str, place: Place) -> Iterator[ReleasesProblem]:
    """Nothing of an empty one: that it is not there has been said."""
    try:
        parse(text or "0.0.0")
    except VersionError as error:
        yield ReleasesProblem(place, str(error), "a version has three numbers, such as 1.2.3 or 1.3.0-rc.1")


def _of_range(text: str | None, place: Place) -> Iterator[ReleasesProblem]:
    if text is None:
        return
    try:
        span = Range.parse(text)
    except RangeError as error:
        yield ReleasesProblem(place, str(error), error.hint or "such as '>=1.2.0 <1.3.0'")
        return
    if span.can_panic:
        yield ReleasesProblem(
            place, f"{text!r} crashes OLM: nothing stands between two ||", "take one of them out"
        )


def _of_graph(source: ReleasesFile) -> Iterator[ReleasesProblem]:
    withdrawn = {source.csv_name(r): r for r in source.releases if r.withdrawn is not None}
    for variant in source.variants if withdrawn else ():
        made = catalog_package(source, variant)
        for channel in made.channels:
            for head in ChannelGraph(channel, made).heads:
                if head in withdrawn:
                    yield _withdrawn_head(withdrawn[head], channel.name, variant)


def _withdrawn_head(release: Release, channel: str, variant: Variant) -> ReleasesProblem:
    where = f"{channel!r} of {variant.name}" if variant.name else f"{channel!r}"
    return ReleasesProblem(
        release.place.at("withdrawn"),
        f"{release.version} is withdrawn, and nothing takes its place in the channel {where}: "
        "every new installation would get it",
        "leave `withdrawn` out and cut a release: "
        f"everpath release VERSION --channel {channel} --withdraw {release.version}",
    )


def _repeated(things: Iterable[_Thing], name: Callable[[_Thing], str]) -> Iterator[_Thing]:
    seen: Counter[str] = Counter()
    for thing in things:
        seen[name(thing)] += 1
        if seen[name(thing)] > 1:
            yield thing


def _meant(word: str, words: Iterable[str], else_: str | None = None) -> str:
    """The word that was probably meant, or all there are."""
    known = list(words)
    near = get_close_matches(word, known, n=1)
    if near:
        return f"did you mean {near[0]}?"
    if else_ is not None:
        return else_
    return f"there are {', '.join(known)}" if known else "there is none yet"
