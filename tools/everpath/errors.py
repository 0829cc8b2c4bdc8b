"""Errors are data: each knows its exit code and what to type next.

    EverpathError
    ├── UsageError          2  the command line or the configuration asks for something impossible
    │   ├── ConfigError     2  everpath.yaml or [tool.everpath] does not say what it should
    │   └── ReleasesError   2  releases.yaml does not, or what was made of it has been changed
    ├── UnreadableInput     3  a path that is missing, forbidden, empty, too large or not a catalog
    └── Unreachable         4  a registry or a cluster that does not answer

What is wrong *inside* a catalog is never an exception: it is a finding (`everpath.rules`).
"""

from __future__ import annotations

__all__ = [
    "ConfigError",
    "EverpathError",
    "ExitCode",
    "ReleasesError",
    "Unreachable",
    "UnreadableInput",
    "UsageError",
]

from enum import IntEnum


class ExitCode(IntEnum):
    """What a script may rely on."""

    CLEAN = 0
    FINDINGS = 1
    USAGE = 2
    UNREADABLE = 3
    UNREACHABLE = 4


class EverpathError(Exception):
    """Something went wrong outside of the catalog's own content."""

    exit_code: ExitCode = ExitCode.USAGE

    def __init__(self, message: str, *, hint: str | None = None, file: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.file = file


class UsageError(EverpathError):
    """The request cannot be carried out as it was made."""


class ConfigError(UsageError):
    """The configuration file is not what it should be."""


class ReleasesError(UsageError):
    """The source of releases is not what it should be, or a released bundle is not what it was."""


class UnreadableInput(EverpathError):
    """The input cannot be read at all, so nothing can be said of it."""

    exit_code = ExitCode.UNREADABLE


class Unreachable(EverpathError):
    """A server that should answer does not."""

    exit_code = ExitCode.UNREACHABLE
