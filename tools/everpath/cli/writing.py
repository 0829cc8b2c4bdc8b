"""Where a report goes: standard output, or a file that is either whole or not there."""

from __future__ import annotations

__all__ = ["write", "write_warnings"]

import os
import stat
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import TextIO

from everpath.cli.saying import say
from everpath.errors import UsageError


def write(chunks: Iterable[str], file: str | None, *, machine: bool) -> None:
    """Write all chunks, to standard output without a file.

    What a program reads is UTF-8 wherever it goes; a person gets what their terminal can show.
    """
    if file == "":
        raise UsageError(
            "--output-file is empty", hint="name a file; without the option all goes to the screen"
        )
    try:
        if file is None:
            _to_standard_output(chunks, machine=machine)
        elif _is_replaceable(file):
            _to_file(chunks, os.path.realpath(file))
        else:
            with open(file, "w", encoding="utf-8", errors="backslashreplace") as stream:
                stream.writelines(chunks)
    except BrokenPipeError:
        raise
    except OSError as error:
        target = file or "standard output"
        raise UsageError(f"cannot write to {target}: {error.strerror or error}") from error


def _to_standard_output(chunks: Iterable[str], *, machine: bool) -> None:
    stream = sys.stdout
    if stream is None:
        raise UsageError("cannot write to standard output: it is closed")
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace", **({"encoding": "utf-8"} if machine else {}))
    stream.writelines(chunks)
    stream.flush()


def _is_replaceable(file: str) -> bool:
    """Whether a file can be put in its place: a pipe or a device must be written to, not replaced."""
    try:
        return stat.S_ISREG(os.stat(file).st_mode)
    except FileNotFoundError:
        return True


def _to_file(chunks: Iterable[str], file: str) -> None:
    """Beside the file first, then in its place, so that nobody reads half a report."""
    folder, name = os.path.split(file)
    draft = os.path.join(folder, f".{name}.{os.getpid()}")
    try:
        with _created(draft) as stream:
            stream.writelines(chunks)
        os.replace(draft, file)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(draft)
        raise


def _created(draft: str) -> TextIO:
    return open(draft, "x", encoding="utf-8", errors="backslashreplace")


def write_warnings(warnings: Iterable[str]) -> None:
    """Write each warning to standard error."""
    from everpath.reporters.formatting import printable  # noqa: PLC0415 - most commands have no warnings

    for warning in warnings:
        say(f"warning: {printable(warning)}")
