"""From the facts of bundles to the model: what `opm` would make of them, and what they said themselves."""

from __future__ import annotations

__all__ = ["Places", "add_notes", "add_packages", "build_bundle"]

import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from everpath.loaders.bundle.annotations import CHANNELS, split_channels
from everpath.loaders.bundle.folder_reader import join
from everpath.loaders.bundle.properties import render_properties
from everpath.loaders.bundle.summaries import BundleSummary, Note, split_keys
from everpath.loaders.bundle.update_graph import channels, default_channel_csv, newest
from everpath.model import Bundle, Csv, Declaration, Place, Problem, Property, UpdateMode
from everpath.model.builder import CatalogBuilder


class Places(NamedTuple):
    """Places below the folder that facts were read from, named as the user named it."""

    root: str

    def csv(self, file: str) -> Place:
        return Place(join(self.root, file), dialect="csv")

    def annotations(self, file: str) -> Place:
        return Place(join(self.root, file), dialect="annotations")

    def place(self, file: str, pointer: tuple[str | int, ...] = (), offset: int = 0) -> Place:
        return Place(join(self.root, file), offset, pointer)


def add_notes(
    builder: CatalogBuilder, files: Places, notes: Iterable[Note], package: str, entry: str | None = None
) -> None:
    """Report notes as problems of a package, or of one of its bundles."""
    for note in notes:
        place = files.place(note.file, note.pointer, note.offset)
        builder.add_problem(Problem(note.kind, place, note.message, note.fix, package, entry))


def add_packages(
    builder: CatalogBuilder, bundles: Iterable[Bundle], mode: UpdateMode, *, alone: bool = False
) -> None:
    """Add bundles, the channels they name, and a declaration for each package they belong to."""
    packages: dict[str, list[Bundle]] = {}
    for bundle in bundles:
        packages.setdefault(bundle.package, []).append(bundle)
    for name, members in packages.items():
        found = channels(name, members, mode)
        declaration = _declaration(members, [channel.name for channel in found], mode)
        builder.declare(name, declaration._replace(single_bundle=alone))
        for channel in found:
            builder.add_channel(channel)
        for bundle in members:
            builder.add_bundle(bundle)


def _declaration(members: Sequence[Bundle], names: Sequence[str], mode: UpdateMode) -> Declaration:
    """The default channel of the highest version that names one, else the only channel there is."""
    naming = default_channel_csv(members)
    if naming is not None:
        return Declaration(naming.annotations or naming.place, naming.default_channel or "", mode=mode)
    head = newest(members)
    place = (head.csv.annotations if head.csv else None) or head.place
    return Declaration(place, names[0] if len(names) == 1 else "", inferred=True, mode=mode)


def build_bundle(facts: BundleSummary, package: str, files: Places, builder: CatalogBuilder) -> Bundle:
    """The bundle as a catalog would hold it. Its package is `package` if its annotations do not say."""
    csv, annotations = facts.csv, facts.annotations
    package = annotations.package or package
    notes = [*facts.notes()]
    properties = render_properties(facts, package, files.place, notes)
    place = files.csv(facts.csv_file)
    bundle = Bundle(
        csv.name or "",
        package,
        _version(properties) or csv.version,
        place,
        release=csv.release,
        properties=properties,
        has_objects=True,
        csv=_csv(facts, place, files, notes),
    )
    if notes:
        add_notes(builder, files, notes, package, bundle.name)
    return bundle


def _version(properties: Iterable[Property]) -> str | None:
    """The version of the olm.package property, which counts where a CSV says another."""
    for found in properties:
        if found.type == "olm.package" and isinstance(found.value, dict):
            version = found.value.get("version")
            return version if isinstance(version, str) else None
    return None


def _csv(facts: BundleSummary, place: Place, files: Places, notes: list[Note]) -> Csv:
    csv, annotations, file = facts.csv, facts.annotations, facts.annotations_file
    names, is_exact = split_channels(annotations.channels or "")
    if not is_exact and file is not None:
        message = f"the channels {annotations.channels!r} are not parted by single commas"
        pointer = ("annotations", CHANNELS)
        notes.append(Note("untrimmed-channels", message, file, pointer, fix=f"write {','.join(names)}"))
    return Csv(
        place,
        version=csv.version,
        replaces=csv.replaces,
        skips=csv.skips,
        skip_range=csv.skip_range,
        substitutes_for=csv.substitutes_for,
        metadata_keys=split_keys(csv.metadata_keys),
        annotation_keys=split_keys(csv.annotation_keys),
        spec_keys=split_keys(csv.spec_keys),
        misplaced_ranges=csv.misplaced_ranges,
        folder=facts.folder.rpartition(os.sep)[2] or None,
        annotations=files.annotations(file) if file is not None else None,
        package=annotations.package,
        channels=names,
        default_channel=annotations.default_channel,
    )
