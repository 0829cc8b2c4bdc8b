"""Shell completion of rules, and of package and channel names in small catalogs.

An error yields no completions: a message would disturb the command line.
"""

from __future__ import annotations

__all__ = ["channels", "packages", "rules"]

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from everpath.app.inputs.inputs import PackageNames

# Loading this much takes a tenth of a second; larger catalogs are not completed.
_MAX_BYTES: Final = 1 << 20
_MAX_FILES: Final = 200

Completer = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]


def _completer(words: Callable[[click.Context], Iterable[tuple[str, str | None]]]) -> Completer:
    """Return a completer for words with their help; it also completes after a comma."""

    def complete(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem  # noqa: PLC0415 - only for completion

        before, comma, start = incomplete.rpartition(",")
        try:
            found = [(word, text) for word, text in words(ctx) if word.startswith(start)]
        except Exception:  # noqa: BLE001 - the shell cannot show an error here
            return []
        return [CompletionItem(f"{before}{comma}{word}", help=text) for word, text in found]

    return complete


def _rules(_: click.Context) -> Iterable[tuple[str, str | None]]:
    from everpath.rules.registry import all_rules  # noqa: PLC0415 - only for completion

    every = all_rules()
    yield from ((rule.id, f"{rule.name}: {rule.summary}") for rule in every)
    yield from ((rule.name, rule.summary) for rule in every)


def _packages(ctx: click.Context) -> Iterable[tuple[str, str | None]]:
    return ((name, None) for name in sorted(_names(ctx)))


def _channels(ctx: click.Context) -> Iterable[tuple[str, str | None]]:
    wanted = ctx.params.get("packages") or [p for p in (ctx.params.get("package"),) if p]
    names = _names(ctx)
    return ((c, None) for c in sorted({c for p in names if not wanted or p in wanted for c in names[p]}))


def _names(ctx: click.Context) -> PackageNames:
    """Return the names in the catalogs of the command line or the configuration."""
    from everpath.app.config.config import load  # noqa: PLC0415
    from everpath.app.inputs.inputs import Inputs  # noqa: PLC0415

    config = load(ctx.params.get("config_file"), wanted=not ctx.params.get("no_config"))
    paths = ctx.params.get("paths") or ([ctx.params["path"]] if ctx.params.get("path") else [])
    if not paths and "range_text" not in ctx.params:
        # While an option is incomplete, click leaves the arguments unparsed.
        paths = ctx.args
    inputs = Inputs(paths, config)
    if all(map(_is_small, inputs.chosen_paths())):
        for _ in inputs.catalogs(None):
            pass
    return inputs.names


def _is_small(path: str) -> bool:
    """True if a path loads quickly. False for standard input, which the shell reads."""
    sizes = [os.path.getsize(path)] if os.path.isfile(path) else []  # noqa: PTH113, PTH202 - faster
    for folder, _, files in os.walk(path):
        for file in files:
            sizes.append(os.lstat(os.path.join(folder, file)).st_size)  # noqa: PTH118
            if len(sizes) > _MAX_FILES or sum(sizes) > _MAX_BYTES:
                return False
    return bool(sizes) and sum(sizes) <= _MAX_BYTES


rules: Final = _completer(_rules)
packages: Final = _completer(_packages)
channels: Final = _completer(_channels)
