"""Configuration: `everpath.yaml`, or `[tool.everpath]` of pyproject.toml. Options take precedence.

    paths: [catalog]
    fail-on: warning
    ignore: [several-successors]
    waivers:
      - rule: fork
        package: searchkeeper
        reason: 0.1.1 was never released outside of the team
        expires: 2027-01-31

Unknown keys are errors: a misspelled key of a waiver would make it apply to more findings, or to none.
"""

from __future__ import annotations

__all__ = [
    "FAIL_ON",
    "OLM_CHOICES",
    "SEVERITIES",
    "UPDATE_MODES",
    "Config",
    "current_folder",
    "find_config_file",
    "load",
    "select_rules",
    "selected_resolvers",
    "single_resolver",
    "today",
]

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime
from typing import Final, NamedTuple

from everpath.app.config.config_file import ConfigFile, load_config_file
from everpath.errors import UsageError
from everpath.loaders.fields import Field, describe_value
from everpath.model import Place, SourcePosition, UpdateMode
from everpath.reporters import FORMATS
from everpath.reporters.formatting import printable
from everpath.resolvers import ResolverName
from everpath.rules.registry import all_rules, find_rules, rules_for_subjects
from everpath.rules.waivers import Waiver

SEVERITIES: Final = ("error", "warning", "note")
FAIL_ON: Final = (*SEVERITIES, "never")
OLM_CHOICES: Final = ("v0", "v1", "both")
UPDATE_MODES: Final = tuple(mode.value for mode in UpdateMode)

_KEYS: Final = (
    "paths",
    "packages",
    "channels",
    "select",
    "ignore",
    "fail-on",
    "olm",
    "output",
    "show",
    "default-update-mode",
    "select-optional",
    "kube-version",
    "waivers",
)
_WAIVER_KEYS: Final = ("rule", "package", "channel", "entry", "reason", "expires")


def selected_resolvers(olm: str | None) -> tuple[ResolverName, ...]:
    """Return the resolvers that a value of `--olm` stands for; None stands for both."""
    resolver = single_resolver(olm)
    return (resolver,) if resolver else ("v0", "v1")


def single_resolver(olm: str | None) -> ResolverName | None:
    """Return the resolver that a value of `--olm` stands for; None if it stands for both."""
    return "v0" if olm == "v0" else "v1" if olm == "v1" else None


class Config(NamedTuple):
    """Values of the configuration; None or empty if not set."""

    file: str | None = None
    paths: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    fail_on: str | None = None
    olm: str | None = None
    output: str | None = None
    show: str | None = None
    default_update_mode: str | None = None
    select_optional: tuple[str, ...] = ()
    kube_version: str | None = None
    waivers: tuple[Waiver, ...] = ()
    config_file: ConfigFile | None = None

    def locate(self, place: Place) -> SourcePosition | None:
        """Return the line of a waiver; None for places that are not in this file."""
        if self.config_file is None or place.file != self.file:
            return None
        return self.config_file.locate(place.pointer)


def load(file: str | None, *, wanted: bool = True) -> Config:
    """Load the given file, or the one for the current folder. Raises ConfigError."""
    if not wanted:
        return Config()
    here = current_folder()
    if file is not None and not file.strip():
        raise UsageError("--config is empty", hint="omit it, name a file, or use --no-config")
    path = file if file is not None else find_config_file(here)
    return _config(load_config_file(path)) if path else Config()


def find_config_file(start: str) -> str | None:
    """Return the configuration file for a folder: its own, or that of a parent up to the repository's root.

    Outside a repository only the folder itself is searched, so that no unrelated file applies.
    """
    folders = [start]
    while (parent := os.path.dirname(folders[-1])) != folders[-1]:
        folders.append(parent)
    root = next((i for i, folder in enumerate(folders) if os.path.exists(os.path.join(folder, ".git"))), 0)
    for folder in folders[: root + 1]:
        if os.path.exists(own := os.path.join(folder, "everpath.yaml")):
            return own
        if _has_table(shared := os.path.join(folder, "pyproject.toml")):
            return shared
    return None


def _has_table(file: str) -> bool:
    """True if a pyproject.toml has a table [tool.everpath], even if the file is invalid."""
    if not os.path.isfile(file):
        return False
    try:
        with open(file, "rb") as stream:
            content = stream.read()
    except OSError:
        return False
    return re.search(rb"^\s*\[+\s*tool\s*\.\s*everpath\b", content, re.MULTILINE) is not None


def current_folder() -> str:
    """Return the current folder. Raises UsageError if it was deleted."""
    try:
        return os.getcwd()
    except FileNotFoundError as error:
        raise UsageError("the current folder does not exist", hint="cd to one that exists") from error


def _config(config_file: ConfigFile) -> Config:
    values = config_file.top.mapping(_KEYS)

    def texts(key: str) -> tuple[str, ...]:
        return values[key].texts() if key in values else ()

    def choice(key: str, words: tuple[str, ...]) -> str | None:
        return values[key].choice(words) if key in values else None

    config = Config(
        file=config_file.file,
        paths=tuple(_paths(values["paths"], config_file.file)) if "paths" in values else (),
        packages=texts("packages"),
        channels=texts("channels"),
        select=_rules(values, "select", texts),
        ignore=_rules(values, "ignore", texts),
        fail_on=choice("fail-on", FAIL_ON),
        olm=choice("olm", OLM_CHOICES),
        output=choice("output", FORMATS),
        show=choice("show", SEVERITIES),
        default_update_mode=choice("default-update-mode", UPDATE_MODES),
        select_optional=_validators(values, texts),
        kube_version=values["kube-version"].text() if "kube-version" in values else None,
        waivers=tuple(map(_waiver, values["waivers"].items())) if "waivers" in values else (),
        config_file=config_file,
    )
    config_file.raise_problems()
    return config


def _paths(value: Field, file: str) -> Iterator[str]:
    for path in value.texts():
        try:
            is_file_name = b"\0" not in os.fsencode(path)
        except UnicodeEncodeError:
            is_file_name = False
        if is_file_name:
            yield relative_to_file(file, path)
        else:
            value.add_problem(f"{printable(path)} is not a valid file name")


def relative_to_file(file: str, path: str) -> str:
    """Return a path of the configuration file, which is relative to the file's folder."""
    return os.path.normpath(os.path.join(os.path.dirname(file), path))


def _rules(values: dict[str, Field], key: str, texts: Callable[[str], tuple[str, ...]]) -> tuple[str, ...]:
    words = texts(key)
    try:
        find_rules(words)
    except UsageError as error:
        values[key].add_problem(f"{error.message}; {error.hint}")
    return words


def _validators(values: dict[str, Field], texts: Callable[[str], tuple[str, ...]]) -> tuple[str, ...]:
    from everpath.rules.bundle.validators import find_validators  # noqa: PLC0415 - few name any

    words = texts("select-optional")
    try:
        find_validators(words)
    except UsageError as error:
        values["select-optional"].add_problem(f"{error.message}; {error.hint}")
    return words


def _waiver(value: Field) -> Waiver:
    """Parse a waiver. Missing keys are added as problems."""
    fields = value.mapping(_WAIVER_KEYS)
    for key in ("rule", "reason"):
        if key not in fields:
            value.add_problem(
                f"a waiver needs a {key}" + (": why is this accepted?" if key == "reason" else "")
            )
    texts = {key: field.text() for key, field in fields.items() if key != "expires"}
    return Waiver(
        rule=_rule(fields["rule"], texts["rule"]) if texts.get("rule") else "",
        reason=texts.get("reason", ""),
        place=value.place,
        package=texts.get("package", ""),
        channel=texts.get("channel", ""),
        entry=texts.get("entry", ""),
        expires=_date(fields["expires"]) if "expires" in fields else None,
    )


def _rule(value: Field, word: str) -> str:
    """Return the id of the rule; a waiver names exactly one."""
    for rule in all_rules():
        if word in (rule.id, rule.name):
            return rule.id
    try:
        some = sorted(find_rules([word]))
        value.add_problem(f"a waiver is for one rule; {word!r} stands for {', '.join(some)}")
    except UsageError as error:
        value.add_problem(f"{error.message}; {error.hint}")
    return ""


def _date(value: Field) -> date | None:
    """Return the date; TOML has dates, YAML has text."""
    if type(value.raw) is date:
        return value.raw
    text = value.raw if isinstance(value.raw, str) else ""
    with suppress(ValueError):
        if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
            return date.fromisoformat(text)
    shown = repr(text) if text else describe_value(value.raw)
    value.add_problem(f"expires must be a date such as 2027-01-31, not {shown}")
    return None


def today() -> date:
    """Return the local date, by which waivers expire."""
    return datetime.now().astimezone().date()


def select_rules(
    selected: Sequence[str], configured: Sequence[str], subjects: frozenset[str]
) -> frozenset[str]:
    """Return the ids of the selected rules for some subjects; empty for all.

    Raises UsageError if none of the rules in `selected` is for these subjects. The configuration applies to
    all commands, so its rules for other subjects are ignored.
    """
    available = {rule.id for rule in rules_for_subjects(subjects)}
    rules = find_rules(selected or configured)
    if selected and not rules & available:
        hint = "`everpath rules` shows the subject of each rule"
        raise UsageError(f"--select {','.join(selected)}: this command runs none of these rules", hint=hint)
    return rules & available
