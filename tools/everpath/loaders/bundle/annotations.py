"""The files of a bundle's metadata folder: annotations, dependencies and properties.

opm identifies the files by content, not by name. One file may contain all three.
"""

from __future__ import annotations

__all__ = [
    "CHANNELS",
    "DEFAULT_CHANNEL",
    "PACKAGE",
    "Metadata",
    "parse_metadata_file",
    "scan_annotations",
    "split_channels",
    "summarize_metadata",
]

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, NamedTuple

from everpath.loaders.bundle.field_reader import FieldReader, repeated_key_problems
from everpath.loaders.bundle.summaries import AnnotationsSummary, FileProblem, PropertySummary
from everpath.manifest_access import Pointer
from everpath.parsing import yaml_outline
from everpath.parsing.first_document import first_document
from everpath.parsing.yaml_outline import UnsupportedLayout

PACKAGE: Final = "operators.operatorframework.io.bundle.package.v1"
CHANNELS: Final = "operators.operatorframework.io.bundle.channels.v1"
DEFAULT_CHANNEL: Final = "operators.operatorframework.io.bundle.channel.default.v1"


class Metadata(NamedTuple):
    """The content of one file of the metadata folder."""

    annotations: AnnotationsSummary | None = None
    dependencies: tuple[PropertySummary, ...] = ()
    properties: tuple[PropertySummary, ...] = ()
    problems: tuple[FileProblem, ...] = ()


def parse_metadata_file(data: bytes) -> Metadata:
    """Return the content of a metadata file. Raises `ParseError`."""
    try:
        return Metadata(annotations=scan_annotations(data))
    except UnsupportedLayout:
        document = first_document(data)
        return summarize_metadata(document.value, document.duplicate_keys)


def scan_annotations(data: bytes) -> AnnotationsSummary:
    """Scan an annotations.yaml in the usual layout without parsing it. Raises `UnsupportedLayout`."""
    found = yaml_outline.sections(data)
    if found.keys() != {"annotations"}:
        raise UnsupportedLayout
    values = found["annotations"].mapping()
    package, channels, default = (
        yaml_outline.scalar(values[key]) if key in values else None
        for key in (PACKAGE, CHANNELS, DEFAULT_CHANNEL)
    )
    if not (package or channels or default):
        raise UnsupportedLayout
    return AnnotationsSummary(package, channels, default)


def summarize_metadata(document: Any, repeated: Collection[Pointer] = ()) -> Metadata:
    """Return the content of a parsed metadata file. A value of a wrong type is a problem."""
    if not isinstance(document, dict):
        return Metadata()
    fields = FieldReader()
    return Metadata(
        annotations=_annotations(document, repeated),
        dependencies=tuple(_properties(fields, document, "dependencies")),
        properties=tuple(_properties(fields, document, "properties")),
        problems=tuple(fields.problems),
    )


def _annotations(document: Mapping[str, Any], repeated: Collection[Pointer]) -> AnnotationsSummary | None:
    fields = FieldReader()
    annotations = fields.mapping(document, "annotations")
    package = fields.text(annotations, "annotations", PACKAGE)
    channels = fields.text(annotations, "annotations", CHANNELS)
    default = fields.text(annotations, "annotations", DEFAULT_CHANNEL)
    if not (package or channels or default or fields.problems):
        return None
    problems = (*repeated_key_problems(repeated, ((), ("annotations",))), *fields.problems)
    return AnnotationsSummary(package, channels, default, problems)


def _properties(fields: FieldReader, document: Mapping[str, Any], key: str) -> Iterator[PropertySummary]:
    for index, item in enumerate(fields.items(document, key)):
        if not isinstance(item, dict):
            fields.add_wrong_type(item, "a mapping", (key, index))
        elif kind := fields.text(item, key, index, "type"):
            yield PropertySummary(kind, item.get("value"), (key, index))


def split_channels(written: str) -> tuple[tuple[str, ...], bool]:
    """Split a list of channels at commas. The flag is False if opm, which does not trim, differs."""
    names = [stripped for name in written.split(",") if (stripped := name.strip())]
    return tuple(dict.fromkeys(names)), ",".join(names) == written
