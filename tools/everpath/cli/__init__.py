"""The command line: the only place that knows of arguments, terminals, environment variables and the clock.

Commands are imported when they are called; `everpath --help` imports click and nothing else of weight.
"""

from __future__ import annotations

__all__ = ["main"]

from everpath.cli.app import main
