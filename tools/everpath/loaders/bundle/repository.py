"""Operators repositories: ROOT/operators/NAME/VERSION/…, as OperatorHub.io and OpenShift keep theirs.

ROOT, its operators folder and a single package folder are all accepted. `ci.yaml` of a package says how its
edges are made (`bundles.update_graph`). Reading is the cost, 337 MB for OperatorHub: so CSVs are glanced at,
CRDs left alone, and what was read is kept in an index (`bundles.index_cache`).
"""

from __future__ import annotations

__all__ = ["Progress", "load_repository"]

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

from everpath.errors import UnreadableInput
from everpath.loaders.bundle.bundle_model import Files, add_notes, add_packages, build_bundle
from everpath.loaders.bundle.bundle_summary import summarize_bundle, unreadable_note
from everpath.loaders.bundle.detect import (
    find_layouts,
    has_package_folders,
    is_package_file_name,
    is_package_folder,
)
from everpath.loaders.bundle.folder_reader import FolderReader, folder_name, is_unchanged, join
from everpath.loaders.bundle.index_cache import IndexCache, PackageRecord
from everpath.loaders.bundle.summaries import BundleSummary, Note, PackageSummary
from everpath.loaders.bundle.update_graph import MODES, parse_update_mode
from everpath.loaders.packagemanifest.package_file import add_package_manifests, summarize_package_manifests
from everpath.loaders.shares import WHOLE, Share
from everpath.loaders.typed import Typed, repetitions
from everpath.model import UpdateMode
from everpath.model.builder import CatalogBuilder
from everpath.parsing import outline
from everpath.parsing.first_document import Broken, first_document
from everpath.parsing.outline import Unfamiliar

if TYPE_CHECKING:
    from everpath.loaders.bundle.verdicts import Verdicts

_CI: Final = ("ci.yaml", "ci.yml")
_MODE: Final = "updateGraph"


#: Is told how far a long reading has come: done, of how many, what comes next.
Progress = Callable[[int, int, str], None]


def load_repository(  # noqa: PLR0913 - each is a choice of the user's
    path: str,
    builder: CatalogBuilder,
    *,
    cache: IndexCache | None = None,
    default_mode: UpdateMode = UpdateMode.SEMVER,
    thorough: bool = False,
    progress: Progress | None = None,
    share: Share = WHOLE,
    verdicts: Verdicts | None = None,
) -> None:
    """Read every package of a repository. Raises `UnreadableInput` when the folder itself cannot be listed.

    `default_mode` is for packages whose ci.yaml names none: semver-mode for OperatorHub's workflow,
    replaces-mode for operator-pipelines. A thorough reading parses all CSVs and asks no index. Each share has
    an index of its own. A folder on which a verdict stands is left out; of the others it is noted what was
    looked at.
    Memory: the model and the facts of every bundle, never a file.
    """
    root, names = _packages(path)
    names = share.of(names, folder=str)
    spared = _standing(verdicts, root, names) if verdicts else frozenset[str]()
    shelf = _Shelf(root, None if thorough else cache, thorough, share)
    wanted = [name for name in names if name not in spared]
    for done, name in enumerate(wanted):
        if progress is not None:
            progress(done, len(wanted), name)
        files = Files(join(root, name))
        _add(builder, shelf.facts(name), files, name or folder_name(root), default_mode)
    if wanted:
        shelf.keep(spared)
    if verdicts:
        verdicts.note({name: record.stamps for name, record in shelf.settled.items()})


def _standing(verdicts: Verdicts, root: str, names: Iterable[str]) -> frozenset[str]:
    verdicts.enter(root)
    return frozenset(filter(verdicts.stands, names))


class _Shelf:
    """The facts of packages: from the index while nothing has changed, else from their folders."""

    def __init__(self, root: str, cache: IndexCache | None, is_thorough: bool, share: Share) -> None:
        self._root = root
        self._cache = cache
        self._is_thorough = is_thorough
        self._share = share
        self.settled: dict[str, PackageRecord] = {}

    @cached_property
    def _known(self) -> Mapping[str, PackageRecord]:
        return self._cache.load(self._root, self._share) if self._cache else {}

    def facts(self, name: str) -> PackageSummary:
        folder = join(self._root, name)
        record = self._known.get(name)
        if record is not None and is_unchanged(folder, record.stamps.items()):
            self.settled[name] = record
            return record.facts
        began = self._cache.clock() if self._cache else 0
        reader = FolderReader(folder, self._is_thorough)
        facts = _read_package(reader)
        if reader.is_cacheable(began):
            self.settled[name] = PackageRecord(facts, reader.stamps)
        return facts

    def keep(self, spared: Iterable[str]) -> None:
        """Keep what is worth it, if that is not what is kept already. Of the spared nobody asked."""
        if self._cache is None:
            return
        kept = {name: self._known[name] for name in spared if name in self._known} | self.settled
        if len(kept) < len(self._known) or any(self._known.get(n) is not r for n, r in kept.items()):
            self._cache.save(self._root, kept, self._share)


def _packages(path: str) -> tuple[str, Sequence[str]]:
    """The folder that packages stand in and their names; a package by itself has an empty one."""
    reader = FolderReader(path)
    listing = reader.listing("")
    if "operators" in listing.folders and has_package_folders(reader, "operators"):
        return join(path, "operators"), reader.listing("operators").folders
    if is_package_folder(reader, ""):
        return path, ("",)
    return path, listing.folders


def _read_package(reader: FolderReader) -> PackageSummary:
    """What the files of a package folder say. Folders in it that are no bundles are passed over."""
    notes: list[Note] = []
    try:
        listing = reader.listing("")
    except UnreadableInput as error:
        return PackageSummary(notes=(unreadable_note("", error),))
    bundles = tuple(_bundles(reader, listing.folders, notes))
    is_flat = all(bundle.csv_file.rpartition(os.sep)[0] == bundle.folder for bundle in bundles)
    if is_flat and any(map(is_package_file_name, listing.files)):
        return summarize_package_manifests(reader)
    mode = next((_read_mode(reader, name, notes) for name in _CI if name in listing.files), None)
    return PackageSummary(bundles, mode=mode, notes=tuple(notes))


def _bundles(reader: FolderReader, folders: Iterable[str], notes: list[Note]) -> Iterator[BundleSummary]:
    for folder in folders:
        try:
            layouts = find_layouts(reader, folder)
            bundle = summarize_bundle(reader, folder, layouts, notes) if layouts else None
        except UnreadableInput as error:
            notes.append(unreadable_note(folder, error))
            continue
        if bundle is not None:
            yield bundle


def _read_mode(reader: FolderReader, file: str, notes: list[Note]) -> str | None:
    """`updateGraph` of a ci.yaml."""
    try:
        data = reader.read(file)
        return _glance(data)
    except Unfamiliar:
        return _parse_mode(data, file, notes)
    except UnreadableInput as error:
        notes.append(unreadable_note(file, error))
        return None


def _glance(data: bytes) -> str | None:
    found = outline.sections(data).get(_MODE)
    if found is None or found.keys:
        raise Unfamiliar
    return outline.scalar(found.value)


def _parse_mode(data: bytes, file: str, notes: list[Note]) -> str | None:
    typed = Typed()
    try:
        document = first_document(data)
    except Broken as error:
        notes.append(unreadable_note(file, error))
        return None
    if not isinstance(document.value, dict):
        return None
    mode = typed.text(document.value, _MODE)
    notes.extend(note.at(file) for note in (*repetitions(document.repeated, ((),)), *typed.notes))
    return mode


def _add(
    builder: CatalogBuilder, facts: PackageSummary, files: Files, name: str, default_mode: UpdateMode
) -> None:
    """Turn the facts of one package folder into the model."""
    if facts.manifests:
        add_package_manifests(builder, facts, files, name)
        return
    add_notes(builder, files, facts.notes, name)
    mode = parse_update_mode(facts.mode, default_mode) if facts.mode else default_mode
    if facts.mode and facts.mode not in MODES:
        add_notes(builder, files, [_unknown_mode(facts.mode, mode)], name)
    add_packages(builder, [build_bundle(bundle, name, files, builder) for bundle in facts.bundles], mode)


def _unknown_mode(written: str, taken: UpdateMode) -> Note:
    message = f"updateGraph {written!r} is no mode; read as {taken.value}"
    fix = f"write {_MODE}: {taken.value} (there are also {', '.join(sorted(set(MODES) - {taken.value}))})"
    return Note("unknown-update-mode", message, file=_CI[0], pointer=(_MODE,), fix=fix)
