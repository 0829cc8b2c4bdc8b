"""`everpath list`: packages, channels and bundles of a catalog."""

from __future__ import annotations

__all__ = ["list_"]

import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from everpath.app.list_catalog import list_bundles, list_channels, list_packages
from everpath.cli.options.common import (
    InputOptions,
    OutputOptions,
    channel_option,
    input_options,
    output_options,
    package_option,
)
from everpath.cli.output import warn_unread
from everpath.errors import ExitCode, UsageError
from everpath.reporters.listing import FORMATS, Rows, render

F = TypeVar("F", bound=Callable[..., Any])


class _ListGroup(click.Group):
    """A group that rejects `everpath list PATH` with the commands that were probably meant."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        word = args[0]
        if word not in self.commands and not word.startswith("-") and not ctx.resilient_parsing:
            raise _unknown_command(word, list(self.commands))
        return super().resolve_command(ctx, args)


def _unknown_command(word: str, known: Sequence[str]) -> UsageError:
    """Return the error for `everpath list WORD`, where the word is a path or a misspelled command."""
    from difflib import get_close_matches  # noqa: PLC0415 - only for an error

    path = f" {word}" if os.path.exists(word) else ""  # noqa: PTH110 - pathlib raises for some names
    similar = [] if path else get_close_matches(word, known, n=1)
    commands = [f"'everpath list {name}{path}'" for name in similar or known]
    hint = f"{', '.join(commands[:-1])}{' or ' if commands[1:] else ''}{commands[-1]}"
    return UsageError("list needs one of packages, channels and bundles", hint=hint)


@click.group(
    "list",
    cls=_ListGroup,
    invoke_without_command=True,
    short_help="List the packages, channels and bundles of a catalog.",
)
@click.pass_context
def list_(ctx: click.Context) -> None:
    """List the packages, channels and bundles of a catalog. PATH is anything that validate-graph reads."""
    if ctx.invoked_subcommand is None:
        raise _unknown_command("", list(list_.commands))


def _list_options(command: F) -> F:
    """Add the argument and the options of every command of the group."""
    for add in (
        input_options,
        output_options(*FORMATS),
        channel_option,
        package_option,
        click.argument("path", required=False),
    ):
        command = add(command)
    return command


@list_.command()
@_list_options
def packages(**options: Any) -> int:
    """List packages with their default channel and its head.

    \b
    $ everpath list packages catalog/
    NAME          DEFAULT  HEAD                 VERSION  CHANNELS  BUNDLES
    op            stable   op.v2, op.v3                  1         3
    searchkeeper  stable   searchkeeper.v0.2.2  0.2.2    2         5
    """
    return _list("packages", list_packages, **options)


@list_.command()
@_list_options
def channels(**options: Any) -> int:
    """List channels with their heads; a star marks the default channel.

    \b
    $ everpath list channels catalog/ -p searchkeeper
    PACKAGE       CHANNEL    DEFAULT  HEAD                 VERSION  ENTRIES
    searchkeeper  candidate           searchkeeper.v0.3.0  0.3.0    5
    searchkeeper  stable     *        searchkeeper.v0.2.2  0.2.2    4
    """
    return _list("channels", list_channels, **options)


@list_.command()
@_list_options
def bundles(**options: Any) -> int:
    """List bundles by channel, the highest version first, with their edges.

    \b
    $ everpath list bundles catalog/ -p searchkeeper -c stable
    PACKAGE       CHANNEL  BUNDLE               VERSION  REPLACES             SKIPS                SKIP RANGE
    searchkeeper  stable   searchkeeper.v0.2.2  0.2.2    searchkeeper.v0.1.1  searchkeeper.v0.2.1
    searchkeeper  stable   searchkeeper.v0.2.1  0.2.1    searchkeeper.v0.1.1
    searchkeeper  stable   searchkeeper.v0.1.1  0.1.1    searchkeeper.v0.1.0                       <0.1.1
    searchkeeper  stable   searchkeeper.v0.1.0  0.1.0
    """
    return _list("bundles", list_bundles, **options)


def _list(  # noqa: PLR0913 - a parameter for each option
    kind: str,
    use_case: Callable[..., Rows],
    *,
    path: str | None,
    packages: tuple[str, ...],
    channels: tuple[str, ...],
    output: OutputOptions,
    loading: InputOptions,
) -> int:
    inputs = loading.inputs([path] if path else ())
    with output.progress_line() as progress:
        rows = use_case(inputs, packages, channels, progress)
    output.write(render(kind, rows, output.format))
    warn_unread(inputs.unread)
    return ExitCode.UNREADABLE if inputs.unread else ExitCode.CLEAN
