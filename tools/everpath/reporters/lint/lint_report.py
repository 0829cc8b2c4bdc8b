"""What a reporter gets: a report with positions, and the options of the output."""

from __future__ import annotations

__all__ = [
    "GroupedFinding",
    "LintReport",
    "Workspace",
    "full_message",
    "group_by_channel",
    "one_line_message",
    "position_text",
    "rule_url",
]

import os.path
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from everpath import __url__
from everpath.reporters.formatting import one_line
from everpath.rules.findings import Finding, Severity
from everpath.rules.lint import Report
from everpath.rules.registry import Rule
from everpath.wording import count, join_names, shorten_names


def rule_url(rule: str) -> str:
    """Return the address of a rule's page."""
    return f"{__url__}/blob/main/docs/rules/{rule}.md"


def one_line_message(finding: Finding) -> str:
    """Return `full_message` on one line, safe to print."""
    return one_line(full_message(finding))


def full_message(finding: Finding) -> str:
    """Return the message, with the entry in front unless it names the entry itself."""
    if finding.names_entry or not finding.entry:
        return finding.message
    return f"{shorten_names(finding.entry, finding.package or '')}: {finding.message}"


def position_text(finding: Finding) -> str:
    """Return `file:line:column`, as far as they are known, safe to print."""
    return ":".join(one_line(str(part)) for part in (finding.file, finding.line, finding.column) if part)


class Workspace(NamedTuple):
    """The folder that paths are relative to, and the root of the repository that contains it."""

    folder: str = ""
    root: str = ""

    def relative(self, file: str) -> str:
        """Return a file relative to the root, with forward slashes; absolute if it is outside."""
        from pathlib import PurePath  # noqa: PLC0415 - only two formats need it

        whole = PurePath(os.path.normpath(PurePath(self.folder, file)))
        if self.root and whole.is_relative_to(self.root):
            whole = whole.relative_to(self.root)
        return whole.as_posix()


class GroupedFinding(NamedTuple):
    """One finding for all channels that have it."""

    finding: Finding
    channels: tuple[str, ...]

    @property
    def severity(self) -> Severity:
        return self.finding.severity

    @property
    def subject(self) -> str:
        """What the finding is about, as `package/channel/entry`, as far as they are known."""
        parts = (self.finding.package, ",".join(self.channels), self.finding.entry)
        return "/".join(part for part in parts if part)


def group_by_channel(findings: Iterable[Finding]) -> Iterator[GroupedFinding]:
    """Group findings that differ only in the channel, in their order. O(findings).

    A bundle folder declares its edges once and is in many channels.
    """
    times: Counter[Finding] = Counter()
    groups: dict[tuple[Finding, int], list[Finding]] = {}
    for finding in findings:
        # Two equal findings in one channel stay two findings.
        groups.setdefault((finding._replace(channel=None), times[finding]), []).append(finding)
        times[finding] += 1
    for group in groups.values():
        yield GroupedFinding(group[0], tuple(f.channel for f in group if f.channel))


class LintReport(NamedTuple):
    """The report of one run, ready for a reporter.

    `report` has the positions of all findings that are shown. `show` is the lowest severity that formats for
    people show, `fail_on` the lowest that fails the run (None: none does). `workspace` is for formats with
    paths relative to the repository. `brief` leaves out everything but the findings. `command` is the name
    of the command that was run.
    """

    report: Report
    rules: Mapping[str, Rule] = MappingProxyType({})
    show: Severity = Severity.WARNING
    fail_on: Severity | None = Severity.ERROR
    workspace: Workspace = Workspace()
    colour: bool = False
    brief: bool = False
    command: str = "validate-graph"

    @property
    def shown_findings(self) -> tuple[GroupedFinding, ...]:
        """The findings that formats for people show."""
        return tuple(group_by_channel(f for f in self.report.findings if f.severity >= self.show))

    @property
    def sizes(self) -> tuple[tuple[int, str], ...]:
        """Numbers of linted objects, each with the noun: `(3, "package")`."""
        report = self.report
        if report.bundles is not None:
            return (report.packages, "package"), (report.bundles, "bundle")
        return (report.packages, "package"), (report.channels, "channel"), (report.entries, "entry")

    @property
    def shown_counts(self) -> str:
        """How many findings are shown, and the size of the input: `1 error in 2 packages and 3 bundles`."""
        sizes = join_names([count(number, noun) for number, noun in self.sizes])
        counts = Counter(shown.severity for shown in self.shown_findings)
        found = [count(counts[s], s.word) for s in reversed(Severity) if counts[s]]
        return f"{join_names(found)} in {sizes}" if found else f"nothing wrong in {sizes}"

    @property
    def hidden_counts(self) -> str:
        """How many findings are not shown, with the option that shows them; empty if there are none."""
        counts = Counter(
            s.severity for s in group_by_channel(f for f in self.report.findings if f.severity < self.show)
        )
        hidden = [(s, counts[s]) for s in reversed(Severity) if counts[s]]
        parts = []
        if hidden:
            names = join_names([count(n, s.word) for s, n in hidden])
            parts.append(f"{names} (--show {hidden[-1][0].word} lists them)")
        if self.report.waived:
            parts.append(f"{len(self.report.waived):,} waived")
        return f"and {', '.join(parts)}" if parts else ""

    @property
    def summary(self) -> str:
        """Both counts as a sentence, for the last line of a report."""
        counts = "; ".join(part for part in (self.shown_counts, self.hidden_counts) if part)
        return f"{counts[0].upper()}{counts[1:]}."
