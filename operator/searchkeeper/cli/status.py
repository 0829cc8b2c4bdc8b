"""`searchkeeper status`: the state of clusters, and the progress of upgrades."""

from __future__ import annotations

__all__ = ["status", "upgrade_text"]

import sys
import time
from collections.abc import Iterator
from typing import Any, Final

import click

from searchkeeper.api.codec import format_timestamp
from searchkeeper.cli.errors import ApiServerUnreachable
from searchkeeper.cli.output import (
    Output,
    bar,
    deadline_text,
    output_option,
    print_output,
    table,
    terminal_width,
    wrap,
)
from searchkeeper.cli.sources import Source, open_source, source_options
from searchkeeper.describe import ClusterDescription, StepState
from searchkeeper.kubernetes.operations import Key
from searchkeeper.reconcilers.objects import dashboards_current

_WATCH_INTERVAL: Final = 2
# Failed requests in a row after which --watch gives up.
_WATCH_RETRIES: Final = 5
_MARKS = {StepState.DONE: "✓", StepState.CURRENT: "▶", StepState.NEXT: "·", StepState.WAITING: "·"}


@click.command()
@source_options
@output_option(Output.WIDE)
@click.option(
    "--upgrade", is_flag=True, help="Show the upgrade only: its steps, deadline and point of no return."
)
@click.option(
    "-w", "--watch", is_flag=True, help="Refresh every two seconds until no upgrade is in progress."
)
def status(
    name: str | None, namespace: str, output: str, upgrade: bool, watch: bool, **source_args: Any
) -> None:
    """Show the state of clusters and the progress of upgrades.

    One cluster is described, as by kubectl describe. Several are listed, one line each; -o wide always lists.

    \b
    Examples:
      searchkeeper status
      searchkeeper status logs -n search
      searchkeeper status logs -n search --upgrade --watch
      searchkeeper status --embedded
    """
    if watch and (source_args["embedded"] or source_args["files"]):
        raise click.UsageError("--watch needs a cluster; `searchkeeper run --embedded` shows a sample")
    source = open_source(namespace=namespace, **source_args)
    keys = source.clusters(namespace, name)
    clusters = [source.describe_status(key) for key in keys]
    _print_clusters(clusters, output, upgrade)
    while watch and any(map(_is_in_progress, clusters)):
        clusters = _refresh(source, keys)
        if sys.stdout is not None and sys.stdout.isatty():
            click.clear()
        elif output == Output.YAML:
            click.echo("---")
        _print_clusters(clusters, output, upgrade)
    click.get_current_context().exit(1 if any(each.needs_attention for each in clusters) else 0)


def _refresh(source: Source, keys: list[Key]) -> list[ClusterDescription]:
    """Describe the clusters again. Retries while the API server does not answer."""
    for attempt in range(_WATCH_RETRIES + 1):
        time.sleep(_WATCH_INTERVAL)
        try:
            return [source.describe_status(key) for key in keys]
        except ApiServerUnreachable as error:
            if attempt == _WATCH_RETRIES:
                raise
            click.echo(f"note: {error.message}; retrying", err=True)
    raise AssertionError


def _is_in_progress(cluster: ClusterDescription) -> bool:
    """True while an upgrade runs or is about to start. Dashboards are its last step.

    A refused or abandoned version waits for an edit of the spec.
    """
    if cluster.upgrade:
        return True
    if cluster.refusal is not None or cluster.is_abandoned:
        return False
    is_dashboards_outdated = any(
        a.action == dashboards_current.name and a.status != "True" for a in cluster.actions
    )
    return is_dashboards_outdated or cluster.engine != cluster.target


def _print_clusters(clusters: list[ClusterDescription], output: str, upgrade: bool) -> None:
    def text() -> str:
        width = terminal_width()
        if upgrade:
            return "\n\n".join("\n".join(upgrade_text(each, width)) for each in clusters)
        if output == Output.WIDE or len(clusters) > 1:
            return table(_list_rows(clusters, is_wide=output == Output.WIDE))
        return "\n".join(_describe_text(clusters[0], width))

    print_output({"clusters": [status_data(each) for each in clusters]}, output, text)


def status_data(cluster: ClusterDescription) -> dict[str, Any]:
    """The document of `-o json` and `-o yaml`; docs/schemas/searchkeeper-status.schema.json."""
    start, target = cluster.upgrade or (None, None)
    return {
        "cluster": cluster.cluster,
        "phase": cluster.phase,
        "ready": cluster.ready,
        "engine": {"running": cluster.engine, "target": cluster.target},
        "configuration": cluster.configuration,
        "conditions": [
            {"type": each.type, "status": each.status, "reason": each.reason, "message": each.message}
            for each in cluster.conditions
        ],
        "upgrade": {
            "inProgress": cluster.upgrade is not None,
            "from": start,
            "target": target,
            "progress": round(cluster.progress, 3),
            "steps": [
                {"name": s.name, "state": str(s.state), "version": s.version, "problem": s.problem}
                for s in cluster.steps
            ],
            "deadline": None if cluster.deadline is None else format_timestamp(cluster.deadline),
            "rollback": cluster.rollback,
            "history": list(cluster.history),
        },
        "waitingActions": [
            {
                "resource": action.resource,
                "action": action.action,
                "reason": action.reason,
                "message": action.message,
                "stalled": action.is_stalled,
                "seconds": action.waiting_seconds,
            }
            for action in cluster.actions
            if action.is_waiting
        ],
    }


def _list_rows(clusters: list[ClusterDescription], *, is_wide: bool) -> Iterator[tuple[str, ...]]:
    wide = ("CONFIGURATION", "STEPS") if is_wide else ()
    yield "NAMESPACE", "NAME", "PHASE", "READY", "VERSION", "TARGET", *wide, "MESSAGE"
    for each in clusters:
        namespace, _, name = each.cluster.partition("/")
        steps = f"{each.steps_done}/{len(each.steps)}" if each.steps else "-"
        wide = (str(each.configuration or "-"), steps) if is_wide else ()
        version = each.engine or "-"
        yield namespace, name, each.phase, each.ready, version, each.target, *wide, each.headline or "-"


def _describe_text(cluster: ClusterDescription, width: int | None) -> Iterator[str]:
    """One cluster in the layout of `kubectl describe`. Summary conditions come first."""
    namespace, _, name = cluster.cluster.partition("/")
    fields = (
        ("Name:", name),
        ("Namespace:", namespace),
        ("Phase:", cluster.phase),
        ("Ready:", f"{cluster.ready} nodes"),
        ("Version:", cluster.engine or "<none>"),
        ("Target:", cluster.target),
        ("Configuration:", str(cluster.configuration or "<none>")),
        ("Message:", cluster.headline or "<none>"),
    )
    yield table(fields, width=width)
    rows = [(c.type, c.status, c.reason, c.message) for c in cluster.conditions]
    actions = [a for a in cluster.actions if a.resource == f"SearchCluster {name}"]
    rows += [(a.action, a.status, a.reason, a.text) for a in actions if a.status != "True"]
    yield "Conditions:"
    if rows:
        yield table((("Type", "Status", "Reason", "Message"), *rows), indent="  ", width=width)
    hidden = sum(action.status == "True" for action in actions)
    yield f"  {hidden} {'more ' if rows else ''}are True (searchkeeper plan --all lists them)"
    if cluster.steps or cluster.history:
        yield "Upgrade:"
        yield from _progress_text(cluster, width)


def upgrade_text(cluster: ClusterDescription, width: int | None = None) -> Iterator[str]:
    """The upgrade of one cluster, for a terminal and for a log."""
    title = _upgrade_title(cluster)
    yield f"SearchCluster {cluster.cluster}: {cluster.phase}, {title}, {cluster.ready} ready"
    if cluster.headline:
        yield wrap("  ", cluster.headline, width)
    yield from _progress_text(cluster, width)


def _progress_text(cluster: ClusterDescription, width: int | None) -> Iterator[str]:
    if cluster.steps:
        yield f"  {bar(cluster.progress)} {cluster.steps_done} of {len(cluster.steps)} steps"
        yield table(
            (
                (_MARKS[s.state], s.name, s.version, f"{s.state}: {s.problem}" if s.problem else str(s.state))
                for s in cluster.steps
            ),
            indent="  ",
        )
    if cluster.deadline is not None:
        deadline = deadline_text(cluster.deadline, cluster.now)
        yield wrap("  Deadline:  ", f"{deadline}, then the cluster is stalled", width)
    if cluster.upgrade and cluster.rollback:
        yield wrap("  Rollback:  ", cluster.rollback, width)
    if not cluster.upgrade:
        yield from (wrap("  ", line, width) for line in cluster.history)


def _upgrade_title(cluster: ClusterDescription) -> str:
    if cluster.upgrade:
        start, end = cluster.upgrade
        return f"{end} → {start}" if cluster.target == start else f"{start} → {end}"
    if cluster.engine == cluster.target:
        return f"every node runs {cluster.engine}"
    if cluster.engine:
        return f"{cluster.engine} → {cluster.target} not started"
    return f"{cluster.target} not deployed"
