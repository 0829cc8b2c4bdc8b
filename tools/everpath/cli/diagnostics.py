"""Print errors and warnings with the source line that they are about."""

from __future__ import annotations

__all__ = ["print_refusal", "print_warning"]

import os
import sys
from collections.abc import Iterator

import click

from everpath.app.image_inputs import display_name
from everpath.cli.terminal import wants_colour
from everpath.errors import UnreadableInput
from everpath.loaders.location import SourcePosition
from everpath.loaders.sources import Sources
from everpath.model import OpmError, Place
from everpath.reporters.colour import Paint
from everpath.reporters.formatting import printable
from everpath.reporters.snippet import snippet


def print_refusal(refusal: OpmError, sources: Sources) -> None:
    """Print an error of opm with its source line."""
    _print("error", "red", refusal.message, refusal.place, refusal.fix, sources)


def print_warning(message: str, place: Place, fix: str | None, sources: Sources) -> None:
    """Print a warning with its source line."""
    _print("warning", "yellow", message, place, fix, sources)


def _print(heading: str, colour: str, message: str, place: Place, fix: str | None, sources: Sources) -> None:
    paint = Paint(wants_colour(sys.stderr, os.environ))
    first, *rest = _source_lines(message, _locate(place, sources))
    click.echo(f"{paint(colour, heading)}: {first}", err=True, color=paint.on)
    for line in rest:
        click.echo(line, err=True, color=paint.on)
    if fix is not None:
        click.echo(f"{paint('cyan', 'hint')}: {printable(fix)}", err=True, color=paint.on)


def _locate(place: Place, sources: Sources) -> SourcePosition:
    from everpath.loaders import source_positions  # noqa: PLC0415 - only for an error

    try:
        found = source_positions.locate(place, sources)
    except UnreadableInput:
        found = SourcePosition(place.file, 0, 0, 0, "")
    return found._replace(file=display_name(found.file))


def _source_lines(message: str, location: SourcePosition) -> Iterator[str]:
    yield printable(message)
    if location.file:
        where = f":{location.line}:{location.column}" if location.line else ""
        yield f"  --> {printable(location.file)}{where}"
    display_name = snippet(location)
    if display_name is not None:
        yield f"   | {display_name.line}"
        yield f"   | {' ' * display_name.indent}{'^' * display_name.length}"
