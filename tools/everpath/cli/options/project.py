"""Options of the commands that work on a releases.yaml."""

from __future__ import annotations

__all__ = ["file_option", "output_option", "pin_option", "report_wait"]

from typing import Final

import click

file_option: Final = click.option(
    "-f",
    "--file",
    metavar="FILE",
    help="The releases.yaml.  [default: catalog/releases.yaml, or releases.yaml]",
)
pin_option: Final = click.option(
    "--pin",
    metavar="FILE",
    help="Pin images to digests: a file of lines IMAGE:TAG=IMAGE@sha256:….  [default: that of `pins:`]",
)
output_option: Final = click.option(
    "-o",
    "--output",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="The format of the report.",
)


def report_wait() -> None:
    """Print that another process holds the lock of the project."""
    click.echo("waiting for another everpath process in this project", err=True)
