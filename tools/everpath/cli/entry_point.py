"""Run `everpath` once, and turn errors into messages and exit codes."""

from __future__ import annotations

__all__ = ["COMPLETION_VARIABLE", "main", "run"]

import errno
import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, NoReturn

from everpath import __url__
from everpath.cli.output import print_message
from everpath.errors import EverpathError, ExitCode, UnreadableInput, UsageError
from everpath.signals import signals_as_interrupt

# As shells report a process ended by SIGINT (here also SIGTERM and SIGHUP) and by SIGPIPE; EX_SOFTWARE.
_INTERRUPTED: Final = 130
_PIPE_CLOSED: Final = 141
_INTERNAL_ERROR: Final = 70

# The number of new objects after which Python looks for cycles; its default is 700.
_NEW_OBJECTS: Final = 50_000

#: The environment variable with which a shell requests completions.
COMPLETION_VARIABLE: Final = "_EVERPATH_COMPLETE"


def main() -> NoReturn:
    """Run the command of `sys.argv` and exit."""
    # A catalog is many objects without cycles. By default the collector takes a fifth of the time.
    gc.set_threshold(_NEW_OBJECTS)
    exit_code = run()
    if sys.getprofile() is None and sys.gettrace() is None:
        # Freeing every object takes a tenth of the time (decision 94). A profiler needs the usual exit.
        _flush_streams()
        os._exit(exit_code)
    sys.exit(exit_code)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code. Errors are printed without a traceback."""
    try:
        with signals_as_interrupt():
            from everpath.cli.group import call_command  # noqa: PLC0415 - signals are handled from here on

            exit_code = call_command(sys.argv[1:] if arguments is None else arguments, _print_error)
        if sys.stdout is not None:
            sys.stdout.flush()
    except EverpathError as error:
        return _print_error(error)
    except BrokenPipeError:
        # The reader of standard output has exited. Python must not fail when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _PIPE_CLOSED
    except OSError as error:
        return _print_error(_from_os_error(error))
    except KeyboardInterrupt:
        _print("everpath: interrupted")
        return _INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the last resort: a message instead of a traceback
        return _report_internal_error(error)
    return exit_code if isinstance(exit_code, int) else ExitCode.CLEAN


def _flush_streams() -> None:
    """Write what is buffered. The exit code is right even if this fails."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with suppress(OSError):
                stream.flush()


def _print_error(error: EverpathError) -> int:
    """Print an error and its hint, and return its exit code."""
    from everpath.app.inputs.image_inputs import with_image_names  # noqa: PLC0415 - only for an error
    from everpath.cli.terminal import wants_colour  # noqa: PLC0415 - only for an error
    from everpath.reporters.colour import Paint  # noqa: PLC0415 - only for an error
    from everpath.reporters.formatting import printable  # noqa: PLC0415 - only for an error

    paint = Paint(wants_colour(sys.stderr, os.environ))
    for heading, colour, text in (("error", "red", error.message), ("hint", "cyan", error.hint)):
        for number, line in enumerate(with_image_names(text or "").splitlines()):
            start = f"{paint(colour, heading)}: " if number == 0 else " " * (len(heading) + 2)
            _print(f"{start}{printable(line)}")
    return error.exit_code


def _from_os_error(error: OSError) -> EverpathError:
    """Return the error for a file if the OSError names one, else for standard output."""
    reason = error.strerror or str(error)
    if error.filename is None:
        return UsageError(f"cannot write to standard output: {reason}")
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
        return UsageError(f"cannot write to {os.fsdecode(error.filename)}: {reason}")
    return UnreadableInput(f"cannot read {os.fsdecode(error.filename)}: {reason}")


def _print(text: str) -> None:
    """Print to standard error; the exit code is right even if that fails."""
    with suppress(OSError):
        print_message(text)


def _report_internal_error(error: Exception) -> int:
    if os.environ.get("EVERPATH_TRACEBACK"):
        import traceback  # noqa: PLC0415 - only for an error

        traceback.print_exception(error)
    else:
        from everpath.reporters.formatting import printable  # noqa: PLC0415 - only for an error

        _print(printable(f"everpath: internal error: {type(error).__name__}: {error}"))
        _print(f"please report it at {__url__}/issues with the output of EVERPATH_TRACEBACK=1")
    return _INTERNAL_ERROR
