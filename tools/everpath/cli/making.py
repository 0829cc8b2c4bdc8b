"""All files that a source stands for: the bundles and the catalogs, as bytes by path, and what is stale.

What goes into a bundle's files, what a catalog holds of a bundle, and how a catalog is spelled is known to
others: four functions (`Makers`), handed in. Nothing is written here.
"""

from __future__ import annotations

__all__ = ["Files", "Made", "Makers", "Packed", "frozen_digests", "made"]

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

from everpath.app.project import SUFFIXES, Project
from everpath.app.side_files import ignore_file, mode_file
from everpath.cli.placing import Placement
from everpath.errors import ReleasesError
from everpath.graph import ChannelGraph
from everpath.loaders.releases.bundle_digests import (
    bundle_digest,
    leftovers_below,
    leftovers_beside,
    read_files,
)
from everpath.model import Package
from everpath.opm_render import Blob
from everpath.opm_render.blobs import channel_blob
from everpath.releases.channel_edges import catalog_package
from everpath.releases.model import PUBLISHED, Release

_OURS: Final = ("olm.package", "olm.channel", "olm.deprecations", "olm.bundle")
#: What the source says of a package, whatever a catalog on disk does.
_OF_THE_SOURCE: Final = ("schema", "name", "defaultChannel")
_OF_A_CHANNEL: Final = ("schema", "name", "package", "entries")
_HEADER: Final = b"# Made by `everpath generate` from releases.yaml: edit that.\n"

Files = Mapping[str, bytes]


class Packed(NamedTuple):
    """A bundle that was made: its files, and the file that each of its manifests comes from."""

    files: Files
    origins: Mapping[str, str]


class Makers(NamedTuple):
    """What others know: a bundle's files from the operator's manifests, its blob from its files, a text,
    and the icon and the description that a bundle's files give its package.

    `bundle` is given the release, and the package with all its edges.
    """

    bundle: Callable[[Project, Release, Package], Packed]
    blob: Callable[[str, Files, str], Blob]
    text: Callable[[Iterable[Blob], str], bytes]
    about: Callable[[Files], Blob]


class Made(NamedTuple):
    """All that a source stands for: the files to write, and every bundle there is, by folder.

    `fresh` are the folders of bundles that were made from the operator's manifests, and may still change;
    `origins` says which file of those a file of a bundle comes from.
    """

    placement: Placement
    bundles: Mapping[Path, Files]
    fresh: frozenset[Path]
    catalogs: tuple[Path, ...]
    origins: Mapping[Path, str]


def made(project: Project, makers: Makers, suffix: str | None = None) -> Made:
    """Every file of the source. Raises ReleasesError for a released bundle that has changed.

    A catalog without a release is not written: opm refuses those. Cost: every bundle is rendered.
    """
    source = project.source
    whole = catalog_package(source)
    files: dict[Path, bytes] = dict(ignore_file(project.file))
    stale: list[Path] = []
    blobs: dict[str, Blob] = {}
    bundles: dict[Path, Files] = {}
    fresh: set[Path] = set()
    origins: dict[Path, str] = {}
    for release in source.releases:
        folder = project.bundle_folder(release)
        if source.operator and release.bundle is None:
            packed = makers.bundle(project, release, whole)
            written = bundles[folder] = packed.files
            own = dict.fromkeys((n for n in packed.files if n.startswith("metadata/")), str(project.file))
            origins |= {folder / name: file for name, file in {**own, **packed.origins}.items()}
            fresh.add(folder)
            files |= {folder / name: content for name, content in written.items()}
            stale += (folder / name for name in read_files(folder) if name not in written)
        else:
            written = bundles[folder] = _released(project, release)
        try:
            blobs[source.csv_name(release)] = _blob(project, makers, release, written)
        except ReleasesError as error:
            raise _from_source(error, origins) from error
    described = _described(project, makers, whole, bundles)
    catalogs = []
    for variant in source.variants:
        content = catalog_package(source, variant)
        if not content.channels:
            continue
        catalog = _documents(project, content, blobs, described)
        file = project.catalog_file(variant, suffix)
        catalogs.append(file)
        text = makers.text(catalog, file.suffix[1:])
        # Inside of the first document: to opm a comment before it would be a document of its own.
        files[file] = text.replace(b"---\n", b"---\n" + _HEADER, 1) if file.suffix == ".yaml" else text
    if fresh:
        files |= mode_file(project.bundles)
    stale += _stale_catalogs(project, files)
    stale += leftovers_below(project.bundles) if source.operator else ()
    stale += leftovers_beside((project.file, *files))
    stale += project.shelter.left_of((project.file, *files), project.bundles if source.operator else None)
    placement = Placement(files, tuple(sorted(set(stale))), project.file, project.shelter)
    return Made(placement, bundles, frozenset(fresh), tuple(catalogs), origins)


def _from_source(error: ReleasesError, origins: Mapping[Path, str]) -> ReleasesError:
    """The error with the file to mend: the one that it names may never have been written."""
    origin = origins.get(Path(error.file or ""))
    if origin is None:
        return error
    hint = f"it is made from {origin}" + (f": {error.hint}" if error.hint else ": mend it there")
    return ReleasesError(error.message, hint=hint, file=origin)


def frozen_digests(project: Project) -> dict[str, str]:
    """The digests of all bundles that are on disk and not frozen yet, by CSV name."""
    found: dict[str, str] = {}
    for release in project.source.releases:
        folder = project.bundle_folder(release)
        if release.bundle is None and (files := read_files(folder)):
            _require_finished(project, folder)
            _require_whole(project, release, files)
            found[project.source.csv_name(release)] = bundle_digest(files)
    return found


def _released(project: Project, release: Release) -> Files:
    """The files of a bundle that is not made here, as they are; none where only a catalog has it."""
    folder = project.bundle_folder(release)
    files = read_files(folder) if release.bundle != PUBLISHED else {}
    if release.bundle is not None and release.bundle != PUBLISHED and bundle_digest(files) != release.bundle:
        what = "has changed since" if files else "is gone, and"
        raise ReleasesError(
            f"{folder} {what} it was released ({project.line_of(release, 'bundle')} has its digest)",
            hint="a released bundle never changes: git restore it, and cut a new release for what is new",
            file=str(project.file),
        )
    if files:
        _require_whole(project, release, files)
    return files


def _require_finished(project: Project, folder: Path) -> None:
    """A bundle that a run was killed over may lack files, and must not be frozen so."""
    if draft := next(chain(leftovers_below(folder), project.shelter.left_of((), folder)), None):
        raise ReleasesError(
            f"{folder} may be half a bundle: a run was killed over it, and left {draft}",
            hint="everpath generate finishes it; then cut the release",
            file=str(folder),
        )


def _require_whole(project: Project, release: Release, files: Files) -> None:
    for part in ("manifests", "metadata"):
        if not any(name.startswith(f"{part}/") for name in files):
            folder = project.bundle_folder(release)
            raise ReleasesError(
                f"{folder} is half a bundle: it has no {part} folder",
                hint="git restore it, or delete it and let everpath generate write it",
                file=str(folder),
            )


def _blob(project: Project, makers: Makers, release: Release, files: Files) -> Blob:
    """What a catalog holds of a release: rendered from its files, or as the catalog on disk has it."""
    name = project.source.csv_name(release)
    if files:
        folder = project.bundle_folder(release)
        blob = makers.blob(str(folder), files, project.image_of(release))
        return _verified(project, release, blob, str(folder))
    for blob in project.kept:
        if (blob.get("schema"), blob.get("name")) == ("olm.bundle", name):
            return blob
    hint = f"put it into {project.bundle_folder(release)}, or say under `operator:` what to make it from"
    raise ReleasesError(
        f"{project.line_of(release, 'version')}: there is no bundle of {release.version}",
        hint=hint,
        file=str(project.file),
    )


def _verified(project: Project, release: Release, blob: Blob, folder: str) -> Blob:
    """The blob, if it is of the release that the source means."""
    expected = (project.source.csv_name(release), project.source.package, release.version)
    properties = [p.get("value") for p in blob.get("properties", ()) if p.get("type") == "olm.package"]
    version = properties[0].get("version") if properties and isinstance(properties[0], dict) else None
    found = (blob.get("name"), blob.get("package"), version)
    for what, here, there in zip(("name", "package", "version"), expected, found, strict=True):
        if here != there:
            raise ReleasesError(
                f"{folder}: the {what} of the bundle is {there or 'missing'}, and {project.file} says {here}",
                hint="make them the same: `name:` of the release, or the ClusterServiceVersion",
                file=folder,
            )
    return blob


def _documents(
    project: Project, whole: Package, blobs: Mapping[str, Blob], described: Blob
) -> Iterator[Blob]:
    """One catalog: the package, its channels, its bundles, its deprecations, and what else was there."""
    package = {"schema": "olm.package", "name": whole.name, "defaultChannel": whole.default_channel}
    yield {**package, **described}
    for channel in whole.channels:
        yield {**channel_blob(channel), **_more_of(project, channel.name)}
    yield from (blobs[bundle.name] for bundle in whole.bundles)
    for document in whole.deprecations:
        entries = [
            {
                "reference": {"schema": e.schema, **({"name": e.name} if e.name else {})},
                "message": e.message,
            }
            for e in document.entries
        ]
        yield {"schema": "olm.deprecations", "package": whole.name, "entries": entries}
    yield from (blob for blob in project.kept if blob.get("schema") not in _OURS)


def _more_of(project: Project, channel: str) -> Blob:
    """What the catalog on disk says of a channel, and the source does not: its properties."""
    kept = (b for b in project.kept if (b.get("schema"), b.get("name")) == ("olm.channel", channel))
    return {key: value for blob in kept for key, value in blob.items() if key not in _OF_A_CHANNEL}


def _described(project: Project, makers: Makers, whole: Package, bundles: Mapping[Path, Files]) -> Blob:
    """What the package says of itself: icon and description are those of the default channel's head.

    Whoever makes bundles elsewhere may describe the package in the catalog alone: that is kept.
    """
    kept = next((blob for blob in project.kept if blob.get("schema") == "olm.package"), {})
    channel = next((c for c in whole.channels if c.name == whole.default_channel), None)
    heads = ChannelGraph(channel, whole).heads if channel else ()
    release = project.source.by_name[heads[0]] if heads else None
    files = bundles[project.bundle_folder(release)] if release else {}
    about = makers.about(files) if files else {}
    found = {**kept, **about} if project.source.operator else {**about, **kept}
    first = [key for key in ("icon", "description") if key in found]
    return {key: found[key] for key in (*first, *found) if key not in _OF_THE_SOURCE}


def _stale_catalogs(project: Project, files: Mapping[Path, bytes]) -> Iterator[Path]:
    """Catalogs of this package that nothing here makes: of a variant that is gone, in the other spelling."""
    for folder in (project.folder, *sorted(p for p in project.folder.glob("*") if p.is_dir())):
        for suffix in SUFFIXES:
            file = folder / project.source.package / f"catalog.{suffix}"
            if file not in files and file.is_file():
                yield file
