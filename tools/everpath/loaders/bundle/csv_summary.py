"""A ClusterServiceVersion's part in the upgrade graph, without parsing the megabyte around it.

Nearly all of a CSV is icon, examples and deployment. `glance` finds the dozen values that matter in the
bytes (`text.outline`) and raises `Unfamiliar` when the text is shaped unlike what it knows; `read_csv`
then parses. Both give the same facts. A glance does not notice YAML that breaks further down.
"""

from __future__ import annotations

__all__ = ["KIND", "glance", "summarize_csv", "summarize_parsed_csv"]

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec.structs import replace as with_fields

from everpath.loaders.bundle.summaries import CsvSummary, join_keys
from everpath.loaders.typed import Typed, repetitions
from everpath.parsing import yaml_outline
from everpath.parsing.first_document import first_document
from everpath.parsing.yaml_outline import UnsupportedLayout

KIND: Final = "ClusterServiceVersion"

SKIP_RANGE: Final = "olm.skipRange"
SUBSTITUTES_FOR: Final = "olm.substitutesFor"
PROPERTIES: Final = "olm.properties"

_RANGE: Final = re.compile("skips?[-_]?range", re.IGNORECASE)

# Where a repeated key is noticed: not further down, where a glance does not look.
_NOTICED: Final = ((), ("metadata",), ("metadata", "annotations"), ("spec",))


def summarize_csv(data: bytes) -> CsvSummary | None:
    """What a manifest says as a CSV, or None if it is something else. Raises `ParseError`.

    Of several documents the first is read, as opm does; of a repeated key the last value.
    """
    try:
        return glance(data)
    except UnsupportedLayout:
        document = first_document(data)
        return summarize_parsed_csv(document.value, document.duplicate_keys)


def glance(data: bytes) -> CsvSummary:
    """The facts of a CSV in the usual layout. Raises `Unfamiliar`. Cost: one search over the bytes."""
    found = yaml_outline.sections(data)
    metadata, spec = (found[key].mapping() if key in found else None for key in ("metadata", "spec"))
    if metadata is None or spec is None or _scalar({k: s.value for k, s in found.items()}, "kind") != KIND:
        raise UnsupportedLayout
    annotations = yaml_outline.mapping(metadata.get("annotations", b""))
    return CsvSummary(
        name=_scalar(metadata, "name"),
        version=_scalar(spec, "version"),
        replaces=_scalar(spec, "replaces"),
        skips=yaml_outline.scalars(spec.get("skips", b"")),
        skip_range=_scalar(annotations, SKIP_RANGE),
        substitutes_for=_scalar(annotations, SUBSTITUTES_FOR),
        properties=_scalar(annotations, PROPERTIES),
        release=_scalar(spec, "release"),
        metadata_keys=join_keys(metadata),
        annotation_keys=join_keys(annotations),
        spec_keys=join_keys(spec),
        misplaced_ranges=tuple(
            (way, text)
            for way, parent in _stray(metadata, annotations, spec)
            if (text := _scalar(parent, way[-1])) is not None
        ),
    )


def _stray(
    metadata: Mapping[str, Any], annotations: Mapping[str, Any], spec: Mapping[str, Any]
) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Keys that seem to hold a range where nobody reads one: the way to each, and the mapping it is in."""
    for way, parent in (
        (("metadata", "annotations"), annotations),
        (("metadata",), metadata),
        (("spec",), spec),
    ):
        for key in parent:
            if _RANGE.search(key) and (*way, key) != ("metadata", "annotations", SKIP_RANGE):
                yield (*way, key), parent


def _scalar(values: Mapping[str, bytes], key: str) -> str | None:
    return yaml_outline.scalar(values[key]) if key in values else None


def summarize_parsed_csv(document: Any, repeated: Iterable[tuple[str | int, ...]] = ()) -> CsvSummary | None:
    """The facts of a parsed manifest, or None if it is no CSV. Wrong types are noted and left out."""
    if not isinstance(document, dict) or document.get("kind") != KIND:
        return None
    typed = Typed()
    metadata = typed.mapping(document, "metadata")
    annotations = typed.mapping(metadata, "metadata", "annotations")
    spec = typed.mapping(document, "spec")
    facts = CsvSummary(
        name=typed.text(metadata, "metadata", "name"),
        version=typed.text(spec, "spec", "version"),
        replaces=typed.text(spec, "spec", "replaces"),
        skips=typed.texts(spec, "spec", "skips"),
        skip_range=typed.text(annotations, "metadata", "annotations", SKIP_RANGE),
        substitutes_for=typed.text(annotations, "metadata", "annotations", SUBSTITUTES_FOR),
        properties=typed.text(annotations, "metadata", "annotations", PROPERTIES),
        release=typed.text(spec, "spec", "release", numbers=True),
        metadata_keys=join_keys(metadata),
        annotation_keys=join_keys(annotations),
        spec_keys=join_keys(spec),
        misplaced_ranges=tuple(
            (way, parent[way[-1]])
            for way, parent in _stray(metadata, annotations, spec)
            if isinstance(parent[way[-1]], str)
        ),
    )
    notes = (*repetitions(repeated, _NOTICED), *typed.notes)
    return with_fields(facts, notes=notes) if notes else facts
