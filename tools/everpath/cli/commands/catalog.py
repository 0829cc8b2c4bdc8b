"""`everpath catalog`: catalogs made of bundles, catalogs and templates."""

from __future__ import annotations

__all__ = ["catalog"]

import click

from everpath.cli.lazy_group import LazyCommand, LazyGroup


@click.group(
    "catalog",
    cls=LazyGroup,
    lazy={
        "render": LazyCommand(
            "everpath.cli.commands.catalog_render",
            "render",
            "A catalog from bundles, catalogs and templates.",
        ),
        "push": LazyCommand(
            "everpath.cli.commands.push", "push_catalog", "Send a catalog's image to a registry."
        ),
        "pull": LazyCommand(
            "everpath.cli.commands.pull", "pull_catalog", "Fetch a catalog out of an image, or the image."
        ),
        "build": LazyCommand(
            "everpath.cli.commands.catalog_build",
            "build",
            "The image of a catalog, without a container engine.",
        ),
        "serve": LazyCommand(
            "everpath.cli.commands.catalog_serve", "serve", "A catalog over gRPC, as OLM asks for it."
        ),
    },
    short_help="Catalogs from bundles and templates.",
)
def catalog() -> None:
    """File-based catalogs, as opm makes them."""
