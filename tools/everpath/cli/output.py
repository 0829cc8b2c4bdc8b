"""Write reports to standard output or a file, and messages to standard error."""

from __future__ import annotations

__all__ = ["print_message", "print_notes", "print_warnings", "warn_unread", "write_output"]

import sys
from collections.abc import Iterable

from everpath.errors import UsageError


def print_message(text: str) -> None:
    """Print a line to standard error, unless that is closed."""
    if sys.stderr is not None:
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


def print_notes(notes: Iterable[str]) -> None:
    """Print each note to standard error."""
    from everpath.reporters.formatting import printable  # noqa: PLC0415 - most commands have no notes

    for note in notes:
        print_message(f"note: {printable(note)}")


def print_warnings(warnings: Iterable[str]) -> None:
    """Print each warning to standard error."""
    from everpath.reporters.formatting import printable  # noqa: PLC0415 - most commands have no warnings

    for warning in warnings:
        print_message(f"warning: {printable(warning)}")


def warn_unread(unread: int) -> None:
    """Print a warning if parts of the input could not be read."""
    if unread:
        from everpath.wording import count  # noqa: PLC0415 - `everpath --help` needs no reporters

        parts = count(unread, "part")
        print_message(f"warning: {parts} could not be read; everpath validate-graph says which")


def write_output(chunks: Iterable[str], file: str | None, *, machine: bool) -> None:
    """Write all chunks to a file atomically; without a file, to standard output.

    Machine-readable output is always UTF-8; other output has the encoding of the terminal. Pipes and devices
    are written to directly. Raises UsageError.
    """
    if file is None:
        _write_stdout(chunks, machine=machine)
    elif file == "":
        raise UsageError("--output-file is empty", hint="give a file, or leave the option out")
    else:
        _write_file(chunks, file)


def _write_stdout(chunks: Iterable[str], *, machine: bool) -> None:
    stream = sys.stdout
    if stream is None:
        raise UsageError("cannot write to standard output: it is closed")
    try:
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace", **({"encoding": "utf-8"} if machine else {}))
        stream.writelines(chunks)
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UsageError(f"cannot write to standard output: {error.strerror or error}") from error


def _write_file(chunks: Iterable[str], file: str) -> None:
    from pathlib import Path  # noqa: PLC0415 - only for --output-file

    from everpath.atomic_files import atomic_file, write_error  # noqa: PLC0415 - only for --output-file

    path = Path(file)
    encoded = (chunk.encode("utf-8", "backslashreplace") for chunk in chunks)
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as stream:
                stream.writelines(encoded)
        else:
            with atomic_file(path) as stream:
                stream.writelines(encoded)
    except OSError as error:
        raise write_error(path, error) from error
