"""Write reports to standard output or a file, and messages to standard error."""

from __future__ import annotations

__all__ = ["print_message", "print_warnings", "warn_unread", "write_output"]

import os
import stat
import sys
from collections.abc import Iterable
from contextlib import suppress

from everpath.errors import UsageError


def print_message(text: str) -> None:
    """Print a line to standard error, unless that is closed."""
    if sys.stderr is not None:
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


def print_warnings(warnings: Iterable[str]) -> None:
    """Print each warning to standard error."""
    from everpath.reporters.formatting import printable  # noqa: PLC0415 - most commands have no warnings

    for warning in warnings:
        print_message(f"warning: {printable(warning)}")


def warn_unread(unread: int) -> None:
    """Print a warning if parts of the input could not be read."""
    if unread:
        from everpath.reporters.formatting import count  # noqa: PLC0415 - `everpath --help` needs no reporters

        parts = count(unread, "part")
        print_message(f"warning: {parts} could not be read; everpath validate-graph says which")


def write_output(chunks: Iterable[str], file: str | None, *, machine: bool) -> None:
    """Write all chunks to a file atomically; without a file, to standard output.

    Machine-readable output is always UTF-8; other output has the encoding of the terminal. Raises UsageError.
    """
    if file == "":
        raise UsageError("--output-file is empty", hint="give a file, or leave the option out")
    try:
        if file is None:
            _write_stdout(chunks, machine=machine)
        elif _is_replaceable(file):
            _replace_file(chunks, os.path.realpath(file))
        else:
            with open(file, "w", encoding="utf-8", errors="backslashreplace") as stream:
                stream.writelines(chunks)
    except BrokenPipeError:
        raise
    except OSError as error:
        target = file or "standard output"
        raise UsageError(f"cannot write to {target}: {error.strerror or error}") from error


def _write_stdout(chunks: Iterable[str], *, machine: bool) -> None:
    stream = sys.stdout
    if stream is None:
        raise UsageError("cannot write to standard output: it is closed")
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace", **({"encoding": "utf-8"} if machine else {}))
    stream.writelines(chunks)
    stream.flush()


def _is_replaceable(file: str) -> bool:
    """False for pipes and devices: these are written to and must not be replaced by a file."""
    try:
        return stat.S_ISREG(os.stat(file).st_mode)
    except FileNotFoundError:
        return True


def _replace_file(chunks: Iterable[str], file: str) -> None:
    """Write a temporary file in the same folder and rename it, so that no reader sees half a report."""
    folder, name = os.path.split(file)
    temporary = os.path.join(folder, f".{name}.{os.getpid()}")
    try:
        with open(temporary, "x", encoding="utf-8", errors="backslashreplace") as stream:
            stream.writelines(chunks)
        os.replace(temporary, file)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
