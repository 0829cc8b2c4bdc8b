"""Loads package manifests, as operator-courier and operator-registry do.

    PACKAGE.package.yaml               packageName, channels (name, currentCSV), defaultChannel
    *.clusterserviceversion.yaml       beside it, or in a folder for each version

Files are identified by content. A channel consists of its currentCSV and everything on its replaces chain.
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
from everpath.loaders.bundle.bundle_model import Places, add_problems, build_bundle
from everpath.loaders.bundle.bundle_summary import summarize_csv_file, unreadable_problem
from everpath.loaders.bundle.detect import (
    MANIFEST_SUFFIXES,
    is_package_document,
    is_package_file,
    is_package_file_name,
)
from everpath.loaders.bundle.field_reader import FieldReader
from everpath.loaders.bundle.folder_reader import FileStamp, FolderReader, folder_name, join
from everpath.loaders.bundle.summaries import (
    BundleSummary,
    FileProblem,
    PackageManifestSummary,
    PackageSummary,
)
from everpath.loaders.bundle.update_graph import declared_entry, sort_by_version
from everpath.model import Bundle, Channel, Csv, Declaration, Entry, UpdateMode
from everpath.model.builder import CatalogBuilder
from everpath.parsing.first_document import ParseError, first_document


def summarize_package_manifests(reader: FolderReader) -> PackageSummary:
    """Summarize the package files and CSVs in and below a folder."""
    manifests: list[PackageManifestSummary] = []
    bundles: list[BundleSummary] = []
    problems: list[FileProblem] = []
    for file in find_yaml_files(reader, problems):
        csv = summarize_csv_file(reader, file, problems)
        if csv is not None:
            bundles.append(BundleSummary(file.rpartition(os.sep)[0], file, csv))
        elif is_package_file_name(file) or is_package_file(reader, file):
            manifests.extend(_read_package_file(reader, file, problems))
    return PackageSummary(tuple(bundles), tuple(manifests), problems=tuple(problems))


def find_yaml_files(reader: FolderReader, problems: list[FileProblem]) -> Iterator[str]:
    """Yield the manifest files below the root, by path. Links that form a cycle are not followed."""
    seen: set[FileStamp] = set()
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            listing = reader.list_folder(folder)
        except UnreadableInput as error:
            problems.append(unreadable_problem(folder, error))
            continue
        if reader.stamps[folder] in seen:
            continue
        seen.add(reader.stamps[folder])
        waiting += [join(folder, name) for name in reversed(listing.folders)]
        yield from (join(folder, name) for name in listing.files if name.endswith(MANIFEST_SUFFIXES))


def _read_package_file(
    reader: FolderReader, file: str, problems: list[FileProblem]
) -> Iterator[PackageManifestSummary]:
    try:
        document = first_document(reader.read(file)).value
    except (UnreadableInput, ParseError) as error:
        # `summarize_csv_file` may already have reported the file.
        if all(problem.file != file for problem in problems):
            problems.append(unreadable_problem(file, error))
        return
    if is_package_document(document):
        fields = FieldReader()
        yield _manifest(fields, document, file)
        problems.extend(problem.at(file) for problem in fields.problems)


def _manifest(fields: FieldReader, document: Mapping[str, Any], file: str) -> PackageManifestSummary:
    channels = []
    for index, item in enumerate(fields.items(document, "channels")):
        if isinstance(item, dict):
            name, current = (
                fields.text(item, "channels", index, key) or "" for key in ("name", "currentCSV")
            )
            channels.append((name, current))
        else:
            fields.add_wrong_type(item, "a mapping", ("channels", index))
    package = fields.text(document, "packageName") or ""
    return PackageManifestSummary(
        file, package, tuple(channels), fields.text(document, "defaultChannel") or ""
    )


def load_package_manifests(path: str, builder: CatalogBuilder, *, thorough: bool = False) -> None:
    """Load the package files and CSVs of a folder. `thorough` parses all of every CSV."""
    summary = summarize_package_manifests(FolderReader(path, thorough))
    add_package_manifests(builder, summary, Places(path), folder_name(path))


def add_package_manifests(
    builder: CatalogBuilder, summary: PackageSummary, places: Places, folder: str
) -> None:
    """Add the package of each package file. CSVs in no channel belong to the only package, if any."""
    add_problems(builder, places, summary.problems, folder)
    for manifest in summary.manifests:
        bundles = [build_bundle(found, manifest.package, places, builder) for found in summary.bundles]
        channels = _channels(manifest, bundles, places)
        reached = {entry.name for channel in channels for entry in channel.entries}
        names = [name for name, _ in manifest.channels]
        default = manifest.default_channel or (names[0] if len(names) == 1 else "")
        is_inferred = not manifest.default_channel
        place = places.place(manifest.file)
        builder.declare(manifest.package, Declaration(place, default, is_inferred, UpdateMode.REPLACES))
        for channel in channels:
            builder.add_channel(channel)
        for bundle in bundles:
            if len(summary.manifests) == 1 or bundle.name in reached:
                builder.add_bundle(bundle)


def _channels(manifest: PackageManifestSummary, bundles: list[Bundle], places: Places) -> list[Channel]:
    by_name: dict[str, Bundle] = {}
    for bundle in sort_by_version(bundles):
        by_name.setdefault(bundle.name, bundle)
    found = []
    for index, (name, current) in enumerate(manifest.channels):
        place = places.place(manifest.file, ("channels", index))
        absent = () if current in by_name else (Entry(current, place.at("currentCSV")),)
        entries = (*absent, *_entries(current, by_name))
        found.append(Channel(name, manifest.package, place, entries))
    return found


def _entries(current: str, by_name: Mapping[str, Bundle]) -> Iterator[Entry]:
    """Yield the entries of a channel, lowest version first. Skipped CSVs are entries without edges."""
    chain = _replaces_chain(current, by_name)
    skipped = {name for csv in chain.values() for name in csv.skips}
    for name, bundle in by_name.items():
        if name in chain:
            yield declared_entry(bundle, chain[name])
        elif name in skipped:
            yield Entry(name, bundle.place)


def _replaces_chain(current: str, by_name: Mapping[str, Bundle]) -> Mapping[str, Csv]:
    """Return the replaces chain from a CSV to its end, to an absent name or to a cycle."""
    chain: dict[str, Csv] = {}
    name: str | None = current
    while name is not None and name not in chain and name in by_name and (csv := by_name[name].csv):
        chain[name] = csv
        name = csv.replaces
    return chain
