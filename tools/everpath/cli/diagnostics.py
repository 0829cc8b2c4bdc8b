"""Print errors and warnings with the source line that they are about."""

from __future__ import annotations

__all__ = ["print_opm_error", "print_warning"]

import os
import sys
from collections.abc import Iterator

import click

from everpath.app.inputs.image_inputs import display_name
from everpath.cli.terminal import wants_colour
from everpath.errors import UnreadableInput
from everpath.loaders.file_warning import FileWarning
from everpath.loaders.sources import Sources
from everpath.model import OpmError, Place, SourcePosition
from everpath.reporters.colour import Paint
from everpath.reporters.formatting import printable
from everpath.reporters.lint.snippet import snippet


def print_opm_error(error: OpmError, sources: Sources) -> None:
    """Print an error of opm with its source line."""
    _print("error", "red", error.message, error.place, error.fix, sources)


def print_warning(warning: FileWarning, sources: Sources) -> None:
    """Print a warning with its source line."""
    _print("warning", "yellow", warning.message, warning.place, warning.fix, sources)


def _print(heading: str, colour: str, message: str, place: Place, fix: str | None, sources: Sources) -> None:
    paint = Paint(wants_colour(sys.stderr, os.environ))
    lines = [f"{paint(colour, heading)}: {printable(message)}", *_source_lines(place, sources)]
    if fix is not None:
        lines.append(f"{paint('cyan', 'hint')}: {printable(fix)}")
    for line in lines:
        click.echo(line, err=True, color=paint.on)


def _source_lines(place: Place, sources: Sources) -> Iterator[str]:
    """Yield the position of a place, and its line with the value underlined."""
    from everpath.loaders import source_positions  # noqa: PLC0415 - only for an error

    try:
        position = source_positions.locate(place, sources)
    except UnreadableInput:
        position = SourcePosition(place.file, 0, 0, 0, "")
    if position.file:
        where = f":{position.line}:{position.column}" if position.line else ""
        yield f"  --> {printable(display_name(position.file))}{where}"
    excerpt = snippet(position)
    if excerpt is not None:
        yield f"   | {excerpt.line}"
        yield f"   | {' ' * excerpt.indent}{'^' * excerpt.length}"
