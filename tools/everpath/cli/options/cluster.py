"""What the commands for clusters share: options, confirmation, progress and JSON output."""

from __future__ import annotations

__all__ = [
    "ProgressReporter",
    "cluster_options",
    "confirm",
    "outcome_exit_code",
    "parse_duration",
    "timeout_option",
]

import json
import os
import re
import sys
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

import click

from everpath.app.cluster.connection import ClusterOptions
from everpath.cli.options.common import one_name
from everpath.cli.options.groups import option_group
from everpath.cli.output import write_output
from everpath.cli.terminal import wants_colour
from everpath.errors import ExitCode, UsageError
from everpath.olm.changes import ObjectChange
from everpath.olm.follow import Outcome
from everpath.olm.reporter import SCHEMA_VERSION, changes_data, status_data, waits_text
from everpath.olm.status import OperatorStatus
from everpath.reporters.colour import Paint
from everpath.reporters.formatting import one_line

F = TypeVar("F", bound=Callable[..., Any])

_DURATION: Final = re.compile(r"(?:(?P<h>\d+)h)?(?:(?P<m>\d+)m)?(?:(?P<s>\d+)s?)?")

_connection_options: Final = option_group(
    "connection",
    ClusterOptions,
    click.option(
        "-n",
        "--namespace",
        metavar="NAME",
        callback=one_name,
        help="Namespace of the operator.  [default: that of the context]",
    ),
    click.option("--kubeconfig", metavar="FILE", help="Path of the kubeconfig.  [default: $KUBECONFIG]"),
    click.option("--context", metavar="NAME", help="Context of the kubeconfig.  [default: the current one]"),
)


def cluster_options(command: F) -> F:
    """Add the options for the cluster, named like those of kubectl, and for the output format."""
    output = click.option(
        "-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True
    )
    return _connection_options(output(command))


def timeout_option(command: F) -> F:
    """Add `--timeout`, in seconds."""
    return click.option(
        "--timeout",
        metavar="TIME",
        default="5m",
        show_default=True,
        callback=parse_duration,
        help="How long to wait: 90s, 5m, 1h.",
    )(command)


def parse_duration(_ctx: click.Context | None, param: click.Parameter | None, value: str) -> float:
    """Return a duration such as 90s or 1h30m in seconds. Raises UsageError if it is invalid."""
    match = _DURATION.fullmatch(value.strip())
    if match is None or not value.strip():
        name = "/".join(param.opts) if param is not None else "duration"
        raise UsageError(f"{name} {value!r} is not a duration", hint="90s, 5m or 1h30m")
    hours, minutes, seconds = (int(match[unit] or 0) for unit in "hms")
    return float(hours * 3600 + minutes * 60 + seconds)


def confirm(question: str, *, yes: bool) -> None:
    """Ask the user for confirmation, unless `yes` is set. Raises click.Abort if the user declines.

    Raises UsageError without a terminal.
    """
    if yes:
        return
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError("cannot ask for confirmation without a terminal", hint="use --yes")
    click.confirm(question, err=True, abort=True)


class ProgressReporter:
    """Prints progress and results: to standard output, but progress to standard error with -o json."""

    def __init__(self, output: str) -> None:
        self.is_json = output == "json"
        self.paint = Paint(not self.is_json and wants_colour(sys.stdout, os.environ))

    def log(self, line: str) -> None:
        click.echo(one_line(line), err=self.is_json)

    def print_waits(self, status: OperatorStatus) -> None:
        """Print what the operator waits for; the JSON document contains it already."""
        if not self.is_json:
            write_output(waits_text(status.waits, self.paint), None, machine=False)

    def print_json(self, fields: dict[str, Any]) -> None:
        """Print the JSON document of a command, with -o json only."""
        if self.is_json:
            text = json.dumps({"version": SCHEMA_VERSION, **fields}, indent=1, ensure_ascii=False)
            write_output([text, "\n"], None, machine=True)

    def print_result(
        self, outcome: str, changes: Iterable[ObjectChange], status: OperatorStatus | None, **fields: Any
    ) -> None:
        """Print the JSON document of a command that has changed and followed an operator."""
        data = status_data(status) if status is not None else {}
        self.print_json({**fields, "outcome": outcome, "changes": changes_data(changes), **data})


def outcome_exit_code(outcome: Outcome) -> int:
    """Return 0 also if an InstallPlan requires approval: Manual approval requests that."""
    return ExitCode.CLEAN if outcome in (Outcome.DONE, Outcome.APPROVAL) else ExitCode.FINDINGS
