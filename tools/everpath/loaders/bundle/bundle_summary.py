"""Summarizes a bundle folder (registry+v1): its CSV, its metadata, and the APIs that it provides.

    manifests/  metadata/                 the standard layout
    bundle/manifests/  bundle/metadata/   in some repositories
    NAME.clusterserviceversion.yaml       manifests in the folder itself, in some repositories

opm reads the first document of each file, takes the first CSV by file name, and identifies the files of
metadata/ by content.
"""

from __future__ import annotations

__all__ = [
    "GVK",
    "is_metadata_name",
    "read_annotated_package",
    "summarize_bundle",
    "summarize_csv_file",
    "unreadable_problem",
    "with_apis",
]

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from msgspec.structs import replace as with_fields

from everpath.errors import UnreadableInput
from everpath.loaders.bundle.annotations import Metadata, parse_metadata_file
from everpath.loaders.bundle.csv_summary import KIND, summarize_csv
from everpath.loaders.bundle.detect import MANIFEST_SUFFIXES, BundleLayout, is_csv_name
from everpath.loaders.bundle.field_reader import FieldReader
from everpath.loaders.bundle.folder_reader import FolderReader, join
from everpath.loaders.bundle.summaries import (
    AnnotationsSummary,
    BundleSummary,
    CsvSummary,
    FileProblem,
    PropertySummary,
)
from everpath.manifest_access import Pointer
from everpath.model import ProblemKind
from everpath.parsing.first_document import ParseError, check_syntax, first_document

GVK: Final = "olm.gvk"


def summarize_bundle(
    reader: FolderReader,
    folder: str,
    layouts: list[BundleLayout],
    problems: list[FileProblem],
    *,
    every_file: bool = False,
) -> BundleSummary | None:
    """Return the summary of the first layout, or None if it has no CSV. Problems are added to `problems`.

    With `every_file`, all manifests are searched for CSVs; else only those with the usual name, if any.
    """
    layout = layouts[0]
    csvs = _read_csvs(reader, layout, problems, every_file=every_file)
    found = _read_metadata(reader, layout, problems)
    if not csvs:
        return None
    (file, csv), *rest = csvs
    others = [
        join(other.manifests, name) for other in layouts[1:] for name in other.files if is_csv_name(name)
    ]
    for other in (*(second for second, _ in rest), *others):
        message = f"a second {KIND}: the bundle already has {file}"
        problems.append(FileProblem(ProblemKind.SEVERAL_CSVS, message, file=other, fix="keep one of them"))
    if found.annotations is None:
        where = layout.metadata or folder or "the folder"
        message = f"the package and the channels of the bundle are unknown: {where} has no annotations"
        problems.append(
            FileProblem(ProblemKind.NO_ANNOTATIONS, message, file=file, fix="write metadata/annotations.yaml")
        )
    return BundleSummary(
        folder,
        file,
        csv,
        annotations_file=found.file,
        annotations=found.annotations or AnnotationsSummary(),
        properties=found.properties,
        dependencies=found.dependencies,
    )


def read_annotated_package(reader: FolderReader, layout: BundleLayout) -> str | None:
    """Return the package in the annotations of a bundle, without reporting problems."""
    try:
        annotations = _read_metadata(reader, layout, []).annotations
    except UnreadableInput:
        return None
    return annotations.package if annotations else None


def _read_csvs(
    reader: FolderReader, layout: BundleLayout, problems: list[FileProblem], *, every_file: bool
) -> list[tuple[str, CsvSummary]]:
    """Return the CSVs among the manifests, by file name."""
    known = len(problems)
    named = [name for name in layout.files if is_csv_name(name)]
    csvs = []
    for name in layout.files if every_file or not named else named:
        file = join(layout.manifests, name)
        csv = summarize_csv_file(reader, file, problems)
        if csv is not None:
            csvs.append((file, csv))
    if not csvs and len(problems) == known:
        where = layout.manifests or "the folder"
        problems.append(FileProblem(ProblemKind.NO_CSV, f"{where} contains no {KIND}", file=layout.manifests))
    return csvs


def summarize_csv_file(reader: FolderReader, file: str, problems: list[FileProblem]) -> CsvSummary | None:
    """Return the summary of a CSV file, or None for another file. An unreadable file is a problem."""
    try:
        data = reader.read(file)
        # Most manifests are not CSVs, and parsing them only to learn their kind is slow.
        if KIND.encode() not in data:
            return None
        if reader.is_thorough:
            check_syntax(data)
        return summarize_csv(data)
    except (UnreadableInput, ParseError) as error:
        problems.append(unreadable_problem(file, error))
        return None


@dataclass(slots=True)
class _MetadataFolder:
    """The content of the metadata folder: the first annotations, dependencies and properties."""

    file: str | None = None
    annotations: AnnotationsSummary | None = None
    dependencies: tuple[PropertySummary, ...] = ()
    properties: tuple[PropertySummary, ...] = ()

    def add(self, file: str, metadata: Metadata) -> None:
        if self.annotations is None and metadata.annotations is not None:
            self.file, self.annotations = file, metadata.annotations
        if not self.dependencies:
            self.dependencies = tuple(with_fields(value, file=file) for value in metadata.dependencies)
        if not self.properties:
            self.properties = tuple(with_fields(value, file=file) for value in metadata.properties)


def _read_metadata(
    reader: FolderReader, layout: BundleLayout, problems: list[FileProblem]
) -> _MetadataFolder:
    found = _MetadataFolder()
    if layout.metadata is None:
        return found
    if layout.is_shared:
        names = tuple(filter(is_metadata_name, layout.files))
    else:
        names = reader.list_folder(layout.metadata).files
    for file in (join(layout.metadata, name) for name in names):
        try:
            metadata = parse_metadata_file(reader.read(file))
        except (UnreadableInput, ParseError) as error:
            # opm tries every file, also a README. An error is reported only for files that should be YAML.
            if file.endswith(MANIFEST_SUFFIXES) or isinstance(error, UnreadableInput):
                problems.append(unreadable_problem(file, error))
            continue
        found.add(file, metadata)
        problems.extend(problem.at(file) for problem in metadata.problems)
    return found


def is_metadata_name(name: str) -> bool:
    """Whether a file has the usual name of metadata: decisive in a folder that also contains manifests."""
    return name.rpartition(".")[0] in ("annotations", "dependencies", "dependency", "properties")


def unreadable_problem(file: str, error: UnreadableInput | ParseError) -> FileProblem:
    """The problem of a file that cannot be read or parsed."""
    if isinstance(error, ParseError):
        message = f"not YAML: {error.message}"
        return FileProblem(
            ProblemKind.UNREADABLE_DOCUMENT, message, file=file, offset=error.offset, fix=error.fix
        )
    return FileProblem(ProblemKind.UNREADABLE_DOCUMENT, error.message, file=file, fix=error.hint)


def with_apis(
    reader: FolderReader, layout: BundleLayout, bundle: BundleSummary, problems: list[FileProblem]
) -> BundleSummary:
    """Add an olm.gvk for each API that the manifests define or the CSV requires, as opm does.

    Cost: every manifest is parsed, which is too slow for a repository of thousands of bundles.
    """
    provided: list[PropertySummary] = []
    required: list[PropertySummary] = []
    for file in (join(layout.manifests, name) for name in layout.files):
        document = _read_document(reader, file, problems)
        if document.get("kind") == "CustomResourceDefinition":
            provided.extend(_crd_apis(document, file))
        elif file == bundle.csv_file:
            owned, needed = _csv_apis(document, file, problems)
            provided += owned
            required += needed
    return with_fields(
        bundle,
        properties=(*bundle.properties, *provided),
        dependencies=(*bundle.dependencies, *required),
    )


def _read_document(reader: FolderReader, file: str, problems: list[FileProblem]) -> Mapping[str, Any]:
    """Return a manifest, or an empty mapping for a file that opm ignores."""
    try:
        value = first_document(reader.read(file)).value
    except (UnreadableInput, ParseError) as error:
        problem = unreadable_problem(file, error)
        if problem not in problems:
            problems.append(problem)
        return {}
    return value if isinstance(value, dict) else {}


def _crd_apis(document: Mapping[str, Any], file: str) -> Iterator[PropertySummary]:
    """Yield an API for each version of a CRD, served or not. v1beta1 also has a single `version`."""
    fields = FieldReader()
    spec = fields.mapping(document, "spec")
    group = fields.text(spec, "spec", "group") or ""
    kind = fields.text(fields.mapping(spec, "spec", "names"), "spec", "names", "kind") or ""
    versions = [v.get("name") for v in fields.items(spec, "spec", "versions") if isinstance(v, dict)]
    for version in dict.fromkeys([*versions, fields.text(spec, "spec", "version")]):
        if isinstance(version, str):
            yield _gvk(group, kind, version, file, ("spec", "versions"))


def _csv_apis(
    csv: Mapping[str, Any], file: str, problems: list[FileProblem]
) -> tuple[list[PropertySummary], list[PropertySummary]]:
    """Return the APIs that a CSV provides by API services, and those that it requires."""
    fields = FieldReader()
    spec = csv.get("spec")
    spec = spec if isinstance(spec, dict) else {}
    services = fields.mapping(spec, "spec", "apiservicedefinitions")
    resources = fields.mapping(spec, "spec", "customresourcedefinitions")
    owned = list(_listed_apis(fields, services, file, "apiservicedefinitions", "owned"))
    required = [
        *_listed_apis(fields, resources, file, "customresourcedefinitions", "required"),
        *_listed_apis(fields, services, file, "apiservicedefinitions", "required"),
    ]
    problems.extend(problem.at(file) for problem in fields.problems)
    return owned, required


def _listed_apis(
    fields: FieldReader, section: Mapping[str, Any], file: str, name: str, list_name: str
) -> Iterator[PropertySummary]:
    """Yield the APIs of a list. The group of a CRD is in its name, PLURAL.GROUP."""
    for index, item in enumerate(fields.items(section, "spec", name, list_name)):
        at: Pointer = ("spec", name, list_name, index)
        if not isinstance(item, dict):
            fields.add_wrong_type(item, "a mapping", at)
            continue
        kind, version, crd, group = (
            fields.text(item, *at, key) or "" for key in ("kind", "version", "name", "group")
        )
        yield _gvk(
            group if name == "apiservicedefinitions" else crd.partition(".")[2], kind, version, file, at
        )


def _gvk(group: str, kind: str, version: str, file: str, pointer: Pointer) -> PropertySummary:
    return PropertySummary(GVK, {"group": group, "kind": kind, "version": version}, pointer, file)
