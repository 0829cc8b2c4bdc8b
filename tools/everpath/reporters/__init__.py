"""Reporters: they format a report for a terminal, a pipeline, a dashboard or a pull request.

A reporter is a generator of text. It gets finished data, such as a `LintReport`, runs no rule and opens no
file. Reporters are imported by name, so that a run loads only the module of its format.
"""

from __future__ import annotations

__all__ = ["FORMATS", "MACHINE_FORMATS", "STATISTICS_FORMATS", "reporter"]

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from everpath.reporters.lint.lint_report import LintReport

_MODULES: Final = {
    "text": "text",
    "concise": "concise",
    "json": "json_report",
    "sarif": "sarif",
    "junit": "junit",
    "github": "github",
    "markdown": "markdown",
}

#: The values of `-o`, the default first.
FORMATS: Final = tuple(_MODULES)

#: Formats for programs: in UTF-8, and with all findings whatever `--show` is.
MACHINE_FORMATS: Final = frozenset({"json", "sarif", "junit"})

#: The formats of `--statistics`.
STATISTICS_FORMATS: Final = ("text", "json", "markdown")


def reporter(name: str) -> Callable[[LintReport], Iterator[str]]:
    """Return the `render` function of a format. Raises KeyError if there is no such format."""
    module = import_module(f"everpath.reporters.lint.{_MODULES[name]}")
    render: Callable[[LintReport], Iterator[str]] = module.render
    return render
