"""The group `everpath catalog`."""

from __future__ import annotations

__all__ = ["catalog"]

import click

from everpath.cli.lazy_group import LazyCommand, LazyGroup


@click.group(
    "catalog",
    cls=LazyGroup,
    lazy={
        "render": LazyCommand(
            "everpath.cli.commands.publish.catalog_render",
            "render",
            "Render bundles, catalogs and templates.",
        ),
        "push": LazyCommand(
            "everpath.cli.commands.publish.push", "push_catalog", "Push a catalog image to a registry."
        ),
        "pull": LazyCommand(
            "everpath.cli.commands.publish.pull", "pull_catalog", "Pull a catalog, or its image."
        ),
        "build": LazyCommand(
            "everpath.cli.commands.publish.catalog_build",
            "build",
            "Build a catalog image without a container engine.",
        ),
        "serve": LazyCommand(
            "everpath.cli.commands.publish.catalog_serve",
            "serve",
            "Serve a catalog over gRPC, as OLM reads it.",
        ),
    },
    short_help="Render, build, push, pull and serve catalogs.",
)
def catalog() -> None:
    """Render, build, push, pull and serve file-based catalogs."""
