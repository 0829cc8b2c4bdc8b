"""`everpath list`: packages, channels and bundles of a catalog."""

from __future__ import annotations

__all__ = ["list_"]

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple, TypeVar

import click

from everpath.app.config import load
from everpath.app.inputs import Inputs
from everpath.cli.options import (
    channel_option,
    config_options,
    output_file_option,
    package_option,
    progress_option,
    update_mode_option,
)
from everpath.cli.output import warn_unread, write_output
from everpath.cli.terminal import ProgressLine
from everpath.errors import ExitCode, UsageError
from everpath.graph import ChannelGraph, PackageGraph
from everpath.reporters.formatting import columns, one_line

#: The version of the JSON; docs/schemas/list.schema.json describes it.
VERSION: Final = 1

F = TypeVar("F", bound=Callable[..., Any])
Row = dict[str, Any]
_MOST_NAMES: Final = 4
Rows = Callable[[PackageGraph, Sequence[ChannelGraph]], Iterator[Row]]


class _Query(NamedTuple):
    """The command line of a listing."""

    path: str | None
    packages: tuple[str, ...]
    channels: tuple[str, ...]
    output: str
    output_file: str | None
    default_update_mode: str | None
    config_file: str | None
    no_config: bool
    no_progress: bool


def _options(command: F) -> F:
    """The options of every listing."""
    output = click.option(
        "-o", "--output", type=click.Choice(["text", "json", "name"]), default="text", show_default=True
    )
    path = click.argument("path", required=False)
    for option in (
        progress_option,
        config_options,
        update_mode_option,
        output_file_option,
        output,
        channel_option,
        package_option,
        path,
    ):
        command = option(command)
    return command


class _Nouns(click.Group):
    """Knows that a word where a noun belongs is a path more often than a misspelled noun."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        word = args[0]
        if word not in self.commands and not word.startswith("-") and not ctx.resilient_parsing:
            raise _advice(word)
        return super().resolve_command(ctx, args)


def _advice(word: str) -> UsageError:
    """What to type in the place of `everpath list WORD`: a noun, before the path that the word may be."""
    from difflib import get_close_matches  # noqa: PLC0415 - only who mistypes pays for it

    path = f" {word}" if os.path.exists(word) else ""  # noqa: PTH110 - says no where pathlib raises
    near = [] if path else get_close_matches(word, _TITLES, n=1)
    calls = [f"'everpath list {noun}{path}'" for noun in near or _TITLES]
    hint = f"{', '.join(calls[:-1])}{' or ' if calls[1:] else ''}{calls[-1]}"
    return UsageError("say what to list", hint=hint)


@click.group(
    "list",
    cls=_Nouns,
    invoke_without_command=True,
    short_help="List the packages, channels and bundles of a catalog.",
)
@click.pass_context
def list_(ctx: click.Context) -> None:
    """What a catalog holds. PATH is whatever validate-graph reads."""
    if ctx.invoked_subcommand is None:
        raise _advice("")


@list_.command()
@_options
def packages(**options: Any) -> int:
    """Packages with their default channel and its head.

    \b
    $ everpath list packages catalog/
    NAME          DEFAULT  HEAD                 VERSION  CHANNELS  BUNDLES
    op            stable   op.v2, op.v3                  1         3
    searchkeeper  stable   searchkeeper.v0.2.2  0.2.2    2         5
    """
    return _list("packages", _Query(**options), _packages)


@list_.command()
@_options
def channels(**options: Any) -> int:
    """Channels with their heads; the default one is marked with a star.

    \b
    $ everpath list channels catalog/ -p searchkeeper
    PACKAGE       CHANNEL    DEFAULT  HEAD                 VERSION  ENTRIES
    searchkeeper  candidate           searchkeeper.v0.3.0  0.3.0    5
    searchkeeper  stable     *        searchkeeper.v0.2.2  0.2.2    4
    """
    return _list("channels", _Query(**options), _channels)


@list_.command()
@_options
def bundles(**options: Any) -> int:
    """Bundles by channel, newest first, with the edges they declare there.

    \b
    $ everpath list bundles catalog/ -p searchkeeper -c stable
    PACKAGE       CHANNEL  BUNDLE               VERSION  REPLACES             SKIPS                SKIP RANGE
    searchkeeper  stable   searchkeeper.v0.2.2  0.2.2    searchkeeper.v0.1.1  searchkeeper.v0.2.1
    searchkeeper  stable   searchkeeper.v0.2.1  0.2.1    searchkeeper.v0.1.1
    searchkeeper  stable   searchkeeper.v0.1.1  0.1.1    searchkeeper.v0.1.0                       <0.1.1
    searchkeeper  stable   searchkeeper.v0.1.0  0.1.0
    """
    return _list("bundles", _Query(**options), _bundles)


def _list(kind: str, query: _Query, rows_of: Rows) -> int:
    config = load(query.config_file, wanted=not query.no_config)
    inputs = Inputs([query.path] if query.path else (), config, query.default_update_mode)
    rows: list[Row] = []
    with ProgressLine(sys.stderr, wanted=not query.no_progress) as progress:
        for catalog in inputs.catalogs(progress):
            for package in catalog.packages:
                if not query.packages or package.name in query.packages:
                    rows += _rows(PackageGraph(package), query.channels, rows_of)
    inputs.verify_names(query.packages, query.channels)
    write_output(_written(kind, rows, query.output), query.output_file, machine=query.output == "json")
    if inputs.unread:
        warn_unread(inputs.unread)
    return ExitCode.UNREADABLE if inputs.unread else ExitCode.CLEAN


def _rows(package: PackageGraph, wanted: tuple[str, ...], rows_of: Rows) -> Iterator[Row]:
    chosen = sorted((c for c in package.channels if not wanted or c.name in wanted), key=lambda c: c.name)
    return rows_of(package, chosen) if chosen or not wanted else iter(())


def _written(kind: str, rows: Sequence[Row], output: str) -> Iterator[str]:
    if output == "json":
        yield from _document(kind, rows)
    elif output == "name":
        yield from dict.fromkeys(f"{one_line(_name(kind, row))}\n" for row in rows)
    else:
        titles = _TITLES[kind]
        yield from columns([tuple(titles.values()), *([_cell(row[key]) for key in titles] for row in rows)])


_TITLES: Final = {
    "packages": {
        "name": "NAME",
        "defaultChannel": "DEFAULT",
        "heads": "HEAD",
        "version": "VERSION",
        "channels": "CHANNELS",
        "bundles": "BUNDLES",
    },
    "channels": {
        "package": "PACKAGE",
        "name": "CHANNEL",
        "isDefault": "DEFAULT",
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
        "skipRange": "SKIP RANGE",
    },
}


def _name(kind: str, row: Row) -> str:
    return f"{row['package']}/{row['name']}" if kind == "channels" else str(row["name"])


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "*" if value else ""
    if isinstance(value, list):
        return _some(value)
    return "" if value is None else str(value)


def _some(names: Sequence[str]) -> str:
    """Names for a column, which a hundred would make useless; -o json has them all."""
    if len(names) <= _MOST_NAMES:
        return ", ".join(names)
    return f"{', '.join(names[: _MOST_NAMES - 1])} and {len(names) - _MOST_NAMES + 1:,} more"


def _document(kind: str, rows: Sequence[Row]) -> Iterator[str]:
    yield f'{{"version": {VERSION},\n "{kind}": ['
    separator = "\n  "
    for row in rows:
        yield separator + json.dumps(row, ensure_ascii=False)
        separator = ",\n  "
    yield "\n ]}\n"


def _packages(package: PackageGraph, _chosen: Sequence[ChannelGraph]) -> Iterator[Row]:
    default = package.package.default_channel
    channel = package.by_name.get(default)
    yield {
        "name": package.name,
        "defaultChannel": default or None,
        **_head(channel),
        "channels": len(package.channels),
        "bundles": len(package.package.bundles),
    }


def _channels(package: PackageGraph, chosen: Sequence[ChannelGraph]) -> Iterator[Row]:
    for channel in chosen:
        yield {
            "package": package.name,
            "name": channel.name,
            "isDefault": channel.name == package.package.default_channel,
            **_head(channel),
            "entries": len(channel.entries),
        }


def _head(channel: ChannelGraph | None) -> Row:
    """The head and its version, neither when there is no head or more than one; and all heads."""
    head = channel.head if channel else None
    bundle = channel.bundle(head) if channel and head else None
    heads = list(channel.heads) if channel else []
    return {"head": head, "version": bundle.version if bundle else None, "heads": heads}


def _bundles(package: PackageGraph, chosen: Sequence[ChannelGraph]) -> Iterator[Row]:
    for channel in chosen:
        rank = {name: position for position, name in enumerate(channel.by_version)}
        for name in sorted(channel.entries, key=lambda n: (-rank.get(n, -1), n)):
            yield _bundle(package, name, channel)
    if len(chosen) == len(package.channels):
        for bundle in package.package.bundles:
            if bundle.name not in package.channels_by_entry:
                yield _bundle(package, bundle.name, None)


def _bundle(package: PackageGraph, name: str, channel: ChannelGraph | None) -> Row:
    bundle = package.package.by_name.get(name)
    entry = channel.entries[name] if channel else None
    return {
        "package": package.name,
        "channel": channel.name if channel else None,
        "name": name,
        "version": bundle.version if bundle else None,
        "replaces": entry.replaces if entry else None,
        "skips": list(entry.skips) if entry else [],
        "skipRange": entry.skip_range if entry else None,
        "image": (bundle.image or None) if bundle else None,
    }
