"""`searchkeeper plan`: the next reconcile, planned and not executed."""

from __future__ import annotations

__all__ = ["plan"]

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import click

from searchkeeper.api.codec import format_timestamp
from searchkeeper.cli.output import (
    deadline_text,
    output_option,
    print_output,
    table,
    terminal_width,
    wrap,
)
from searchkeeper.cli.sources import open_source, source_options
from searchkeeper.describe import ClusterDescription


@click.command()
@source_options
@output_option()
@click.option("--all", "show_all", is_flag=True, help="Also list actions whose status is True.")
def plan(name: str | None, namespace: str, output: str, show_all: bool, **source_args: Any) -> None:
    """Show what the next reconcile would do, and why.

    Prints the operations of the next reconcile, the result of every action, the order of pools, every gate
    for the next pod, and whether a rollback is possible. Nothing is written.

    \b
    Examples:
      searchkeeper plan --embedded
      searchkeeper plan logs -n search
      searchkeeper plan -f operator/config/samples/searchcluster.yaml
      kubectl get search,spool,sts,deploy,po,svc,cm,secret,pdb,pvc \\
        -n search -o yaml | searchkeeper plan -f -
    """
    source = open_source(namespace=namespace, **source_args)
    clusters = [source.describe(key) for key in source.clusters(namespace, name)]
    print_output(
        {"clusters": [plan_data(each) for each in clusters]},
        output,
        lambda: "\n\n".join("\n".join(_plan_text(each, show_all)) for each in clusters),
    )
    click.get_current_context().exit(1 if any(each.needs_attention for each in clusters) else 0)


def plan_data(cluster: ClusterDescription) -> dict[str, Any]:
    """The document of `-o json` and `-o yaml`; docs/schemas/searchkeeper-plan.schema.json."""
    next_pod = cluster.next_pod
    return {
        "cluster": cluster.cluster,
        "operator": cluster.release,
        "phase": cluster.phase,
        "engine": {"running": cluster.engine, "target": cluster.target},
        "configuration": {
            "deployed": cluster.configuration,
            "target": cluster.target_configuration,
            "unsupported": cluster.unsupported,
        },
        "operations": list(cluster.operations),
        "deadline": None if cluster.deadline is None else format_timestamp(cluster.deadline),
        "actions": [
            {
                "resource": action.resource,
                "action": action.action,
                "status": action.status,
                "reason": action.reason,
                "message": action.message,
                "stalled": action.is_stalled,
            }
            for action in cluster.actions
        ],
        "pools": [
            {
                "name": pool.name,
                "roles": list(pool.roles),
                "permittedVersion": pool.permitted_version,
                "pods": [pod for pod, *_ in pool.pods],
            }
            for pool in cluster.pools
        ],
        "nextPod": None
        if next_pod is None
        else {
            "name": next_pod.pod,
            "pool": next_pod.pool,
            "gates": [
                {"gate": gate.gate, "open": gate.is_open, "message": gate.message} for gate in next_pod.gates
            ],
        },
        "rollback": cluster.rollback,
    }


def _plan_text(cluster: ClusterDescription, show_all: bool) -> Iterator[str]:
    width = terminal_width()
    yield f"SearchCluster {cluster.cluster}: {cluster.phase}, engine {cluster.engine or 'not deployed'}" + (
        f" → {cluster.target}" if cluster.engine != cluster.target else ""
    )
    if cluster.unsupported:
        yield wrap("  ", f"operator {cluster.release} cannot reconcile it: {cluster.unsupported}", width)
        return
    yield f"  operator {cluster.release}, configuration {cluster.configuration or 'not deployed'}" + (
        f" → {cluster.target_configuration}" if cluster.configuration != cluster.target_configuration else ""
    )
    yield "\nOperations of the next reconcile"
    yield from (wrap("  ", operation, width) for operation in cluster.operations or ("none",))
    yield "\nActions"
    yield table(_action_rows(cluster, show_all), indent="  ", width=width)
    yield "\nOrder of pools"
    yield table(_pool_rows(cluster), indent="  ")
    if cluster.next_pod is not None:
        blocking = sum(not gate.is_open for gate in cluster.next_pod.gates)
        summary = f"{blocking} closed" if blocking else "all open"
        yield f"\nGates for {cluster.next_pod.pod}, the next pod of pool {cluster.next_pod.pool}: {summary}"
        rows = (
            ("✓" if gate.is_open else "✗", gate.gate, "open" if gate.is_open else gate.message)
            for gate in cluster.next_pod.gates
        )
        yield table(rows, indent="  ", width=width)
    if cluster.rollback:
        yield "\nRollback\n" + wrap("  ", cluster.rollback, width)
    if cluster.deadline is not None:
        yield f"\nDeadline\n  {deadline_text(cluster.deadline, cluster.now)}, then the cluster is stalled"


def _action_rows(cluster: ClusterDescription, show_all: bool) -> Iterator[tuple[str, ...]]:
    """The actions, below the name of their resource."""
    listed = [a for a in cluster.actions if show_all or a.status != "True"]
    if listed:
        yield "ACTION", "STATUS", "REASON", "MESSAGE"
    for resource, actions in groupby(listed, key=lambda a: a.resource):
        yield (resource,)
        yield from ((f"  {a.action}", a.status, a.reason, a.text) for a in actions)
    hidden = len(cluster.actions) - len(listed)
    if hidden:
        yield (f"{hidden} {'more ' if listed else ''}actions are True (--all lists them)",)


def _pool_rows(cluster: ClusterDescription) -> Iterator[tuple[str, ...]]:
    """A new pool whose version is refused has no permitted version."""
    default = "none" if cluster.engine is None and cluster.refusal is not None else cluster.target
    yield "POOL", "ROLES", "PERMITTED", "UPDATED"
    for pool in cluster.pools:
        updated = sum(version == cluster.target for _, version, _ in pool.pods)
        yield (
            pool.name,
            ",".join(pool.roles),
            pool.permitted_version or default,
            f"{updated}/{max(pool.replicas, len(pool.pods))} pods on {cluster.target}",
        )
