"""From the text of releases.yaml to a source, or to everything that is wrong with it at once."""

from __future__ import annotations

__all__ = ["load_releases", "parse_releases"]

import os.path
from collections.abc import Iterator, Sequence
from typing import Any, Final

from everpath import __url__
from everpath.errors import ReleasesError, UnreadableInput
from everpath.loaders import source_positions
from everpath.loaders.releases.fields import Field, ProblemLog
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
_ORIGIN_KEYS: Final = ("replaces", "skips", "range", "zstream")
_OWN: Final = "x-"
#: What annotations.yaml says of the bundle itself, and properties that are made of its manifests.
_BUNDLE: Final = "operators.operatorframework.io.bundle."
_MADE: Final = ("olm.package", "olm.bundle.object", "olm.csv.metadata")
_LARGEST: Final = 16 * MEBIBYTE

_REMARKS: Final = {
    "duplicate-key": "the same key twice",
    "lossy-number": "a number too large to be kept exactly",
    "leftover": "a second document; only the first is read",
}


def load_releases(file: str, sources: Sources | None = None) -> ReleasesFile:
    """The source in a file. Raises ReleasesError with every complaint, or UnreadableInput."""
    sources = sources or Sources()
    try:
        content = sources.read(file, _LARGEST)
    except UnreadableInput as error:
        is_there = os.path.lexists(file)
        hint = error.hint if is_there else "everpath init writes one; --file names another"
        raise UnreadableInput(error.message, hint=hint, file=file) from error
    return parse_releases(content, file, sources)


def parse_releases(content: bytes, file: str, sources: Sources | None = None) -> ReleasesFile:
    """The source that a text holds. Later questions for lines are answered from that text."""
    sources = sources or Sources()
    sources.add_content(file, content)
    try:
        parsed = yaml_parser.parse(content)
    except yaml_parser.ParseError as error:
        raise ReleasesError(f"{file}:{error.line}:{error.column}: {error.message}", file=file) from error
    record = ProblemLog()
    source = _source(Field(parsed.value, Place(file), record))
    told = [(remark.line, remark.column, _REMARKS[remark.kind]) for remark in parsed.warnings]
    wrong = [*record.problems, *((c.place, str(c)) for c in find_problems(source))]
    for place, message in wrong:
        at = source_positions.locate(place, sources)
        told.append((at.line, at.column, message))
    if told:
        lines = dict.fromkeys(f"{file}:{line}:{column}: {message}" for line, column, message in sorted(told))
        raise ReleasesError(
            "\n".join(lines), hint=f"{__url__}/blob/main/docs/releases.md shows every key", file=file
        )
    return source


def _source(top: Field) -> ReleasesFile:
    """The source; what is missing is empty in it, with a complaint on record."""
    values = top.mapping(_KEYS, own=_OWN)
    for key in ("package", "defaultChannel", "releases"):
        if key not in values and isinstance(top.raw, dict):
            top.wrong(f"there is no {key}")
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
        metadata=_additions(values),
        channels=tuple(map(_note, values["channels"].items())) if "channels" in values else (),
        catalogs=tuple(map(_variant, values["catalogs"].items())) if "catalogs" in values else (),
        place=top.place,
    )


def _text(values: dict[str, Field], key: str, such_as: str = "") -> str | None:
    return values[key].text(such_as) or None if key in values else None


def _texts_by_name(value: Field) -> dict[str, str]:
    return {name: text for name, field in value.fields().items() if (text := field.text())}


def _additions(values: dict[str, Field]) -> BundleMetadata:
    return BundleMetadata(
        tuple(_typed(values["properties"], _MADE)) if "properties" in values else None,
        tuple(_typed(values["dependencies"], ())) if "dependencies" in values else None,
        _annotations(values["annotations"]) if "annotations" in values else {},
    )


def _typed(value: Field, made: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Things with a type and a value, as OLM has them."""
    for item in value.items():
        values = item.mapping(("type", "value"))
        kind = _required(item, values, "type", "olm.package")
        if "value" not in values and isinstance(item.raw, dict):
            item.wrong(f"{value.name}: there is no value")
        elif kind in made:
            item.wrong(f"everpath makes every {kind} from the manifests; leave it out")
        elif values:
            yield {"type": kind, "value": values["value"].raw}


def _annotations(value: Field) -> dict[str, str]:
    for name, field in value.fields().items():
        if name.startswith(_BUNDLE):
            field.wrong(f"everpath writes {name} itself; leave it out")
    return _texts_by_name(value)


def _note(value: Field) -> ChannelDeclaration:
    values = value.mapping(("name", "deprecated"))
    return ChannelDeclaration(_required(value, values, "name"), _text(values, "deprecated"), value.place)


def _variant(value: Field) -> Variant:
    values = value.mapping(("name", "releases", "channels"))
    channels = values["channels"].texts() if "channels" in values else ()
    return Variant(_required(value, values, "name"), _text(values, "releases"), channels, value.place)


def _required(value: Field, values: dict[str, Field], key: str, such_as: str = "") -> str:
    if key not in values and isinstance(value.raw, dict):
        value.wrong(f"{value.name}: there is no {key}")
    return _text(values, key, such_as) or ""


def _release(value: Field) -> Release:
    values = value.mapping(_RELEASE_KEYS, own=_OWN)
    if "channels" not in values and isinstance(value.raw, dict):
        value.wrong("a release needs channels; [] for one that is in none")
    return Release(
        _required(value, values, "version", "1.2.3"),
        tuple(_memberships(values["channels"])) if "channels" in values else (),
        _origin(values["from"]) if "from" in values else DeclaredEdges(place=value.place),
        withdrawn=_withdrawn(values["withdrawn"]) if "withdrawn" in values else None,
        deprecated=_text(values, "deprecated"),
        min_kube_version=_text(values, "minKubeVersion", "1.29.0"),
        procedures=values["procedures"].numbers() if "procedures" in values else (),
        engines=values["engines"].texts() if "engines" in values else (),
        name=_text(values, "name"),
        image=_text(values, "image"),
        images=_texts_by_name(values["images"]) if "images" in values else {},
        bundle=_text(values, "bundle"),
        metadata=_additions(values),
        extra={key: field.raw for key, field in values.items() if key.startswith(_OWN)},
        place=value.place,
    )


def _memberships(value: Field) -> Iterator[Membership]:
    """A list of names, or a mapping from each to a `from` of its own."""
    if isinstance(value.raw, dict):
        for name, field in value.fields().items():
            yield Membership(name, None if field.raw is None else _origin(field), field.place)
        return
    for field in value.items():
        if name := field.text():
            yield Membership(name, None, field.place)


def _origin(value: Field) -> DeclaredEdges:
    values = value.mapping(_ORIGIN_KEYS)
    return DeclaredEdges(
        _text(values, "replaces", "1.2.2"),
        values["skips"].texts() if "skips" in values else (),
        _text(values, "range", "'>=1.2.0 <1.2.3'"),
        values["zstream"].flag() if "zstream" in values else False,
        value.place,
    )


def _withdrawn(value: Field) -> str | None:
    """The reason; empty for a bare `true`, None for `false`."""
    if isinstance(value.raw, bool):
        return "" if value.raw else None
    return value.text("the reason, or true") or ""
