"""What the commands for clusters share: options, the connection, confirmation, progress and JSON output."""

from __future__ import annotations

__all__ = [
    "ProgressReporter",
    "cluster_options",
    "confirm",
    "connect",
    "follow_package",
    "outcome_exit_code",
    "parse_duration",
    "system_clock",
    "timeout_option",
]

import json
import os
import re
import sys
import time
from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

from everpath.app.extras import install_extra_hint
from everpath.cli.options import one_name
from everpath.cli.output import write_output
from everpath.cli.terminal import wants_colour
from everpath.errors import ExitCode, UsageError
from everpath.olm.changes import Change
from everpath.olm.follow import Clock, FollowResult, Outcome, StopCondition, follow
from everpath.olm.objects import Cluster
from everpath.olm.reporter import SCHEMA_VERSION, changes_data, status_data, waits_text
from everpath.olm.snapshot import OperatorSnapshot, observe
from everpath.olm.status import OperatorStatus
from everpath.olm.subscription import trigger_resolution
from everpath.reporters.colour import Paint
from everpath.reporters.formatting import one_line

F = TypeVar("F", bound=Callable[..., Any])

_DURATION: Final = re.compile(r"(?:(?P<h>\d+)h)?(?:(?P<m>\d+)m)?(?:(?P<s>\d+)s?)?")


def cluster_options(command: F) -> F:
    """Add the options for the cluster, named like those of kubectl, and for the output format."""
    options = (
        click.option(
            "-n",
            "--namespace",
            metavar="NAME",
            callback=one_name,
            help="Namespace of the operator.  [default: that of the context]",
        ),
        click.option("--kubeconfig", metavar="FILE", help="Path of the kubeconfig.  [default: $KUBECONFIG]"),
        click.option(
            "--context", metavar="NAME", help="Context of the kubeconfig.  [default: the current one]"
        ),
        click.option(
            "-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def timeout_option(command: F) -> F:
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


def connect(kubeconfig: str | None, context: str | None) -> Cluster:
    """Return the cluster that kubectl uses. Raises UsageError if the Kubernetes client is not installed."""
    try:
        from everpath.olm import kube  # noqa: PLC0415 - its import takes half a second
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("kubernetes", "urllib3"):
            raise
        message = "this command needs the Python package kubernetes, which is not installed"
        raise UsageError(message, hint=install_extra_hint("cluster")) from error
    cluster = kube.connect(kubeconfig, context)
    click.get_current_context().call_on_close(cluster.close)
    return cluster


def system_clock(timeout: float) -> Clock:
    return Clock(time.monotonic, time.sleep, timeout)


def confirm(question: str, *, yes: bool) -> bool:
    """Ask the user for confirmation, unless `yes` is set. Raises UsageError without a terminal."""
    if yes:
        return True
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError("cannot ask for confirmation without a terminal", hint="use --yes")
    return click.confirm(question, err=True)


class ProgressReporter:
    """Prints progress: to standard output, or with -o json to standard error.

    `changes` has all changes so far, `last_status` the status that was reported last.
    """

    def __init__(self, output: str) -> None:
        self.is_json = output == "json"
        self.paint = Paint(not self.is_json and wants_colour(sys.stdout, os.environ))
        self.changes: list[Change] = []
        self.last_status: OperatorStatus | None = None

    def log(self, line: str) -> None:
        click.echo(one_line(line), err=self.is_json)

    def log_change(self, change: Change) -> None:
        self.changes.append(change)
        self.log(str(change))

    def print_waits(self, status: OperatorStatus) -> None:
        """Print what the operator waits for; the JSON document contains it already."""
        if not self.is_json:
            write_output(waits_text(status.waits, self.paint), None, machine=False)

    def print_json(self, fields: dict[str, Any]) -> None:
        """Print the JSON document of a command, with -o json only."""
        if self.is_json:
            text = json.dumps({"version": SCHEMA_VERSION, **fields}, indent=1, ensure_ascii=False)
            write_output([text, "\n"], None, machine=True)

    def print_result(self, outcome: str, status: OperatorStatus | None, **fields: Any) -> None:
        """Print the JSON document of a command that has changed and followed an operator."""
        data = status_data(status) if status is not None else {}
        self.print_json({**fields, "outcome": outcome, "changes": changes_data(self.changes), **data})


def follow_package(
    cluster: Cluster,
    package: str,
    namespace: str,
    stop_condition: StopCondition,
    clock: Clock,
    reporter: ProgressReporter,
) -> FollowResult:
    """Follow a package, and trigger a new resolution once if OLM cannot satisfy the constraints."""

    def unblock(snapshot: OperatorSnapshot) -> bool:
        is_triggered = trigger_resolution(cluster, snapshot)
        if is_triggered:
            reporter.log("Triggered a new resolution: OLM does not retry until an object changes")
        return is_triggered

    result = follow(
        lambda: observe(cluster, package, namespace),
        stop_condition,
        clock,
        reporter.log,
        unblock,
        reporter.last_status,
    )
    reporter.last_status = result.status
    return result


def outcome_exit_code(outcome: Outcome) -> int:
    """Return 0 also if an InstallPlan requires approval: Manual approval requests that."""
    return ExitCode.CLEAN if outcome in (Outcome.DONE, Outcome.APPROVAL) else ExitCode.FINDINGS
