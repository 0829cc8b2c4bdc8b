"""Parses releases.yaml, and reports all its problems at once."""

from __future__ import annotations

__all__ = ["load_releases", "parse_releases"]

import os.path
from collections.abc import Iterator, Sequence
from typing import Any, Final

from everpath import __url__
from everpath.errors import ReleasesError, UnreadableInput
from everpath.loaders import source_positions
from everpath.loaders.fields import Field
from everpath.loaders.sources import MEBIBYTE, Sources
from everpath.model import Place
from everpath.parsing import yaml_parser
from everpath.releases.model import (
    BundleMetadata,
    ChannelDeclaration,
    DeclaredEdges,
    Membership,
    Release,
    ReleasesFile,
    Variant,
)
from everpath.releases.validation import find_problems

_KEYS: Final = (
    "package",
    "defaultChannel",
    "operator",
    "bundles",
    "image",
    "images",
    "deprecated",
    "pins",
    "properties",
    "dependencies",
    "annotations",
    "channels",
    "catalogs",
    "releases",
)
_RELEASE_KEYS: Final = (
    "version",
    "channels",
    "from",
    "withdrawn",
    "deprecated",
    "minKubeVersion",
    "procedures",
    "engines",
    "name",
    "image",
    "images",
    "bundle",
    "properties",
    "dependencies",
    "annotations",
)
_EDGE_KEYS: Final = ("replaces", "skips", "range", "zstream")
_EXTENSION_PREFIX: Final = "x-"
#: Annotations and properties that everpath generates.
_BUNDLE_ANNOTATIONS: Final = "operators.operatorframework.io.bundle."
_GENERATED_PROPERTIES: Final = ("olm.package", "olm.bundle.object", "olm.csv.metadata")
_MAX_SIZE: Final = 16 * MEBIBYTE

_REMARKS: Final = {
    "duplicate-key": "duplicate key",
    "lossy-number": "a number that is too large to be exact",
    "leftover": "a second document; only the first is read: remove it",
}


def load_releases(file: str, sources: Sources | None = None) -> ReleasesFile:
    """Load a releases.yaml. Raises ReleasesError with all its problems, or UnreadableInput."""
    sources = sources or Sources()
    try:
        content = sources.read(file, _MAX_SIZE)
    except UnreadableInput as error:
        is_there = os.path.lexists(file)
        hint = error.hint if is_there else "create one with everpath init, or choose another with --file"
        raise UnreadableInput(error.message, hint=hint, file=file) from error
    return parse_releases(content, file, sources)


def parse_releases(content: bytes, file: str, sources: Sources | None = None) -> ReleasesFile:
    """Parse the content of a releases.yaml. `sources` keeps it for later look-ups of positions."""
    sources = sources or Sources()
    sources.add_content(file, content)
    try:
        parsed = yaml_parser.parse(content)
    except yaml_parser.ParseError as error:
        raise ReleasesError(f"{file}:{error.line}:{error.column}: {error.message}", file=file) from error
    problems: list[tuple[Place, str]] = []
    source = _source(Field(parsed.value, Place(file), problems))
    found = [(remark.line, remark.column, _REMARKS[remark.kind]) for remark in parsed.warnings]
    problems += ((c.place, str(c)) for c in find_problems(source))
    for place, message in problems:
        at = source_positions.locate(place, sources)
        found.append((at.line, at.column, message))
    if found:
        lines = dict.fromkeys(f"{file}:{line}:{column}: {message}" for line, column, message in sorted(found))
        raise ReleasesError(
            "\n".join(lines), hint=f"{__url__}/blob/main/docs/releases.md documents every key", file=file
        )
    return source


def _source(top: Field) -> ReleasesFile:
    """Build the file. A missing value is empty, and reported."""
    values = top.mapping(_KEYS, prefix=_EXTENSION_PREFIX)
    for key in ("package", "defaultChannel", "releases"):
        if key not in values and isinstance(top.raw, dict):
            top.add_problem(f"{key} is missing")
    releases = values.get("releases")
    found = () if releases is None or releases.raw is None else tuple(map(_release, releases.items()))
    return ReleasesFile(
        _text(values, "package") or "",
        _text(values, "defaultChannel") or "",
        found,
        operator=values["operator"].texts() if "operator" in values else (),
        bundles=_text(values, "bundles"),
        image=_text(values, "image"),
        images=_texts_by_name(values["images"]) if "images" in values else {},
        deprecated=_text(values, "deprecated"),
        pins=_text(values, "pins"),
        metadata=_bundle_metadata(values),
        channels=tuple(map(_channel, values["channels"].items())) if "channels" in values else (),
        catalogs=tuple(map(_variant, values["catalogs"].items())) if "catalogs" in values else (),
        place=top.place,
    )


def _text(values: dict[str, Field], key: str, example: str = "") -> str | None:
    return values[key].text(example) or None if key in values else None


def _texts_by_name(value: Field) -> dict[str, str]:
    return {name: text for name, field in value.fields().items() if (text := field.text())}


def _bundle_metadata(values: dict[str, Field]) -> BundleMetadata:
    return BundleMetadata(
        tuple(_properties(values["properties"], _GENERATED_PROPERTIES)) if "properties" in values else None,
        tuple(_properties(values["dependencies"], ())) if "dependencies" in values else None,
        _annotations(values["annotations"]) if "annotations" in values else {},
    )


def _properties(value: Field, generated: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield a list of types and values, as in properties.yaml and dependencies.yaml."""
    for item in value.items():
        values = item.mapping(("type", "value"))
        kind = _required_text(item, values, "type", "olm.package")
        if "value" not in values and isinstance(item.raw, dict):
            item.add_problem(f"value is missing in an item of {value.name}")
        elif kind in generated:
            item.add_problem(f"everpath generates {kind} from the manifests; remove it")
        elif values:
            yield {"type": kind, "value": values["value"].raw}


def _annotations(value: Field) -> dict[str, str]:
    for name, field in value.fields().items():
        if name.startswith(_BUNDLE_ANNOTATIONS):
            field.add_problem(f"everpath generates the annotation {name}; remove it")
    return _texts_by_name(value)


def _channel(value: Field) -> ChannelDeclaration:
    values = value.mapping(("name", "deprecated"))
    return ChannelDeclaration(_required_text(value, values, "name"), _text(values, "deprecated"), value.place)


def _variant(value: Field) -> Variant:
    values = value.mapping(("name", "releases", "channels"))
    channels = values["channels"].texts() if "channels" in values else ()
    return Variant(_required_text(value, values, "name"), _text(values, "releases"), channels, value.place)


def _required_text(value: Field, values: dict[str, Field], key: str, example: str = "") -> str:
    if key not in values and isinstance(value.raw, dict):
        value.add_problem(f"{key} is missing in an item of {value.name}")
    return _text(values, key, example) or ""


def _release(value: Field) -> Release:
    values = value.mapping(_RELEASE_KEYS, prefix=_EXTENSION_PREFIX)
    if "channels" not in values and isinstance(value.raw, dict):
        value.add_problem("channels is missing; write [] for a release that is in no channel")
    return Release(
        _required_text(value, values, "version", "1.2.3"),
        tuple(_memberships(values["channels"])) if "channels" in values else (),
        _edges(values["from"]) if "from" in values else DeclaredEdges(place=value.place),
        withdrawn=_withdrawn(values["withdrawn"]) if "withdrawn" in values else None,
        deprecated=_text(values, "deprecated"),
        min_kube_version=_text(values, "minKubeVersion", "1.29.0"),
        procedures=values["procedures"].numbers() if "procedures" in values else (),
        engines=values["engines"].texts() if "engines" in values else (),
        name=_text(values, "name"),
        image=_text(values, "image"),
        images=_texts_by_name(values["images"]) if "images" in values else {},
        bundle=_text(values, "bundle"),
        metadata=_bundle_metadata(values),
        extra={key: field.raw for key, field in values.items() if key.startswith(_EXTENSION_PREFIX)},
        place=value.place,
    )


def _memberships(value: Field) -> Iterator[Membership]:
    """Yield the channels of a release: a list of names, or a mapping of names to their `from`."""
    if isinstance(value.raw, dict):
        for name, field in value.fields().items():
            yield Membership(name, None if field.raw is None else _edges(field), field.place)
        return
    for field in value.items():
        if name := field.text():
            yield Membership(name, None, field.place)


def _edges(value: Field) -> DeclaredEdges:
    values = value.mapping(_EDGE_KEYS)
    return DeclaredEdges(
        _text(values, "replaces", "1.2.2"),
        values["skips"].texts() if "skips" in values else (),
        _text(values, "range", "'>=1.2.0 <1.2.3'"),
        values["zstream"].flag() if "zstream" in values else False,
        value.place,
    )


def _withdrawn(value: Field) -> str | None:
    """The reason; empty for `true`, None for `false`."""
    if isinstance(value.raw, bool):
        return "" if value.raw else None
    return value.text("the reason, or true") or ""
