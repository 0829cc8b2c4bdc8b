"""The group `everpath`, and what becomes of everything that can go wrong in it."""

from __future__ import annotations

__all__ = ["COMMANDS", "COMPLETION", "cli", "main", "run"]

import errno
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, NoReturn

import click

from everpath import __url__, __version__
from everpath.cli.ending import ended_tidily
from everpath.cli.lazy import LazyCommand, LazyGroup
from everpath.errors import EverpathError, ExitCode, UnreadableInput, UsageError

# What shells report for a process ended by Ctrl-C (here also by SIGTERM or SIGHUP) or by a closed pipe,
# and sysexits' "internal error".
_INTERRUPTED: Final = 130
_PIPE_CLOSED: Final = 141
_INTERNAL: Final = 70

#: The variable in which a shell asks for completions.
COMPLETION: Final = "_EVERPATH_COMPLETE"

COMMANDS: Final = {
    "validate-graph": LazyCommand(
        "everpath.cli.validate_graph",
        "validate_graph",
        "Is this catalog safe for everyone on any version of it?",
    ),
    "simulate": LazyCommand(
        "everpath.cli.simulate", "simulate", "What will OLM do to a cluster on any version?"
    ),
    "graph": LazyCommand("everpath.cli.graph", "graph", "Pictures of a package's channels."),
    "compare": LazyCommand("everpath.cli.compare", "compare", "Who does a new catalog strand?"),
    "paths": LazyCommand(
        "everpath.cli.paths", "paths", "Every road between two versions, and what must hold of them."
    ),
    "why": LazyCommand("everpath.cli.why", "why", "Why does this version move, or not?"),
    "release": LazyCommand("everpath.cli.release", "release", "Cut a release, or withdraw one."),
    "generate": LazyCommand(
        "everpath.cli.generate", "generate", "Write bundles and catalog from releases.yaml."
    ),
    "init": LazyCommand("everpath.cli.init", "init", "Start a releases.yaml, also from a catalog."),
    "list": LazyCommand("everpath.cli.listing", "list_", "Packages, channels and bundles of a catalog."),
    "range": LazyCommand("everpath.cli.range_", "range_", "What a version range matches."),
    "bundle": LazyCommand("everpath.cli.bundle", "bundle", "Bundles and package manifests in their folders."),
    "catalog": LazyCommand("everpath.cli.catalog", "catalog", "Catalogs from bundles and templates."),
    "migrate": LazyCommand(
        "everpath.cli.migrate", "migrate", "Package manifests or bundles as a file-based catalog."
    ),
    "install": LazyCommand(
        "everpath.cli.install", "install", "Install an operator through OLM, and follow until it runs."
    ),
    "upgrade": LazyCommand(
        "everpath.cli.upgrade", "upgrade", "Show the next step of an operator, approve it, and follow."
    ),
    "status": LazyCommand(
        "everpath.cli.status", "status", "Where does an operator stand, and what does it wait for?"
    ),
    "uninstall": LazyCommand(
        "everpath.cli.uninstall",
        "uninstall",
        "Take an operator away, its custom resources first.",
    ),
    "rules": LazyCommand("everpath.cli.rules_", "rules", "The rules, and what one of them means."),
    "completion": LazyCommand("everpath.cli.completion", "completion", "Tab completion for your shell."),
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


def main() -> NoReturn:
    """The program: runs and exits.

    The operating system clears away at once what Python would free piece by piece, for a twentieth of the
    time of a run. Whoever traces or profiles the program gets the end that Python gives it.
    """
    code = run()
    if sys.gettrace() is None and sys.getprofile() is None:
        for stream in filter(None, (sys.stdout, sys.stderr)):
            # A stream that is full or closed was told of where it mattered.
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)
    sys.exit(code)


def run(arguments: Sequence[str] | None = None) -> int:  # noqa: PLR0911 - one for each way to end
    """The exit code of one call. Nothing expected ends in a traceback."""
    try:
        with ended_tidily():
            code = _called(sys.argv[1:] if arguments is None else arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
    except EverpathError as error:
        return _told(error)
    except click.ClickException as error:
        return _shown(error)
    except BrokenPipeError:
        return _quietly()
    except OSError as error:
        return _told(_refused(error))
    except (click.Abort, KeyboardInterrupt):
        _say("everpath: interrupted")
        return _INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the last resort: users get a sentence, not a traceback
        return _confessed(error)
    return code if isinstance(code, int) else ExitCode.CLEAN


def _called(arguments: Sequence[str]) -> object:
    """What the command returns. click's own `main` would swallow the closed pipe and exit with 1."""
    if COMPLETION in os.environ:
        cli.main(args=arguments, prog_name="everpath", complete_var=COMPLETION)
    try:
        with cli.make_context("everpath", list(arguments)) as ctx:
            return cli.invoke(ctx)
    except click.exceptions.Exit as end:
        return end.exit_code


def _told(error: EverpathError) -> int:
    """The error and what to do about it, on standard error."""
    from everpath.cli.image_inputs import reworded  # noqa: PLC0415
    from everpath.cli.terminal import wants_colour  # noqa: PLC0415
    from everpath.outputs.colour import Paint  # noqa: PLC0415 - only who fails pays for it
    from everpath.outputs.plain import printable  # noqa: PLC0415

    paint = Paint(wants_colour(sys.stderr, os.environ))
    for heading, colour, text in (("error", "red", error.message), ("hint", "cyan", error.hint)):
        for number, line in enumerate(reworded(text or "").splitlines()):
            start = f"{paint(colour, heading)}: " if number == 0 else " " * (len(heading) + 2)
            _say(f"{start}{printable(line)}", colour=paint.on)
    return error.exit_code


def _refused(error: OSError) -> EverpathError:
    """What the operating system refused: a file if it names one, else what was written to standard output."""
    reason = error.strerror or str(error)
    if error.filename is None:
        return UsageError(f"cannot write to standard output: {reason}")
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
        return UsageError(f"cannot write to {os.fsdecode(error.filename)}: {reason}")
    return UnreadableInput(f"cannot read {os.fsdecode(error.filename)}: {reason}")


def _shown(error: click.ClickException) -> int:
    """What click finds wrong with a command line, as everpath says it; help where nothing was asked for."""
    # Before click 8.2 there was no such error: help was shown without one.
    if isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ())):
        with suppress(OSError):
            error.show()
        return error.exit_code
    message, asks, meant = error.format_message().partition(" Did you mean ")
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    command = ctx.command_path if ctx is not None else "everpath"
    hint = f"did you mean {meant}" if asks else f"`{command} --help` shows what it takes"
    _told(UsageError(f"{message[:1].lower()}{message[1:].removesuffix('.')}", hint=hint))
    return error.exit_code


def _say(text: str, *, colour: bool = False) -> None:
    """On standard error, if that takes it: who cannot hear us still gets the right exit code."""
    with suppress(OSError):
        click.echo(text, err=True, color=colour)


def _quietly() -> int:
    """Whoever read our output has left; say nothing, not even when Python flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return _PIPE_CLOSED


def _confessed(error: Exception) -> int:
    if os.environ.get("EVERPATH_TRACEBACK"):
        import traceback  # noqa: PLC0415 - only who asks for one pays for it

        traceback.print_exception(error)
    else:
        _say(f"everpath: internal error: {type(error).__name__}: {error}")
        _say(f"please report it at {__url__}/issues with what EVERPATH_TRACEBACK=1 adds")
    return _INTERNAL
