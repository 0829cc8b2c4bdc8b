"""The command line: options, terminal, environment variables and exit codes.

A command is imported when it is called, so `everpath --help` imports little more than click.
"""

from __future__ import annotations

__all__ = ["main"]

from everpath.cli.entry_point import main
