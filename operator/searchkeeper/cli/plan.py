"""`searchkeeper plan`: a cycle that is told instead of carried out."""

from __future__ import annotations

__all__ = ["plan"]

from collections.abc import Iterator
from typing import Any

import click

from searchkeeper.cli.output import echo, moment, output_option, table
from searchkeeper.cli.sources import source_options, sources
from searchkeeper.describe import ClusterDescription, PoolSummary

_MARKS = {"True": "✓", "False": "…", "Unknown": "?"}


@click.command()
@source_options
@output_option
@click.option("--all", "everything", is_flag=True, help="Also the actions that have nothing to do.")
def plan(cluster: str | None, namespace: str, form: str, everything: bool, **where: Any) -> None:
    """What the operator would do now, and why.

    Every action's answer, the writes of the next cycle, the order of pools, every gate's verdict about the
    pod that is next, and the way back. Nothing is written.

    \b
    searchkeeper plan --embedded
    searchkeeper plan logs -n search
    kubectl get searchclusters,searchpools,sts,deploy,po,svc,cm,secret,pdb,pvc -n search -o yaml | \\
      searchkeeper plan -f -
    """
    source = sources(namespace=namespace, **where)
    found = [source.explained(key) for key in source.clusters(namespace, cluster)]
    echo(
        {"clusters": [as_data(each) for each in found]},
        form,
        lambda: "\n\n".join("\n".join(_text(each, everything)) for each in found),
    )
    click.get_current_context().exit(1 if any(each.is_in_trouble for each in found) else 0)


def as_data(each: ClusterDescription) -> dict[str, Any]:
    """The contract of `-o json` and `-o yaml`."""
    taken = each.next
    return {
        "cluster": each.cluster,
        "operator": each.release,
        "phase": each.phase,
        "engine": {"running": each.engine, "target": each.target},
        "configuration": {"deployed": each.configuration, "follows": each.follows, "unfit": each.unfit},
        "writes": list(each.operations),
        "deadline": moment(each.deadline),
        "actions": [
            {
                "resource": a.resource,
                "action": a.action,
                "status": a.status,
                "reason": a.reason,
                "message": a.message,
            }
            for a in each.actions
        ],
        "order": [
            {
                "pool": p.name,
                "roles": list(p.roles),
                "permitted": p.permitted_version,
                "pods": [pod for pod, *_ in p.pods],
            }
            for p in each.pools
        ],
        "next": None
        if taken is None
        else {
            "pod": taken.pod,
            "pool": taken.pool,
            "gates": [{"gate": g.gate, "open": g.is_open, "sentence": g.message} for g in taken.gates],
        },
        "wayBack": each.rollback,
    }


def _text(each: ClusterDescription, everything: bool) -> Iterator[str]:
    yield f"SearchCluster {each.cluster}: {each.phase}, engine {each.engine or 'not there yet'}" + (
        f" → {each.target}" if each.engine != each.target else ""
    )
    if each.unfit:
        yield f"  operator {each.release} cannot take it: {each.unfit}"
        return
    yield f"  operator {each.release}, configuration {each.configuration or 'not there yet'}" + (
        f" → {each.follows}" if each.configuration != each.follows else ""
    )
    yield ""
    yield "The next cycle would"
    yield from (f"  {write}" for write in each.operations or ("write nothing",))
    yield ""
    yield "Actions"
    yield table(_actions(each, everything), indent="  ")
    yield from _roll(each)


def _actions(each: ClusterDescription, everything: bool) -> Iterator[tuple[str, ...]]:
    shown = [a for a in each.actions if everything or a.status != "True"]
    for a in shown:
        yield _MARKS[a.status], a.resource, a.action, a.reason, a.message
    quiet = len(each.actions) - len(shown)
    if quiet:
        yield ("✓", f"{quiet} others are true (--all lists them)") if shown else ("✓", "all are true")


def _roll(each: ClusterDescription) -> Iterator[str]:
    yield ""
    yield "Order of pools"
    rows = (
        (
            f"{n}.",
            p.name,
            ", ".join(p.roles),
            f"may run {p.permitted_version or _first(each)}",
            _pods(p, each.target),
        )
        for n, p in enumerate(each.pools, 1)
    )
    yield table(rows, indent="  ")
    if each.next is not None:
        yield ""
        verdict = "every gate is open" if each.next.is_free else "not now"
        yield f"Next pod: {each.next.pod} of pool {each.next.pool}: {verdict}"
        yield table((("✓" if g.is_open else "✗", g.gate, g.message) for g in each.next.gates), indent="  ")
    if each.rollback:
        yield ""
        yield f"Rollback: {each.rollback}"
    if each.deadline is not None:
        yield f"Deadline: {moment(each.deadline)}, then it counts as stalled"


def _first(each: ClusterDescription) -> str:
    """What a pool that is not there yet may run: nothing that was refused."""
    return each.target if each.engine is not None or each.refusal is None else "nothing"


def _pods(pool: PoolSummary, target: str) -> str:
    """Of those that are to be there, and of those that are, while they are more."""
    done = sum(version == target for _, version, _ in pool.pods)
    return f"{done} of {max(pool.replicas, len(pool.pods))} pods on {target}"
