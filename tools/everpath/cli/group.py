"""The group `everpath` and all its commands, as click reads them."""

from __future__ import annotations

__all__ = ["COMMANDS", "called", "cli"]

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

import click

from everpath import __version__
from everpath.cli.entry_point import COMPLETION
from everpath.cli.lazy_group import LazyCommand, LazyGroup
from everpath.errors import EverpathError, UsageError

COMMANDS: Final = {
    "validate-graph": LazyCommand(
        "everpath.cli.commands.validate_graph",
        "validate_graph",
        "Is this catalog safe for everyone on any version of it?",
    ),
    "simulate": LazyCommand(
        "everpath.cli.commands.simulate", "simulate", "What will OLM do to a cluster on any version?"
    ),
    "graph": LazyCommand("everpath.cli.commands.graph", "graph", "Pictures of a package's channels."),
    "compare": LazyCommand("everpath.cli.commands.compare", "compare", "Who does a new catalog strand?"),
    "paths": LazyCommand(
        "everpath.cli.commands.paths", "paths", "Every road between two versions, and what must hold of them."
    ),
    "why": LazyCommand("everpath.cli.commands.why", "why", "Explain why OLM upgrades a version, or not."),
    "release": LazyCommand("everpath.cli.commands.release", "release", "Cut a release, or withdraw one."),
    "generate": LazyCommand(
        "everpath.cli.commands.generate", "generate", "Write bundles and catalog from releases.yaml."
    ),
    "init": LazyCommand("everpath.cli.commands.init", "init", "Start a releases.yaml, also from a catalog."),
    "list": LazyCommand(
        "everpath.cli.commands.list_", "list_", "Packages, channels and bundles of a catalog."
    ),
    "range": LazyCommand("everpath.cli.commands.range_", "range_", "What a version range matches."),
    "bundle": LazyCommand(
        "everpath.cli.commands.bundle", "bundle", "Bundles and package manifests in their folders."
    ),
    "catalog": LazyCommand(
        "everpath.cli.commands.catalog", "catalog", "Catalogs from bundles and templates."
    ),
    "migrate": LazyCommand(
        "everpath.cli.commands.migrate", "migrate", "Package manifests or bundles as a file-based catalog."
    ),
    "install": LazyCommand(
        "everpath.cli.commands.install",
        "install",
        "Install an operator with OLM, and wait until it is running.",
    ),
    "upgrade": LazyCommand(
        "everpath.cli.commands.upgrade", "upgrade", "Show the next hop of an operator, approve it, and wait."
    ),
    "status": LazyCommand(
        "everpath.cli.commands.status", "status", "Show the state of an operator and what it waits for."
    ),
    "uninstall": LazyCommand(
        "everpath.cli.commands.uninstall",
        "uninstall",
        "Delete an operator, its custom resources first.",
    ),
    "rules": LazyCommand("everpath.cli.commands.rules_", "rules", "The rules, and what one of them means."),
    "completion": LazyCommand(
        "everpath.cli.commands.completion", "completion", "Tab completion for your shell."
    ),
}


@click.group(
    cls=LazyGroup,
    lazy=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "-V", "--version", message="everpath %(version)s")
def cli() -> None:
    """OLM catalogs whose every upgrade path is proven.

    \b
    $ everpath validate-graph catalog/
    $ everpath list channels catalog/ -p searchkeeper
    $ everpath range explain '>=1.0.0 <1.2.3'

    \b
    Exit codes, for every command:
      0  nothing wrong          3  input that cannot be read
      1  findings               4  a cluster or registry that does not answer
      2  a wrong command line   70 a fault of everpath itself
    130  ended by Ctrl-C, SIGTERM or SIGHUP, with nothing half written
    """


def called(arguments: Sequence[str], tell: Callable[[EverpathError], int]) -> object:
    """What the command returns, or the exit code of a wrong command line, which `tell` is told of.

    click's own `main` would swallow the closed pipe and exit with 1.
    """
    try:
        if COMPLETION in os.environ:
            cli.main(args=arguments, prog_name="everpath", complete_var=COMPLETION)
        with cli.make_context("everpath", list(arguments)) as ctx:
            return cli.invoke(ctx)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        return _shown(error, tell)
    except click.Abort as end:
        raise KeyboardInterrupt from end


def _shown(error: click.ClickException, tell: Callable[[EverpathError], int]) -> int:
    """What click finds wrong with a command line, as everpath says it; help where nothing was asked for."""
    # Before click 8.2 there was no such error: help was shown without one.
    if isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ())):
        with suppress(OSError):
            error.show()
        return error.exit_code
    message, meant = _and_meant(error)
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    command = ctx.command_path if ctx is not None else "everpath"
    hint = f"did you mean {meant}?" if meant else f"`{command} --help` shows what it takes"
    tell(UsageError(f"{message[:1].lower()}{message[1:].removesuffix('.')}", hint=hint))
    return error.exit_code


def _and_meant(error: click.ClickException) -> tuple[str, str]:
    """The complaint, and what was meant instead: a few words in quotes, the likeliest first, or nothing.

    What click says of several options has changed from release to release; that it lists them has not.
    """
    if near := getattr(error, "possibilities", None):
        return error.message, " or ".join(repr(word) for word in near)
    message, _, meant = error.format_message().partition(" Did you mean ")
    return message, meant.removesuffix("?")
