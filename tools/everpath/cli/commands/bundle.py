"""`everpath bundle`: bundles as they stand in their folders."""

from __future__ import annotations

__all__ = ["bundle"]

import click

from everpath.cli.lazy_group import LazyCommand, LazyGroup


@click.group(
    "bundle",
    cls=LazyGroup,
    lazy={
        "validate": LazyCommand(
            "everpath.cli.commands.bundle_validate",
            "validate",
            "Will OLM install this bundle, and OperatorHub take it?",
        ),
        "build": LazyCommand(
            "everpath.cli.commands.bundle_build",
            "build",
            "The image of a bundle, without a container engine.",
        ),
        "push": LazyCommand(
            "everpath.cli.commands.push", "push_bundle", "Push a bundle image to a registry."
        ),
        "pull": LazyCommand("everpath.cli.commands.pull", "pull_bundle", "Pull a bundle, or its image."),
        "verify": LazyCommand(
            "everpath.cli.commands.bundle_verify", "verify", "Are these package manifests fit to be served?"
        ),
        "nest": LazyCommand(
            "everpath.cli.commands.bundle_nest",
            "nest",
            "A flat folder of package manifests as one folder a version.",
        ),
        "flatten": LazyCommand(
            "everpath.cli.commands.bundle_nest", "flatten", "Folders of versions as one flat folder."
        ),
    },
    short_help="Bundles and package manifests in their folders.",
)
def bundle() -> None:
    """Bundles as they stand in their folders, before they are images, and package manifests."""
