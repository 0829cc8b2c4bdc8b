"""Package manifests: the format before bundles, as operator-courier and the first registries read it.

    PACKAGE.package.yaml               packageName, channels (name, currentCSV), defaultChannel
    *.clusterserviceversion.yaml       beside it, or in folders named after versions

Files are told apart by content. A channel is what one reaches from its currentCSV along `replaces`.
"""

from __future__ import annotations

__all__ = [
    "add_package_manifests",
    "find_yaml_files",
    "load_package_manifests",
    "summarize_package_manifests",
]

import os
from collections.abc import Iterator, Mapping
from typing import Any

from everpath.errors import UnreadableInput
from everpath.loaders.bundle.bundle_model import Places, add_notes, build_bundle
from everpath.loaders.bundle.bundle_summary import summarize_csv_file, unreadable_note
from everpath.loaders.bundle.detect import (
    MANIFEST_SUFFIXES,
    is_package_document,
    is_package_file,
    is_package_file_name,
)
from everpath.loaders.bundle.folder_reader import FileStamp, FolderReader, folder_name, join
from everpath.loaders.bundle.summaries import BundleSummary, Note, PackageManifestSummary, PackageSummary
from everpath.loaders.bundle.update_graph import declared_entry, sort_by_version
from everpath.loaders.typed import Typed
from everpath.model import Bundle, Channel, Csv, Declaration, Entry, UpdateMode
from everpath.model.builder import CatalogBuilder
from everpath.parsing.first_document import ParseError, first_document


def summarize_package_manifests(reader: FolderReader) -> PackageSummary:
    """What the package files and CSVs of a folder say, in it and below it."""
    manifests: list[PackageManifestSummary] = []
    bundles: list[BundleSummary] = []
    notes: list[Note] = []
    for file in find_yaml_files(reader, notes):
        csv = summarize_csv_file(reader, file, notes)
        if csv is not None:
            bundles.append(BundleSummary(file.rpartition(os.sep)[0], file, csv))
        elif is_package_file_name(file) or is_package_file(reader, file):
            manifests.extend(_read_package_file(reader, file, notes))
    return PackageSummary(tuple(bundles), tuple(manifests), notes=tuple(notes))


def find_yaml_files(reader: FolderReader, notes: list[Note]) -> Iterator[str]:
    """The YAML files below the root, by path. A link that leads back up is not followed."""
    seen: set[FileStamp] = set()
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            listing = reader.list_folder(folder)
        except UnreadableInput as error:
            notes.append(unreadable_note(folder, error))
            continue
        if reader.stamps[folder] in seen:
            continue
        seen.add(reader.stamps[folder])
        waiting += [join(folder, name) for name in reversed(listing.folders)]
        yield from (join(folder, name) for name in listing.files if name.endswith(MANIFEST_SUFFIXES))


def _read_package_file(
    reader: FolderReader, file: str, notes: list[Note]
) -> Iterator[PackageManifestSummary]:
    try:
        document = first_document(reader.read(file)).value
    except (UnreadableInput, ParseError) as error:
        # A file that is no CSV may still be one that does not parse, and then it is noted already.
        if all(note.file != file for note in notes):
            notes.append(unreadable_note(file, error))
        return
    if is_package_document(document):
        typed = Typed()
        yield _manifest(typed, document, file)
        notes.extend(note.at(file) for note in typed.notes)


def _manifest(typed: Typed, document: Mapping[str, Any], file: str) -> PackageManifestSummary:
    channels = []
    for index, item in enumerate(typed.items(document, "channels")):
        if isinstance(item, dict):
            name, current = (typed.text(item, "channels", index, key) or "" for key in ("name", "currentCSV"))
            channels.append((name, current))
        else:
            typed.refuse(item, "a mapping", ("channels", index))
    package = typed.text(document, "packageName") or ""
    return PackageManifestSummary(
        file, package, tuple(channels), typed.text(document, "defaultChannel") or ""
    )


def load_package_manifests(path: str, builder: CatalogBuilder, *, thorough: bool = False) -> None:
    """Read the package files and CSVs of a folder. A thorough reading parses all of every CSV."""
    facts = summarize_package_manifests(FolderReader(path, thorough))
    add_package_manifests(builder, facts, Places(path), folder_name(path))


def add_package_manifests(builder: CatalogBuilder, facts: PackageSummary, files: Places, folder: str) -> None:
    """Add the package of each package file. CSVs that no channel reaches belong to the only one there is."""
    add_notes(builder, files, facts.notes, folder)
    for manifest in facts.manifests:
        bundles = [build_bundle(found, manifest.package, files, builder) for found in facts.bundles]
        channels = _channels(manifest, bundles, files)
        reached = {entry.name for channel in channels for entry in channel.entries}
        names = [name for name, _ in manifest.channels]
        default = manifest.default_channel or (names[0] if len(names) == 1 else "")
        is_inferred = not manifest.default_channel
        place = files.place(manifest.file)
        builder.declare(manifest.package, Declaration(place, default, is_inferred, UpdateMode.REPLACES))
        for channel in channels:
            builder.add_channel(channel)
        for bundle in bundles:
            if len(facts.manifests) == 1 or bundle.name in reached:
                builder.add_bundle(bundle)


def _channels(manifest: PackageManifestSummary, bundles: list[Bundle], files: Places) -> list[Channel]:
    by_name: dict[str, Bundle] = {}
    for bundle in sort_by_version(bundles):
        by_name.setdefault(bundle.name, bundle)
    found = []
    for index, (name, current) in enumerate(manifest.channels):
        place = files.place(manifest.file, ("channels", index))
        absent = () if current in by_name else (Entry(current, place.at("currentCSV")),)
        entries = (*absent, *_entries(current, by_name))
        found.append(Channel(name, manifest.package, place, entries))
    return found


def _entries(current: str, by_name: Mapping[str, Bundle]) -> Iterator[Entry]:
    """The line of a channel, lowest version first; what the line skips is in the channel, without edges."""
    line = _line(current, by_name)
    skipped = {name for csv in line.values() for name in csv.skips}
    for name, bundle in by_name.items():
        if name in line:
            yield declared_entry(bundle, line[name])
        elif name in skipped:
            yield Entry(name, bundle.place)


def _line(current: str, by_name: Mapping[str, Bundle]) -> Mapping[str, Csv]:
    """From a CSV along `replaces` to where that ends: at nothing, at an absent name, or in a circle."""
    line: dict[str, Csv] = {}
    name: str | None = current
    while name is not None and name not in line and name in by_name and (csv := by_name[name].csv):
        line[name] = csv
        name = csv.replaces
    return line
