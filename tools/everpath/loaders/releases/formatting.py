"""Formats releases.yaml. A value that fits into a line is written as one line."""

from __future__ import annotations

__all__ = [
    "SCHEMA_COMMENT",
    "format_channels",
    "format_flow",
    "format_release",
    "format_releases",
    "format_scalar",
    "release_lines",
]

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from everpath.parsing.yaml_scalars import resolve
from everpath.releases.model import BundleMetadata, DeclaredEdges, Membership, Release, ReleasesFile

#: The first line of the file, from which the YAML language server learns its schema.
SCHEMA_COMMENT: Final = "# yaml-language-server: $schema="

_WIDTH: Final = 100
_PLAIN_SCALAR: Final = re.compile(
    r"[A-Za-z0-9_./][A-Za-z0-9_./@+-]*(?::[A-Za-z0-9_./@+-]+)*(?: [A-Za-z0-9_./@+-]+)*"
)

# Words that YAML 1.1 (opm) and YAML 1.2 (editors) read as different values.
_AMBIGUOUS_WORDS: Final = frozenset(["y", "n", "yes", "no", "on", "off", "true", "false", "null"])


def format_scalar(value: object) -> str:
    """Format a scalar: plain if every YAML parser reads the same text, else quoted."""
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    is_plain = (
        _PLAIN_SCALAR.fullmatch(value) and resolve(value) == value and value.lower() not in _AMBIGUOUS_WORDS
    )
    if is_plain and not _is_number(value):
        return value
    # Characters that are not printable are escaped.
    return json.dumps(value, ensure_ascii=not value.isprintable())


def _is_number(text: str) -> bool:
    try:
        float(text.replace("_", ""))
    except ValueError:
        return re.fullmatch(r"[-+0-9_.:xXoObB]+", text) is not None and text.count(".") < 2
    return True


def format_flow(value: object) -> str:
    """Format a value in flow style, on one line."""
    if isinstance(value, Mapping):
        return (
            "{"
            + ", ".join(f"{format_scalar(key)}: {format_flow(below)}" for key, below in value.items())
            + "}"
        )
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(format_flow, value)) + "]"
    return format_scalar(value)


def format_releases(source: ReleasesFile, schema: str, remarks: Iterable[str] = ()) -> str:
    """Format a whole file."""
    lines = [f"{SCHEMA_COMMENT}{schema}", *(f"# {remark}" if remark else "#" for remark in remarks)]
    top: dict[str, Any] = {"package": source.package, "defaultChannel": source.default_channel}
    operator = source.operator[0] if len(source.operator) == 1 else list(source.operator)
    top |= _non_empty(
        operator=operator,
        bundles=source.bundles,
        image=source.image,
        images=dict(source.images),
        deprecated=source.deprecated,
        pins=source.pins,
    )
    top |= _metadata(source.metadata)
    lines += [line for key, value in top.items() for line in _entry("", key, value)]
    channels = [_non_empty(name=c.name, deprecated=c.deprecated) for c in source.channels]
    variants = [
        _non_empty(name=v.name, releases=v.releases, channels=list(v.channels)) for v in source.catalogs
    ]
    for key, items in (("channels", channels), ("catalogs", variants)):
        if items:
            lines += [f"{key}:", *(f"  - {format_flow(item)}" for item in items)]
    lines.append("releases:" if source.releases else "releases: []")
    for release in source.releases:
        lines += release_lines(release, "  ")
    return "\n".join(lines) + "\n"


def release_lines(release: Release, indent: str) -> Iterator[str]:
    """Yield the lines of a release as an item of a block sequence with an indentation."""
    start = f"{indent}- "
    for key, value in _release(release).items():
        yield from _entry(start, key, value)
        start = f"{indent}  "


def _entry(start: str, key: str, value: Any) -> Iterator[str]:
    """Yield the lines of a key and its value: one, if it is not too long."""
    line = f"{start}{key}: {format_flow(value)}"
    if len(line) <= _WIDTH or not value or not isinstance(value, dict | list):
        yield line
        return
    yield f"{start}{key}:"
    inner = " " * (len(start) + 2)
    if isinstance(value, dict):
        for below, what in value.items():
            yield from _entry(inner, format_scalar(below), what)
    else:
        yield from (f"{inner}- {format_flow(item)}" for item in value)


def format_release(release: Release) -> str:
    """Format a release in flow style."""
    return format_flow(_release(release))


def _release(release: Release) -> dict[str, Any]:
    withdrawn = True if release.withdrawn == "" else release.withdrawn
    found: dict[str, Any] = {"version": release.version, "channels": _channels(release.channels)}
    found |= _non_empty(
        **{"from": _edges(release.edges)},
        withdrawn=withdrawn,
        deprecated=release.deprecated,
        minKubeVersion=release.min_kube_version,
        procedures=list(release.procedures),
        engines=list(release.engines),
        name=release.name,
        image=release.image,
        images=dict(release.images),
        bundle=release.bundle,
    )
    return found | _metadata(release.metadata) | dict(release.extra)


def _metadata(metadata: BundleMetadata) -> dict[str, Any]:
    """An empty list is written: it overrides the list of the file."""
    lists = {"properties": metadata.properties, "dependencies": metadata.dependencies}
    found = {key: list(map(dict, items)) for key, items in lists.items() if items is not None}
    return found | _non_empty(annotations=dict(metadata.annotations))


def format_channels(channels: Iterable[Membership]) -> str:
    """Format the channels of a release in flow style."""
    return format_flow(_channels(tuple(channels)))


def _channels(channels: tuple[Membership, ...]) -> object:
    if all(membership.edges is None for membership in channels):
        return [membership.channel for membership in channels]
    return {m.channel: None if m.edges is None else _edges(m.edges) for m in channels}


def _edges(edges: DeclaredEdges) -> dict[str, Any]:
    return _non_empty(
        replaces=edges.replaces,
        skips=list(edges.skips),
        range=edges.skip_range,
        zstream=edges.zstream,
    )


def _non_empty(**values: Any) -> dict[str, Any]:
    """The values that are not empty."""
    return {key: value for key, value in values.items() if value not in (None, "", [], {}, False)}
