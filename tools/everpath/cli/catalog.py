"""`everpath catalog`: catalogs made of bundles, catalogs and templates."""

from __future__ import annotations

__all__ = ["catalog"]

import click

from everpath.cli.lazy import LazyCommand, LazyGroup


@click.group(
    "catalog",
    cls=LazyGroup,
    lazy={
        "render": LazyCommand(
            "everpath.cli.rendering", "render", "A catalog from bundles, catalogs and templates."
        ),
    },
    short_help="Catalogs from bundles and templates.",
)
def catalog() -> None:
    """File-based catalogs, as opm makes them."""
