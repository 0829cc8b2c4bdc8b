"""Text for people, JSON and YAML for programs."""

from __future__ import annotations

__all__ = [
    "Output",
    "bar",
    "deadline_text",
    "output_option",
    "print_output",
    "table",
    "terminal_width",
    "wrap",
]

import json
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, TypeVar

import click
import yaml

from searchkeeper.api.codec import format_timestamp

F = TypeVar("F", bound=Callable[..., Any])

# The version of the JSON and YAML documents; see docs/schemas.
_FORMAT_VERSION: Final = 2
# A narrower last column goes below its row.
_NARROWEST: Final = 30


class Output(StrEnum):
    """Values of `--output`."""

    TEXT = "text"
    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"


def output_option(*outputs: Output) -> Callable[[F], F]:
    """The option `--output`, with these values besides text, json and yaml."""
    values = [str(each) for each in (Output.TEXT, *outputs, Output.JSON, Output.YAML)]
    return click.option(
        "-o",
        "--output",
        type=click.Choice(values),
        default=str(Output.TEXT),
        show_default=True,
        help="Output format; json and yaml have a documented schema.",
    )


def print_output(data: Mapping[str, Any], output: str, text: Callable[[], str]) -> None:
    """Print `data` as JSON or YAML, or else `text`."""
    document = {"version": _FORMAT_VERSION, **data}
    if output == Output.JSON:
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
    elif output == Output.YAML:
        # PyYAML refuses enums, which are text in JSON.
        plain = json.loads(json.dumps(document))
        click.echo(yaml.safe_dump(plain, sort_keys=False, allow_unicode=True), nl=False)
    else:
        click.echo(text())


def terminal_width() -> int | None:
    """The width of the terminal, None if stdout is a pipe or a file."""
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    return shutil.get_terminal_size().columns if is_terminal else None


def table(rows: Iterable[Sequence[str]], *, indent: str = "", width: int | None = None) -> str:
    """Align all columns but the last. With a width, the last column wraps below itself."""
    lines = [tuple(map(str, row)) for row in rows]
    count = max(map(len, lines), default=0)
    widths = [max((len(row[n]) for row in lines if n < len(row) - 1), default=0) for n in range(count)]
    return "\n".join(
        wrap(
            indent + "".join(f"{cell.ljust(w)}  " for cell, w in zip(row[:-1], widths, strict=False)),
            row[-1],
            width,
        )
        for row in lines
    )


def wrap(prefix: str, text: str, width: int | None) -> str:
    """`text` after `prefix`, wrap to `width` below its own start."""
    if width is None or len(prefix) + len(text) <= width:
        return f"{prefix}{text}".rstrip()
    if width - len(prefix) < _NARROWEST:
        indent = " " * (len(prefix) - len(prefix.lstrip()) + 4)
        lines = textwrap.wrap(text, max(width, _NARROWEST), initial_indent=indent, subsequent_indent=indent)
        return "\n".join([prefix.rstrip(), *lines])
    return textwrap.fill(text, width, initial_indent=prefix, subsequent_indent=" " * len(prefix))


def bar(share: float, width: int = 24) -> str:
    full = round(share * width)
    return "█" * full + "░" * (width - full)


def deadline_text(deadline: int, now: int) -> str:
    """`2026-01-01T00:15:00Z (in 15m)`, as kubectl abbreviates durations."""
    minutes, seconds = divmod(max(deadline - now, 0), 60)
    left = f"{minutes}m{seconds}s" if minutes and seconds else f"{minutes}m" if minutes else f"{seconds}s"
    return f"{format_timestamp(deadline)} (in {left})"
