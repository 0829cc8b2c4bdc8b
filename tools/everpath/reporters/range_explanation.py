"""The report of `everpath range explain`, as text and as JSON (docs/schemas/range-explain.schema.json)."""

from __future__ import annotations

__all__ = ["FORMATS", "VERSION", "RangeReport", "VersionMatch", "render", "render_error"]

import json
from collections.abc import Iterator
from typing import Final, NamedTuple

from everpath.ranges import RangeError
from everpath.ranges.explain import RangeExplanation
from everpath.reporters.formatting import printable
from everpath.versions import Version

FORMATS: Final = ("text", "json")

#: Raised when a field changes its meaning or is removed; new fields may be added at any time.
VERSION: Final = 1

_MATCH_TEXTS: Final = {True: "matches", False: "does not match", None: "crashes OLM's resolver"}


class VersionMatch(NamedTuple):
    """Whether a range matches a version; None if the range crashes OLM's resolver on it."""

    version: Version
    matches: bool | None


class RangeReport(NamedTuple):
    """The explanation of a range, and the result for each version that was asked for."""

    explanation: RangeExplanation
    versions: tuple[VersionMatch, ...] = ()


def render(report: RangeReport, output: str) -> Iterator[str]:
    """Yield the report in one of `FORMATS`."""
    explanation, versions = report
    if output == "text":
        yield from (f"{printable(line)}\n" for line in explanation.lines)
        yield from (f"{version}: {_MATCH_TEXTS[matches]}\n" for version, matches in versions)
        return
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
        "published": published and {group: list(map(str, v)) for group, v in published._asdict().items()},
        "versions": [{"version": str(version), "matches": matches} for version, matches in versions],
    }
    yield json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def render_error(error: RangeError, output: str) -> Iterator[str]:
    """Yield why a text is not a range, where, and what to write instead."""
    if output == "text":
        yield from (f"{printable(line)}\n" for line in error.pretty().splitlines())
        return
    fields = {"reason": error.reason, "span": list(error.span), "fix": error.fix}
    yield json.dumps({"version": VERSION, "range": error.text, "error": fields}, indent=1) + "\n"
