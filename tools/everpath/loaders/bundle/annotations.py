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

from everpath.loaders.bundle.summaries import AnnotationsSummary, Note, TypedValue
from everpath.loaders.typed import Typed, repetitions
from everpath.parsing import yaml_outline
from everpath.parsing.first_document import first_document
from everpath.parsing.yaml_outline import UnsupportedLayout

PACKAGE: Final = "operators.operatorframework.io.bundle.package.v1"
CHANNELS: Final = "operators.operatorframework.io.bundle.channels.v1"
DEFAULT_CHANNEL: Final = "operators.operatorframework.io.bundle.channel.default.v1"


class Metadata(NamedTuple):
    """The content of one file of the metadata folder."""

    annotations: AnnotationsSummary | None = None
    dependencies: tuple[TypedValue, ...] = ()
    properties: tuple[TypedValue, ...] = ()
    notes: tuple[Note, ...] = ()


def parse_metadata_file(data: bytes) -> Metadata:
    """Return the content of a metadata file. Raises `ParseError`."""
    try:
        return Metadata(annotations=scan_annotations(data))
    except UnsupportedLayout:
        document = first_document(data)
        return summarize_metadata(document.value, document.duplicate_keys)


def scan_annotations(data: bytes) -> AnnotationsSummary:
    """Scan an annotations.yaml in the usual layout without parsing it. Raises `Unfamiliar`."""
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


def summarize_metadata(document: Any, repeated: Collection[tuple[str | int, ...]] = ()) -> Metadata:
    """Return the content of a parsed metadata file. Values of a wrong type are notes."""
    if not isinstance(document, dict):
        return Metadata()
    typed = Typed()
    return Metadata(
        annotations=_annotations(document, repeated),
        dependencies=tuple(_typed_values(typed, document, "dependencies")),
        properties=tuple(_typed_values(typed, document, "properties")),
        notes=tuple(typed.notes),
    )


def _annotations(
    document: Mapping[str, Any], repeated: Collection[tuple[str | int, ...]]
) -> AnnotationsSummary | None:
    typed = Typed()
    annotations = typed.mapping(document, "annotations")
    package = typed.text(annotations, "annotations", PACKAGE)
    channels = typed.text(annotations, "annotations", CHANNELS)
    default = typed.text(annotations, "annotations", DEFAULT_CHANNEL)
    if not (package or channels or default or typed.notes):
        return None
    notes = (*repetitions(repeated, ((), ("annotations",))), *typed.notes)
    return AnnotationsSummary(package, channels, default, notes)


def _typed_values(typed: Typed, document: Mapping[str, Any], key: str) -> Iterator[TypedValue]:
    for index, item in enumerate(typed.items(document, key)):
        if not isinstance(item, dict):
            typed.refuse(item, "a mapping", (key, index))
        elif kind := typed.text(item, key, index, "type"):
            yield TypedValue(kind, item.get("value"), (key, index))


def split_channels(written: str) -> tuple[tuple[str, ...], bool]:
    """Split a list of channels at commas. The flag is False if opm, which does not trim, differs."""
    names = [stripped for name in written.split(",") if (stripped := name.strip())]
    return tuple(dict.fromkeys(names)), ",".join(names) == written
