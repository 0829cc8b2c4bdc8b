"""Tables for people, JSON and YAML for programs."""

from __future__ import annotations

__all__ = ["bar", "echo", "moment", "output_option", "table"]

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

import click
import yaml

F = TypeVar("F", bound=Callable[..., Any])


def output_option(command: F) -> F:
    kinds = click.Choice(["table", "json", "yaml"])
    return click.option("-o", "--output", "form", type=kinds, default="table", show_default=True)(command)


def echo(data: Mapping[str, Any], form: str, text: Callable[[], str]) -> None:
    """The same facts in the form that was asked for. `version` is that of the contract."""
    whole = {"version": 1, **data}
    if form == "json":
        click.echo(json.dumps(whole, indent=2, ensure_ascii=False))
    elif form == "yaml":
        # Enums are text in JSON; PyYAML refuses them.
        plain = json.loads(json.dumps(whole))
        click.echo(yaml.safe_dump(plain, sort_keys=False, allow_unicode=True), nl=False)
    else:
        click.echo(text())


def table(rows: Iterable[Sequence[str]], *, indent: str = "") -> str:
    """Columns as wide as they must be; the last one is left as it is."""
    lines = [tuple(map(str, row)) for row in rows]
    widths = [
        max((len(row[n]) for row in lines if n < len(row) - 1), default=0) for n in range(_columns(lines))
    ]
    return "\n".join(
        indent + "  ".join([*(c.ljust(w) for c, w in zip(row[:-1], widths, strict=False)), row[-1]]).rstrip()
        for row in lines
    )


def _columns(lines: Sequence[Sequence[str]]) -> int:
    return max(map(len, lines), default=0)


def bar(share: float, width: int = 24) -> str:
    full = round(share * width)
    return "█" * full + "░" * (width - full)


def moment(seconds: int | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
