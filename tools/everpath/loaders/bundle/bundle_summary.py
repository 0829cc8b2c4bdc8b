"""Bundle folders (registry+v1): which files make a bundle, and what they say.

    manifests/  metadata/              as the format wants it
    bundle/manifests/  bundle/metadata/
    NAME.clusterserviceversion.yaml    manifests in the folder itself, metadata/ beside them or nowhere

The last two are what repositories also hold. opm reads the first document of each file, takes the first CSV
by file name, and tells the files of metadata/ apart by their content.
"""

from __future__ import annotations

__all__ = [
    "annotated_package",
    "is_metadata_name",
    "summarize_bundle",
    "summarize_csv_file",
    "unreadable_note",
]

from collections.abc import Iterable
from dataclasses import dataclass

from msgspec.structs import replace as with_fields

from everpath.errors import UnreadableInput
from everpath.loaders.bundle.annotations import Metadata, parse_metadata_file
from everpath.loaders.bundle.csv_summary import KIND, summarize_csv
from everpath.loaders.bundle.detect import YAML, Layout, is_csv_name
from everpath.loaders.bundle.folder_reader import FolderReader, join
from everpath.loaders.bundle.summaries import AnnotationsSummary, BundleSummary, CsvSummary, Note, TypedValue
from everpath.parsing.first_document import ParseError, check_syntax


def summarize_bundle(
    reader: FolderReader, folder: str, layouts: list[Layout], notes: list[Note], *, every_file: bool = False
) -> BundleSummary | None:
    """What the first of the layouts says, or None without a CSV. What is wrong is added to the notes.

    Unless `every_file` is asked for, files not called like a CSV are read only where none is.
    """
    layout = layouts[0]
    csvs = _read_csvs(reader, layout, notes, every_file=every_file)
    found = _read_metadata(reader, layout, notes)
    if not csvs:
        return None
    (file, csv), *rest = csvs
    others = [
        join(other.manifests, name) for other in layouts[1:] for name in other.files if is_csv_name(name)
    ]
    _note_others(notes, [*(second for second, _ in rest), *others], file)
    if found.annotations is None:
        where = layout.metadata or folder or "the folder"
        message = f"no file of {where} says which package and channels the bundle belongs to"
        notes.append(Note("no-annotations", message, file=file, fix="write metadata/annotations.yaml"))
    return BundleSummary(
        folder,
        file,
        csv,
        annotations_file=found.file,
        annotations=found.annotations or AnnotationsSummary(),
        properties=found.properties,
        dependencies=found.dependencies,
    )


def annotated_package(reader: FolderReader, layout: Layout) -> str | None:
    """The package that the annotations name, CSV or not. What is wrong with them is not said again."""
    try:
        annotations = _read_metadata(reader, layout, []).annotations
    except UnreadableInput:
        return None
    return annotations.package if annotations else None


def _read_csvs(
    reader: FolderReader, layout: Layout, notes: list[Note], *, every_file: bool
) -> list[tuple[str, CsvSummary]]:
    """The CSVs among the manifests, by file name."""
    known = len(notes)
    named = [name for name in layout.files if is_csv_name(name)]
    csvs = []
    for name in layout.files if every_file or not named else named:
        file = join(layout.manifests, name)
        facts = summarize_csv_file(reader, file, notes)
        if facts is not None:
            csvs.append((file, facts))
    if not csvs and len(notes) == known:
        where = layout.manifests or "the folder"
        notes.append(Note("no-csv", f"no file of {where} is a {KIND}", file=layout.manifests))
    return csvs


def summarize_csv_file(reader: FolderReader, file: str, notes: list[Note]) -> CsvSummary | None:
    """What a file says as a CSV, or None if it is something else; noted, if it cannot be read at all."""
    try:
        data = reader.read(file)
        # Every manifest of every kind comes by here, and to parse one only to learn its kind is dear.
        if KIND.encode() not in data:
            return None
        if reader.is_thorough:
            check_syntax(data)
        return summarize_csv(data)
    except (UnreadableInput, ParseError) as error:
        notes.append(unreadable_note(file, error))
        return None


def _note_others(notes: list[Note], files: Iterable[str], first: str) -> None:
    for file in files:
        message = f"a second {KIND}: the bundle already has {first}"
        notes.append(Note("several-csvs", message, file=file, fix="keep one of them"))


@dataclass(slots=True)
class _Found:
    """What the metadata folder holds, of each kind the first."""

    file: str | None = None
    annotations: AnnotationsSummary | None = None
    dependencies: tuple[TypedValue, ...] = ()
    properties: tuple[TypedValue, ...] = ()

    def take(self, file: str, metadata: Metadata) -> None:
        if self.annotations is None and metadata.annotations is not None:
            self.file, self.annotations = file, metadata.annotations
        if not self.dependencies:
            self.dependencies = tuple(with_fields(value, file=file) for value in metadata.dependencies)
        if not self.properties:
            self.properties = tuple(with_fields(value, file=file) for value in metadata.properties)


def _read_metadata(reader: FolderReader, layout: Layout, notes: list[Note]) -> _Found:
    found = _Found()
    if layout.metadata is None:
        return found
    is_shared = layout.metadata == layout.manifests
    files = (
        [f for f in layout.files if is_metadata_name(f)]
        if is_shared
        else reader.list_folder(layout.metadata).files
    )
    for name in files:
        file = join(layout.metadata, name)
        metadata = _read_metadata_file(reader, file, notes)
        if metadata is not None:
            found.take(file, metadata)
            notes.extend(note.at(file) for note in metadata.notes)
    return found


def is_metadata_name(name: str) -> bool:
    """Whether a file is called as metadata is: in a folder shared with manifests that must do."""
    return name.rpartition(".")[0] in ("annotations", "dependencies", "dependency", "properties")


def _read_metadata_file(reader: FolderReader, file: str, notes: list[Note]) -> Metadata | None:
    try:
        return parse_metadata_file(reader.read(file))
    except (UnreadableInput, ParseError) as error:
        # opm tries every file, a README too; only what is called YAML is expected to be some.
        if file.endswith(YAML) or isinstance(error, UnreadableInput):
            notes.append(unreadable_note(file, error))
        return None


def unreadable_note(file: str, error: UnreadableInput | ParseError) -> Note:
    """What to report of a file that cannot be read."""
    if isinstance(error, ParseError):
        message = f"not YAML: {error.message}"
        return Note("unreadable-document", message, file=file, offset=error.offset, fix=error.fix)
    return Note("unreadable-document", error.message, file=file, fix=error.hint)
