"""The options of commands that report findings."""

from __future__ import annotations

__all__ = ["ReportOptions", "report_options"]

from dataclasses import dataclass
from typing import Final

import click

from everpath.app.config.config import FAIL_ON, SEVERITIES
from everpath.cli import completion
from everpath.cli.options.common import comma_list, config_options, output_file_option, progress_option
from everpath.cli.options.groups import option_group
from everpath.reporters import FORMATS, MACHINE_FORMATS
from everpath.wording import join_names

_MACHINE_FORMATS: Final = join_names(name for name in FORMATS if name in MACHINE_FORMATS)


@dataclass(frozen=True)
class ReportOptions:
    """The options of a report; None and empty mean that the configuration decides."""

    select: tuple[str, ...]
    ignore: tuple[str, ...]
    fail_on: str | None
    output: str | None
    output_file: str | None
    show: str | None
    statistics: bool
    config_file: str | None
    no_config: bool
    quiet: bool
    verbose: bool
    no_progress: bool


#: The command receives these options as `reporting: ReportOptions`.
report_options: Final = option_group(
    "reporting",
    ReportOptions,
    click.option(
        "--select",
        metavar="RULES",
        multiple=True,
        callback=comma_list,
        shell_complete=completion.rules,
        help="Run only these rules: ids, prefixes of ids (EP2) or names.",
    ),
    click.option(
        "--ignore",
        metavar="RULES",
        multiple=True,
        callback=comma_list,
        shell_complete=completion.rules,
        help="Do not run these rules.",
    ),
    click.option(
        "--fail-on",
        type=click.Choice(FAIL_ON),
        help="Exit with 1 for findings of this severity and above.  [default: error]",
    ),
    click.option(
        "-o",
        "--output",
        type=click.Choice(FORMATS),
        help="Output format.  [default: text; github under GitHub Actions]",
    ),
    output_file_option,
    click.option(
        "--show",
        type=click.Choice(SEVERITIES),
        help=f"List findings of this severity and above; {_MACHINE_FORMATS} list all.  [default: warning]",
    ),
    click.option("--statistics", is_flag=True, help="Count findings by rule and list none."),
    config_options,
    click.option("-q", "--quiet", is_flag=True, help="Print findings only."),
    click.option("-v", "--verbose", is_flag=True, help="Print the configuration file and the duration."),
    progress_option,
)
