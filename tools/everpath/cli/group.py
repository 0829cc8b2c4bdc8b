"""The click group `everpath` and the table of its commands."""

from __future__ import annotations

__all__ = ["COMMANDS", "call_command", "cli"]

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

import click

from everpath import __version__
from everpath.cli.entry_point import COMPLETION_VARIABLE
from everpath.cli.lazy_group import LazyCommand, LazyGroup
from everpath.errors import EverpathError, UsageError

COMMANDS: Final = {
    "validate-graph": LazyCommand(
        "everpath.cli.commands.validate.validate_graph",
        "validate_graph",
        "Check the upgrade graph of a catalog.",
    ),
    "simulate": LazyCommand(
        "everpath.cli.commands.explore.simulate",
        "simulate",
        "Simulate the upgrades of every installed version.",
    ),
    "graph": LazyCommand("everpath.cli.commands.explore.graph", "graph", "Draw the channels of a package."),
    "compare": LazyCommand(
        "everpath.cli.commands.explore.compare",
        "compare",
        "Find installed versions that lose their upgrade path.",
    ),
    "paths": LazyCommand(
        "everpath.cli.commands.explore.paths",
        "paths",
        "List upgrade paths, and check constraints on them.",
    ),
    "why": LazyCommand(
        "everpath.cli.commands.explore.why", "why", "Explain why OLM upgrades a version, or not."
    ),
    "release": LazyCommand(
        "everpath.cli.commands.release.release", "release", "Cut a release, or withdraw one."
    ),
    "generate": LazyCommand(
        "everpath.cli.commands.release.generate",
        "generate",
        "Generate bundles and catalogs from releases.yaml.",
    ),
    "init": LazyCommand(
        "everpath.cli.commands.release.init", "init", "Create a releases.yaml, also from a catalog."
    ),
    "list": LazyCommand(
        "everpath.cli.commands.explore.list_",
        "list_",
        "List the packages, channels and bundles of a catalog.",
    ),
    "range": LazyCommand(
        "everpath.cli.commands.explore.range_", "range_", "Explain what a version range matches."
    ),
    "bundle": LazyCommand("everpath.cli.commands.bundle", "bundle", "Check, build and convert bundles."),
    "catalog": LazyCommand(
        "everpath.cli.commands.catalog", "catalog", "Render, build, push, pull and serve catalogs."
    ),
    "migrate": LazyCommand(
        "everpath.cli.commands.release.migrate",
        "migrate",
        "Convert package manifests or bundles to a catalog.",
    ),
    "install": LazyCommand(
        "everpath.cli.commands.cluster.install",
        "install",
        "Install an operator with OLM, and wait until it is running.",
    ),
    "upgrade": LazyCommand(
        "everpath.cli.commands.cluster.upgrade",
        "upgrade",
        "Show the next hop of an operator, approve it, and wait.",
    ),
    "status": LazyCommand(
        "everpath.cli.commands.cluster.status",
        "status",
        "Show the state of an operator and what it waits for.",
    ),
    "uninstall": LazyCommand(
        "everpath.cli.commands.cluster.uninstall",
        "uninstall",
        "Delete an operator, its custom resources first.",
    ),
    "rules": LazyCommand(
        "everpath.cli.commands.validate.rules_", "rules", "List the rules, or describe one."
    ),
    "completion": LazyCommand(
        "everpath.cli.commands.completion", "completion", "Print the completion script for a shell."
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
      0  success                3  input that cannot be read
      1  findings               4  a cluster or registry does not respond
      2  invalid options       70  an internal error of everpath
    130  ended by Ctrl-C, SIGTERM or SIGHUP; files are complete or not written
    """


def call_command(arguments: Sequence[str], print_error: Callable[[EverpathError], int]) -> object:
    """Return what the command returns. An invalid command line is printed with `print_error`.

    click's own `main` hides a closed pipe and exits with 1.
    """
    try:
        if COMPLETION_VARIABLE in os.environ:
            cli.main(args=arguments, prog_name="everpath", complete_var=COMPLETION_VARIABLE)
        with cli.make_context("everpath", list(arguments)) as ctx:
            return cli.invoke(ctx)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        return _print_click_error(error, print_error)
    except click.Abort as end:
        raise KeyboardInterrupt from end


def _print_click_error(error: click.ClickException, print_error: Callable[[EverpathError], int]) -> int:
    """Print an error of click in the format of everpath; help if no command was given."""
    # Before click 8.2 help was printed without an error.
    if isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ())):
        with suppress(OSError):
            error.show()
        return error.exit_code
    # The message of click for several suggestions differs between releases, the list of them does not.
    if similar := getattr(error, "possibilities", None):
        message, suggestion = error.message, " or ".join(repr(word) for word in similar)
    else:
        message, _, suggestion = error.format_message().partition(" Did you mean ")
        suggestion = suggestion.removesuffix("?")
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    command = ctx.command_path if ctx is not None else "everpath"
    hint = f"did you mean {suggestion}?" if suggestion else f"`{command} --help` shows the usage"
    print_error(UsageError(f"{message[:1].lower()}{message[1:].removesuffix('.')}", hint=hint))
    return error.exit_code
