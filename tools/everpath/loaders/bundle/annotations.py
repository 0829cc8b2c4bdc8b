"""The metadata folder of a bundle: annotations, dependencies, properties.

opm tells the files apart by what is in them, not by their names; one file may hold all three.
"""

from __future__ import annotations

__all__ = [
    "CHANNELS",
    "DEFAULT_CHANNEL",
    "PACKAGE",
    "Metadata",
    "glance",
    "parse_metadata_file",
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
    """What one file of the metadata folder holds; None or nothing where it says nothing."""

    annotations: AnnotationsSummary | None = None
    dependencies: tuple[TypedValue, ...] = ()
    properties: tuple[TypedValue, ...] = ()
    notes: tuple[Note, ...] = ()


def parse_metadata_file(data: bytes) -> Metadata:
    """What a metadata file holds. Raises `ParseError`."""
    try:
        return Metadata(annotations=glance(data))
    except UnsupportedLayout:
        document = first_document(data)
        return summarize_metadata(document.value, document.duplicate_keys)


def glance(data: bytes) -> AnnotationsSummary:
    """The facts of an annotations.yaml in the usual layout, found without parsing. Raises `Unfamiliar`."""
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
    """What a parsed document holds. Values of a wrong type are noted and left out."""
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
    """The channels of a comma-separated list, and whether opm, which does not trim, would see the same."""
    names = [stripped for name in written.split(",") if (stripped := name.strip())]
    return tuple(dict.fromkeys(names)), ",".join(names) == written
