"""The command `searchkeeper`. Commands are imported when they are called."""

from __future__ import annotations

__all__ = ["main"]

from searchkeeper.cli.app import main
