"""The report of `everpath list`: rows as a table, as JSON (docs/schemas/list.schema.json), or as names."""

from __future__ import annotations

__all__ = ["FORMATS", "VERSION", "BundleRow", "ChannelRow", "PackageRow", "Rows", "render"]

import json
import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from everpath.reporters.formatting import columns, one_line

FORMATS: Final = ("text", "json", "name")

#: Raised when a field changes its meaning or is removed; new fields may be added at any time.
VERSION: Final = 1

#: The table shows at most this many names in a cell; the JSON has all.
_MAX_NAMES: Final = 4


class PackageRow(NamedTuple):
    """A package and the head of its default channel. `head` is None if there is not exactly one."""

    name: str
    default_channel: str | None
    head: str | None
    version: str | None
    heads: tuple[str, ...]
    channels: int
    bundles: int


class ChannelRow(NamedTuple):
    """A channel. `head` is None if there is not exactly one."""

    package: str
    name: str
    is_default: bool
    head: str | None
    version: str | None
    heads: tuple[str, ...]
    entries: int


class BundleRow(NamedTuple):
    """A bundle in a channel, with its edges there. `channel` is None for a bundle in no channel."""

    package: str
    channel: str | None
    name: str
    version: str | None
    replaces: str | None
    skips: tuple[str, ...]
    skip_range: str | None
    image: str | None


Rows: TypeAlias = Sequence[PackageRow] | Sequence[ChannelRow] | Sequence[BundleRow]

_TITLES: Final = {
    "packages": {
        "name": "NAME",
        "default_channel": "DEFAULT",
        "heads": "HEAD",
        "version": "VERSION",
        "channels": "CHANNELS",
        "bundles": "BUNDLES",
    },
    "channels": {
        "package": "PACKAGE",
        "name": "CHANNEL",
        "is_default": "DEFAULT",
        "heads": "HEAD",
        "version": "VERSION",
        "entries": "ENTRIES",
    },
    "bundles": {
        "package": "PACKAGE",
        "channel": "CHANNEL",
        "name": "BUNDLE",
        "version": "VERSION",
        "replaces": "REPLACES",
        "skips": "SKIPS",
        "skip_range": "SKIP RANGE",
    },
}


def render(kind: str, rows: Rows, output: str) -> Iterator[str]:
    """Yield the rows in one of `FORMATS`. `kind` is packages, channels or bundles."""
    if output == "json":
        lines = ",\n  ".join(_json_object(row) for row in rows)
        yield f'{{"version": {VERSION},\n "{kind}": [' + (f"\n  {lines}" if lines else "") + "\n ]}\n"
    elif output == "name":
        names = (f"{row.package}/{row.name}" if isinstance(row, ChannelRow) else row.name for row in rows)
        yield from dict.fromkeys(f"{one_line(name)}\n" for name in names)
    else:
        titles = _TITLES[kind]
        cells = ([_cell(getattr(row, field)) for field in titles] for row in rows)
        yield from columns([tuple(titles.values()), *cells])


def _json_object(row: PackageRow | ChannelRow | BundleRow) -> str:
    """Return a row with its field names in the spelling of JSON: `skipRange` for `skip_range`."""
    keys = (re.sub("_(.)", lambda found: found[1].upper(), field) for field in row._fields)
    return json.dumps(dict(zip(keys, row, strict=True)), ensure_ascii=False)


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "*" if value else ""
    if isinstance(value, tuple):
        if len(value) <= _MAX_NAMES:
            return ", ".join(value)
        return f"{', '.join(value[: _MAX_NAMES - 1])} and {len(value) - _MAX_NAMES + 1:,} more"
    return "" if value is None else str(value)
