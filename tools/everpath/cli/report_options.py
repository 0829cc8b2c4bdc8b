"""The options of commands that report findings."""

from __future__ import annotations

__all__ = ["report_options"]

from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

from everpath.app.config import FAIL_ON, SEVERITIES
from everpath.cli import completion
from everpath.cli.options import comma_list, config_options, progress_option
from everpath.reporters import FORMATS

_select: Final = click.option(
    "--select",
    metavar="RULES",
    multiple=True,
    callback=comma_list,
    shell_complete=completion.rules,
    help="Ask only these rules: ids, beginnings of ids (EP2) or names.",
)
_ignore: Final = click.option(
    "--ignore",
    metavar="RULES",
    multiple=True,
    callback=comma_list,
    shell_complete=completion.rules,
    help="Do not ask these rules.",
)
_fail_on: Final = click.option(
    "--fail-on", type=click.Choice(FAIL_ON), help="Exit with 1 from this severity on.  [default: error]"
)
_output: Final = click.option(
    "-o",
    "--output",
    type=click.Choice(FORMATS),
    help="How to report.  [default: text; github under GitHub Actions]",
)
_output_file: Final = click.option(
    "--output-file", metavar="FILE", help="Write the report there, whole or not at all."
)
_show: Final = click.option(
    "--show",
    type=click.Choice(SEVERITIES),
    help="List findings of this severity and above; json, sarif and junit list all.  [default: warning]",
)
_statistics: Final = click.option("--statistics", is_flag=True, help="Count findings by rule and list none.")
_quiet: Final = click.option("-q", "--quiet", is_flag=True, help="Print findings and nothing else.")
_verbose: Final = click.option(
    "-v", "--verbose", is_flag=True, help="Say on standard error what is read and how long it takes."
)


#: In the order in which help lists them.
_OPTIONS: Final = (
    _select,
    _ignore,
    _fail_on,
    _output,
    _output_file,
    _show,
    _statistics,
    config_options,
    _quiet,
    _verbose,
    progress_option,
)

F = TypeVar("F", bound=Callable[..., Any])


def report_options(command: F) -> F:
    """The options of every command that reports findings."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
