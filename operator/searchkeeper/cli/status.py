"""`searchkeeper status`: how clusters are, and how far an upgrade is."""

from __future__ import annotations

__all__ = ["status", "upgrade_text"]

import sys
import time
from collections.abc import Iterator
from typing import Any

import click

from searchkeeper.cli.output import bar, echo, moment, output_option, table
from searchkeeper.cli.sources import Source, source_options, sources
from searchkeeper.explaining import Explanation, StepState
from searchkeeper.writes import Key

_MARKS = {StepState.DONE: "✓", StepState.CURRENT: "▶", StepState.NEXT: "·"}
_TROUBLE = ("Stalled", "Refused")


@click.command()
@source_options
@output_option
@click.option("--upgrade", is_flag=True, help="Steps done, current and next, deadline, point of no return.")
@click.option("--watch", is_flag=True, help="Look again every two seconds, until nothing is under way.")
def status(cluster: str | None, namespace: str, form: str, upgrade: bool, watch: bool, **where: Any) -> None:
    """How clusters are, and how far an upgrade is.

    \b
    searchkeeper status
    searchkeeper status --upgrade --embedded
    searchkeeper status logs -n search --upgrade --watch
    """
    source = sources(**where)
    keys = source.clusters(namespace, cluster)
    found = _shown(source, keys, form, upgrade)
    while watch and any(each.under_way or each.engine != each.target for each in found):
        time.sleep(2)
        if sys.stdout.isatty():
            click.clear()
        found = _shown(source, keys, form, upgrade)
    click.get_current_context().exit(1 if any(each.phase in _TROUBLE for each in found) else 0)


def _shown(source: Source, keys: list[Key], form: str, upgrade: bool) -> list[Explanation]:
    found = [source.explained(key) for key in keys]

    def text() -> str:
        if upgrade:
            return "\n\n".join("\n".join(upgrade_text(each)) for each in found)
        return table(_rows(found))

    echo({"clusters": [as_data(each) for each in found]}, form, text)
    return found


def as_data(each: Explanation) -> dict[str, Any]:
    return {
        "cluster": each.cluster,
        "phase": each.phase,
        "ready": each.ready,
        "engine": {"running": each.engine, "target": each.target},
        "configuration": each.configuration,
        "upgrade": {
            "underWay": each.under_way is not None,
            "from": each.under_way[0] if each.under_way else None,
            "target": each.under_way[1] if each.under_way else None,
            "share": round(each.share_done, 3),
            "steps": [{"name": s.name, "state": str(s.state), "version": s.version} for s in each.steps],
            "deadline": moment(each.deadline),
            "wayBack": each.way_back,
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
            if a.status == "False"
        ],
    }


def _rows(found: list[Explanation]) -> Iterator[tuple[str, ...]]:
    yield "CLUSTER", "PHASE", "READY", "ENGINE", "TARGET", "CONFIGURATION", "WAITS FOR"
    for each in found:
        waits = [a.message for a in each.actions if a.status == "False" and a.action != "RollbackIsPossible"]
        yield (
            each.cluster,
            each.phase,
            each.ready,
            each.engine or "-",
            each.target,
            str(each.configuration or "-"),
            waits[0] if waits else "-",
        )


def upgrade_text(each: Explanation) -> Iterator[str]:
    """For a terminal and for a log alike."""
    if each.under_way is None and not each.steps:
        yield f"SearchCluster {each.cluster}: no upgrade is under way, every node runs {each.engine or '-'}"
        yield from (f"  {line}" for line in each.history)
        return
    before, target = each.under_way or (each.engine or "-", each.target)
    done = sum(step.state is StepState.DONE for step in each.steps)
    yield f"SearchCluster {each.cluster}: {each.phase}, {before} → {target}, {each.ready} ready"
    yield f"  {bar(each.share_done)} {done} of {len(each.steps)} steps"
    yield table(((_MARKS[s.state], s.name, s.version, str(s.state)) for s in each.steps), indent="  ")
    current = next((a for a in each.actions if a.action == "PodsAreCurrent"), None)
    if current is not None and current.message:
        yield f"  {current.message}"
    if each.deadline is not None:
        yield f"  deadline: {moment(each.deadline)}, then it counts as stalled"
    if each.way_back:
        yield f"  rollback: {each.way_back}"
