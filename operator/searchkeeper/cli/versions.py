"""`searchkeeper versions`: every version there is, and who is done."""

from __future__ import annotations

__all__ = ["versions"]

from collections.abc import Iterator
from typing import Any

import click

from searchkeeper.cli.output import echo, output_option, table
from searchkeeper.cli.sources import source_options, sources
from searchkeeper.describe import ClusterDescription


@click.command()
@source_options
@output_option
def versions(cluster: str | None, namespace: str, form: str, **where: Any) -> None:
    """Every version there is, and who is done.

    The operator's, the configuration's, and that of every component: each node of the engine and Dashboards.

    \b
    searchkeeper versions --embedded
    searchkeeper versions logs -n search -o json
    """
    source = sources(namespace=namespace, **where)
    found = [source.explained(key) for key in source.clusters(namespace, cluster)]
    echo(
        {"operator": source.release.version, "clusters": [as_data(each) for each in found]},
        form,
        lambda: "\n\n".join("\n".join(_text(each)) for each in found),
    )


def as_data(each: ClusterDescription) -> dict[str, Any]:
    return {
        "cluster": each.cluster,
        "configuration": {"deployed": each.configuration, "wanted": each.follows},
        "engine": {"running": each.engine, "wanted": each.target},
        "components": [
            {"name": c.name, "version": c.version, "wanted": c.wanted, "done": c.is_done}
            for c in each.components
        ],
        "refused": each.refusal,
        "done": _is_done(each),
    }


def _is_done(each: ClusterDescription) -> bool:
    is_there = each.configuration == each.follows and all(c.is_done for c in each.components)
    return is_there and each.unfit is None


def _text(each: ClusterDescription) -> Iterator[str]:
    yield f"SearchCluster {each.cluster}"
    yield table(_rows(each), indent="  ")
    if each.unfit or each.refusal:
        yield f"  {each.unfit or f'refused: {each.refusal}'}"
        return
    left = sum(not c.is_done for c in each.components) + (each.configuration != each.follows)
    yield "  everything is where it should be" if _is_done(each) else f"  {left} still to go"


def _rows(each: ClusterDescription) -> Iterator[tuple[str, ...]]:
    yield "COMPONENT", "VERSION", "WANTED", "DONE"
    yield "operator", each.release, each.release, "✓"
    deployed, wanted = each.configuration, each.follows
    yield "configuration", str(deployed or "-"), str(wanted or "-"), "✓" if deployed == wanted else "…"
    for c in each.components:
        yield c.name, c.version or "-", c.wanted, "✓" if c.is_done else "…"
