"""`searchkeeper status`: how clusters are, and how far an upgrade is."""

from __future__ import annotations

__all__ = ["status", "upgrade_text"]

import sys
import time
from collections.abc import Iterator
from typing import Any, Final

import click

from searchkeeper.api.reasons import Reason
from searchkeeper.cli.errors import NoAnswer
from searchkeeper.cli.output import bar, echo, moment, output_option, table
from searchkeeper.cli.sources import Source, source_options, sources
from searchkeeper.describe import ClusterDescription, StepState, UpgradeStep
from searchkeeper.kubernetes.operations import Key

# Silent looks in a row that are passed over.
_HICCUPS: Final = 5
_MARKS = {StepState.DONE: "✓", StepState.CURRENT: "▶", StepState.NEXT: "·", StepState.WAITING: "·"}


@click.command()
@source_options
@output_option
@click.option(
    "--upgrade", is_flag=True, help="Steps done, current, next and waiting, deadline, point of no return."
)
@click.option("--watch", is_flag=True, help="Look again every two seconds, until nothing is under way.")
def status(cluster: str | None, namespace: str, form: str, upgrade: bool, watch: bool, **where: Any) -> None:
    """How clusters are, and how far an upgrade is.

    \b
    searchkeeper status
    searchkeeper status --upgrade --embedded
    searchkeeper status logs -n search --upgrade --watch
    """
    if watch and (where["embedded"] or where["files"]):
        raise click.UsageError("--watch needs a cluster; `searchkeeper run --embedded` shows a sample live")
    source = sources(namespace=namespace, **where)
    keys = source.clusters(namespace, cluster)
    found = _shown([source.events_emitted(key) for key in keys], form, upgrade)
    while watch and any(map(_goes_on, found)):
        looked = _looked_again(source, keys)
        if sys.stdout is not None and sys.stdout.isatty():
            click.clear()
        elif form == "yaml":
            click.echo("---")
        found = _shown(looked, form, upgrade)
    click.get_current_context().exit(1 if any(each.is_in_trouble for each in found) else 0)


def _looked_again(source: Source, keys: list[Key]) -> list[ClusterDescription]:
    """Whoever watches for an hour meets a hiccup: it is noted, and only a lasting silence is the end."""
    for _ in range(_HICCUPS):
        time.sleep(2)
        try:
            return [source.events_emitted(key) for key in keys]
        except NoAnswer as error:
            click.echo(f"note: {error.message}; looking again", err=True)
    time.sleep(2)
    return [source.events_emitted(key) for key in keys]


def _goes_on(each: ClusterDescription) -> bool:
    """Something is under way, or about to be: of an upgrade the last step is Dashboards.

    What was given up or refused is not, until somebody edits the spec.
    """
    is_over = each.refusal is not None or any(a.reason == Reason.VERSION_ABANDONED for a in each.actions)
    is_left = any(a.action == "DashboardsCurrent" and a.status != "True" for a in each.actions)
    return bool(each.upgrade) or (not is_over and (is_left or each.engine != each.target))


def _shown(found: list[ClusterDescription], form: str, upgrade: bool) -> list[ClusterDescription]:
    def text() -> str:
        if upgrade:
            return "\n\n".join("\n".join(upgrade_text(each)) for each in found)
        return table(_rows(found))

    echo({"clusters": [as_data(each) for each in found]}, form, text)
    return found


def as_data(each: ClusterDescription) -> dict[str, Any]:
    return {
        "cluster": each.cluster,
        "phase": each.phase,
        "ready": each.ready,
        "engine": {"running": each.engine, "target": each.target},
        "configuration": each.configuration,
        "upgrade": {
            "underWay": each.upgrade is not None,
            "from": each.upgrade[0] if each.upgrade else None,
            "target": each.upgrade[1] if each.upgrade else None,
            "share": round(each.progress, 3),
            "steps": [
                {"name": s.name, "state": str(s.state), "version": s.version, "problem": s.problem}
                for s in each.steps
            ],
            "deadline": moment(each.deadline),
            "wayBack": each.rollback,
            "history": list(each.history),
        },
        "waits": [
            {
                "resource": a.resource,
                "action": a.action,
                "reason": a.reason,
                "message": a.message,
                "seconds": a.waits,
            }
            for a in each.actions
            if a.holds_up
        ],
    }


def _rows(found: list[ClusterDescription]) -> Iterator[tuple[str, ...]]:
    yield "CLUSTER", "PHASE", "READY", "ENGINE", "TARGET", "CONFIGURATION", "WAITS FOR"
    for each in found:
        yield (
            each.cluster,
            each.phase,
            each.ready,
            each.engine or "-",
            each.target,
            str(each.configuration or "-"),
            each.cause or "-",
        )


def upgrade_text(each: ClusterDescription) -> Iterator[str]:
    """For a terminal and for a log alike."""
    yield f"SearchCluster {each.cluster}: {each.phase}, {_way(each)}, {each.ready} ready"
    if each.steps:
        done = sum(step.state is StepState.DONE for step in each.steps)
        yield f"  {bar(each.progress)} {done} of {len(each.steps)} steps"
        yield table(map(_step, each.steps), indent="  ")
    if each.cause:
        yield f"  {each.cause}"
    if each.deadline is not None:
        yield f"  deadline: {moment(each.deadline)}, then it counts as stalled"
    if each.upgrade and each.rollback:
        yield f"  rollback: {each.rollback}"
    if not each.upgrade:
        yield from (f"  {line}" for line in each.history)


def _step(this: UpgradeStep) -> tuple[str, ...]:
    state = f"{this.state}: {this.problem}" if this.problem else str(this.state)
    return _MARKS[this.state], this.name, this.version, state


def _way(each: ClusterDescription) -> str:
    if each.upgrade:
        start, end = each.upgrade
        return f"{end} → {start}" if each.target == start else f"{start} → {end}"
    if each.engine == each.target:
        return f"every node runs {each.engine}"
    return f"{each.engine} → {each.target} not begun" if each.engine else f"{each.target} not there yet"
