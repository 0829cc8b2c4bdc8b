"""Options that several commands share."""

from __future__ import annotations

__all__ = [
    "channel_option",
    "comma_list",
    "config_options",
    "extension_options",
    "one_name",
    "one_package_option",
    "output_file_option",
    "package_option",
    "progress_option",
    "quiet_option",
    "update_mode_option",
]

from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

from everpath.app.config import UPDATE_MODES
from everpath.cli import completers
from everpath.cli.words import words

F = TypeVar("F", bound=Callable[..., Any])


def comma_list(_ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """`-x a,b -x c` as (a, b, c).

    Raises UsageError for an empty name: without it an option that is meant to limit would ask for everything.
    """
    return tuple(word for value in values for word in words(option_name(param), value))


def one_name(_ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """A name as it is. Raises UsageError for an empty one."""
    if value is not None and not value.strip():
        words(option_name(param), value)
    return value


def option_name(param: click.Parameter) -> str:
    """An option as an error names it: `-p/--package`."""
    return "/".join(param.opts[:2])


package_option: Final = click.option(
    "-p",
    "--package",
    "--package-name",
    "packages",
    metavar="NAME",
    multiple=True,
    callback=comma_list,
    shell_complete=completers.packages,
    help="Only this package; may be repeated.",
)

channel_option: Final = click.option(
    "-c",
    "--channel",
    "channels",
    metavar="NAME",
    multiple=True,
    callback=comma_list,
    shell_complete=completers.channels,
    help="Only channels of this name; may be repeated.",
)

one_package_option: Final = click.option(
    "-p",
    "--package",
    "--package-name",
    "package",
    metavar="NAME",
    callback=one_name,
    shell_complete=completers.packages,
    help="The package; needed where there are several.",
)

output_file_option: Final = click.option(
    "--output-file", metavar="FILE", help="Write the answer there, whole or not at all."
)

quiet_option: Final = click.option("-q", "--quiet", is_flag=True, help="Print the answer and nothing else.")

progress_option: Final = click.option("--no-progress", is_flag=True, help="Show no progress on the terminal.")

update_mode_option: Final = click.option(
    "--default-update-mode",
    type=click.Choice(UPDATE_MODES),
    help="How an operators repository makes edges where a ci.yaml does not say.",
)


def config_options(command: F) -> F:
    """`--config FILE` and `--no-config`."""
    chosen = click.option(
        "--config",
        "config_file",
        metavar="FILE",
        help="Read this configuration, not the everpath.yaml or pyproject.toml of the repository.",
    )
    none = click.option("--no-config", is_flag=True, help="Read no configuration.")
    return chosen(none(command))


def extension_options(command: F) -> F:
    """What a ClusterExtension of OLM v1 may ask for, and the priorities of the catalogs it is served from."""
    channels = click.option(
        "--channels",
        "channel_list",
        metavar="LIST",
        help="OLM v1: a ClusterExtension with this list of channels ('a,b'), or with none ('*').",
    )
    version = click.option(
        "--version-range", metavar="RANGE", default="", help="OLM v1: its version, such as '1.x'."
    )
    policy = click.option(
        "--upgrade-constraint-policy",
        type=click.Choice(["CatalogProvided", "SelfCertified"]),
        default="CatalogProvided",
        show_default=True,
        help="OLM v1: whether versions may change only along edges.",
    )
    priorities = click.option(
        "--priority",
        "priorities",
        metavar="NAME=N",
        multiple=True,
        help="The priority of a catalog; may be repeated.  [default: 0]",
    )
    return channels(version(policy(priorities(command))))
