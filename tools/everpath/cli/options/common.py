"""Options that several commands share."""

from __future__ import annotations

__all__ = [
    "InputOptions",
    "OutputOptions",
    "channel_option",
    "comma_list",
    "config_options",
    "input_options",
    "olm_option",
    "one_name",
    "one_package_option",
    "output_file_option",
    "output_options",
    "package_option",
    "progress_option",
    "quiet_option",
    "split_names",
    "update_mode_option",
]

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import click

from everpath.app.config.config import OLM_CHOICES, UPDATE_MODES, Config, load
from everpath.app.inputs.inputs import Inputs
from everpath.cli import completion
from everpath.cli.options.groups import option_group
from everpath.cli.output import write_output
from everpath.cli.terminal import ProgressLine, wants_colour
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
    option = "/".join(param.opts[:2])
    return tuple(name for value in values for name in split_names(option, value))


def one_name(_ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Return the value as it is. Raises UsageError if it is empty."""
    if value is not None and not value.strip():
        split_names("/".join(param.opts[:2]), value)
    return value


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

#: `--policy` is the former name of the option.
olm_option: Final = click.option(
    "--olm",
    "--policy",
    "olm",
    type=click.Choice(OLM_CHOICES),
    help="Version of OLM: v0 (Subscription) or v1 (ClusterExtension).  [default: both]",
)

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
    no_config = click.option("--no-config", is_flag=True, help="Load no configuration file.")
    return config(no_config(command))


@dataclass(frozen=True)
class InputOptions:
    """How the paths of a command are loaded."""

    default_update_mode: str | None
    config_file: str | None
    no_config: bool

    def load_config(self) -> Config:
        return load(self.config_file, wanted=not self.no_config)

    def inputs(self, paths: Sequence[str], config: Config | None = None) -> Inputs:
        """Return the inputs for the given paths; without paths, those of the configuration."""
        return Inputs(paths, config or self.load_config(), self.default_update_mode)


#: The command receives these options as `loading: InputOptions`.
input_options: Final = option_group("loading", InputOptions, update_mode_option, config_options)


#: Formats for people, which have the encoding of the terminal.
_TEXT_FORMATS: Final = ("text", "name")


@dataclass(frozen=True)
class OutputOptions:
    """The format of the output, and the file that it is written to; None for standard output."""

    format: str
    file: str | None
    no_progress: bool

    @property
    def colour(self) -> bool:
        """True if the output goes to a terminal that shows colours."""
        return self.file is None and wants_colour(sys.stdout, os.environ)

    def progress_line(self, *, quiet: bool = False) -> ProgressLine:
        return ProgressLine(sys.stderr, wanted=not (self.no_progress or quiet))

    def write(self, chunks: Iterable[str]) -> None:
        write_output(chunks, self.file, machine=self.format not in _TEXT_FORMATS)


def output_options(*formats: str) -> Callable[[F], F]:
    """Return a decorator for `-o`, `--output-file` and `--no-progress`. The first format is the default.

    The command receives them as `output: OutputOptions`.
    """
    return option_group(
        "output",
        OutputOptions,
        click.option(
            "-o",
            "--output",
            "format",
            type=click.Choice(formats),
            default=formats[0],
            show_default=True,
            help="Output format.",
        ),
        click.option(
            "--output-file", "file", metavar="FILE", help="Write the output to this file atomically."
        ),
        progress_option,
    )
