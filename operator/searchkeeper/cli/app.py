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
# As click calls it, so that completion works as it is documented.
_COMPLETION: Final = "_SEARCHKEEPER_COMPLETE"
_UNREADABLE: Final = 3
# As shells count who was ended by SIGINT.
_INTERRUPTED: Final = 130


class _Commands(click.Group):
    """Help and completion import no command: some of them bring the Kubernetes client along."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = getattr(import_module(_COMMANDS[cmd_name][0]), cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in _COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            ctx.fail(f"No such command {name!r}.{_meant(name)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in _COMMANDS.items()])


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done, 1 a cluster is stalled or refused (status, plan), 2 wrong usage or no "
    "cluster configured, 3 what was to be read or written could not be, 4 the API server does not "
    "answer, 130 interrupted.",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda ctx, _, asked: _show_version(ctx) if asked else None,
    help="Show which release this is, and exit.",
)
def cli() -> None:
    """Keeps OpenSearch clusters on Kubernetes, and upgrades them without losing a document.

    \b
    searchkeeper run --embedded           an upgrade, live, without a cluster
    searchkeeper status --upgrade         how far it is, and until when there is a way back
    searchkeeper plan                     every gate's verdict about the next pod
    """


def _meant(name: str) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - only who mistypes pays for it

    near = get_close_matches(name, _COMMANDS, n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


def _show_version(ctx: click.Context) -> None:
    from searchkeeper.releases import newest  # noqa: PLC0415 - help needs no table of releases

    click.echo(f"searchkeeper {newest().version}")
    ctx.exit()


def main() -> None:
    sys.exit(run())


def run() -> int:
    """The exit code of one call. click's own `main` would end with 1 what somebody has interrupted."""
    try:
        code = _called()
        if sys.stdout is not None:
            sys.stdout.flush()
    except click.ClickException as error:
        return _shown(error)
    except BrokenPipeError:
        # Whoever reads has seen enough.
        return _without_output(0)
    except OSError as error:
        click.echo(f"error: {error}", err=True)
        return _without_output(_UNREADABLE)
    except (click.Abort, KeyboardInterrupt):
        return _INTERRUPTED
    return code


def _called() -> int:
    if _COMPLETION in os.environ:
        cli.main(prog_name="searchkeeper", complete_var=_COMPLETION)
    try:
        with cli.make_context("searchkeeper", sys.argv[1:]) as ctx:
            cli.invoke(ctx)
    except click.exceptions.Exit as end:
        return end.exit_code
    return 0


def _shown(error: click.ClickException) -> int:
    from searchkeeper.cli.errors import shown  # noqa: PLC0415 - only who fails pays for it

    return shown(error)


def _without_output(code: int) -> int:
    """What is left would be written at the interpreter's end, which would complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code
