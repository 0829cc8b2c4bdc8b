"""`searchkeeper versions`: the version of every component."""

from __future__ import annotations

__all__ = ["versions"]

from collections.abc import Iterator
from typing import Any

import click

from searchkeeper.cli.output import output_option, print_output, table, terminal_width, wrap
from searchkeeper.cli.sources import open_source, source_options
from searchkeeper.describe import ClusterDescription


@click.command()
@source_options
@output_option()
def versions(name: str | None, namespace: str, output: str, **source_args: Any) -> None:
    """Show the version of every component, and whether it is up to date.

    Components are the operator, the configuration that it deploys, every engine node, and Dashboards.

    \b
    Examples:
      searchkeeper versions --embedded
      searchkeeper versions logs -n search
      searchkeeper versions -A -o json
    """
    source = open_source(namespace=namespace, **source_args)
    clusters = [source.describe(key) for key in source.clusters(namespace, name)]
    print_output(
        {"operator": source.release.version, "clusters": [versions_data(each) for each in clusters]},
        output,
        lambda: "\n\n".join("\n".join(_versions_text(each)) for each in clusters),
    )


def versions_data(cluster: ClusterDescription) -> dict[str, Any]:
    """The document of `-o json` and `-o yaml`; docs/schemas/searchkeeper-versions.schema.json."""
    return {
        "cluster": cluster.cluster,
        "configuration": {"deployed": cluster.configuration, "target": cluster.target_configuration},
        "engine": {"running": cluster.engine, "target": cluster.target},
        "components": [
            {"name": c.name, "version": c.version, "target": c.target, "upToDate": c.is_up_to_date}
            for c in cluster.components
        ],
        "refusal": cluster.refusal,
        "upToDate": _outdated_components(cluster) == 0 and cluster.unsupported is None,
    }


def _outdated_components(cluster: ClusterDescription) -> int:
    is_configuration_outdated = cluster.configuration != cluster.target_configuration
    return sum(not c.is_up_to_date for c in cluster.components) + is_configuration_outdated


def _versions_text(cluster: ClusterDescription) -> Iterator[str]:
    yield f"SearchCluster {cluster.cluster}"
    deployed, target = cluster.configuration, cluster.target_configuration
    rows = [
        ("COMPONENT", "VERSION", "TARGET", "UP-TO-DATE"),
        ("operator", cluster.release, cluster.release, "yes"),
        ("configuration", str(deployed or "-"), str(target or "-"), "yes" if deployed == target else "no"),
    ]
    rows += [
        (c.name, c.version or "-", c.target, "yes" if c.is_up_to_date else "no") for c in cluster.components
    ]
    yield table(rows, indent="  ")
    if cluster.unsupported:
        yield wrap("  ", cluster.unsupported, terminal_width())
    elif cluster.refusal:
        yield wrap("  ", f"refused: {cluster.refusal}", terminal_width())
    elif outdated := _outdated_components(cluster):
        yield f"  {outdated} not up to date"
    else:
        yield "  all up to date"
