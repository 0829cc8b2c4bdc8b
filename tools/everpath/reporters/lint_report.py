"""What a view is given: the report, the way to find lines again, and what the reader wants to see of it."""

from __future__ import annotations

__all__ = [
    "GroupedFinding",
    "LintReport",
    "LocatedFinding",
    "Workspace",
    "full_message",
    "group_channels",
    "one_line_message",
    "rule_description",
    "rule_url",
]

import os.path
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from everpath import __url__
from everpath.loaders.location import SourcePosition
from everpath.model import Place
from everpath.reporters.formatting import count, join_names, one_line
from everpath.rules.findings import Finding, Severity
from everpath.rules.lint import Report
from everpath.rules.registry import Rule
from everpath.wording import shorten_names

_WORD: Final = re.compile(r"[\w.+-]*\w")


def rule_url(rule: str) -> str:
    """Where a rule is explained: what, who is hurt, a bad graph, a good one."""
    return f"{__url__}/blob/main/docs/rules/{rule}.md"


def rule_description(rule: Rule) -> list[str]:
    """The law of a rule for its users: unwrapped paragraphs, without the cost."""
    paragraphs = (
        " ".join(text.split()).partition("Cost: ")[0].rstrip() for text in rule.description.split("\n\n")
    )
    return [text for text in paragraphs if text]


def one_line_message(finding: Finding) -> str:
    """The message on one line, saying whom it is about where it does not say so itself."""
    return one_line(full_message(finding))


def full_message(finding: Finding) -> str:
    """The same as it is: a message that stands alone, whatever characters are in it."""
    message, name = finding.message, finding.entry
    short = shorten_names(name or "", finding.package or "")
    has_name = not name or _mentions(message, name) or _mentions(message, short)
    return message if has_name else f"{short}: {message}"


def _mentions(message: str, name: str) -> bool:
    """Whether a name stands in a message as a word: `op.v1` is not mentioned by `op.v1.2` or `my-op.v1`."""
    return name in message and name in _WORD.findall(message)


class Workspace(NamedTuple):
    """Where a relative path starts, and the root of the repository that annotations count from."""

    folder: str = ""
    root: str = ""

    def relative(self, file: str) -> str:
        """The file as seen from the root, with forward slashes; absolute if it lies outside."""
        from pathlib import PurePath  # noqa: PLC0415 - few formats count from a root

        whole = PurePath(os.path.normpath(PurePath(self.folder, file)))
        if self.root and whole.is_relative_to(self.root):
            whole = whole.relative_to(self.root)
        return whole.as_posix()


class GroupedFinding(NamedTuple):
    """A finding as a person is told it: once for all channels that it is true of."""

    finding: Finding
    channels: tuple[str, ...]

    @property
    def severity(self) -> Severity:
        return self.finding.severity


def group_channels(findings: Iterable[Finding]) -> Iterator[GroupedFinding]:
    """The findings in their order; those that differ by nothing but the channel become one.

    A bundle folder states its edges once and is a member of many channels. Cost: one look-up a finding.
    """
    times: Counter[Finding] = Counter()
    groups: dict[tuple[Finding, int], list[Finding]] = {}
    for finding in findings:
        # What is said twice of one channel is two findings, however alike they look.
        groups.setdefault((finding._replace(channel=None), times[finding]), []).append(finding)
        times[finding] += 1
    for group in groups.values():
        yield GroupedFinding(group[0], tuple(f.channel for f in group if f.channel))


class LocatedFinding(NamedTuple):
    """A finding, the line it stands on, and the channels it is true of."""

    finding: Finding
    location: SourcePosition
    channels: tuple[str, ...] = ()

    @property
    def subject(self) -> str:
        """Whose flaw it is, as `package/channel/entry`, with what is known."""
        parts = (self.finding.package, ",".join(self.channels), self.finding.entry)
        return "/".join(part for part in parts if part)

    @property
    def where(self) -> str:
        """`file:line:column`, as far as it is known."""
        steps = (self.location.file, self.location.line, self.location.column)
        return ":".join(one_line(str(step)) for step in steps if step)


class LintReport(NamedTuple):
    """One run, ready to be told.

    `show` is the least severity worth a person's time, `fail_on` the least that fails the run (None: none
    does), `workspace` what repository-wide formats give paths relative to, `colour` whether the reader is
    a terminal, `brief` whether to leave out everything but the findings, `command` who reports.
    """

    report: Report
    locate: Callable[[Place], SourcePosition]
    rules: Mapping[str, Rule] = MappingProxyType({})
    show: Severity = Severity.WARNING
    fail_on: Severity | None = Severity.ERROR
    workspace: Workspace = Workspace()
    colour: bool = False
    brief: bool = False
    command: str = "validate-graph"

    @property
    def shown(self) -> tuple[GroupedFinding, ...]:
        """Findings a person asked to see, each of them once."""
        return tuple(group_channels(f for f in self.report.findings if f.severity >= self.show))

    def sightings(self, findings: Iterable[Finding]) -> Iterator[LocatedFinding]:
        """Findings with their lines, looked up one by one as they are written: for programs, all of them."""
        return (LocatedFinding(finding, self.locate(finding.place)) for finding in findings)

    def sights(self, shown: Iterable[GroupedFinding]) -> Iterator[LocatedFinding]:
        """The same for persons."""
        return (LocatedFinding(f, self.locate(f.place), channels) for f, channels in shown)

    def fails(self, finding: Finding) -> bool:
        return finding.unreadable or (self.fail_on is not None and finding.severity >= self.fail_on)

    @property
    def sizes(self) -> tuple[tuple[int, str], ...]:
        """How much was looked at, and of what."""
        report = self.report
        if report.bundles is not None:
            return (report.packages, "package"), (report.bundles, "bundle")
        return (report.packages, "package"), (report.channels, "channel"), (report.entries, "entry")

    @property
    def verdict(self) -> str:
        """What was found in how much, in one sentence."""
        looked_at = join_names([count(number, noun) for number, noun in self.sizes])
        counts = Counter(shown.severity for shown in self.shown)
        found = [count(counts[s], s.word) for s in reversed(Severity) if counts[s]]
        return f"{join_names(found)} in {looked_at}" if found else f"nothing wrong in {looked_at}"

    @property
    def unsaid(self) -> str:
        """What was found and is not shown, with the option that shows it; empty when there is nothing."""
        counts = Counter(
            s.severity for s in group_channels(f for f in self.report.findings if f.severity < self.show)
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
        """Verdict and what it leaves out, for the last line of a report."""
        full_message = "; ".join(part for part in (self.verdict, self.unsaid) if part)
        return f"{full_message[0].upper()}{full_message[1:]}."
