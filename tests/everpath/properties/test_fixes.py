"""Fixes remove their findings, strand no version, and do not undo each other."""

from __future__ import annotations

import re

from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from everpath.graph import ChannelGraph, PackageGraph
from everpath.loaders.notation import parse
from everpath.model import Channel, Entry
from everpath.resolvers import opm
from everpath.resolvers.cluster_extension import ClusterCatalog
from everpath.rules.findings import Severity
from everpath.rules.fixes.edits import ChannelEdit, apply_edit
from everpath.rules.fixes.verify import Violation, verify_fixes
from everpath.rules.lint import Selection, lint
from everpath.rules.registry import all_rules, find_rules
from everpath.simulate import Scenario, simulate_package
from everpath.upgrade_path.hops import PathEnd
from tests.support.everpath.strategies import drawings

RULES = ("EP2", "EP3")

#: From best to worst.
FATES = (PathEnd.HEAD, PathEnd.STRANDED, PathEnd.LOOP, PathEnd.ERROR)


def followed(fix: str, entry: Entry) -> Entry:
    """Return the entry after the part of a fix that changes it."""
    name = re.escape(entry.name)
    entry = shortened(fix, entry)
    if found := re.search(rf"add ((?:\w+(?:, | and )?)+) to the skips of {name}\b", fix):
        named = re.split(r", | and ", found[1])
        entry = entry._replace(skips=(*entry.skips, *(n for n in named if n not in entry.skips)))
    if found := re.search(rf"set replaces: (\w+) on {name}\b", fix):
        entry = entry._replace(replaces=found[1])
    if found := re.search(rf"give {name} the skipRange '([^']+)'", fix):
        entry = entry._replace(skip_range=found[1])
    return entry


def shortened(fix: str, entry: Entry) -> Entry:
    """Return the entry without what a fix removes from it."""
    name = re.escape(entry.name)
    if re.search(rf"remove replaces: \w+ from {name}\b|remove {name} from its own replaces", fix):
        entry = entry._replace(replaces=None)
    if re.search(rf"remove the skipRange of {name}\b", fix):
        entry = entry._replace(skip_range=None)
    for found in re.finditer(
        r"remove (\w+) from the skips of ((?:\w+(?:, | and (?!remove|set|give|add))?)+)", fix
    ):
        if entry.name in re.split(r", | and ", found[2]):
            entry = entry._replace(skips=tuple(s for s in entry.skips if s != found[1]))
    if re.search(rf"remove {name} from its own skips", fix):
        entry = entry._replace(skips=tuple(s for s in entry.skips if s != entry.name))
    return entry


def with_fix(channel: Channel, fix: str) -> Channel:
    return channel._replace(entries=tuple(followed(fix, entry) for entry in channel.entries))


# opm accepts few random channels.
@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(drawings())
def test_no_fix_makes_opm_reject_a_channel(drawing: str) -> None:
    catalog = parse(drawing)
    [package] = catalog.packages
    [channel] = package.channels
    assume(opm.validate_channel(ChannelGraph(channel, package)).is_valid)
    for finding in lint(catalog, Selection(rules=find_rules(RULES))).findings:
        for edit in re.split(", or |; else ", finding.fix or ""):
            after = ChannelGraph(with_fix(channel, edit), package)
            assert opm.validate_channel(after).is_valid, (finding.rule, edit)


def graph_of(drawing: str) -> ChannelGraph:
    [package] = parse(drawing).packages
    return ChannelGraph(package.channels[0], package)


def graph_findings(graph: ChannelGraph, least: Severity = Severity.WARNING) -> list[Violation]:
    """Lint a graph, and return the errors and warnings, most severe first."""
    rules = [rule for rule in all_rules() if rule.subject == "channel" and rule.id in find_rules(RULES)]
    found = verify_fixes(graph, [Violation(rule, flaw) for rule in rules for flaw in rule.check(graph)])
    return sorted((j for j in found if j.severity >= least), key=lambda j: -j.severity)


@st.composite
def odd_drawings(draw: st.DrawFn) -> str:
    """Return channels with ranges that do not parse, panic or surprise, and with deprecated or missing
    bundles."""
    text = draw(drawings())
    odd = draw(st.sampled_from((" <", " - ", " <v", " || || <")))
    text = text.replace(" <", odd, draw(st.integers(1, 2)))
    names = [line.partition("@")[0] for line in text.splitlines()]
    marks = draw(st.lists(st.sampled_from(names), max_size=2, unique=True))
    absent = draw(st.lists(st.sampled_from(names), max_size=2, unique=True))
    lines = (
        _without_bundle(line) if line.partition("@")[0] in absent else line for line in text.splitlines()
    )
    return "\n".join((*lines, *(f"%deprecated {name}: old" for name in marks if name not in absent)))


def _without_bundle(line: str) -> str:
    name, _, rest = line.partition("@")
    return f"{name}?:{rest.partition(':')[2]}"


@given(drawings())
def test_every_edit_removes_its_finding(drawing: str) -> None:
    assert_fixed(drawing)


@given(odd_drawings())
def test_every_edit_of_an_odd_channel_removes_its_finding(drawing: str) -> None:
    assert_fixed(drawing)


def assert_fixed(drawing: str) -> None:
    graph = graph_of(drawing)
    for rule, flaw in graph_findings(graph, Severity.NOTE):
        if isinstance(flaw.fix, ChannelEdit):
            left = {(f.entry, f.message) for f in rule.check(apply_edit(graph, flaw.fix))}
            assert (flaw.entry, flaw.message) not in left, (rule.id, str(flaw.fix))


def ends(graph: ChannelGraph) -> dict[tuple[str, str], PathEnd]:
    """Return where the path of every version ends under each resolver."""
    package = PackageGraph(graph.package._replace(channels=(graph.channel,)))
    found = simulate_package([ClusterCatalog("catalog", 0, package)], Scenario())
    rows = (row for sheet in found for line in sheet.installed for row in line.paths)
    return {(row.resolver, row.installed or ""): row.end for row in rows}


@given(drawings())
@example("b3: - / b2, b1\nb2: - / b1\nb1")
@example("b4: b3\nb3: - / b2\nb2: - / - / <9.0.0")
@example("b2@1.0.3: b1\nb1@1.0.1: - / - / 1.0.1 - 1.0.3")
def test_no_edit_makes_an_upgrade_path_worse(drawing: str) -> None:
    assert_harmless(drawing)


@given(odd_drawings())
@example("b0@1.0.0-rc.1: b0 / - / >=1.0.0 || || <0.0.1\nb1@1.0.0-rc.1")
def test_no_edit_of_an_odd_channel_makes_an_upgrade_path_worse(drawing: str) -> None:
    assert_harmless(drawing)


def assert_harmless(drawing: str) -> None:
    graph = graph_of(drawing)
    before = ends(graph)
    for rule, flaw in graph_findings(graph, Severity.NOTE):
        if isinstance(flaw.fix, ChannelEdit):
            for edit in (flaw.fix, flaw.fix.alternative):
                after = ends(apply_edit(graph, edit)) if edit is not None else before
                worse = [who for who, end in before.items() if FATES.index(after[who]) > FATES.index(end)]
                assert worse == [], (rule.id, str(flaw.fix))


@given(drawings())
def test_edits_one_after_the_other_leave_no_error_with_a_fix(drawing: str) -> None:
    graph = graph_of(drawing)
    for _ in range(3 * len(graph.entries) + 3):
        found = graph_findings(graph)
        edits = [j.flaw.fix for j in found if isinstance(j.flaw.fix, ChannelEdit)]
        if not edits or found[0].severity < Severity.ERROR:
            return
        graph = apply_edit(graph, edits[0])
    raise AssertionError([(j.rule.id, str(j.flaw.fix)) for j in graph_findings(graph)])


@given(drawings())
def test_finding_with_the_cause_of_another_is_fixed_with_it(drawing: str) -> None:
    graph = graph_of(drawing)
    found = {(j.rule.id, j.flaw.entry): j for j in graph_findings(graph)}
    for rule, flaw in found.values():
        cause = re.match(r"fixed together with (EP\d+) \((\w+)\)", str(flaw.fix))
        if cause is not None:
            root = found[cause[1], cause[2]]
            assert isinstance(root.flaw.fix, ChannelEdit)
            left = {(f.entry, f.severity) for f in rule.check(apply_edit(graph, root.flaw.fix))}
            assert (flaw.entry, flaw.severity) not in left


@given(drawings())
@example("b5: b3\nb4: b2\nb3: b2\nb2: b1\nb1")
def test_all_edits_of_a_report_together_remove_their_findings_and_add_no_error(
    drawing: str,
) -> None:
    assert_agreeing(drawing)


@given(odd_drawings())
def test_all_edits_of_a_report_on_an_odd_channel_together_add_no_error(drawing: str) -> None:
    assert_agreeing(drawing)


def assert_agreeing(drawing: str) -> None:
    graph = graph_of(drawing)
    advised = [j for j in graph_findings(graph) if isinstance(j.flaw.fix, ChannelEdit)]
    edits = [j.flaw.fix for j in advised if isinstance(j.flaw.fix, ChannelEdit)]
    if not edits:
        return
    alone = errors(graph).union(*(errors(apply_edit(graph, edit)) for edit in edits))
    whole = together(graph, edits)
    assert errors(whole) <= alone, [str(edit) for edit in edits]
    if len(edits) > 1:
        left = {(j.rule.id, flaw.entry, flaw.message) for j in advised for flaw in j.rule.check(whole)}
        assert left.isdisjoint((j.rule.id, j.flaw.entry, j.flaw.message) for j in advised)


def errors(graph: ChannelGraph) -> frozenset[str]:
    return frozenset(j.rule.id for j in graph_findings(graph, Severity.ERROR))


def together(graph: ChannelGraph, edits: list[ChannelEdit]) -> ChannelGraph:
    """Apply all edits to the channel, each as its difference from the present entries."""
    after = dict(graph.entries)
    for entry in (entry for edit in edits for entry in edit.entries):
        base = graph.entries.get(entry.name, entry)
        known = after.get(entry.name, entry)
        skips = [s for s in known.skips if s in entry.skips or s not in base.skips]
        skips += [s for s in entry.skips if s not in base.skips and s not in skips]
        changes = {
            field: getattr(entry, field)
            for field in ("replaces", "skip_range")
            if getattr(entry, field) != getattr(base, field)
        }
        after[entry.name] = known._replace(skips=tuple(skips), **changes)
    return ChannelGraph(graph.channel._replace(entries=tuple(after.values())), graph.package)
