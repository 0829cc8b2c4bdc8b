"""Summarizes a ClusterServiceVersion without parsing it where possible.

Nearly all of a CSV is icon, examples and deployment. `scan_csv` finds the dozen values that upgrades depend
on in the bytes (`parsing.yaml_outline`). If the layout is unusual, `summarize_csv` parses the text. Both
return the same summary, but a scan does not notice invalid YAML in the parts that it skips.
"""

from __future__ import annotations

__all__ = ["KIND", "scan_csv", "summarize_csv", "summarize_parsed_csv"]

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec.structs import replace as with_fields

from everpath.loaders.bundle.field_reader import FieldReader, repeated_key_problems
from everpath.loaders.bundle.summaries import CsvSummary, join_keys
from everpath.manifest_access import Pointer
from everpath.parsing import yaml_outline
from everpath.parsing.first_document import first_document
from everpath.parsing.yaml_outline import UnsupportedLayout

KIND: Final = "ClusterServiceVersion"

SKIP_RANGE: Final = "olm.skipRange"
SUBSTITUTES_FOR: Final = "olm.substitutesFor"
PROPERTIES: Final = "olm.properties"

_RANGE_KEY: Final = re.compile("skips?[-_]?range", re.IGNORECASE)

# The mappings in which a repeated key is reported: those that a scan reads as well.
_CHECKED_MAPPINGS: Final = ((), ("metadata",), ("metadata", "annotations"), ("spec",))


def summarize_csv(data: bytes) -> CsvSummary | None:
    """Return the summary of a manifest, or None if it is not a CSV. Raises `ParseError`.

    Like opm, it reads the first document of a file, and the last value of a repeated key.
    """
    try:
        return scan_csv(data)
    except UnsupportedLayout:
        document = first_document(data)
        return summarize_parsed_csv(document.value, document.duplicate_keys)


def scan_csv(data: bytes) -> CsvSummary:
    """Summarize a CSV in the usual layout. Raises `UnsupportedLayout`. Cost: one search over the bytes."""
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
            (pointer, text)
            for pointer, parent in _misplaced_ranges(metadata, annotations, spec)
            if (text := _scalar(parent, pointer[-1])) is not None
        ),
    )


def _misplaced_ranges(
    metadata: Mapping[str, Any], annotations: Mapping[str, Any], spec: Mapping[str, Any]
) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Yield pointer and mapping of each key that looks like olm.skipRange and that OLM does not read."""
    for pointer, parent in (
        (("metadata", "annotations"), annotations),
        (("metadata",), metadata),
        (("spec",), spec),
    ):
        for key in parent:
            if _RANGE_KEY.search(key) and (*pointer, key) != ("metadata", "annotations", SKIP_RANGE):
                yield (*pointer, key), parent


def _scalar(values: Mapping[str, bytes], key: str) -> str | None:
    return yaml_outline.scalar(values[key]) if key in values else None


def summarize_parsed_csv(document: Any, repeated: Iterable[Pointer] = ()) -> CsvSummary | None:
    """Summarize a parsed manifest; None if it is not a CSV. A value of a wrong type is a problem."""
    if not isinstance(document, dict) or document.get("kind") != KIND:
        return None
    fields = FieldReader()
    metadata = fields.mapping(document, "metadata")
    annotations = fields.mapping(metadata, "metadata", "annotations")
    spec = fields.mapping(document, "spec")
    summary = CsvSummary(
        name=fields.text(metadata, "metadata", "name"),
        version=fields.text(spec, "spec", "version"),
        replaces=fields.text(spec, "spec", "replaces"),
        skips=fields.texts(spec, "spec", "skips"),
        skip_range=fields.text(annotations, "metadata", "annotations", SKIP_RANGE),
        substitutes_for=fields.text(annotations, "metadata", "annotations", SUBSTITUTES_FOR),
        properties=fields.text(annotations, "metadata", "annotations", PROPERTIES),
        release=fields.text(spec, "spec", "release", numbers=True),
        metadata_keys=join_keys(metadata),
        annotation_keys=join_keys(annotations),
        spec_keys=join_keys(spec),
        misplaced_ranges=tuple(
            (pointer, parent[pointer[-1]])
            for pointer, parent in _misplaced_ranges(metadata, annotations, spec)
            if isinstance(parent[pointer[-1]], str)
        ),
    )
    problems = (*repeated_key_problems(repeated, _CHECKED_MAPPINGS), *fields.problems)
    return with_fields(summary, problems=problems) if problems else summary
