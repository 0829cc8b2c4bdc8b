"""What a test has built, shown if it fails: the graph of a channel, the history of a fake cluster."""

from __future__ import annotations

__all__ = ["add", "clear", "repeat_command", "sections"]

import os
from collections.abc import Callable

from tests.support.tiers import TIER_VARIABLE

_sections: dict[str, Callable[[], str]] = {}


def add(title: str, text: Callable[[], str]) -> None:
    """Add a section to the report of the running test; the last one with a title counts.

    `text` is called only if the test fails.
    """
    _sections[title] = text


def clear() -> None:
    """Forget the sections of the previous test."""
    _sections.clear()


def sections() -> list[tuple[str, str]]:
    """Return the title and the text of each section."""
    return [(title, text()) for title, text in _sections.items()]


def repeat_command(test: str) -> str:
    """Return the command that runs a failed property again, with the example that failed.

    Hypothesis tries failed examples first. In CI it tries the same examples in every run.
    """
    variables = "CI=true " if "CI" in os.environ else ""
    target = "test" if os.environ.get(TIER_VARIABLE) == "default" else "test-exhaustive"
    return f"""{variables}make {target} PYTEST='-n 0 "{test}"'"""
