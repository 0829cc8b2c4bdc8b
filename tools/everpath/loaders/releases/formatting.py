"""A source as the text of releases.yaml: what fits on a line is on one."""

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

#: Editors that know the YAML language server check and complete the file with this line.
SCHEMA_COMMENT: Final = "# yaml-language-server: $schema="

_WIDTH: Final = 100
_PLAIN: Final = re.compile(
    r"[A-Za-z0-9_./][A-Za-z0-9_./@+-]*(?::[A-Za-z0-9_./@+-]+)*(?: [A-Za-z0-9_./@+-]+)*"
)

# Words that YAML 1.1, which opm reads, and YAML 1.2, which editors read, take for different things.
_WORDS: Final = frozenset(["y", "n", "yes", "no", "on", "off", "true", "false", "null"])


def format_scalar(value: object) -> str:
    """One value on one line: plain where every parser reads it back as the same text, else in quotes."""
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    is_plain = _PLAIN.fullmatch(value) and resolve(value) == value and value.lower() not in _WORDS
    return value if is_plain and not _is_number(value) else _quoted(value)


def _is_number(text: str) -> bool:
    try:
        float(text.replace("_", ""))
    except ValueError:
        return re.fullmatch(r"[-+0-9_.:xXoObB]+", text) is not None and text.count(".") < 2
    return True


def _quoted(text: str) -> str:
    """In double quotes; what is not printable is escaped, as JSON and YAML both read it."""
    return json.dumps(text, ensure_ascii=not text.isprintable())


def format_flow(value: object) -> str:
    """A value with all that is in it, on one line."""
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
    """The whole file, with the hint for editors on its first line."""
    lines = [f"{SCHEMA_COMMENT}{schema}", *(f"# {remark}" if remark else "#" for remark in remarks)]
    top: dict[str, Any] = {"package": source.package, "defaultChannel": source.default_channel}
    operator = source.operator[0] if len(source.operator) == 1 else list(source.operator)
    top |= _given(
        operator=operator,
        bundles=source.bundles,
        image=source.image,
        images=dict(source.images),
        deprecated=source.deprecated,
        pins=source.pins,
    )
    top |= _additions(source.metadata)
    lines += [line for key, value in top.items() for line in _entry("", key, value)]
    notes = [_given(name=n.name, deprecated=n.deprecated) for n in source.channels]
    variants = [_given(name=v.name, releases=v.releases, channels=list(v.channels)) for v in source.catalogs]
    for key, items in (("channels", notes), ("catalogs", variants)):
        if items:
            lines += [f"{key}:", *(f"  - {format_flow(item)}" for item in items)]
    lines.append("releases:" if source.releases else "releases: []")
    for release in source.releases:
        lines += release_lines(release, "  ")
    return "\n".join(lines) + "\n"


def release_lines(release: Release, indent: str) -> Iterator[str]:
    """A release as an item of a block sequence whose dashes stand behind `indent`."""
    start = f"{indent}- "
    for key, value in _release(release).items():
        yield from _entry(start, key, value)
        start = f"{indent}  "


def _entry(start: str, key: str, value: Any) -> Iterator[str]:
    """A key and its value, on one line if that is not too long."""
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
    """A release on one line, for files that write them so."""
    return format_flow(_release(release))


def _release(release: Release) -> dict[str, Any]:
    withdrawn = True if release.withdrawn == "" else release.withdrawn
    found: dict[str, Any] = {"version": release.version, "channels": _channels(release.channels)}
    found |= _given(
        **{"from": _origin(release.edges)},
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
    return found | _additions(release.metadata) | dict(release.extra)


def _additions(additions: BundleMetadata) -> dict[str, Any]:
    """An empty list is written, too: it says that there are none where the file has some."""
    said = {"properties": additions.properties, "dependencies": additions.dependencies}
    found = {key: list(map(dict, items)) for key, items in said.items() if items is not None}
    return found | _given(annotations=dict(additions.annotations))


def format_channels(channels: Iterable[Membership]) -> str:
    """The channels of a release on one line."""
    return format_flow(_channels(tuple(channels)))


def _channels(channels: tuple[Membership, ...]) -> object:
    if all(membership.edges is None for membership in channels):
        return [membership.channel for membership in channels]
    return {m.channel: None if m.edges is None else _origin(m.edges) for m in channels}


def _origin(origin: DeclaredEdges) -> dict[str, Any]:
    return _given(
        replaces=origin.replaces,
        skips=list(origin.skips),
        range=origin.skip_range,
        zstream=origin.zstream,
    )


def _given(**values: Any) -> dict[str, Any]:
    """Those that say something."""
    return {key: value for key, value in values.items() if value not in (None, "", [], {}, False)}
