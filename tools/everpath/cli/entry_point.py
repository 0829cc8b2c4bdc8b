"""One call of `everpath`, and what becomes of everything that can go wrong in it."""

from __future__ import annotations

__all__ = ["COMPLETION", "main", "run"]

import errno
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NoReturn

from everpath import __url__
from everpath.cli.output import print_message
from everpath.errors import EverpathError, ExitCode, UnreadableInput, UsageError
from everpath.signals import signals_as_interrupt

if TYPE_CHECKING:
    from everpath.cli.plain_calls import Request

# What shells report for a process ended by Ctrl-C (here also by SIGTERM or SIGHUP) or by a closed pipe,
# and sysexits' "internal error".
_INTERRUPTED: Final = 130
_PIPE_CLOSED: Final = 141
_INTERNAL: Final = 70

#: The variable in which a shell asks for completions.
COMPLETION: Final = "_EVERPATH_COMPLETE"


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


def run(arguments: Sequence[str] | None = None) -> int:
    """The exit code of one call. Nothing expected ends in a traceback."""
    try:
        with signals_as_interrupt():
            code = _called(sys.argv[1:] if arguments is None else arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
    except EverpathError as error:
        return _told(error)
    except BrokenPipeError:
        return _quietly()
    except OSError as error:
        return _told(_refused(error))
    except KeyboardInterrupt:
        _say("everpath: interrupted")
        return _INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the last resort: users get a sentence, not a traceback
        return _confessed(error)
    return code if isinstance(code, int) else ExitCode.CLEAN


def _called(arguments: Sequence[str]) -> object:
    """What the command returns: of a plain call at once, of any other by way of click."""
    if (request := _plain_request(arguments)) is not None:
        from everpath.cli.validating import validate  # noqa: PLC0415 - only who asks for it pays for it

        return validate(request)
    from everpath.cli.group import called  # noqa: PLC0415 - click takes longer than a small catalog

    return called(arguments, _told)


def _plain_request(arguments: Sequence[str]) -> Request | None:
    """The call, if it is one that needs no click; what a shell asks for completions never is."""
    if not arguments or arguments[0] != "validate-graph" or COMPLETION in os.environ:
        return None
    from everpath.cli.plain_calls import plain_request  # noqa: PLC0415 - only who asks for it pays for it

    return plain_request(arguments[1:])


def _told(error: EverpathError) -> int:
    """The error and what to do about it, on standard error."""
    from everpath.app.image_inputs import with_image_names  # noqa: PLC0415
    from everpath.cli.terminal import wants_colour  # noqa: PLC0415
    from everpath.reporters.colour import Paint  # noqa: PLC0415 - only who fails pays for it
    from everpath.reporters.formatting import printable  # noqa: PLC0415

    paint = Paint(wants_colour(sys.stderr, os.environ))
    for heading, colour, text in (("error", "red", error.message), ("hint", "cyan", error.hint)):
        for number, line in enumerate(with_image_names(text or "").splitlines()):
            start = f"{paint(colour, heading)}: " if number == 0 else " " * (len(heading) + 2)
            _say(f"{start}{printable(line)}")
    return error.exit_code


def _refused(error: OSError) -> EverpathError:
    """What the operating system refused: a file if it names one, else what was written to standard output."""
    reason = error.strerror or str(error)
    if error.filename is None:
        return UsageError(f"cannot write to standard output: {reason}")
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
        return UsageError(f"cannot write to {os.fsdecode(error.filename)}: {reason}")
    return UnreadableInput(f"cannot read {os.fsdecode(error.filename)}: {reason}")


def _say(text: str) -> None:
    """On standard error, if that takes it: who cannot hear us still gets the right exit code."""
    with suppress(OSError):
        print_message(text)


def _quietly() -> int:
    """Whoever read our output has left; say nothing, not even when Python flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return _PIPE_CLOSED


def _confessed(error: Exception) -> int:
    if os.environ.get("EVERPATH_TRACEBACK"):
        import traceback  # noqa: PLC0415 - only who asks for one pays for it

        traceback.print_exception(error)
    else:
        from everpath.reporters.formatting import printable  # noqa: PLC0415

        _say(printable(f"everpath: internal error: {type(error).__name__}: {error}"))
        _say(f"please report it at {__url__}/issues with what EVERPATH_TRACEBACK=1 adds")
    return _INTERNAL
