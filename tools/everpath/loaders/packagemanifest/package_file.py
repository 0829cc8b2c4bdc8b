"""Package manifests: the format before bundles, as operator-courier and the first registries read it.

    PACKAGE.package.yaml               packageName, channels (name, currentCSV), defaultChannel
    *.clusterserviceversion.yaml       beside it, or in folders named after versions

Files are told apart by content. A channel is what one reaches from its currentCSV along `replaces`.
"""

from __future__ import annotations

__all__ = [
    "add_package_manifests",
    "read_package_manifest",
    "read_package_manifests",
    "yaml_files",
]

import os
from collections.abc import Iterator, Mapping
from typing import Any

from everpath.errors import UnreadableInput
from everpath.loaders.bundle.bundle_model import Files, add_notes, bundle_of
from everpath.loaders.bundle.bundle_summary import read_csv_file, unreadable_note
from everpath.loaders.bundle.detect import YAML, is_package_file, is_package_file_name, says_package
from everpath.loaders.bundle.folder_reader import Stamp, Visit, folder_name, join
from everpath.loaders.bundle.summaries import BundleFacts, ManifestFacts, Note, PackageFacts
from everpath.loaders.bundle.update_graph import declared, in_order
from everpath.loaders.typed import Typed
from everpath.model import Bundle, Channel, Csv, Declaration, Entry, UpdateMode
from everpath.model.builder import CatalogBuilder
from everpath.parsing.first_document import Broken, first_document


def read_package_manifests(visit: Visit) -> PackageFacts:
    """What the package files and CSVs of a folder say, in it and below it."""
    manifests: list[ManifestFacts] = []
    bundles: list[BundleFacts] = []
    notes: list[Note] = []
    for file in yaml_files(visit, notes):
        csv = read_csv_file(visit, file, notes)
        if csv is not None:
            bundles.append(BundleFacts(file.rpartition(os.sep)[0], file, csv))
        elif is_package_file_name(file) or is_package_file(visit, file):
            manifests.extend(_read_package_file(visit, file, notes))
    return PackageFacts(tuple(bundles), tuple(manifests), notes=tuple(notes))


def yaml_files(visit: Visit, notes: list[Note]) -> Iterator[str]:
    """The YAML files below the root, by path. A link that leads back up is not followed."""
    seen: set[Stamp] = set()
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            listing = visit.listing(folder)
        except UnreadableInput as error:
            notes.append(unreadable_note(folder, error))
            continue
        if visit.stamps[folder] in seen:
            continue
        seen.add(visit.stamps[folder])
        waiting += [join(folder, name) for name in reversed(listing.folders)]
        yield from (join(folder, name) for name in listing.files if name.endswith(YAML))


def _read_package_file(visit: Visit, file: str, notes: list[Note]) -> Iterator[ManifestFacts]:
    try:
        document = first_document(visit.read(file)).value
    except (UnreadableInput, Broken) as error:
        # A file that is no CSV may still be one that does not parse, and then it is noted already.
        if all(note.file != file for note in notes):
            notes.append(unreadable_note(file, error))
        return
    if says_package(document):
        typed = Typed()
        yield _manifest(typed, document, file)
        notes.extend(note.at(file) for note in typed.notes)


def _manifest(typed: Typed, document: Mapping[str, Any], file: str) -> ManifestFacts:
    channels = []
    for index, item in enumerate(typed.items(document, "channels")):
        if isinstance(item, dict):
            name, current = (typed.text(item, "channels", index, key) or "" for key in ("name", "currentCSV"))
            channels.append((name, current))
        else:
            typed.refuse(item, "a mapping", ("channels", index))
    package = typed.text(document, "packageName") or ""
    return ManifestFacts(file, package, tuple(channels), typed.text(document, "defaultChannel") or "")


def read_package_manifest(path: str, builder: CatalogBuilder, *, thorough: bool = False) -> None:
    """Read the package files and CSVs of a folder. A thorough reading parses all of every CSV."""
    facts = read_package_manifests(Visit(path, thorough))
    add_package_manifests(builder, facts, Files(path), folder_name(path))


def add_package_manifests(builder: CatalogBuilder, facts: PackageFacts, files: Files, folder: str) -> None:
    """Add the package of each package file. CSVs that no channel reaches belong to the only one there is."""
    add_notes(builder, files, facts.notes, folder)
    for manifest in facts.manifests:
        bundles = [bundle_of(found, manifest.package, files, builder) for found in facts.bundles]
        channels = _channels(manifest, bundles, files)
        reached = {entry.name for channel in channels for entry in channel.entries}
        names = [name for name, _ in manifest.channels]
        default = manifest.default_channel or (names[0] if len(names) == 1 else "")
        is_inferred = not manifest.default_channel
        place = files.plain(manifest.file)
        builder.declare(manifest.package, Declaration(place, default, is_inferred, UpdateMode.REPLACES))
        for channel in channels:
            builder.add_channel(channel)
        for bundle in bundles:
            if len(facts.manifests) == 1 or bundle.name in reached:
                builder.add_bundle(bundle)


def _channels(manifest: ManifestFacts, bundles: list[Bundle], files: Files) -> list[Channel]:
    by_name: dict[str, Bundle] = {}
    for bundle in in_order(bundles):
        by_name.setdefault(bundle.name, bundle)
    found = []
    for index, (name, current) in enumerate(manifest.channels):
        place = files.plain(manifest.file, ("channels", index))
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
            yield declared(bundle, line[name])
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
