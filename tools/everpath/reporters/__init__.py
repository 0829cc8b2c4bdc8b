"""Views: one report, written for a terminal, a pipeline, a dashboard or a pull request.

A view is a generator of text. It never decides what is wrong and never opens a file: it is given an
`Outcome` and says it. Views are imported by name, so that a report in one format costs one module.
"""

from __future__ import annotations

__all__ = ["FORMATS", "MACHINE_FORMATS", "STATISTICS_FORMATS", "reporter"]

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from everpath.reporters.lint_report import LintReport

_MODULES: Final = {
    "text": "text",
    "concise": "concise",
    "json": "json_report",
    "sarif": "sarif",
    "junit": "junit",
    "github": "github",
    "markdown": "markdown",
}

#: What `-o` may say, the default first.
FORMATS: Final = tuple(_MODULES)

#: Formats that a program reads: always UTF-8, always complete, whatever `--show` says.
MACHINE_FORMATS: Final = frozenset({"json", "sarif", "junit"})


#: What a count of findings by rule can be written as.
STATISTICS_FORMATS: Final = ("text", "json", "markdown")


def reporter(name: str) -> Callable[[LintReport], Iterator[str]]:
    """The view of that name. Raises KeyError if there is none."""
    module = import_module(f"everpath.reporters.{_MODULES[name]}")
    render: Callable[[LintReport], Iterator[str]] = module.render
    return render
