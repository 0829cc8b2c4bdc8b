"""Reads the plain calls of `validate-graph`, which are nearly all, without click: it takes longer to import
than a small catalog to judge.

A plain call spells its options in full or by their letter, each by itself. What click would make of any other
is for click to say, and so is everything that is wrong with a call.
"""

from __future__ import annotations

__all__ = ["MOST_JOBS", "Request", "plain_request"]

from collections.abc import Sequence
from typing import Final, NamedTuple

from everpath.app.config import FAIL_ON, POLICIES, SEVERITIES, UPDATE_MODES
from everpath.cli.words import words
from everpath.errors import UsageError
from everpath.reporters import FORMATS


class Request(NamedTuple):
    """The command line as it was given; None and empty mean that the configuration decides."""

    paths: tuple[str, ...]
    packages: tuple[str, ...]
    channels: tuple[str, ...]
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    fail_on: str | None
    policy: str | None
    output: str | None
    output_file: str | None
    show: str | None
    config_file: str | None
    no_config: bool
    statistics: bool
    thorough: bool
    bundles: tuple[str, ...]
    default_update_mode: str | None
    quiet: bool
    verbose: bool
    no_progress: bool
    jobs: int | None


#: Options and the field that each sets, by what stands behind them: nothing, a list of names that may come
#: again, a value that may come again, one of some words, any text, a number.
FLAGS: Final = {
    "--thorough": "thorough",
    "--statistics": "statistics",
    "--no-config": "no_config",
    "-q": "quiet",
    "--quiet": "quiet",
    "-v": "verbose",
    "--verbose": "verbose",
    "--no-progress": "no_progress",
}
LISTS: Final = {
    "-p": "packages",
    "--package": "packages",
    "--package-name": "packages",
    "-c": "channels",
    "--channel": "channels",
    "--select": "select",
    "--ignore": "ignore",
}
REPEATED: Final = {"--bundles": "bundles"}
CHOICES: Final = {
    "--policy": ("policy", POLICIES),
    "--default-update-mode": ("default_update_mode", UPDATE_MODES),
    "--fail-on": ("fail_on", FAIL_ON),
    "-o": ("output", FORMATS),
    "--output": ("output", FORMATS),
    "--show": ("show", SEVERITIES),
}
TEXTS: Final = {"--output-file": "output_file", "--config": "config_file"}
NUMBERS: Final = {"-j": "jobs", "--jobs": "jobs"}

#: How many processes may be asked for.
MOST_JOBS: Final = 64


class _NotPlain(Exception):
    """The call is for click to read."""


def plain_request(arguments: Sequence[str]) -> Request | None:
    """What click would make of the arguments behind `validate-graph`; None if only click can tell."""
    reading = _Reading()
    left = iter(arguments)
    try:
        for argument in left:
            if argument in FLAGS:
                reading.flags.add(FLAGS[argument])
            elif argument[:1] == "-" and argument != "-":
                option, is_joined, value = argument.partition("=")
                if is_joined and not option.startswith("--"):
                    return None
                reading.take(option, value if is_joined else next(left))
            else:
                reading.paths.append(argument)
    except (_NotPlain, UsageError, StopIteration):
        return None
    return reading.request()


class _Reading:
    """What was read so far."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.flags: set[str] = set()
        self.values: dict[str, str] = {}
        self.lists: dict[str, tuple[str, ...]] = {}
        self.jobs: int | None = None

    def take(self, option: str, value: str) -> None:
        """One option and what stands behind it. Raises _NotPlain, and UsageError for an empty name."""
        if option in CHOICES:
            field, choices = CHOICES[option]
            if value not in choices:
                raise _NotPlain
            self.values[field] = value
        elif option in TEXTS:
            self.values[TEXTS[option]] = value
        elif option in LISTS:
            self._add(LISTS[option], words(option, value))
        elif option in REPEATED:
            self._add(REPEATED[option], (value,))
        elif option in NUMBERS:
            self.jobs = _number(value)
        else:
            raise _NotPlain

    def _add(self, field: str, values: tuple[str, ...]) -> None:
        self.lists[field] = (*self.lists.get(field, ()), *values)

    def request(self) -> Request:
        lists, values, flags = self.lists, self.values, self.flags
        return Request(
            paths=tuple(self.paths),
            packages=lists.get("packages", ()),
            channels=lists.get("channels", ()),
            select=lists.get("select", ()),
            ignore=lists.get("ignore", ()),
            fail_on=values.get("fail_on"),
            policy=values.get("policy"),
            output=values.get("output"),
            output_file=values.get("output_file"),
            show=values.get("show"),
            config_file=values.get("config_file"),
            no_config="no_config" in flags,
            statistics="statistics" in flags,
            thorough="thorough" in flags,
            bundles=lists.get("bundles", ()),
            default_update_mode=values.get("default_update_mode"),
            quiet="quiet" in flags,
            verbose="verbose" in flags,
            no_progress="no_progress" in flags,
            jobs=self.jobs,
        )


def _number(value: str) -> int:
    """A number of processes, in plain digits: click takes other spellings, too."""
    is_short = len(value) <= len(str(MOST_JOBS)) and value.isascii() and value.isdigit()
    if not is_short or not 1 <= int(value) <= MOST_JOBS:
        raise _NotPlain
    return int(value)
