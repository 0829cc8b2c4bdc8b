"""What the commands that speak to a cluster share: options, the way in, questions, how things are told."""

from __future__ import annotations

__all__ = [
    "Answer",
    "Teller",
    "ask",
    "clock",
    "cluster_options",
    "connect",
    "exit_code",
    "followed",
    "following_options",
    "seconds",
]

import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeVar

import click

from everpath.cli.extras import remedy
from everpath.cli.options import one_name
from everpath.cli.terminal import wants_colour
from everpath.cli.writing import write
from everpath.errors import ExitCode, UsageError
from everpath.olm.chain import Chain
from everpath.olm.changes import Change
from everpath.olm.follow import Clock, Followed, Outcome, follow
from everpath.olm.install import ask_again
from everpath.olm.objects import Cluster
from everpath.olm.reporter import VERSION, chain_data, changes_data, waits_text
from everpath.olm.snapshot import Observed, observe
from everpath.reporters.colour import Paint
from everpath.reporters.plain import one_line

F = TypeVar("F", bound=Callable[..., Any])

_DURATION: Final = re.compile(r"(?:(?P<h>\d+)h)?(?:(?P<m>\d+)m)?(?:(?P<s>\d+)s?)?")


def cluster_options(command: F) -> F:
    """Which cluster and namespace, by kubectl's own options, and how the answer is told."""
    options = (
        click.option(
            "-n",
            "--namespace",
            metavar="NAME",
            callback=one_name,
            help="The operator's namespace.  [default: the context's]",
        ),
        click.option(
            "--kubeconfig", metavar="FILE", help="The configuration of kubectl.  [default: $KUBECONFIG]"
        ),
        click.option("--context", metavar="NAME", help="The context in it.  [default: the current one]"),
        click.option(
            "-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def following_options(command: F) -> F:
    """How long to wait."""
    return click.option(
        "--timeout",
        metavar="TIME",
        default="5m",
        show_default=True,
        callback=seconds,
        help="How long to wait: 90s, 5m, 1h.",
    )(command)


def seconds(_ctx: click.Context | None, param: click.Parameter | None, value: str) -> float:
    """A time as people write it. Raises UsageError for what is none."""
    match = _DURATION.fullmatch(value.strip())
    if match is None or not value.strip():
        name = "/".join(param.opts) if param is not None else "time"
        raise UsageError(f"{name} {value!r} is no time", hint="90s, 5m or 1h30m")
    hours, minutes, rest = (int(match[part] or 0) for part in "hms")
    return float(hours * 3600 + minutes * 60 + rest)


def connect(kubeconfig: str | None, context: str | None) -> Cluster:
    """The cluster that kubectl would speak to. Raises UsageError where its client is not installed."""
    try:
        from everpath.olm import kube  # noqa: PLC0415 - it takes half a second to import
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("kubernetes", "urllib3"):
            raise
        said = "speaking to a cluster needs the Python package kubernetes, which is not installed"
        raise UsageError(said, hint=remedy("cluster")) from error
    cluster = kube.connect(kubeconfig, context)
    click.get_current_context().call_on_close(cluster.close)
    return cluster


def clock(timeout: float) -> Clock:
    return Clock(time.monotonic, time.sleep, timeout)


def ask(question: str, *, yes: bool) -> bool:
    """Whether the answer is yes. Raises UsageError where there is nobody to ask."""
    if yes:
        return True
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError("there is nobody at the terminal to ask", hint="--yes says yes beforehand")
    return click.confirm(question, err=True)


class Teller:
    """Progress as it happens: on standard output for people, beside it where a program reads that.

    `seen` is what was told of the chain so far.
    """

    def __init__(self, output: str) -> None:
        self.is_json = output == "json"
        self.paint = Paint(not self.is_json and wants_colour(sys.stdout, os.environ))
        self.changes: list[Change] = []
        self.seen: Chain | None = None

    def say(self, line: str) -> None:
        click.echo(one_line(line), err=self.is_json)

    def note(self, change: Change) -> None:
        self.changes.append(change)
        self.say(str(change))

    def waits(self, seen: Chain) -> None:
        """What it waits for, to people; programs find it in the document."""
        if not self.is_json:
            write(waits_text(seen.waits, self.paint), None, machine=False)

    def document(self, fields: dict[str, Any]) -> None:
        if self.is_json:
            text = json.dumps({"version": VERSION, **fields}, indent=1, ensure_ascii=False)
            write([text, "\n"], None, machine=True)


def followed(
    cluster: Cluster,
    package: str,
    namespace: str,
    judge: Callable[[Observed, Chain], Outcome | None],
    timer: Clock,
    teller: Teller,
) -> Followed:
    """Follow a package. Where OLM says that there is no answer, it is asked once more."""

    def nudge(observed: Observed) -> bool:
        if is_asked := ask_again(cluster, observed):
            teller.say("Asked OLM to decide again: it keeps an answer until something changes")
        return is_asked

    done = follow(lambda: observe(cluster, package, namespace), judge, timer, teller.say, nudge, teller.seen)
    teller.seen = done.chain
    return done


class Answer:
    """The document of a command that follows: what was done, how it ended, and how things stand."""

    def __init__(self, teller: Teller, **fields: Any) -> None:
        self._teller = teller
        self._fields = fields

    def end(self, outcome: str, seen: Chain | None, changes: Iterable[Change] | None = None) -> None:
        done: Sequence[Change] = list(changes if changes is not None else self._teller.changes)
        told = chain_data(seen) if seen is not None else {}
        self._teller.document(
            {**self._fields, "outcome": outcome, "changes": changes_data(done), **told},
        )


def exit_code(outcome: Outcome) -> int:
    """Waiting for an approval that was asked to be waited for is no failure."""
    return ExitCode.CLEAN if outcome in (Outcome.DONE, Outcome.APPROVAL) else ExitCode.FINDINGS
