"""`everpath range`: what a version range says."""

from __future__ import annotations

__all__ = ["range_"]

import json
import sys
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import click

from everpath.app.config import load
from everpath.app.inputs import Inputs
from everpath.cli import completion
from everpath.cli.options import config_options, output_file_option, progress_option, update_mode_option
from everpath.cli.output import warn_unread, write_output
from everpath.cli.terminal import ProgressLine
from everpath.errors import ExitCode, UsageError
from everpath.graph import PackageGraph
from everpath.ranges import Range, RangeError
from everpath.ranges.explain import RangeExplanation, explain_range
from everpath.reporters.formatting import count, printable
from everpath.versions import Version, VersionError, parse_tolerant

#: The version of the JSON; docs/schemas/range-explain.schema.json describes it.
VERSION: Final = 1


class _Question(NamedTuple):
    """The command line of `range explain`."""

    range_text: str
    path: str | None
    package: str | None
    channel: str | None
    versions: tuple[str, ...]
    output: str
    output_file: str | None
    default_update_mode: str | None
    config_file: str | None
    no_config: bool
    no_progress: bool


@click.group("range", short_help="Explain what a version range matches.")
def range_() -> None:
    """Version ranges as OLM reads them: skipRange, versionRange, olm.constraint."""


@range_.command("explain")
@click.argument("range_text", metavar="RANGE")
@click.option("--in", "path", metavar="PATH", help="Also say which versions of this catalog match.")
@click.option(
    "-p",
    "--package",
    "--package-name",
    "package",
    metavar="NAME",
    shell_complete=completion.packages,
    help="The package in the catalog.",
)
@click.option(
    "-c",
    "--channel",
    "channel",
    metavar="NAME",
    shell_complete=completion.channels,
    help="Only versions of this channel.",
)
@click.option("--version", "versions", metavar="VERSION", multiple=True, help="Does it match this one?")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True)
@output_file_option
@update_mode_option
@config_options
@progress_option
def explain_(**options: Any) -> int:
    """Say in words what a range matches, and what it does without saying so.

    \b
    $ everpath range explain '>=1.0.0 <1.2.3' --version 1.2.3-rc.1
    matches every version from 1.0.0 (included) to 1.2.3 (excluded)
    pre-releases of 1.0.0, such as 1.0.0-rc.1, are not matched; >=1.0.0-0 would include them
    pre-releases of 1.2.3, such as 1.2.3-rc.1, are matched; <1.2.3-0 would exclude them
    all other pre-releases within the range are matched
    1.2.3-rc.1: matches

    \b
    $ everpath range explain '<v1.2.3'
    <v1.2.3
     ^ a version starts with a digit, not with a v
    write '<1.2.3'

    \b
    $ everpath range explain '>=0.1.0 <0.3.0' --in catalog/ -p searchkeeper

    \b
    Exit codes:
      0  a range                2  a wrong command line
      1  not a range            3  a catalog, or part of it, that cannot be read
    """
    return _explain(_Question(**options))


def _explain(question: _Question) -> int:
    asked = [_version(text) for text in question.versions]
    published, unread = _published(question, question.path) if question.path else (None, 0)
    try:
        span = Range.parse(question.range_text)
    except RangeError as error:
        write_output(
            _refusal(error, question.output), question.output_file, machine=question.output == "json"
        )
        return ExitCode.FINDINGS
    explanation = explain_range(span, published)
    chunks = _document if question.output == "json" else _text
    write_output(chunks(explanation, span, asked), question.output_file, machine=question.output == "json")
    if unread:
        warn_unread(unread)
    return ExitCode.UNREADABLE if unread else ExitCode.CLEAN


def _version(text: str) -> Version:
    try:
        return parse_tolerant(text)
    except VersionError as error:
        raise UsageError(
            str(error), hint="a version is MAJOR.MINOR.PATCH, such as 1.2.3 or 1.2.3-rc.1"
        ) from error


def _published(question: _Question, path: str) -> tuple[list[Version], int]:
    """The versions of one package, or of one of its channels, and how many parts could not be read."""
    config = load(question.config_file, wanted=not question.no_config)
    inputs = Inputs([path], config, question.default_update_mode)
    with ProgressLine(sys.stderr, wanted=not question.no_progress) as progress:
        [catalog] = inputs.catalogs(progress)
    package = question.package
    if package is None and not catalog.packages:
        raise inputs.no_package_error()
    if package is None:
        if len(catalog.packages) != 1:
            message = f"the catalog has {count(len(catalog.packages), 'package')}"
            raise UsageError(message, hint="name one with -p")
        package = catalog.packages[0].name
    inputs.verify_names([package], [question.channel] if question.channel else [])
    graph = PackageGraph(catalog.by_name[package])
    channels = [c for c in graph.channels if question.channel in (None, c.name)]
    versions = {version.text: version for c in channels for version in c.versions.values()}
    return list(versions.values()), inputs.unread


def _text(explanation: RangeExplanation, span: Range, asked: Sequence[Version]) -> Iterator[str]:
    yield from (f"{printable(line)}\n" for line in explanation.lines)
    yield from (f"{version}: {_ANSWERS[_answer(span, version)]}\n" for version in asked)


_ANSWERS: Final = {True: "matches", False: "does not match", None: "crashes OLM's resolver"}


def _answer(span: Range, version: Version) -> bool | None:
    return None if span.panics_on(version) else span.contains(version)


def _document(explanation: RangeExplanation, span: Range, asked: Sequence[Version]) -> Iterator[str]:
    published = explanation.published
    document = {
        "version": VERSION,
        "range": explanation.text,
        "error": None,
        "meaning": list(explanation.meaning),
        "prereleases": list(explanation.prereleases),
        "hazards": [
            {"kind": h.kind.value, "message": h.message, "span": list(h.span), "fix": h.fix}
            for h in explanation.hazards
        ],
        "published": None
        if published is None
        else {
            "matched": [str(v) for v in published.matched],
            "unmatched": [str(v) for v in published.unmatched],
            "crashing": [str(v) for v in published.crashing],
        },
        "versions": [{"version": str(v), "matches": _answer(span, v)} for v in asked],
    }
    yield json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _refusal(error: RangeError, output: str) -> Iterator[str]:
    """The answer for a text that is no range: where, why, and what to write instead."""
    if output == "json":
        refusal = {"reason": error.reason, "span": list(error.span), "fix": error.fix}
        yield json.dumps({"version": VERSION, "range": error.text, "error": refusal}, indent=1) + "\n"
    else:
        yield from (f"{printable(line)}\n" for line in error.pretty().splitlines())
