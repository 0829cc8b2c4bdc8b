"""The group `everpath bundle`."""

from __future__ import annotations

__all__ = ["bundle"]

import click

from everpath.cli.lazy_group import LazyCommand, LazyGroup


@click.group(
    "bundle",
    cls=LazyGroup,
    lazy={
        "validate": LazyCommand(
            "everpath.cli.commands.validate.bundle_validate",
            "validate",
            "Check bundles for OLM and OperatorHub.",
        ),
        "build": LazyCommand(
            "everpath.cli.commands.publish.bundle_build",
            "build",
            "Build the image of a bundle, without a container engine.",
        ),
        "push": LazyCommand(
            "everpath.cli.commands.publish.push", "push_bundle", "Push a bundle image to a registry."
        ),
        "pull": LazyCommand(
            "everpath.cli.commands.publish.pull", "pull_bundle", "Pull a bundle, or its image."
        ),
        "verify": LazyCommand(
            "everpath.cli.commands.validate.bundle_verify", "verify", "Check package manifests."
        ),
        "nest": LazyCommand(
            "everpath.cli.commands.release.bundle_nest",
            "nest",
            "Convert flat package manifests to a folder for each version.",
        ),
        "flatten": LazyCommand(
            "everpath.cli.commands.release.bundle_nest",
            "flatten",
            "Convert package manifests to one flat folder.",
        ),
    },
    short_help="Check, build and convert bundles.",
)
def bundle() -> None:
    """Check, build, push and convert bundles and package manifests."""
