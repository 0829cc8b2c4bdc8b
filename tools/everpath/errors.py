"""Errors with an exit code and a hint.

    EverpathError
    ├── UsageError          2  the command line or the configuration is wrong
    │   ├── ConfigError     2  everpath.yaml or [tool.everpath] is invalid
    │   └── ReleasesError   2  releases.yaml is invalid, or a released bundle has changed
    ├── UnreadableInput     3  a path is missing, forbidden, empty, too large or not a catalog
    └── Unreachable         4  a registry or a cluster does not answer

An error inside a catalog is a finding (`everpath.rules`), not an exception.
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
    """Exit codes of all commands. They are part of the interface."""

    CLEAN = 0
    FINDINGS = 1
    USAGE = 2
    UNREADABLE = 3
    UNREACHABLE = 4


class EverpathError(Exception):
    """An error that ends the command. `file` is the path it is about, if there is one."""

    exit_code: ExitCode = ExitCode.USAGE

    def __init__(self, message: str, *, hint: str | None = None, file: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.file = file


class UsageError(EverpathError):
    """The command line or the configuration is wrong."""


class ConfigError(UsageError):
    """The configuration file is invalid."""


class ReleasesError(UsageError):
    """releases.yaml is invalid, or a released bundle has changed."""


class UnreadableInput(EverpathError):
    """The input cannot be read."""

    exit_code = ExitCode.UNREADABLE


class Unreachable(EverpathError):
    """A registry or a cluster does not answer."""

    exit_code = ExitCode.UNREACHABLE
