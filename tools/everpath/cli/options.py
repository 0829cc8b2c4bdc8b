"""Options that several commands share."""

from __future__ import annotations

__all__ = [
    "channel_option",
    "comma_list",
    "config_options",
    "one_name",
    "one_package_option",
    "output_file_option",
    "package_option",
    "progress_option",
    "quiet_option",
    "split_names",
    "update_mode_option",
]

from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

from everpath.app.config import UPDATE_MODES
from everpath.cli import completion
from everpath.errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])


def split_names(option: str, text: str) -> tuple[str, ...]:
    """Return the names of a comma-separated list. Raises UsageError for an empty name.

    An empty name would turn an option that limits the output into one that does not.
    """
    names = tuple(part.strip() for part in text.split(","))
    if "" in names:
        raise UsageError(f"{option} {text!r}: a name is empty", hint="leave the option out, or give a name")
    return names


def comma_list(_ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Return (a, b, c) for `-x a,b -x c`. Raises UsageError for an empty name."""
    return tuple(name for value in values for name in split_names(_option_name(param), value))


def one_name(_ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Return the value as it is. Raises UsageError if it is empty."""
    if value is not None and not value.strip():
        split_names(_option_name(param), value)
    return value


def _option_name(param: click.Parameter) -> str:
    """Return the option as an error message names it: `-p/--package`."""
    return "/".join(param.opts[:2])


package_option: Final = click.option(
    "-p",
    "--package",
    "--package-name",
    "packages",
    metavar="NAME",
    multiple=True,
    callback=comma_list,
    shell_complete=completion.packages,
    help="Only this package; may be repeated.",
)

channel_option: Final = click.option(
    "-c",
    "--channel",
    "channels",
    metavar="NAME",
    multiple=True,
    callback=comma_list,
    shell_complete=completion.channels,
    help="Only channels of this name; may be repeated.",
)

one_package_option: Final = click.option(
    "-p",
    "--package",
    "--package-name",
    "package",
    metavar="NAME",
    callback=one_name,
    shell_complete=completion.packages,
    help="The package; required if the input has several.",
)

output_file_option: Final = click.option(
    "--output-file", metavar="FILE", help="Write the output to this file atomically."
)

quiet_option: Final = click.option("-q", "--quiet", is_flag=True, help="Print the result only.")

progress_option: Final = click.option("--no-progress", is_flag=True, help="Show no progress on the terminal.")

update_mode_option: Final = click.option(
    "--default-update-mode",
    type=click.Choice(UPDATE_MODES),
    help="Update mode of packages in an operators repository whose ci.yaml has none.",
)


def config_options(command: F) -> F:
    """Add `--config FILE` and `--no-config`."""
    config = click.option(
        "--config",
        "config_file",
        metavar="FILE",
        help="Configuration file.  [default: everpath.yaml or pyproject.toml of the repository]",
    )
    no_config = click.option("--no-config", is_flag=True, help="Read no configuration.")
    return config(no_config(command))
