"""The command group, and the exit code of every way a command can end."""

from __future__ import annotations

__all__ = ["cli", "main", "run_command"]

import os
import sys
from importlib import import_module
from typing import Final

import click

# Module and one-line help of each command.
_COMMANDS: Final = {
    "run": ("searchkeeper.cli.run", "Run the operator."),
    "plan": ("searchkeeper.cli.plan", "Show what the next reconcile would do, and why."),
    "status": ("searchkeeper.cli.status", "Show the state of clusters and the progress of upgrades."),
    "versions": ("searchkeeper.cli.versions", "Show the version of every component."),
}
# The name that click derives from the program's; shell completion is documented with it.
_COMPLETION: Final = "_SEARCHKEEPER_COMPLETE"
_READ_WRITE_FAILED: Final = 3
# 128 + SIGINT, as shells report it.
_INTERRUPTED: Final = 130


class _CommandGroup(click.Group):
    """A group whose help and completion import no command: some commands import the Kubernetes client."""

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
            from difflib import get_close_matches  # noqa: PLC0415 - needed for a mistyped command only

            similar = get_close_matches(name, _COMMANDS, n=1)
            suggestion = f" Did you mean {similar[0]!r}?" if similar else ""
            ctx.fail(f"No such command {name!r}.{suggestion}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in _COMMANDS.items()])


@click.group(
    cls=_CommandGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Exit codes:
  0    success
  1    a cluster is stalled or refused (plan, status)
  2    wrong usage, no cluster configured, or a Python package is missing
  3    input could not be read, or the API server rejected the request
  4    the API server does not answer
  130  interrupted
""",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda ctx, _, is_given: _print_version(ctx) if is_given else None,
    help="Print the release of searchkeeper and exit.",
)
def cli() -> None:
    """Operate OpenSearch clusters on Kubernetes.

    \b
    Examples:
      searchkeeper run --embedded   show an upgrade in memory, without a cluster
      searchkeeper status logs      describe a SearchCluster
      searchkeeper plan logs        show the next operations and their gates
    """


def _print_version(ctx: click.Context) -> None:
    from searchkeeper.releases import newest  # noqa: PLC0415 - help needs no table of releases

    click.echo(f"searchkeeper {newest().version}")
    ctx.exit()


def main() -> None:
    sys.exit(run_command())


def run_command() -> int:
    """Run the command of `sys.argv` and return its exit code. click's own `main` exits 1 after SIGINT."""
    try:
        exit_code = _invoke()
        if sys.stdout is not None:
            sys.stdout.flush()
    except click.ClickException as error:
        from searchkeeper.cli.errors import show_error  # noqa: PLC0415 - needed for an error only

        return show_error(error)
    except BrokenPipeError:
        # The reader of the pipe has closed it, as `head` does.
        _discard_output()
        return 0
    except OSError as error:
        click.echo(f"error: {error}", err=True)
        _discard_output()
        return _READ_WRITE_FAILED
    except (click.Abort, KeyboardInterrupt):
        return _INTERRUPTED
    return exit_code


def _invoke() -> int:
    if _COMPLETION in os.environ:
        cli.main(prog_name="searchkeeper", complete_var=_COMPLETION)
    try:
        with cli.make_context("searchkeeper", sys.argv[1:]) as ctx:
            cli.invoke(ctx)
    except click.exceptions.Exit as error:
        return error.exit_code
    return 0


def _discard_output() -> None:
    """Redirect stdout: the interpreter flushes it at exit, and would report the same error again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
