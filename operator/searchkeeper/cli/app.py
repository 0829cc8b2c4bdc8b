"""The commands, and what becomes of errors that people can do something about."""

from __future__ import annotations

__all__ = ["cli", "main"]

import os
import sys
from importlib import import_module
from typing import Final

import click

# Where each command is written, and the line that introduces it.
_COMMANDS: Final = {
    "run": ("searchkeeper.cli.run", "Run the operator, or show it at work in memory."),
    "plan": ("searchkeeper.cli.plan", "What the operator would do now, and why."),
    "status": ("searchkeeper.cli.status", "How clusters are, and how far an upgrade is."),
    "versions": ("searchkeeper.cli.versions", "Every version there is, and who is done."),
}


class _Commands(click.Group):
    """Help and completion import no command: some of them bring the Kubernetes client along."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = getattr(import_module(_COMMANDS[cmd_name][0]), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in _COMMANDS.items()])


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done, 1 a cluster is stalled or refused (status, plan), 2 wrong usage, "
    "3 what was to be read could not be, 4 the API server does not answer.",
)
def cli() -> None:
    """Keeps OpenSearch clusters on Kubernetes, and upgrades them without losing a document.

    \b
    searchkeeper run --embedded           an upgrade, live, without a cluster
    searchkeeper status --upgrade         how far it is, and until when there is a way back
    searchkeeper plan                     every gate's verdict about the next pod
    """


def main() -> None:
    try:
        cli.main(prog_name="searchkeeper")
    except BrokenPipeError:
        # Whoever reads has seen enough; without this the interpreter would complain at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
