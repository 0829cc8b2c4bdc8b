"""Builds the model of packages and bundles from their summaries, as opm renders them."""

from __future__ import annotations

__all__ = ["Places", "add_packages", "add_problems", "build_bundle"]

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from everpath.loaders.bundle.annotations import CHANNELS, split_channels
from everpath.loaders.bundle.bundle_summary import GVK
from everpath.loaders.bundle.csv_summary import PROPERTIES
from everpath.loaders.bundle.folder_reader import join
from everpath.loaders.bundle.summaries import BundleSummary, FileProblem, PropertySummary, split_keys
from everpath.loaders.bundle.update_graph import build_channels, default_channel_csv, newest
from everpath.manifest_access import Pointer
from everpath.model import Bundle, Csv, Declaration, Place, Problem, ProblemKind, Property, UpdateMode
from everpath.model.builder import CatalogBuilder

_PACKAGE: Final = "olm.package"
_ANNOTATION: Final = ("metadata", "annotations", PROPERTIES)


class Places(NamedTuple):
    """Makes places of paths below a folder."""

    root: str

    def csv(self, file: str) -> Place:
        return Place(join(self.root, file), dialect="csv")

    def annotations(self, file: str) -> Place:
        return Place(join(self.root, file), dialect="annotations")

    def place(self, file: str, pointer: Pointer = (), offset: int = 0) -> Place:
        return Place(join(self.root, file), offset, pointer)


def add_problems(
    builder: CatalogBuilder,
    places: Places,
    problems: Iterable[FileProblem],
    package: str,
    entry: str | None = None,
) -> None:
    """Add problems of files to the catalog as those of a package, or of one of its bundles."""
    for problem in problems:
        place = places.place(problem.file, problem.pointer, problem.offset)
        builder.add_problem(Problem(problem.kind, place, problem.message, problem.fix, package, entry))


def add_packages(
    builder: CatalogBuilder, bundles: Iterable[Bundle], mode: UpdateMode, *, alone: bool = False
) -> None:
    """Add bundles, their channels and a declaration of each of their packages."""
    packages: dict[str, list[Bundle]] = {}
    for bundle in bundles:
        packages.setdefault(bundle.package, []).append(bundle)
    for name, members in packages.items():
        found = build_channels(name, members, mode)
        declaration = _declaration(members, [channel.name for channel in found], mode)
        builder.declare(name, declaration._replace(is_single_bundle=alone))
        for channel in found:
            builder.add_channel(channel)
        for bundle in members:
            builder.add_bundle(bundle)


def _declaration(members: Sequence[Bundle], names: Sequence[str], mode: UpdateMode) -> Declaration:
    """The default channel is that of the highest version that has one, else the only channel."""
    naming = default_channel_csv(members)
    if naming is not None:
        return Declaration(naming.annotations or naming.place, naming.default_channel or "", mode=mode)
    head = newest(members)
    place = (head.csv.annotations if head.csv else None) or head.place
    return Declaration(place, names[0] if len(names) == 1 else "", inferred=True, mode=mode)


def build_bundle(summary: BundleSummary, package: str, places: Places, builder: CatalogBuilder) -> Bundle:
    """Build the bundle that opm renders. `package` is used if the annotations have none."""
    csv, annotations = summary.csv, summary.annotations
    package = annotations.package or package
    problems = [*summary.problems()]
    properties = render_properties(summary, package, places.place, problems)
    place = places.csv(summary.csv_file)
    bundle = Bundle(
        csv.name or "",
        package,
        _version(properties) or csv.version,
        place,
        release=csv.release,
        properties=properties,
        has_objects=True,
        csv=_csv(summary, place, places, problems),
    )
    if problems:
        add_problems(builder, places, problems, package, bundle.name)
    return bundle


def _version(properties: Iterable[Property]) -> str | None:
    """The version of the olm.package property; it takes precedence over that of the CSV."""
    for found in properties:
        if found.type == "olm.package" and isinstance(found.value, dict):
            version = found.value.get("version")
            return version if isinstance(version, str) else None
    return None


def _csv(summary: BundleSummary, place: Place, places: Places, problems: list[FileProblem]) -> Csv:
    csv, annotations, file = summary.csv, summary.annotations, summary.annotations_file
    names, is_exact = split_channels(annotations.channels or "")
    if not is_exact and file is not None:
        message = f"opm does not trim the channels {annotations.channels!r}"
        pointer = ("annotations", CHANNELS)
        problems.append(
            FileProblem(
                ProblemKind.UNTRIMMED_CHANNELS, message, file, pointer, fix=f"write {','.join(names)}"
            )
        )
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
        folder=summary.folder.rpartition(os.sep)[2] or None,
        annotations=places.annotations(file) if file is not None else None,
        package=annotations.package,
        channels=names,
        default_channel=annotations.default_channel,
    )


def render_properties(
    bundle: BundleSummary, package: str, place: Callable[[str, Pointer], Place], problems: list[FileProblem]
) -> tuple[Property, ...]:
    """Return the properties of a bundle as `opm render` does, sorted by type and value.

    Their sources, in order: properties.yaml, annotations.yaml and the CSV, the annotation olm.properties of
    the CSV, dependencies.yaml. The last olm.package takes precedence.
    """
    implied = []
    if bundle.csv.version:
        value = {"packageName": package, "version": bundle.csv.version}
        if bundle.csv.release:
            value["release"] = bundle.csv.release
        implied.append(PropertySummary(_PACKAGE, value, ("spec", "version"), bundle.csv_file))
    if bundle.properties or bundle.dependencies or bundle.csv.properties:
        annotated = _annotated_properties(bundle, problems)
        required = map(_required_property, bundle.dependencies)
        implied = _sort_unique([*bundle.properties, *implied, *annotated, *required])
    return tuple([Property(each.type, each.value, place(each.file, each.pointer)) for each in implied])


def _required_property(dependency: PropertySummary) -> PropertySummary:
    """Convert a dependency to a property. Other types are copied: an olm.label becomes a provided one."""
    kind, value = dependency.type, dependency.value
    if kind == GVK:
        kind = "olm.gvk.required"
    elif kind == _PACKAGE and isinstance(value, dict):
        kind = "olm.package.required"
        value = {"packageName": value.get("packageName"), "versionRange": value.get("version")}
    return PropertySummary(kind, value, dependency.pointer, dependency.file)


def _annotated_properties(bundle: BundleSummary, problems: list[FileProblem]) -> Iterator[PropertySummary]:
    """Yield the properties of the CSV's annotation, a JSON list in a string."""
    text = bundle.csv.properties
    if not text:
        return
    try:
        listed: Any = json.loads(text)
    except (ValueError, RecursionError):
        listed = None
    if not isinstance(listed, list) or not all(
        isinstance(p, dict) and isinstance(p.get("type"), str) for p in listed
    ):
        message = f"the annotation {PROPERTIES} is not a JSON list of properties"
        problems.append(
            FileProblem(ProblemKind.WRONG_TYPE, message, file=bundle.csv_file, pointer=_ANNOTATION)
        )
        return
    for item in listed:
        yield PropertySummary(item["type"], item.get("value"), _ANNOTATION, bundle.csv_file)


def _sort_unique(values: Iterable[PropertySummary]) -> list[PropertySummary]:
    """Sort the values; remove duplicates and all but the last olm.package."""
    unique: dict[tuple[str, str], PropertySummary] = {}
    for found in values:
        if found.type == _PACKAGE:
            unique = {key: kept for key, kept in unique.items() if key[0] != _PACKAGE}
        text = json.dumps(found.value, sort_keys=True, separators=(",", ":"))
        unique.setdefault((found.type, text), found)
    return [unique[key] for key in sorted(unique)]
